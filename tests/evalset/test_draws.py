"""Draws of segments and groups for judging: read, written, selected, and refused where wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import karat as kt
from karat.evalset.draws import format_draws

TEXTS = {"A": ["a", "b", "c"]}
DRAWS = (
    kt.Draw("1", 0.25, "random", 1),
    kt.Draw("2", None, "useful", 1),
    kt.Draw("3", 1.0, "random", 2),
)
GROUPS = (kt.Draw("x", 0.5, "random", 1, "group"), kt.Draw("y", None, "", 2, "group"))


def build_set(draws: Any = DRAWS, **more: Any) -> kt.EvalSet:
    arguments = {"references": ["r"] * 3, "groups": ["x", "x", "y"], **more}
    return kt.make_evalset("made", TEXTS, draws=draws, **arguments)


@pytest.mark.parametrize("format", ["dir", "jsonl"])
@pytest.mark.parametrize("draws", [DRAWS, GROUPS, None])
def test_draws_round_trip(tmp_path: Path, format: str, draws: Any) -> None:
    kt.save_evalset(build_set(draws), tmp_path / "x", format)
    evalset = kt.load_evalset(tmp_path / "x", format)
    assert evalset == build_set(draws)
    assert evalset.draws == draws


def test_a_table_of_draws(tmp_path: Path) -> None:
    kt.save_evalset(build_set(), tmp_path / "x")
    assert (tmp_path / "x" / "draws.tsv").read_text() == (
        "unit\tof\tprobability\treason\tround\n"
        "1\tsegment\t0.25\trandom\t1\n2\tsegment\t\tuseful\t1\n3\tsegment\t1.0\trandom\t2\n"
    )
    kt.save_evalset(build_set(None), tmp_path / "without")
    assert not (tmp_path / "without" / "draws.tsv").exists()


def test_selections_keep_the_draws_that_remain() -> None:
    assert build_set().select(segments=["3", "1"]).draws == (DRAWS[0], DRAWS[2])
    assert build_set(GROUPS).select(segments=["3"]).draws == (GROUPS[1],)
    assert build_set(GROUPS).select(systems=["A"]).draws == GROUPS
    assert build_set(None).select(segments=["1"]).draws is None
    assert build_set(DRAWS[:1]).select(segments=["2"]).draws is None
    assert build_set([]) == build_set(None)


def test_a_file_of_draws_is_added(tmp_path: Path) -> None:
    kt.save_evalset(build_set(DRAWS[:2]), tmp_path / "x")
    more = tmp_path / "more.tsv"
    more.write_text("".join(format_draws(DRAWS[2:])))
    assert kt.load_evalset(tmp_path / "x", draws=more).draws == DRAWS
    more.write_text("".join(format_draws((DRAWS[0]._replace(reason="again"), *DRAWS[1:]))))
    assert kt.load_evalset(tmp_path / "x", draws=more).draws[0].reason == "again"
    more.write_text("".join(format_draws([DRAWS[0]._replace(probability=0.5)])))
    with pytest.raises(kt.InputError, match=r"more.tsv, line 2: segment '1' is drawn twice in ro"):
        kt.load_evalset(tmp_path / "x", draws=more)
    kt.save_evalset(build_set(None), tmp_path / "y.jsonl", "jsonl")
    lines = tmp_path / "draws.jsonl"
    lines.write_text('{"draw": "2"}\n{"draw": "3", "probability": null, "round": 2}\n')
    actual_draws = kt.load_evalset(tmp_path / "y.jsonl", draws=lines).draws
    assert actual_draws == (kt.Draw("2", None), kt.Draw("3", None, "", 2))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"draw": "9"}, "a draw of segment '9', which is not in the set"),
        ({"of": "group"}, "a draw of group '1', which is not in the set"),
        ({"of": "word"}, "found a draw of 'word', expected segment or group"),
        ({"probability": 0}, "found the probability 0.0, expected a number above 0 and at most 1"),
        ({"probability": 1.2}, "found the probability 1.2, expected a number above 0"),
        ({"probability": float("nan")}, "found the probability nan, expected a number above 0"),
        ({"probability": "0.5"}, "found the probability '0.5', expected a number or null"),
        ({"round": 0}, "found the round 0, expected a whole number from 1"),
        ({"round": 1.5}, "found the round 1.5, expected a whole number from 1"),
        ({"round": None}, "found the round None, expected a whole number from 1"),
        ({"reason": "a\nb"}, r"found the reason .*, expected no tabs and line ends"),
        ({"reason": 1}, "draw, of and reason must be strings"),
        ({"why": "x"}, "found the name 'why', expected draw, of, probability, reason, round"),
    ],
)
def test_draws_that_are_none(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    draw = {"draw": "1", "of": "segment", "probability": 0.5, "reason": "random", "round": 1}
    (tmp_path / "d.jsonl").write_text(json.dumps({**draw, **change}) + "\n")
    kt.save_evalset(build_set(None), tmp_path / "x")
    with pytest.raises(kt.InputError, match=rf"d.jsonl, line 1: {message}"):
        kt.load_evalset(tmp_path / "x", draws=tmp_path / "d.jsonl")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1\tsegment\t0\trandom\t1", "found the probability 0.0, expected a number above 0"),
        ("1\tsegment\tnan\trandom\t1", "found the probability 'nan', expected a number above 0"),
        ("1\tsegment\t0.5\trandom\tone", "found the round 'one', expected a whole number"),
        ("9\tsegment\t0.5\trandom\t1", "a draw of segment '9', which is not in the set"),
        (
            "x\tgroup\t0.5\trandom\t1",
            "found a draw of a group after one of a segment, expected one",
        ),
        ("2\tsegment\t0.5\trandom\t1", r"segment '2' is drawn twice in round 1 \(first .*, line 2"),
    ],
)
def test_tables_of_draws_that_are_none(tmp_path: Path, line: str, message: str) -> None:
    kt.save_evalset(build_set(None), tmp_path / "x")
    rows = "unit\tof\tprobability\treason\tround\n", "2\tsegment\t0.5\trandom\t1\n", line
    (tmp_path / "x" / "draws.tsv").write_text("".join(rows))
    with pytest.raises(kt.InputError, match=rf"draws.tsv, line 3: {message}"):
        kt.load_evalset(tmp_path / "x")


def test_draws_of_python() -> None:
    with pytest.raises(kt.InputError, match=r"made, draws\[0\]: found the probability nan"):
        build_set([kt.Draw("1", float("nan"))])
    with pytest.raises(kt.InputError, match="a draw of group 'x', which is not in the set"):
        build_set(GROUPS, groups=None)
