"""`check_judge`: verdicts, agreement, errors by system, biases, and what is refused."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import karat as kt
from karat.nuggets.formats.loading import load_nuggets

N = 60
PEOPLE = ("ann", "bob", "cleo")
Rows = list[tuple[str, str, str, str, float]]


def make_rows(
    judge: Callable[[str, int, float], float],
    systems: Mapping[str, float] = {"A": 2.6, "B": 3.0, "C": 3.4},
    noise: float = 0.35,
) -> Rows:
    """Ratings by three people and by a judge that knows the quality of each output."""
    rng = np.random.default_rng(7)
    rows: Rows = []
    for system, mean in systems.items():
        for i in range(N):
            quality = float(rng.normal(mean, 1))
            values = {name: quality + rng.normal(0, noise) for name in PEOPLE}
            values["gpt"] = judge(system, i, quality) + rng.normal(0, noise)
            for name, value in values.items():
                rows.append((system, str(i + 1), name, "q", float(np.clip(round(value), 1, 5))))
    return rows


def make_set(rows: Rows, lengths: Mapping[str, int] | None = None, **settings: Any) -> kt.EvalSet:
    systems = list(dict.fromkeys(row[0] for row in rows))
    texts = {s: ["x" * (lengths or {}).get(s, 5 + i) for i in range(N)] for s in systems}
    return kt.make_evalset(
        "made",
        texts,
        **{
            "dimensions": [kt.Dimension("q", low=1, high=5)],
            "judgements": rows,
            "judge_kinds": {"gpt": "model"},
            **settings,
        },
    )


def like_people(system: str, i: int, quality: float) -> float:
    return quality


GOOD = make_set(make_rows(like_people))


def test_a_judge_like_people_passes() -> None:
    check = kt.check_judge(GOOD, annotators="expert", shuffles=40)
    [row] = check.rows
    assert (row.judge, row.dimension, row.verdict) == ("gpt", "q", "passes")
    assert (row.annotators, row.items, row.units, row.epsilon) == (3, 180, 60, 0.2)
    assert row.winning_rate == 1
    assert row.constant_rate == 0
    assert row.shuffled_passes == 0
    assert [a.annotator for a in check.annotators] == list(PEOPLE)
    assert all(a.won for a in check.annotators)
    assert row.advantage == pytest.approx(np.mean([a.judge_share for a in check.annotators]))
    assert "q: gpt passes the alternative annotator test" in check.summary
    assert not check.warnings


def test_agreement_is_that_of_the_judge_and_of_a_person_with_the_same_others() -> None:
    check = kt.check_judge(GOOD, shuffles=20)
    table = {name: GOOD.rated_by(name, "q").ravel() for name in (*PEOPLE, "gpt")}
    targets = {name: np.mean([table[k] for k in PEOPLE if k != name], axis=0) for name in PEOPLE}
    target = np.concatenate(list(targets.values()))
    rated = np.concatenate([table[name] for name in PEOPLE])
    judged = np.tile(table["gpt"], 3)
    by_measure = {row.measure: row for row in check.agreement}
    assert by_measure["r"].value == pytest.approx(np.corrcoef(judged, target)[0, 1])
    assert by_measure["r"].people == pytest.approx(np.corrcoef(rated, target)[0, 1])
    equal = [np.mean(table["gpt"] == table[name]) for name in PEOPLE]
    assert by_measure["equal"].value == pytest.approx(np.mean(equal))
    equal = [np.mean(table[a] == table[b]) for a, b in combinations(PEOPLE, 2)]
    assert by_measure["equal"].people == pytest.approx(np.mean(equal))
    squares = [np.mean((table["gpt"] - table[name]) ** 2) for name in PEOPLE]
    assert by_measure["distance"].value == pytest.approx(np.mean(squares) ** 0.5)
    for row in check.agreement:
        assert row.low < row.value < row.high
        assert row.difference == pytest.approx(row.value - row.people)
        assert row.difference_low < row.difference < row.difference_high


def test_errors_by_system_are_warned_about() -> None:
    rows = make_rows(lambda system, i, quality: quality + 0.9 * (system == "A"))
    check = kt.check_judge(make_set(rows), shuffles=20)
    by_system = {row.system: row for row in check.systems}
    assert [row.finding for row in check.systems] == ["favoured", "disadvantaged", "disadvantaged"]
    judged = [row[4] for row in rows if row[0] == "A" and row[2] == "gpt"]
    rated = [row[4] for row in rows if row[0] == "A" and row[2] != "gpt"]
    assert by_system["A"].judge_mean == pytest.approx(np.mean(judged))
    assert by_system["A"].people_mean == pytest.approx(np.mean(rated))
    assert by_system["A"].error == pytest.approx(np.mean(judged) - np.mean(rated))
    errors = [row.error for row in check.systems]
    assert by_system["A"].relative == pytest.approx(errors[0] - np.mean(errors))
    [warning] = check.warnings
    assert "one calibration for all systems can reverse a comparison" in warning
    assert "reverses the order of 2 of 3 pairs of systems" in warning
    assert f"Warning: {warning}" in check.document().notes


def test_a_constant_judge_reverses_nothing_and_has_no_correlation() -> None:
    rows = [(*row[:4], 3.1) if row[2] == "gpt" else row for row in make_rows(like_people)]
    check = kt.check_judge(make_set(rows), shuffles=20)
    assert [row.judge_mean for row in check.systems] == pytest.approx([3.1] * 3)
    [warning] = check.warnings
    assert "reverses the order of 0 of 3 pairs" in warning
    r = next(row for row in check.agreement if row.measure == "r")
    assert np.isnan([r.value, r.low, r.high, r.difference]).all()
    assert r.people_low < r.people < r.people_high


def test_lower_may_be_better() -> None:
    rows = make_rows(lambda system, i, quality: quality + 0.9 * (system == "A"))
    lower = [kt.Dimension("q", better="lower", low=1, high=5)]
    check = kt.check_judge(make_set(rows, dimensions=lower), shuffles=20)
    assert [row.finding for row in check.systems] == ["disadvantaged", "favoured", "favoured"]
    assert check.systems[0].error > 0


def test_length_is_a_slope_by_doubling() -> None:
    rows = make_rows(lambda system, i, quality: quality + 0.8 * np.log2((5 + i) / 30))
    check = kt.check_judge(make_set(rows), shuffles=20)
    [row] = [row for row in check.biases if row.bias == "length"]
    assert row.flagged
    assert 0.4 < row.low < row.value < row.high < 1
    by_output: dict[tuple[str, str], dict[str, float]] = {}
    for system, segment, name, _, value in rows:
        by_output.setdefault((system, segment), {})[name] = value
    errors = [v["gpt"] - np.mean([v[name] for name in PEOPLE]) for v in by_output.values()]
    doublings = [np.log2(4 + int(segment)) for _, segment in by_output]
    assert row.value == pytest.approx(np.polyfit(doublings, errors, 1)[0])


def test_no_length_bias_without_texts_or_with_one_length() -> None:
    same = make_set(make_rows(like_people), {"A": 9, "B": 9, "C": 9})
    assert not kt.check_judge(same, shuffles=20).biases


def test_systems_of_the_judge_s_family() -> None:
    rows = make_rows(lambda system, i, quality: quality + 0.9 * (system == "C"))
    check = kt.check_judge(make_set(rows), family=["C"], shuffles=20)
    [row] = [row for row in check.biases if row.bias == "family"]
    errors = [system.error for system in check.systems]
    assert row.value == pytest.approx(errors[2] - np.mean(errors[:2]))
    assert row.flagged
    with pytest.raises(kt.InputError, match="made has no system 'D'"):
        kt.check_judge(GOOD, family=["D"])


def test_drift_against_an_anchor() -> None:
    rows = make_rows(like_people)
    earlier = [
        (system, segment, name, d, max(1.0, value - (int(segment) % 2)))
        for system, segment, name, d, value in rows
        if name == "gpt" and int(segment) <= 40
    ]
    check = kt.check_judge(GOOD, anchor=earlier, shuffles=20)
    [row] = [row for row in check.biases if row.bias == "drift"]
    before = {(row[0], row[1]): row[4] for row in earlier}
    changes = [
        row[4] - before[row[0], row[1]]
        for row in rows
        if row[2] == "gpt" and (row[0], row[1]) in before
    ]
    assert (row.items, row.units, row.flagged) == (120, 40, True)
    assert row.value == pytest.approx(np.mean(changes))
    assert f"{np.mean(np.array(changes) != 0):.0%} of the values changed" in row.meaning
    anchor_by_bob = [(*row[:2], "eve", *row[3:]) for row in earlier]
    with pytest.raises(kt.InputError, match="the anchor has no judgement by 'gpt'"):
        kt.check_judge(GOOD, anchor=anchor_by_bob)


def test_documents_are_units() -> None:
    documents = [str(i // 3) for i in range(N)]
    check = kt.check_judge(make_set(make_rows(like_people), groups=documents), shuffles=20)
    assert (check.rows[0].units, check.settings["unit"]) == (20, "document")
    few = make_set(make_rows(like_people), groups=[str(i // 30) for i in range(N)])
    check = kt.check_judge(few, shuffles=20)
    assert (check.rows[0].units, check.settings["unit"]) == (60, "segment")
    assert "Tests are by segment: 2 documents are too few to be units." in check.notes
    with pytest.raises(kt.InputError, match="does not have the document of each segment"):
        kt.check_judge(GOOD, units="document")


def pair_lines(judge_orders: Callable[[int], list[tuple[str, str, float]]]) -> list[str]:
    """Comparisons of A and B on 40 segments by three people, and by a judge in both orders."""
    lines = []
    rng = np.random.default_rng(0)
    for i in range(40):
        better = int(rng.random() < 0.5)
        rows = [("A", "B", float(better if rng.random() < 0.9 else 1 - better), p) for p in PEOPLE]
        rows += [(*order, "gpt") for order in judge_orders(better)]
        for first, second, share, name in rows:
            row = {"segment": str(i + 1), "system": first, "other": second, "judge": name}
            lines.append(json.dumps({**row, "dimension": "better", "value": share}))
    return lines


def test_pairs_in_both_orders_show_position_bias(folder: Path) -> None:
    def first_half_the_time(better: int) -> list[tuple[str, str, float]]:
        return [("A", "B", 1.0), ("B", "A", 1.0 if not better else 0.0)]

    texts = {"A": ["a"] * 40, "B": ["b"] * 40}
    log = folder / "pairs.jsonl"
    log.write_text("\n".join(pair_lines(first_half_the_time)), "utf-8")
    compared = kt.make_evalset("made", texts).with_judgements(
        log, judge_kinds={"gpt": "model"}, dimensions=["better"]
    )
    check = kt.check_judge(compared, shuffles=20)
    [row] = check.biases
    shares = [p.value for p in compared.pairs if p.judge == "gpt"]
    assert (row.bias, row.items, row.flagged) == ("position", 40, True)
    assert row.value == pytest.approx(sum(shares) / 40 - 1)
    assert check.rows[0].items == 40
    assert not check.systems


def test_comparisons_are_items(folder: Path) -> None:
    """A judge that gives the same preferences as people passes."""
    texts = {"A": ["a"] * 40, "B": ["b"] * 40}
    lines = [
        json.loads(line) for line in pair_lines(lambda better: [("B", "A", float(1 - better))])
    ]
    pairs = [
        {**line, "system": line["other"], "other": line["system"], "value": 1 - line["value"]}
        if int(line["segment"]) % 2
        else line
        for line in lines
    ]
    path = folder / "pairs.jsonl"
    path.write_text("\n".join(map(json.dumps, pairs)), "utf-8")
    compared = kt.make_evalset("made", texts).with_judgements(
        path, judge_kinds={"gpt": "model"}, dimensions=["better"]
    )
    check = kt.check_judge(compared, epsilon=0.2, similarity="labels", shuffles=20)
    assert check.rows[0].verdict == "passes"
    assert {row.measure: row.value for row in check.agreement}["equal"] > 0.8


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"judges": ["bob"]}, None),
        ({"judges": ["nobody"]}, "made has no judge 'nobody'"),
        ({"dimensions": ["z"]}, "made has no dimension 'z' (it has q)"),
        ({"epsilon": 1.5}, "epsilon=1.5"),
        ({"annotators": "cats"}, "annotators='cats'"),
        ({"similarity": "rhyme"}, "similarity='rhyme'"),
        ({"units": "chapter"}, "units='chapter'"),
        ({"shuffles": 3}, "shuffles=3"),
    ],
)
def test_wrong_arguments(arguments: dict[str, Any], message: str | None) -> None:
    if message is None:  # a person can be the judge: gpt is no person, so two are left
        with pytest.raises(
            kt.InputError, match="found 2 people who rated q in at least 6 segments"
        ):
            kt.check_judge(GOOD, **arguments)
        return
    with pytest.raises(kt.InputError, match=re.escape(message)):
        kt.check_judge(GOOD, **arguments)


def test_fewer_than_three_annotators() -> None:
    two = make_set([row for row in make_rows(like_people) if row[2] != "cleo"])
    with pytest.raises(kt.InputError, match=r"found 2 people .* expected at least 3 annotators"):
        kt.check_judge(two)


def test_a_judge_without_overlap() -> None:
    rows = [row for row in make_rows(like_people) if (row[2] == "gpt") == (row[0] == "A")]
    with pytest.raises(kt.InputError, match="gpt and people rated no common item in q"):
        kt.check_judge(make_set(rows))


def test_no_model() -> None:
    with pytest.raises(kt.InputError, match="no judge is known to be a model"):
        kt.check_judge(make_set(make_rows(like_people), judge_kinds={}))


def test_sets_without_systems_are_refused() -> None:
    nuggets = load_nuggets("demo-nuggets")
    with pytest.raises(kt.InputError, match="expected ratings of the outputs of systems"):
        kt.check_judge(nuggets)


def test_one_system_has_no_errors_by_system() -> None:
    check = kt.check_judge(make_set(make_rows(like_people, {"A": 3.0})), shuffles=20)
    assert any(note.startswith("One system: errors by system need") for note in check.notes)
    assert not check.warnings
    assert np.isnan(check.systems[0].p)


def test_identical_people_count_as_one() -> None:
    rows = make_rows(like_people)
    twin = [(*row[:2], "dora", *row[3:]) for row in rows if row[2] == "ann"]
    check = kt.check_judge(make_set(rows + twin), shuffles=20)
    assert check.rows[0].annotators == 3
    assert any("dora" in note for note in check.notes)


def test_the_page_has_the_verdict_and_every_table(tmp_path: Path) -> None:
    check = kt.check_judge(GOOD, family=["A"], annotators="expert", shuffles=20)
    check.save(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    for text in ("passes the alternative", "Errors by system", "Biases", "Agreement", "<svg"):
        assert text in page
    data = json.loads(check.render("json"))
    assert {"rows", "biases", "agreement", "systems", "annotators", "signature"} <= {*data}
    assert data["rows"][0]["verdict"] == "passes"
    assert kt.check_judge(GOOD, family=["A"], annotators="expert", shuffles=20).rows == check.rows


def test_believability_cannot_tell(karat_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A judge that gives one rating to everything is as good as most of these annotators."""
    monkeypatch.setenv("KARAT_DATA", str(karat_data))
    check = kt.check_judge("believability", ["fluency"], ["ar-en/03"], shuffles=40)
    [row] = check.rows
    assert row.winning_rate > 0.9
    assert row.constant_rate > 0.5
    assert row.verdict == "this test cannot tell"
    with pytest.raises(kt.InputError, match="rated no common item"):
        kt.check_judge("summeval", judges=["experts"])
