"""Slices: each equals a comparison of its segments alone, and all tests are corrected together."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import slice_loops

import karat as kt
from karat.comparison import Comparison
from karat.errors import InputError
from karat.slices import MAX_SLICES, SliceRow, Slices
from karat.text.references import References
from karat.text.segments import Strings

WORDS = ["the", "a", "cat", "dog", "sat", "on", "mat", "ran", "far", "away", "by", "river"]


def sentences(count: int, seed: int) -> list[str]:
    rng = random.Random(seed)
    return [" ".join(rng.choices(WORDS, k=rng.randint(3, 9))) for _ in range(count)]


def noisy(texts: list[str], share: float, seed: int) -> list[str]:
    """Texts where a share of the words is another word."""
    rng = random.Random(seed)
    return [
        " ".join(rng.choice(WORDS) if rng.random() < share else word for word in text.split())
        for text in texts
    ]


REFERENCES = sentences(60, 1)
SYSTEMS = {"atlas": noisy(REFERENCES, 0.3, 2), "beacon": noisy(REFERENCES, 0.35, 3)}
DOMAINS = [("news", "chat", "law")[i % 3] for i in range(60)]


def row_of(comparison: Comparison, label: str, system: str = "beacon") -> SliceRow:
    (row,) = [r for r in comparison.slices if (r.slice, r.system) == (label, system)]
    return row


def chosen(texts: list[str], labels: list[str], label: str) -> list[str]:
    return [text for text, other in zip(texts, labels, strict=True) if other == label]


# ----------------------------------------------------------------------------- against oracles


@given(
    st.lists(st.sampled_from(["x", "y", "z"]), min_size=60, max_size=60),
    st.integers(1, 4),
    st.sampled_from(["bleu", "chrf", "rouge1"]),
)
def test_a_slice_is_a_comparison_of_its_segments_alone(
    labels: list[str], per_unit: int, metric: str
) -> None:
    units = [f"d{i // per_unit}" for i in range(60)]
    settings: dict[str, Any] = {"correction": "none"}
    comparison = kt.compare(SYSTEMS, REFERENCES, metric, units=units, slices=labels, **settings)
    assert {row.slice for row in comparison.slices} == {*labels}
    for label in {*labels}:
        row = row_of(comparison, label)
        parts = {name: chosen(texts, labels, label) for name, texts in SYSTEMS.items()}
        references, part_units = (chosen(x, labels, label) for x in (REFERENCES, units))
        alone = kt.compare(parts, references, metric, units=part_units, **settings)
        expected = alone["beacon", metric]
        assert (row.segments, row.units) == (len(references), len({*part_units}))
        assert row.score == expected.score.value
        assert row.baseline_score == alone["atlas", metric].score.value
        assert row.delta == expected.delta
        if row.units < 6:
            assert (row.verdict, row.p, row.delta_low) == (None, None, None)
        else:
            ends = (expected.delta_low, expected.delta_high)
            assert (row.p, row.verdict) == (expected.p, expected.verdict)
            assert (row.delta_low, row.delta_high) == ends


@given(st.lists(st.sampled_from("xyz"), min_size=60, max_size=60), st.integers(1, 3))
def test_all_tests_are_corrected_together(labels: list[str], per_unit: int) -> None:
    """A unit with segments in several slices makes their differences move together."""
    units = [f"d{i // per_unit}" for i in range(60)]
    comparison = kt.compare(SYSTEMS, REFERENCES, "bleu", units=units, slices=labels)
    m = kt.metric("bleu")
    rows = [m.stats(SYSTEMS[name], REFERENCES) for name in ("beacon", "atlas")]
    names, family = slice_loops.slice_family(m, (rows[0], rows[1]), units, labels)
    if any(row.verdict is None for row in comparison.slices):
        return  # of another test: such slices are left out
    for at, name in enumerate(names):
        row = row_of(comparison, name)
        assert row.p == pytest.approx(family.p(at), rel=1e-6)
        low, high = family.interval(at)
        ends = (max(low, -100.0), min(high, 100.0))  # BLEU's largest differences
        assert (row.delta_low, row.delta_high) == pytest.approx(ends, rel=1e-6)


@given(st.lists(st.integers(1, 9), min_size=1, max_size=40))
def test_bands_are_the_nearest_to_terciles(lengths: list[int]) -> None:
    references = [" ".join(["w"] * length) for length in lengths]
    expected = slice_loops.bands(lengths)
    if expected[0] == "all":
        with pytest.raises(InputError, match="every first reference has"):
            Slices.by_length(References([Strings(references)]))
        return
    slices = Slices.by_length(References([Strings(references)]))
    assert [slices.labels[code] for code in slices.codes] == expected
    for code, label in enumerate(slices.labels):
        band = [n for n, name in zip(lengths, expected, strict=True) if name == label]
        limits = f"{min(band)}" if min(band) == max(band) else f"{min(band)} to {max(band)}"
        assert slices.bound(code) == f"{limits} word{'s' * (max(band) > 1)}"


# ------------------------------------------------------------------------------------ verdicts


def test_interval_and_p_agree_and_are_wider_than_alone() -> None:
    together = kt.compare(SYSTEMS, REFERENCES, ["bleu", "chrf"], slices=DOMAINS)
    single = kt.compare(SYSTEMS, REFERENCES, ["bleu", "chrf"], slices=DOMAINS, correction="none")
    p_alone = {row[:1] + row[4:6]: row.p for row in single.slices}
    assert len(together.slices) == 6
    for row in together.slices:
        assert row.p is not None
        assert row.delta_low is not None
        assert row.delta_high is not None
        assert row.p >= p_alone[row[:1] + row[4:6]]
        assert (row.p < 0.05) == (row.delta_low > 0 or row.delta_high < 0)
        assert (row.verdict != "undecided") == (row.p < 0.05)


def test_slices_with_a_loss_come_first() -> None:
    worse = noisy(REFERENCES, 0.9, 7)
    mixed = [
        w if d == "law" else a for a, w, d in zip(SYSTEMS["atlas"], worse, DOMAINS, strict=True)
    ]
    comparison = kt.compare({**SYSTEMS, "mixed": mixed}, REFERENCES, "chrf", slices=DOMAINS)
    assert [(row.slice, row.system) for row in comparison.slices] == [
        (label, system) for label in ("law", "news", "chat") for system in ("beacon", "mixed")
    ]
    assert row_of(comparison, "law", "mixed").verdict == "worse"
    equal = row_of(comparison, "news", "mixed")
    assert (equal.delta, equal.p, equal.verdict) == (0, 1, "undecided")
    assert "mixed is worse than atlas in slice law by chrF " in comparison.summary
    assert "No slice tells beacon and atlas apart." in comparison.summary


def test_lower_is_better_for_ter() -> None:
    better = {"base": noisy(REFERENCES, 0.8, 5), "good": REFERENCES}
    rows = kt.compare(better, REFERENCES, "ter", slices=DOMAINS).slices
    assert [row.verdict for row in rows] == ["better"] * 3
    assert all(row.delta < 0 for row in rows)


def test_a_slice_with_too_few_units_has_no_verdict_and_corrects_no_other() -> None:
    tiny = ["tiny" if i < 5 else label for i, label in enumerate(DOMAINS)]
    comparison = kt.compare(SYSTEMS, REFERENCES, "bleu", slices=tiny)
    row = row_of(comparison, "tiny")
    assert (row.segments, row.units, row.min_units) == (5, 5, 8)
    assert (row.p, row.delta_low, row.delta_high, row.verdict) == (None,) * 4
    assert row.score == kt.metric("bleu").corpus(SYSTEMS["beacon"][:5], REFERENCES[:5]).value
    without = kt.compare(
        {name: texts[5:] for name, texts in SYSTEMS.items()},
        REFERENCES[5:],
        "bleu",
        slices=tiny[5:],
    )
    for other in without.slices:
        same = row_of(comparison, other.slice)
        assert same.p == pytest.approx(other.p, abs=0.02)  # other draws, of the same correlations
        assert same.p <= 3 * kt_single_p(other)
    assert "1 slice with too few units for a verdict" in comparison.notes[1]
    assert "too few, needs 8 segments" in comparison.render("text")


def kt_single_p(row: SliceRow) -> float:
    labels = [label == row.slice for label in DOMAINS]
    parts = {
        name: [t for i, t in enumerate(texts) if labels[i] and i >= 5]
        for name, texts in SYSTEMS.items()
    }
    references = [t for i, t in enumerate(REFERENCES) if labels[i] and i >= 5]
    p = kt.compare(parts, references, "bleu")["beacon", "bleu"].p
    assert p is not None
    return p


def test_no_slice_has_enough_units() -> None:
    labels = [f"s{i // 4}" for i in range(60)]
    comparison = kt.compare(SYSTEMS, REFERENCES, "bleu", slices=labels)
    assert len(comparison.slices) == 15
    assert {row.verdict for row in comparison.slices} == {None}
    assert "No slice has enough segments for a verdict: at least 10 are needed." in (
        comparison.summary
    )
    assert "Differences from atlas by slice" not in titles(comparison)


def test_one_slice_is_the_whole_comparison() -> None:
    comparison = kt.compare(SYSTEMS, REFERENCES, "bleu", slices=["all"] * 60)
    (row,) = comparison.slices
    expected = comparison["beacon", "bleu"]
    assert (row.delta, row.p, row.delta_low) == (expected.delta, expected.p, expected.delta_low)


def test_external_scores_count_units_with_scores() -> None:
    values = {name: [float(i % 7) for i in range(60)] for name in SYSTEMS}
    values["beacon"] = [
        None if i % 3 == 0 and i > 20 else v + 1 for i, v in enumerate(values["atlas"])
    ]
    scores = kt.external_scores("human", values)
    comparison = kt.compare(SYSTEMS, REFERENCES, scores, slices=DOMAINS)
    assert [(r.slice, r.segments, r.units) for r in comparison.slices] == [
        ("news", 20, 7),
        ("chat", 20, 20),
        ("law", 20, 20),
    ]
    assert row_of(comparison, "chat").delta == 1


# -------------------------------------------------------------------------------------- length


def test_texts_without_spaces_are_measured_in_characters() -> None:
    references = ["那只猫坐在垫子上" * n for n in range(1, 31)]
    slices = Slices.by_length(References([Strings(references)]))
    assert slices.bounds == ["8 to 80 characters", "88 to 160 characters", "168 to 240 characters"]
    answers = Slices.by_length(References([Strings(["ab", "c", "defg"] * 2)]))
    assert answers.bounds == ["1 character", "2 characters", "4 characters"]


def test_the_first_reference_is_measured() -> None:
    references = [["a b c" if i % 2 else "a", "a b c d e f g"] for i in range(12)]
    texts = {"x": ["a b"] * 12, "y": ["a c"] * 12}
    rows = kt.compare(texts, references, "bleu", slices="length").slices
    assert {(row.slice, row.bounds) for row in rows} == {("short", "1 word"), ("long", "3 words")}


# ------------------------------------------------------------------------------------- results

FIELDS = (
    *("slice", "bounds", "segments", "units", "metric", "system", "baseline_score", "score"),
    *("delta", "delta_low", "delta_high", "p", "verdict", "min_units"),
)


def titles(comparison: Comparison) -> list[str]:
    return [block.title for block in comparison.document().blocks]


@pytest.mark.parametrize("format", ["text", "json", "tsv", "md", "latex", "html"])
def test_every_format_shows_the_slices(format: str) -> None:
    comparison = kt.compare(SYSTEMS, REFERENCES, ["bleu", "chrf"], slices=DOMAINS)
    rendered = comparison.render(format)
    assert all(label in rendered for label in ("news", "chat", "law"))
    assert "Differences from atlas by slice" in titles(comparison)


def test_records_have_all_fields_and_settings_name_the_slices() -> None:
    comparison = kt.compare(SYSTEMS, REFERENCES, "bleu", slices=DOMAINS)
    records = comparison.records("slices")
    assert [tuple(record) for record in records] == [FIELDS] * 3
    assert comparison.settings["slices"] == "slice"
    without = kt.compare(SYSTEMS, REFERENCES, "bleu")
    assert "slices" not in without.settings
    assert without.slices == ()
    assert without.rows == comparison.rows


def test_the_wide_table_keeps_the_slices() -> None:
    comparison = kt.compare(SYSTEMS, REFERENCES, "bleu", slices=DOMAINS)
    assert "Comparison by slice" in comparison.wide().render("text")


# ----------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("slices", "problem"),
    [
        (["a"] * 59, "found 59 labels of slices, and 60 segments"),
        (["a"] * 58 + ["", None], "2 of 60 segments have no slice, the first is segment 59"),
        ([float("nan")] + ["a"] * 59, "1 of 60 segments have no slice, the first is segment 1"),
        (list(range(60)), f"found 60 slices, expected at most {MAX_SLICES}: use labels"),
        ("domain", "slices by 'domain': the inputs know length; give labels"),
        ("document", "slices by 'document': the inputs know length; give labels"),
    ],
)
def test_bad_slices_are_refused(slices: Any, problem: str) -> None:
    with pytest.raises(InputError, match=problem.replace(".", "\\.")):
        kt.compare(SYSTEMS, REFERENCES, "bleu", slices=slices)


def test_buckets_are_refused() -> None:
    with pytest.raises(InputError, match="slices need single segments, and intervals use 8 bu"):
        kt.compare(SYSTEMS, REFERENCES, "bleu", slices="length", buckets=8)


def test_length_needs_references() -> None:
    scores = kt.external_scores("human", {name: [float(i) for i in range(60)] for name in SYSTEMS})
    with pytest.raises(InputError, match="slices by length: the segments have no references"):
        kt.compare(SYSTEMS, None, scores, slices="length")


# ----------------------------------------------------------------------------------- real data


def test_wmt23_by_length_with_documents_as_units(karat_data: Path) -> None:
    if not (karat_data / "mt-wmt23-ende").exists():
        pytest.skip("mt-wmt23-ende is not in KARAT_DATA")
    evalset = kt.load_evalset(karat_data / "mt-wmt23-ende")
    evalset = evalset.select(systems=["ONLINE-A", "ONLINE-M"])
    comparison = kt.compare(evalset, metrics="chrf", slices="length", correction="none")
    assert [(r.slice, r.bounds, r.segments, r.units, r.verdict) for r in comparison.slices] == [
        ("short", "1 to 20 words", 186, 117, "worse"),
        ("medium", "21 to 71 words", 186, 100, "worse"),
        ("long", "72 to 464 words", 185, 119, "worse"),
    ]
    words = [len(references[0].split()) for references in evalset.references]
    selected = [id for id, n in zip(evalset.segments, words, strict=True) if n <= 20]
    alone = kt.compare(evalset.select(segments=selected), metrics="chrf")
    row, expected = comparison.slices[0], alone["ONLINE-M", "chrf"]
    assert (row.delta, row.p) == (expected.delta, expected.p)
    assert (row.delta_low, row.delta_high) == (expected.delta_low, expected.delta_high)
    corrected = kt.compare(evalset, metrics="chrf", slices="length")
    assert all(
        np.greater_equal(b.p, a.p) for a, b in zip(comparison.slices, corrected.slices, strict=True)
    )


def test_a_set_of_few_documents_by_document() -> None:
    comparison = kt.compare("demo", metrics="bleu", slices="document")
    evalset = kt.load_evalset("demo")
    assert {row.slice for row in comparison.slices} == {*evalset.groups}
    assert {row.min_units for row in comparison.slices} == {9}
