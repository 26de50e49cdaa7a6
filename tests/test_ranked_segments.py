"""The worst and the best segments: which, in what order, with which texts, in every format."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat as kt

SYSTEMS = {
    "A": ["the cat sat", "a dog", "nothing here", "a dog"],
    "B": ["the cat", "a big dog", "x", "y"],
}
REFERENCES = [["the cat sat", "a cat sat"], "a dog", "something else", "a dog"]
Called = Callable[..., CompletedProcess[str]]


def scored(*metrics: str) -> kt.Scoring:
    return kt.score(SYSTEMS, REFERENCES, metrics, segments=True)


def test_the_worst_and_the_best_by_hand() -> None:
    """TER of A: 0, 0, 100, 0; the third is the worst, and the first of the perfect the best."""
    worst = scored("bleu", "ter").worst(2, "ter")
    rows = [(row.system, row.rank, row.segment, row.score) for row in worst.rows]
    assert rows == [
        *(("A", 1, 2, 100.0), ("A", 2, 0, 0.0)),
        *(("B", 1, 2, 100.0), ("B", 2, 3, 100.0)),
    ]
    assert worst.rows[1].text == kt.ranked_segments.SegmentText(
        "the cat sat", ("the cat sat", "a cat sat")
    )
    best = scored("bleu", "ter").best(3, "ter")
    assert [row.segment for row in best.rows if row.system == "A"] == [0, 1, 3]
    assert "the worst segments have the highest scores" in best.notes[0]


def test_segment_bleu_says_that_it_is_another() -> None:
    worst = scored("bleu").worst(1)
    assert str(worst.metric) == "bleu:eff=yes"
    assert worst.notes[1] == "bleu scores single segments as bleu:eff=yes."
    assert list(worst.signatures) == ["bleu:eff=yes"]
    assert "by bleu:eff=yes" in worst.document().title
    assert [*worst.to_pandas()["bleu:eff=yes"]] == [row.score for row in worst.rows]


@given(st.lists(st.integers(0, 3), min_size=1, max_size=8), st.integers(0, 9), st.integers(0, 9))
def test_order_against_sorting(words: list[int], worst: int, best: int) -> None:
    """Candidates of n of three words: recall is n/3; ties stand in the order of the text."""
    texts = [" ".join("abc"[:n]) for n in words]
    scoring = kt.score({"S": texts}, ["a b c"] * len(texts), "ter", segments=True)
    ranked = scoring.ranked(worst=worst, best=best)
    edits = [3 - n for n in words]
    for extreme, count, key in (
        ("worst", worst, lambda i: (-edits[i], i)),
        ("best", best, lambda i: (edits[i], i)),
    ):
        rows = [row.segment for row in ranked.rows if row.extreme == extreme]
        assert rows == sorted(range(len(texts)), key=key)[:count]


def test_equal_but_for_rounding_is_equal() -> None:
    from karat.ranked_segments import _order_lowest_first

    values = kt.arrays.np.array([0.3, 0.1 + 0.2, 0.3, 0.2])
    assert _order_lowest_first(values).tolist() == [3, 0, 1, 2]
    assert _order_lowest_first(-values).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda r: r.worst(3, "chrf"), "no scores by chrf: the segments were scored by bleu:eff=y"),
        (lambda r: r.worst(-1), "worst=-1: expected a number of segments"),
        (lambda r: r.best("x"), "best='x': expected a number of segments"),
    ],
)
def test_bad_requests(call: Callable[[kt.Scoring], object], message: str) -> None:
    with pytest.raises(kt.InputError, match=message):
        call(scored("bleu"))
    with pytest.raises(kt.InputError, match="call score with segments=True"):
        kt.score(SYSTEMS, REFERENCES).worst(3)


def test_command(run_karat: Called) -> None:
    arguments = ("score", "a.txt", "b.txt", "-r", "ref1.txt", "-r", "ref2.txt", "-m", "chrf")
    listing = json.loads(run_karat(*arguments, "--worst", "1", "--best", "2", "-f", "json").stdout)
    assert [(row["system"], row["rank"]) for row in listing["rows"]] == [("a", 1), ("b", 1)]
    assert len(listing["best"]) == 4
    assert listing["rows"][0]["segment"] == 3
    assert listing["rows"][0]["references"] == "\nnothing"
    text = run_karat(*arguments, "--worst", "1", "--sort", "ter").stdout
    assert text.startswith("Worst segments by ter\n")
    assert "candidate: something" in text
    for format in ("md", "latex", "html"):
        rendered = run_karat(*arguments, "--worst", "4", "-f", format).stdout
        assert "five" in rendered
        assert "<b>" not in rendered.replace("\\<b\\>", "")


def test_sort_alone_shows_all(run_karat: Called) -> None:
    arguments = ("score", "a.txt", "-r", "ref1.txt", "-m", "chrf", "--sort", "chrf", "-f", "csv")
    rows = list(csv.DictReader(io.StringIO(run_karat(*arguments).stdout)))
    assert len(rows) == 4
    assert sorted(rows, key=lambda row: float(row["chrf"])) == rows


@pytest.mark.parametrize("more", [("--segments",), ("--intervals",), ("--signature-only",)])
def test_what_does_not_go_together(run_karat: Called, more: tuple[str, ...]) -> None:
    done = run_karat("score", "a.txt", "-r", "ref1.txt", "--worst", "2", *more)
    assert done.returncode == 2
    assert f"leave out {more[0]}" in done.stderr


def test_tables_show_ids(run_karat: Called, folder: Path) -> None:
    text = "id,system,prediction,reference\nx1,A,the cat,the cat sat\nx2,A,a dog,a dog\n"
    (folder / "t.csv").write_text(text + "x2,B,a big dog,a dog\nx1,B,sat,the cat sat\n")
    arguments = ("score", "t.csv", "--by", "system", "-m", "ter", "--worst", "1")
    listing = json.loads(run_karat(*arguments, "--id", "id", "-f", "json").stdout)
    assert [
        (r["system"], r["segment"], r["candidate"], round(r["ter"])) for r in listing["rows"]
    ] == [
        ("A", "x1", "the cat", 33),
        ("B", "x1", "sat", 67),
    ]
    done = run_karat(*arguments, "--rows", "rows")
    assert done.returncode == 2
    assert "--id COLUMN" in done.stderr
    sharded = run_karat(*arguments, "--id", "id", "--shard", "1/2", "--shards", "kept")
    assert "--shard scores only a part of a table" in sharded.stderr
    assert not (folder / "kept").exists()


def test_sets_show_their_ids(run_karat: Called, folder: Path) -> None:
    evalset = kt.make_evalset(
        "s", {"A": ["a dog", "x"]}, references=["a dog", "y"], segments=["p", "q"]
    )
    assert kt.score(evalset, metrics="chrf", segments=True).worst(1).rows[0].text.id == "q"
    kt.save_evalset(evalset, folder / "s.jsonl", "jsonl")
    output = run_karat(
        "score", "--set", "s.jsonl", "-m", "chrf", "--worst", "1", "-f", "json"
    ).stdout
    assert json.loads(output)["rows"][0]["segment"] == "q"
    listed = kt.score(evalset, metrics="chrf", segments=True).to_pandas()
    assert listed["segment"].tolist() == ["p", "q"]
    plain = kt.score("demo", metrics="chrf", segments=True).worst(1)  # ids are numbers from 1
    assert plain.rows[0].text.id is None


def test_tables_in_memory() -> None:
    arrow = pytest.importorskip("pyarrow")
    from karat.arrow.table_scores import score_table

    table = arrow.table(
        {"id": [7, 3], "prediction": ["a dog", "x"], "reference": [["a dog", "dog"], ["y"]]}
    )
    worst = score_table(table, "chrf", id="id", segments=True).worst(5)
    assert [(row.text.id, row.text.references) for row in worst.rows] == [
        ("3", ("y",)),
        ("7", ("a dog", "dog")),
    ]


def test_scores_of_segments_come_back_as_given_scores(run_karat: Called, folder: Path) -> None:
    """Sets whose ids start at 0, as those of lm-evaluation-harness, are not shifted by one."""
    texts = {"A": ["a dog", "the cat", "x"], "B": ["dog", "a cat", "y"]}
    evalset = kt.make_evalset(
        "s", texts, references=["a dog", "a cat", "y"], segments=["0", "1", "2"]
    )
    kt.save_evalset(evalset, folder / "s.jsonl", "jsonl")
    score_arguments = ("score", "--set", "s.jsonl", "-m", "chrf", "-f", "csv")
    (folder / "own.csv").write_text(run_karat(*score_arguments, "--segments").stdout)
    rescore_arguments = (
        "score",
        "--set",
        "s.jsonl",
        "-m",
        "given:file=own.csv",
        "--segments",
        "-f",
        "csv",
    )
    both = [(folder / "own.csv").read_text(), run_karat(*rescore_arguments).stdout]
    saved_rows, rescored_rows = (list(csv.DictReader(io.StringIO(text))) for text in both)
    assert [row["segment"] for row in saved_rows] == ["0", "1", "2"] * 2
    for key in ("system", "segment", "score"):
        assert [row[key] for row in rescored_rows] == [row[key] for row in saved_rows]
