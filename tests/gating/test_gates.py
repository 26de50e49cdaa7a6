"""Gates from Python: verdicts, guards, refusals, every kind of input, nuggets, other sources."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import karat as kt
from karat.gating.gates import setting_changes
from karat.registry import declared

REFERENCES = [[f"the cat number {i} sat on the mat", f"cat {i} was on a mat"] for i in range(40)]
OLD = [one[0] if i % 3 else one[0].replace("cat", "dog") for i, one in enumerate(REFERENCES)]
WORSE = [text if i % 4 else "a dog" for i, text in enumerate(OLD)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    target = tmp_path / "gate.tsv"
    kt.write_baseline(OLD, REFERENCES, ["chrf", "bleu", "ter"], baseline=target)
    return target


def test_the_same_passes_and_less_fails(path: Path) -> None:
    repeated = kt.gate(OLD, REFERENCES, baseline=path)
    assert (repeated.verdict, len(repeated.rows), repeated.changes) == ("pass", 3, ())
    worse = kt.gate(WORSE, REFERENCES, baseline=path)
    assert worse.failed
    assert worse.verdicts == ("fail", "fail", "fail")
    assert repr(worse).startswith("<GateResult: fail; chrf went from ")
    interval_part = "|ci=jackknife"
    assert worse.signature.splitlines()[0] == kt.metric("chrf").signature(2) + interval_part
    scored = kt.score(WORSE, REFERENCES, ["chrf", "bleu", "ter"])
    assert [row.score for row in worse.rows] == [row.score.value for row in scored.rows]
    assert list(worse.to_pandas()["verdict"]) == ["fail"] * 3


def test_a_baseline_is_the_same_bytes_every_time(path: Path, tmp_path: Path) -> None:
    kt.write_baseline(OLD, REFERENCES, baseline=path, threads=1)  # the metrics that it has
    kt.write_baseline(OLD, REFERENCES, ["chrf", "bleu", "ter"], baseline=tmp_path / "b", threads=2)
    assert path.read_bytes() == (tmp_path / "b").read_bytes()


def test_only_a_baseline_is_replaced(tmp_path: Path) -> None:
    foreign = tmp_path / "notes.txt"
    foreign.write_text("dear diary\n")
    message = r"notes\.txt is no baseline of Karat: name another file"
    with pytest.raises(kt.OutputError, match=message):
        kt.write_baseline(OLD, REFERENCES, baseline=foreign)
    assert foreign.read_text() == "dear diary\n"


def test_tolerances_are_by_metric(path: Path) -> None:
    result = kt.gate(WORSE, REFERENCES, baseline=path, max_drop={"chrf": 50, "": 0.5})
    assert [row.max_drop for row in result.rows] == [50, 0.5, 0.5]
    assert result.verdicts == ("pass", "fail", "fail")
    assert kt.gate(WORSE, REFERENCES, baseline=path, max_drop=90).verdict == "pass"
    kt.write_baseline(OLD, REFERENCES, "chrf++", baseline=path)
    only = kt.gate(WORSE, REFERENCES, "chrf++", baseline=path, max_drop={"chrf++": 50})
    assert (only.verdict, str(only.rows[0].metric)) == ("pass", "chrf:words=2")


def test_guards_hold_whatever_intervals_say(path: Path) -> None:
    changed = [*OLD[:7], "a dog", *OLD[8:]]
    settings: dict[str, Any] = {"baseline": path, "max_drop": 50}
    assert kt.gate(changed, REFERENCES, **settings).verdict == "pass"
    result = kt.gate(
        changed, REFERENCES, **settings, max_item_drop={"chrf": 20}, min_score={"ter": 1}
    )
    assert [(row.guard, str(row.metric), row.verdict) for row in result.guards] == [
        ("min-score", "ter", "fail"),  # lower is better: the score may not be above 1
        ("max-item-drop", "chrf", "fail"),
    ]
    assert result.failed
    assert (result.guards[1].items, result.guards[1].item) == (1, "8")
    assert "item '8' lost most" in result.sentences[-1]
    assert result.guards[1].value == -result.changes[0].delta
    good = kt.gate(
        changed, REFERENCES, **settings, max_item_drop=99, min_score={"ter": 99, "chrf": 10}
    )
    assert (good.verdict, {row.verdict for row in good.guards}) == ("pass", {"pass"})
    repeated = kt.gate(OLD, REFERENCES, baseline=path, max_item_drop={"chrf": 20})
    assert repeated.sentences[-1].endswith("the largest loss is 0.00")  # zero has no sign


def test_the_items_that_lost_most_have_their_texts(path: Path) -> None:
    result = kt.gate(WORSE, REFERENCES, baseline=path, examples=2)
    assert len(result.changes) == 2
    first = result.changes[0]
    at = int(first.item) - 1
    assert (first.output, first.reference) == (WORSE[at], REFERENCES[at][0])
    assert first.baseline_output is None
    before, after = (kt.metric("chrf").segments(texts, REFERENCES) for texts in (OLD, WORSE))
    assert (first.baseline, first.score) == (before[at], after[at])
    assert first.delta == min(after - before)
    kt.write_baseline(OLD, REFERENCES, baseline=path, texts=True)
    gated = kt.gate(WORSE, REFERENCES, baseline=path, examples=1)
    assert gated.changes[0].baseline_output == OLD[at]
    assert f"baseline: {OLD[at]}" in gated.render("text")


# ------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"metrics": "chrf:beta=3"}, "chrf:beta=3 has another signature: beta=2, now beta=3;"),
        ({"metrics": "rougeL"}, "there are no scores by rougeL, but by chrf, bleu, ter;"),
        ({"max_drop": {"ble": 1}}, "max_drop ble: no such metric; there is"),
        ({"max_drop": "1"}, "max_drop: found '1', expected a number"),
        ({"max_drop": float("nan")}, "max_drop: found nan, expected a number"),
        ({"max_drop": -1}, "max_drop: found -1, expected 0 or more"),
        ({"correction": "holm"}, "correction='holm' is not one of simultaneous, none"),
        ({"source": "nugget"}, "source 'nugget': expected one of texts, nuggets"),
        ({"no_loss": True}, "its items carry nothing that could be lost"),
        ({"ids": ["1"]}, "1 id was given for 40 segments"),
        ({"candidate": "x"}, "name their column with id"),
        ({"undecided": "x"}, "setting 'undecided' of gate: expected one of baseline, max_drop, "),
        ({"thread": 1}, "candidate, id, threads; did you mean threads?"),
        ({"resamples": 99}, "setting 'resamples' of gate: expected one of baseline, max_drop, "),
        ({"units": "document"}, "unit 'document': the document of each segment is unknown"),
        ({"units": ["a"]}, "units: found 1 label, expected 40, one per segment"),
        ({"units": ["a", None] * 20}, "segment 2 has no unit: every segment needs the label"),
        ({"examples": "x"}, "examples='x' is str, expected a whole number"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    path: Path, settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(kt.InputError, match=re.escape(message)) as caught:
        kt.gate(OLD, REFERENCES, baseline=path, **settings)
    assert "\n" not in str(caught.value)


def test_other_references_are_refused(path: Path) -> None:
    other = [
        ["another", *reference_texts[1:]] if i == 5 else reference_texts
        for i, reference_texts in enumerate(REFERENCES)
    ]
    with pytest.raises(kt.InputError, match="the items were scored against something else then"):
        kt.gate(OLD, other, baseline=path)
    with pytest.raises(kt.InputError, match="chrf has another signature: nrefs=2, now nrefs=1"):
        kt.gate(OLD, [reference_texts[0] for reference_texts in REFERENCES], baseline=path)


def test_another_version_is_refused(path: Path) -> None:
    path.write_text(path.read_text().replace(f"karat={kt.__version__}", "karat=0.0.1"))
    message = f"karat=0.0.1, now karat={kt.__version__}"
    with pytest.raises(kt.InputError, match=re.escape(message)):
        kt.gate(OLD, REFERENCES, baseline=path)


def test_missing_and_extra_segments_are_refused(path: Path) -> None:
    with pytest.raises(kt.InputError, match=r"40 items and the run 38: '39', '40' are not in the"):
        kt.gate(OLD[:38], REFERENCES[:38], baseline=path)
    ids = [*map(str, range(1, 40)), "x"]
    message = "'40' is not in the run, 'x' is not in the baseline"
    with pytest.raises(kt.InputError, match=message):
        kt.gate(OLD, REFERENCES, baseline=path, ids=ids)
    with pytest.raises(kt.InputError, match="two items have the id '1'"):
        kt.gate(OLD, REFERENCES, baseline=path, ids=["1"] * 40)


def test_settings_that_differ_are_named() -> None:
    assert setting_changes("bleu:n=4,tok=13a|nrefs=1", "bleu:n=4,tok=zh|nrefs=1|plugin=x") == (
        "tok=13a, now tok=zh; plugin=unset, now plugin=x"
    )


# ---------------------------------------------------------------------------- kinds of input


def test_ids_bring_items_together(tmp_path: Path) -> None:
    """A table in another order is the same run; only its items matter."""
    table = pd.DataFrame({"id": [f"s{i}" for i in range(40)], "output": OLD, "ref": REFERENCES})
    path, columns = tmp_path / "gate.tsv", {"candidate": "output", "id": "id"}
    kt.write_baseline(table, "ref", "chrf", baseline=path, **columns)
    places = random.Random(1).sample(range(40), 40)
    shuffled = table.assign(output=WORSE).iloc[places]
    verdict_result = kt.gate(shuffled, "ref", baseline=path, **columns)
    listed = kt.gate(WORSE, REFERENCES, baseline=path, ids=table["id"].tolist())
    assert verdict_result.rows == listed.rows
    assert verdict_result.changes == listed.changes
    table.assign(output=WORSE).to_json(tmp_path / "t.jsonl", orient="records", lines=True)
    again = kt.gate(tmp_path / "t.jsonl", "ref", baseline=path, **columns)
    assert again.rows == verdict_result.rows
    with pytest.raises(kt.InputError, match="name their column with id"):
        kt.gate(table, "ref", baseline=path)


def test_files_and_sets(tmp_path: Path) -> None:
    path, files = tmp_path / "gate.tsv", {}
    for name, lines in {
        "old": OLD,
        "new": WORSE,
        "ref": [reference_texts[0] for reference_texts in REFERENCES],
    }.items():
        files[name] = tmp_path / f"{name}.txt"
        files[name].write_text("".join(f"{line}\n" for line in lines))
    kt.write_baseline(files["old"], files["ref"], baseline=path)
    result = kt.gate(files["new"], files["ref"], baseline=path)
    assert (result.failed, result.changes_by) == (True, "chrf")
    demo = kt.load_evalset("demo")
    kt.write_baseline(demo.select(systems=["atlas"]), baseline=path)
    assert kt.gate(demo.select(systems=["atlas"]), baseline=path).verdict == "pass"
    with pytest.raises(kt.InputError, match=r"4 systems were given \(.*\): a gate takes one"):
        kt.gate(demo, baseline=path)


def test_trees_of_references_count(tmp_path: Path) -> None:
    words, path = ("a", "cat", "sat"), tmp_path / "gate.tsv"
    trees, other_trees = [kt.Tree(words, (2, 3, 0))] * 6, [kt.Tree(words, (3, 3, 0))] * 6
    metric = "simple_tree_accuracy"
    kt.write_baseline(["a cat sat"] * 6, trees, metric, baseline=path)
    assert kt.gate(["a cat sat"] * 6, trees, baseline=path).verdict == "pass"
    with pytest.raises(kt.InputError, match="scored against something else then"):
        kt.gate(["a cat sat"] * 6, other_trees, baseline=path)


def test_statistics_that_are_no_whole_numbers(tmp_path: Path) -> None:
    path, metrics = tmp_path / "gate.tsv", ["rougeL", "gtm:e=1.5", "aev:alpha=0.3"]
    kt.write_baseline(OLD, REFERENCES, metrics, baseline=path)
    repeated = kt.gate(OLD, REFERENCES, baseline=path)
    assert {(row.delta, row.low, row.high, row.verdict) for row in repeated.rows} == {
        (0, 0, 0, "pass")
    }


# ------------------------------------------------------------------------- other sources


def test_nuggets(tmp_path: Path) -> None:
    path = tmp_path / "nuggets.tsv"
    settings: dict[str, Any] = {"source": "nuggets", "baseline": path}
    kt.write_baseline("heron", "demo-nuggets", ["f", "A", "V"], **settings)
    repeated = kt.gate("heron", "demo-nuggets", **settings, no_loss=True)
    # The demonstration has too few questions for a verdict on scores; guards need none.
    assert (repeated.verdict, repeated.sentences[-1]) == ("undecided", "no vital nugget was lost")
    scored = kt.score_nuggets(kt.load_nuggets("demo-nuggets").select("heron"))
    row = scored.rows[0]
    assert [entry.score for entry in repeated.rows] == pytest.approx([row.macro, row.A, row.V])
    other = kt.gate("kestrel", "demo-nuggets", **settings, no_loss=True)
    changes = kt.diff_nuggets(
        *(kt.load_nuggets("demo-nuggets").select(tag) for tag in ("heron", "kestrel"))
    )
    lost = [c for c in changes.rows if (c.change, c.importance) == ("lost", "vital")]
    assert (other.verdict, other.guards[0].value) == ("fail", len(lost))
    assert other.guards[0].lost == "; ".join(f"{c.question}: {c.nugget}" for c in lost)
    assert "question: " in other.render("text")
    assert "reference: " not in other.render("text")
    silent = kt.gate("wren", "demo-nuggets", **settings)
    assert "output: (empty)" in silent.render("text")
    for wrong in ({"wrong": 1}, {"candidate": "x"}, {"judgments": ["x"]}):
        with pytest.raises(kt.InputError, match=f"setting '{next(iter(wrong))}' of gate: expected"):
            kt.gate("heron", "demo-nuggets", **settings, **wrong)
    with pytest.raises(kt.InputError, match="run 3 of nuggets: expected a file, the tag of a run"):
        kt.gate(3, "demo-nuggets", **settings)
    with pytest.raises(kt.InputError, match=r"none\.tsv: no such folder or file"):
        kt.gate("heron", "demo-nuggets", **settings, judgements="none.tsv")
    loaded = kt.load_nuggets("demo-nuggets").select("heron")
    assert kt.gate(loaded, **settings).rows == kt.gate("heron", "demo-nuggets", **settings).rows
    with pytest.raises(kt.InputError, match=r"a NuggetSet was given: .* leave ties out"):
        kt.gate(loaded, **settings, ties="half")
    with pytest.raises(
        kt.InputError, match="measure 'chrf' of nuggets: expected one of f, A, V, W"
    ):
        kt.gate("heron", "demo-nuggets", "chrf", **settings)
    for metrics in ("chrf", None):
        message = r"nuggets\.tsv: the baseline has scores from nuggets, the run from texts"
        with pytest.raises(kt.InputError, match=message):
            kt.gate(OLD, REFERENCES, metrics, baseline=path)
    with pytest.raises(kt.InputError, match="judgements=corrected, now judgements=as-judged"):
        kt.gate("heron", "demo-nuggets", **settings, corrected=False)


def test_a_gate_on_guesses_claims_no_interval_for_them(tmp_path: Path) -> None:
    """Low and high of a gate are over questions; labels of a model alone decide nothing."""
    key, good, bad, labels = [], [], [], []
    for q in range(8):
        key.append(f"q{q} 1 vital keeper{q} built lens{q}\n")
        good.append(f"q{q} good d the keeper{q} built lens{q}\n")
        bad.append(f"q{q} bad d nothing was said\n")
        label = {"question": f"q{q}", "nugget": "1", "judge": "m", "kind": "model", "value": 1}
        labels.append(json.dumps({**label, "run": "good", "response": f"the keeper{q}"}) + "\n")
    files = {"key.txt": key, "good.run": good, "bad.run": bad, "labels.jsonl": labels}
    for name, lines in files.items():
        (tmp_path / name).write_text("".join(lines))
    settings: dict[str, Any] = {
        "source": "nuggets",
        "baseline": tmp_path / "baseline.tsv",
        "judgements": tmp_path / "labels.jsonl",
    }
    kt.write_baseline(tmp_path / "good.run", tmp_path / "key.txt", **settings)
    notes = " ".join(kt.gate(tmp_path / "bad.run", tmp_path / "key.txt", **settings).notes)
    assert "Low and high" not in notes
    assert "allow for an unknown base rate" not in notes
    assert (
        "Guesses decide 100% of the nuggets of this run. The gate takes guesses as right: its "
        "intervals and verdicts do not allow for wrong ones." in notes
    )
    judged = {"source": "nuggets", "baseline": tmp_path / "judged.tsv"}
    kt.write_baseline("heron", "demo-nuggets", **judged)
    notes = " ".join(kt.gate("heron", "demo-nuggets", **judged).notes)
    assert "No nugget of this run rests on a guess." in notes
    assert "takes guesses as right" not in notes


class Length:
    """A measure of another program: the mean of given numbers, of which some may be missing."""

    sign, full_scale = 1, 100.0

    def __str__(self) -> str:
        return "length"

    def columns(self) -> tuple[str, ...]:
        return "sum", "count"

    def measure(self, rows: Any) -> dict[str, Any]:
        total, count = np.asarray(rows, float).T
        with np.errstate(invalid="ignore"):
            return {"value": total / count}

    def of_segments(self) -> Length:
        return self


def lengths(output: Any, against: Any, measures: Any, *, progress: Any) -> kt.ItemScores:
    rows = np.array([(0, 0) if text is None else (len(text), 1) for text in output])
    items = kt.MeasuredItems(Length(), "length|version=1", rows)
    ids = tuple(f"i{at}" for at in range(len(output)))
    texts = lambda places: [kt.ItemText(output[at] or "", "") for at in places]  # noqa: E731
    return kt.ItemScores("mine", ids, (items,), str(against), texts, "lengths")


def test_a_source_of_another_program_and_missing_scores(tmp_path: Path) -> None:
    kt.register(kt.ScoreSource(lengths), "sources", "lengths")
    try:
        texts: list[str | None] = [f"{i} " * (i % 5 + 3) for i in range(30)]
        texts[4] = None
        settings: dict[str, Any] = {"source": "lengths", "baseline": tmp_path / "gate.tsv"}
        kt.write_baseline(texts, "x", **settings)
        shorter = [text and text[:3] for text in texts]
        shorter[5] = None
        result = kt.gate(shorter, "x", **settings, max_item_drop=1)
        assert result.failed
        assert "2 items have no score by length, now or in the baseline." in result.notes
        assert result.rows[0].score == pytest.approx(3.0)
        scored = kt.item_scores(shorter, "x", source="lengths")
        again = kt.gate(scored, baseline=settings["baseline"], max_item_drop=1)
        assert again.rows[0][1:] == result.rows[0][1:]
        with pytest.raises(kt.InputError, match="the output is scored already"):
            kt.gate(scored, REFERENCES, baseline=settings["baseline"])
        with pytest.raises(kt.InputError, match="the run has no score by length"):
            kt.gate([None] * 30, "x", **settings)
    finally:
        declared("sources").pop("lengths", None)
        from karat.gating.items import SOURCES

        SOURCES._entries.pop("lengths", None)


# ------------------------------------------------------------------------------ real data


def test_real_regressions_are_caught(karat_data: Path, tmp_path: Path) -> None:
    """A tenth of the words of a tenth of the segments dropped: see experiments/gate_alarms.py."""
    ted, rng, path = kt.load_evalset("ted-zhen"), random.Random(2006), tmp_path / "gate.tsv"
    outputs, references = ted.texts()
    before = outputs["NiuTrans"]
    kt.write_baseline(before, references, ["chrf", "bleu"], baseline=path)
    after = list(before)
    for at in rng.sample(range(529), 53):
        words = after[at].split()
        for _ in range(max(1, round(len(words) / 10))):
            words.pop(rng.randrange(len(words)))
        after[at] = " ".join(words)
    assert kt.gate(before, references, baseline=path).verdict == "pass"
    assert kt.gate(after, references, baseline=path).verdicts == ("fail", "fail")
    assert kt.gate(after, references, baseline=path, max_drop=5).verdict == "pass"


def test_tables_begin_with_what_decides(tmp_path: Path) -> None:
    """A narrow screen shows the first columns."""
    kt.write_baseline(OLD, REFERENCES, "chrf", baseline=tmp_path / "b.tsv")
    verdict_result = kt.gate(OLD[::-1], REFERENCES, baseline=tmp_path / "b.tsv")
    tables = verdict_result.document("gate").tables
    names = {table.key: [column.key for column in table.columns] for table in tables}
    assert names["rows"][:5] == ["metric", "verdict", "delta", "low", "high"]
    assert names["changes"][:3] == ["item", "delta", "text"]


@pytest.mark.parametrize("unit", [None, "segment", "page"])
def test_units_of_a_gate(tmp_path: Path, unit: str | None) -> None:
    path, metrics, settings = tmp_path / "gate.tsv", ["chrf", "bleu"], {"correction": "none"}
    kt.write_baseline(OLD, REFERENCES, metrics, baseline=path)
    labels = [f"page {i // 4}" for i in range(len(OLD))]
    units = labels if unit == "page" else unit
    result = kt.gate(WORSE, REFERENCES, baseline=path, units=units, **settings)
    both = {"old": OLD, "new": WORSE}
    compared = kt.compare(both, REFERENCES, metrics, units=units, **settings)
    for row in result.rows:
        other = compared["new", str(row.metric)]
        ends = other.delta_low, other.delta_high
        assert (row.delta, row.low, row.high) == (other.delta, *ends)
    assert ("|unit=unit" in result.signature) == (unit == "page")
    name = "unit" if unit == "page" else "item"
    assert f"jackknife error by {name} and" in result.notes[0]


def test_units_stay_with_their_items(tmp_path: Path) -> None:
    """The order of items in the run does not matter."""
    path, ids = tmp_path / "gate.tsv", [f"i{n}" for n in range(len(OLD))]
    labels = [f"page {i // 4}" for i in range(len(OLD))]
    kt.write_baseline(OLD, REFERENCES, "chrf", baseline=path, ids=ids)
    first = kt.gate(WORSE, REFERENCES, baseline=path, ids=ids, units=labels).rows[0]
    second = kt.gate(
        WORSE[::-1], REFERENCES[::-1], baseline=path, ids=ids[::-1], units=labels[::-1]
    ).rows[0]
    assert (second.low, second.high) == pytest.approx((first.low, first.high))


def test_nuggets_have_questions_as_units(tmp_path: Path) -> None:
    path = tmp_path / "nuggets.tsv"
    kt.write_baseline("heron", "demo-nuggets", source="nuggets", baseline=path)
    with pytest.raises(kt.InputError, match="scores from nuggets are compared item by item"):
        kt.gate("heron", "demo-nuggets", source="nuggets", baseline=path, units="question")
