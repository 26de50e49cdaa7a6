"""The length of outputs as a metric: worked values, and its use as a baseline."""

from __future__ import annotations

from pathlib import Path

import pytest

import karat as kt

OUTPUTS = ["a cat sat", "", "naïve  café\tau lait", "猫"]


def test_worked_values() -> None:
    words = kt.score(OUTPUTS, metrics="length", segments=True)
    assert words.rows[0].score.value == 2.0
    ((values,),) = [list(words.values.values())]
    assert values.tolist() == [3, 0, 4, 1]
    characters = kt.score(OUTPUTS, metrics="length:unit=characters").rows[0].score
    assert characters.value == (9 + 0 + 19 + 1) / 4
    assert kt.metric("length").signature(0).startswith("length:unit=words|nrefs=0|")


def test_a_gate_does_not_decide_by_length(tmp_path: Path) -> None:
    with pytest.raises(kt.InputError, match=r"length: longer outputs are neither better nor worse"):
        kt.write_baseline(OUTPUTS, None, ["length"], baseline=tmp_path / "gate.tsv")
    compared = kt.compare({"a": OUTPUTS, "b": OUTPUTS}, metrics="length")
    assert any("is not better for it" in note for note in compared.notes)


def test_meta_without_references_ranks_the_length(tmp_path: Path) -> None:
    """Ratings that equal the number of words correlate perfectly with it."""
    texts = ["a", "a b", "a b c", "a b c d", "a b c d e", "a b c d e f"]
    rows = [
        f"{i},{s},{text},{len(text.split())},{len(text.split())}\n"
        for s in "xyz"
        for i, text in enumerate(texts)
    ]
    (tmp_path / "r.csv").write_text("item,model,text,alice,bob\n" + "".join(rows))
    evaluation = kt.meta_evaluate(tmp_path / "r.csv", levels=["segment"])
    row = next(row for row in evaluation.rows if row.statistic == "pearson")
    assert (row.metric, round(row.value, 12)) == ("length", 1.0)
    assert any("has no references" in note for note in evaluation.notes)


def test_a_set_without_texts_and_scores_has_nothing_to_rank(tmp_path: Path) -> None:
    rows = [f"{s},{i},{j},fluency,{1 + i % 5}\n" for s in "xy" for i in range(6) for j in "ab"]
    (tmp_path / "t.csv").write_text("system,segment,judge,dimension,value\n" + "".join(rows))
    with pytest.raises(kt.InputError, match=r"no metric to rank: .*karat data judges"):
        kt.meta_evaluate(tmp_path / "t.csv")
