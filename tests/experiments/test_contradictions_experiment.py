"""Planted contradictions: the table, its edits, the waves, and one topic on real data."""

from __future__ import annotations

import zlib
from collections import Counter
from pathlib import Path
from types import MappingProxyType

import nuggets_contradictions as experiment
import pytest
from nugget_sets import rag24

import karat as kt
from karat.errors import InputError
from karat.nuggets.sets.keys_and_runs import Response, make_run
from karat.nuggets.sets.nugget_set import NuggetSet

PLANTS = experiment.read_plants()
DEVELOPMENT_TOPICS = {plant.question for plant in PLANTS if plant.question <= "2024-224701"}


def plant(run: str, nugget: str, *edits: tuple[int, int, str], text: str = "") -> experiment.Plant:
    checksum = f"{zlib.crc32(text.encode()):08x}"
    edited = tuple(experiment.Edit(*edit) for edit in edits)
    return experiment.Plant("q", nugget, run, "number", checksum, edited)


def test_table_has_the_documented_size() -> None:
    counts = Counter((row.question in DEVELOPMENT_TOPICS, row.kind) for row in PLANTS)
    assert {kind: counts[True, kind] for kind in experiment.KINDS} == {
        "number": 70, "name": 75, "negation": 72,
    }  # fmt: skip
    assert {kind: counts[False, kind] for kind in experiment.KINDS} == {
        "number": 172, "name": 139, "negation": 172,
    }  # fmt: skip


def test_plants_are_unique_and_edits_are_apart_and_in_order() -> None:
    assert len({row.pair for row in PLANTS}) == len(PLANTS)
    for row in PLANTS:
        bounds = [bound for edit in row.edits for bound in (edit.start, edit.end)]
        assert bounds == sorted(bounds), row
        assert row.edits


def test_alter_replaces_spans_of_the_answer_that_was_read() -> None:
    text = "It fell 26% and then 26% again."
    edits = (8, 10, "6"), (21, 23, "four")
    edited = plant("a", "1", *edits, text=text)
    assert edited.alter(text) == "It fell 6% and then four% again."
    with pytest.raises(InputError, match=r"the answer of a to q is not the one that was edited"):
        edited.alter("Another answer.")


def test_waves_have_each_run_once_and_few_answers_for_a_nugget() -> None:
    plants = [plant(f"run{r}", str(g)) for r in range(4) for g in range(3)]
    for per_nugget, expected in ((1, 4), (2, 3)):
        waves = experiment.make_waves(plants, per_nugget)
        assert sorted(p.pair for wave in waves for p in wave) == sorted(p.pair for p in plants)
        for wave in waves:
            assert len({p.run for p in wave}) == len(wave)
            assert max(Counter(p.nugget for p in wave).values()) <= per_nugget
        assert len(waves) >= expected


def test_wilson_interval() -> None:
    assert experiment.wilson(8, 10) == pytest.approx((0.4902, 0.9433), abs=1e-4)
    assert experiment.wilson(0, 10) == pytest.approx((0.0, 0.2775), abs=1e-4)
    assert experiment.wilson(0, 0) == (0.0, 1.0)


def test_decisions_are_read_as_they_were_written(tmp_path: Path) -> None:
    pairs = {("q", "1", "a"): True, ("q", "2", "a"): False}
    decisions = experiment.Decisions("calibrated", "reported", pairs, {("q", "1", "a"): False})
    decisions.save(tmp_path / "decisions.json")
    assert experiment.load_decisions(tmp_path / "decisions.json") == decisions
    (tmp_path / "other.json").write_text("[1]")
    for name in ("other.json", "missing.json"):
        with pytest.raises(InputError, match="expected decisions that --save wrote"):
            experiment.load_decisions(tmp_path / name)


def test_table_counts_noticed_and_lost_pairs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    plants = [plant("a", "1"), plant("b", "1"), plant("c", "1")]
    untouched = {p.pair: p.run != "c" for p in plants}
    planted = {p.pair: p.run == "b" for p in plants}
    experiment.print_planted(experiment.Decisions("x", "reported", untouched, planted), plants)
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("| all | 3 | 66.7%")
    assert "(2 of 3) | 50.0%" in last
    assert last.endswith("(1 of 2) |")


def test_altered_run_keeps_its_other_answers() -> None:
    text = "There are 9 planets."
    run = make_run("a", [("q", Response(text)), ("r", Response("Untouched."))])
    edited = plant("a", "1", (10, 11, "8"), text=text)
    (altered,) = experiment.alter_runs({"a": run}, [edited]).values()
    assert altered.responses("q")[0].text == "There are 8 planets."
    assert altered.responses("r")[0].text == "Untouched."
    assert run.responses("q")[0].text == text


def test_plants_apply_to_supported_pairs_and_one_topic_is_decided(
    karat_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KARAT_DATA", str(karat_data))
    key, runs, judgements = rag24()
    by_tag = {run.tag: run for run in runs}
    values = {(row.question, row.nugget, row.run): row.value for row in judgements.rows}
    for row in PLANTS:
        (response,) = by_tag[row.run].responses(row.question)
        assert values[row.pair] == 1.0, row
        assert row.alter(response.text) != response.text
    assert experiment.topics_of("development", key.questions)[-1] == "2024-224701"
    topic = "2024-219563"
    nuggets = NuggetSet("rag24", key, MappingProxyType(by_tag), judgements)
    answered = sum(bool(run.responses(topic)) for run in runs)
    wave = [next(row for row in PLANTS if row.question == "2024-143869")]
    classifier = kt.nuggets.parse_classifier("calibrated")
    untouched, planted = experiment.decide_topic(nuggets, topic, classifier, [])
    assert len(untouched) == answered * len(key.questions[topic].nuggets)
    assert not planted
    _, planted = experiment.decide_topic(nuggets, "2024-143869", classifier, [wave])
    assert list(planted) == [wave[0].pair]


def test_lost_pairs_are_counted_against_saved_decisions(
    karat_data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KARAT_DATA", str(karat_data))
    carried = [row.pair for row in PLANTS[:4]]  # people call all of these pairs carried
    base = experiment.Decisions("x", "development", dict.fromkeys(carried, True), {})
    decisions = experiment.Decisions(
        "y", "development", dict(zip(carried, (True, True, True, False), strict=True)), {}
    )
    experiment.print_lost(decisions, base)
    lines = capsys.readouterr().out.splitlines()
    assert lines[-2].startswith("| c: carried | 25.0%")
    assert lines[-2].endswith("(1 of 4) |")
    assert lines[-1] == "| not carried | none |"
    with pytest.raises(InputError, match="about the development half, not reported"):
        experiment.print_lost(experiment.Decisions("y", "reported", {}, {}), base)
