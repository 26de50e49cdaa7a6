"""Judgements against judgements: precision, recall, F, and what they do to scores."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from nuggets.nugget_world import world

import karat as kt
from karat.errors import InputError
from karat.nuggets.scores.decisions import decide_run
from karat.nuggets.scores.official import OfficialSettings
from karat.nuggets.sets.judgements import Judgements
from karat.nuggets.sets.nugget_set import NuggetSet

KEY, RUNS, JUDGED = world(questions=5, runs=4)
SET = NuggetSet("s", KEY, MappingProxyType({run.tag: run for run in RUNS}), JUDGED)
STUDENT = 2.7764451  # 4 degrees of freedom


def other(flipped: int = 7, step: int = 1) -> Judgements:
    """The judgements with every seventh turned round, or only some of them."""
    rows = [
        row._replace(value=1 - row.value) if k % flipped == 0 else row
        for k, row in enumerate(JUDGED.rows)
    ]
    return Judgements(tuple(rows[::step]))


def shares(rows: list[tuple[bool, bool]]) -> tuple[float, float, float]:
    both = sum(a and b for a, b in rows)
    predicted, expected = sum(b for _, b in rows), sum(a for a, _ in rows)
    return both / predicted, both / expected, 2 * both / (predicted + expected)


def test_shares_and_their_intervals_over_questions() -> None:
    agreement = kt.agree_nuggets(SET, other())
    pairs = [
        (a.question, a.value > 0, b.value > 0)
        for a, b in zip(JUDGED.rows, other().rows, strict=True)
    ]
    all_shares = shares([pair[1:] for pair in pairs])
    left = [shares([p[1:] for p in pairs if p[0] != q]) for q in KEY.questions]
    row = agreement.rows[0]
    assert (row.run, row.pairs) == ("all runs", len(pairs))
    for k, name in enumerate(("precision", "recall", "f")):
        mean = sum(run_row[k] for run_row in left) / 5
        reach = STUDENT * math.sqrt(4 / 5 * sum((run_row[k] - mean) ** 2 for run_row in left))
        ends = max(0, all_shares[k] - reach), min(1, all_shares[k] + reach)
        got = [getattr(row, key) for key in (name, f"{name}_low", f"{name}_high")]
        assert got == pytest.approx([all_shares[k], *ends], abs=1e-6)
    assert row.equal == pytest.approx(sum(a == b for _, a, b in pairs) / len(pairs))
    assert [run_row.run for run_row in agreement.rows[1:]] == [run.tag for run in RUNS]
    assert sum(run_row.pairs for run_row in agreement.rows[1:]) == len(pairs)


def test_scores_of_runs_by_both() -> None:
    agreement, scoring = kt.agree_nuggets(SET, other(), 2.0), OfficialSettings(2.0)
    for run in RUNS:
        both = [
            scoring.score(run, KEY, decide_run(run, KEY, judged, run_tag=run.tag))
            for judged in (JUDGED, other())
        ]
        for kind in ("micro", "macro"):
            row = next(r for r in agreement.runs if (r.run, r.average) == (run.tag, kind))
            official, other_f = (getattr(score, kind).f for score in both)
            assert row[2:5] == pytest.approx((official, other_f, other_f - official))
        gaps = [b.f - a.f for a, b in zip(both[0].questions, both[1].questions, strict=True)]
        row = next(r for r in agreement.runs if (r.run, r.average) == (run.tag, "macro"))
        reach = STUDENT * float(np.std(gaps, ddof=1)) / math.sqrt(5)  # the mean's own interval
        ends = max(-1, row.difference - reach), min(1, row.difference + reach)
        assert (row.low, row.high) == pytest.approx(ends, abs=1e-6)
    assert [row.average for row in agreement.scores] == ["micro", "macro"]
    assert len(agreement.swaps) == sum(row.swaps for row in agreement.scores)


def test_only_what_both_judged_counts() -> None:
    agreement = kt.agree_nuggets(SET, other(step=3))
    n_common = len(JUDGED.rows[::3])
    assert agreement.rows[0].pairs == n_common
    assert agreement.left_out == (len(JUDGED.rows) - n_common, 0)
    assert any(
        f"{len(JUDGED.rows) - n_common} pairs that only the official" in note
        for note in agreement.notes
    )
    judgements = Judgements(
        tuple(row for row in other().rows if (row.run, row.question) == ("run3", "q1"))
    )
    alone = kt.agree_nuggets(SET, judgements)
    assert [row.run for row in alone.rows] == ["all runs", "run3"]
    assert alone.rows[0].f_low is None
    assert (alone.runs[0].low, alone.scores) == (None, ())
    assert "Agreement of scores" not in alone.render()


def test_the_same_judgements_agree_and_nothing_carried_has_no_precision() -> None:
    agreement = kt.agree_nuggets(SET, SET)
    assert all(row.f in (1.0, None) and row.equal == 1 for row in agreement.rows)
    assert all(row.difference == row.low == row.high == 0 for row in agreement.runs)
    none = Judgements(tuple(row._replace(value=0.0) for row in JUDGED.rows))
    row = kt.agree_nuggets(SET, none).rows[0]
    assert (row.precision, row.precision_low, row.recall, row.f) == (None, None, 0.0, 0.0)


def test_labels_of_models_are_compared_where_no_person_judged() -> None:
    rows = tuple(row._replace(kind="model", judge="gpt") for row in other().rows)
    agreement = kt.agree_nuggets(SET, Judgements(rows))
    assert agreement.rows == kt.agree_nuggets(SET, other()).rows
    assert "The other judgements are labels of models: gpt." in agreement.notes
    mixed = kt.agree_nuggets(SET, Judgements((*rows, *other().rows[:8])))
    assert (mixed.models, mixed.rows[0].pairs) == ((), 8)


def test_strict_and_corrected() -> None:
    half = Judgements(tuple(row._replace(value=row.value / 2) for row in JUDGED.rows))
    assert kt.agree_nuggets(SET, half).rows[0].f == 1
    strict = kt.agree_nuggets(SET, half, strict=True)
    assert strict.rows[0].f == 0
    assert any("strict" in note for note in strict.notes)
    twin = replace(RUNS[1], tag="twin")
    more = replace(SET, runs=MappingProxyType({**SET.runs, "twin": twin}))
    assert len(kt.agree_nuggets(more, other()).rows) == 5
    corrected = kt.agree_nuggets(more, other(), corrected=True)
    assert [row.run for row in corrected.rows[1:]] == [*SET.runs, "twin"]


def test_the_command(tmp_path: Path, output: Callable[..., str]) -> None:
    kt.save_nuggets(kt.load_nuggets("demo-nuggets"), tmp_path / "mine.jsonl")
    text = (tmp_path / "mine.jsonl").read_text("utf-8")
    (tmp_path / "mine.jsonl").write_text(text.replace('"value": 0.0', '"value": 1.0', 2), "utf-8")
    args = "nuggets", "agree", "demo-nuggets", str(tmp_path / "mine.jsonl")
    printed = json.loads(output(*args, "-f", "json"))
    demo = kt.load_nuggets("demo-nuggets")
    other = kt.load_nuggets("demo-nuggets", judgements=[tmp_path / "mine.jsonl"])
    agreement = kt.agree_nuggets(demo, other)
    assert printed["rows"] == json.loads(json.dumps(agreement.records()))
    for source in ("demo-nuggets", demo):
        assert kt.agree_nuggets(source, tmp_path / "mine.jsonl").rows == agreement.rows
    assert printed["rows"][0]["precision"] < 1 == printed["rows"][0]["recall"]
    assert printed["runs"] == json.loads(json.dumps(agreement.records("runs")))
    page = output(*args, "-f", "html")
    assert "Judgements against judgements" in page


@pytest.mark.parametrize(
    ("judged", "sentence"),
    [
        (Judgements(()), "expected runs and other judgements of them"),
        (
            Judgements((JUDGED.rows[0]._replace(response="never said"),)),
            "no pair of response and nugget has judgements of both",
        ),
    ],
)
def test_what_cannot_be_compared(judged: Judgements, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        kt.agree_nuggets(SET, judged)
    with pytest.raises(InputError, match="beta=-1"):
        kt.agree_nuggets(SET, JUDGED, -1)


def test_bad_places(tmp_path: Path, run_karat: Callable[..., Any]) -> None:
    for args, sentence in (((str(tmp_path / "none.jsonl"),), "no such"), ((), "Missing argument")):
        done = run_karat("nuggets", "agree", "demo-nuggets", *args)
        assert (done.returncode, done.stdout) == (2, "")
        assert sentence in done.stderr
        assert "Traceback" not in done.stderr
