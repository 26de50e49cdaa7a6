"""The answer of a comparison on its slices, from made rows."""

from __future__ import annotations

from dataclasses import replace

import karat as kt
from karat.comparison import Comparison
from karat.report.documents.slices import slice_figures, slice_sentences
from karat.slices import SliceRow
from karat.stats.significance import BETTER, UNDECIDED, WORSE

TEXTS = ["a b c", "a b d", "a c d", "b c d", "a b e", "c d e"]
DELTAS = {BETTER: 2.0, WORSE: -2.0, UNDECIDED: 0.0}


def slice_row(system: str, label: str, verdict: str | None, metric: str = "bleu") -> SliceRow:
    delta = DELTAS[verdict or UNDECIDED]
    ends = (None, None) if verdict is None else (delta - 1, delta + 1)
    p = None if verdict is None else 0.01 if delta else 0.5
    m = kt.metric(metric)
    return SliceRow(label, None, 9, 9, system, m, 30.0, 30 + delta, delta, *ends, p, verdict, 7)


def sentences(*rows: SliceRow, name: str = "domain") -> list[str]:
    return list(slice_sentences(comparison(*rows, name=name)))


def comparison(*rows: SliceRow, name: str = "domain") -> Comparison:
    base = kt.compare({"base": TEXTS, "A": TEXTS}, TEXTS, "bleu")
    return replace(base, slices=rows, slicing=name)


def test_losses_have_numbers_and_wins_do_not() -> None:
    rows = [
        slice_row("A", "law", WORSE),
        slice_row("B", "law", BETTER),
        slice_row("B", "x", BETTER),
    ]
    assert sentences(*rows, slice_row("A", "x", BETTER)) == [
        "A is worse than base in domain law by BLEU -2.0 [-3.0, -1.0], but better in domain x by "
        "BLEU.",
        "B is better than base in domain law and x by BLEU, and worse on no slice.",
    ]


def test_bands_of_length_are_segments() -> None:
    rows = [slice_row("A", "long", WORSE), slice_row("A", "long", WORSE, "chrf")]
    assert sentences(*rows, slice_row("A", "short", UNDECIDED), name="length") == [
        "A is worse than base on long segments by BLEU -2.0 [-3.0, -1.0] and "
        "chrF -2.0 [-3.0, -1.0]."
    ]


def test_many_losses_are_listed_without_numbers() -> None:
    rows = [slice_row("A", label, WORSE) for label in "abcdefgh"]
    assert sentences(*rows) == ["A is worse than base in domain a, b, c, d, e and 3 more by BLEU."]


def test_many_systems_are_counted() -> None:
    losing = [slice_row(system, "x", WORSE) for system in "ABCDE"]
    winning = [slice_row(system, "x", BETTER) for system in "FGHIJ"]
    assert sentences(*losing, *winning, slice_row("K", "x", UNDECIDED)) == [
        "5 of 11 systems are worse than base on at least one slice: A, B, C, D and E.",
        "5 of 11 systems are better than base on at least one slice, and worse on none: "
        "F, G, H, I and J.",
        "No slice tells K and base apart.",
    ]


def test_without_verdicts_the_answer_says_how_many_units_are_needed() -> None:
    assert sentences(slice_row("A", "x", None), slice_row("A", "y", None)) == [
        "No slice has enough segments for a verdict: at least 7 are needed."
    ]
    assert slice_figures(comparison(slice_row("A", "x", None))) == []


def test_pictures_leave_out_slices_without_a_verdict_and_say_so() -> None:
    rows = [slice_row("A", "x", WORSE), slice_row("A", "y", None)]
    (figure,) = slice_figures(comparison(*rows))
    assert [row.label for row in figure.drawing.rows] == ["x"]
    assert figure.caption.endswith("Slices with too few units are not drawn.")
    two = slice_figures(comparison(*rows, slice_row("B", "x", BETTER)))
    assert [panel.title for panel in two[0].figures] == ["BLEU, A", "BLEU, B"]
