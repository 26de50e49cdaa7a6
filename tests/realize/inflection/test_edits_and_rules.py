"""Edits, suffix rules and seen forms: worked values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.realize.forms import (
    START,
    Cell,
    FormTable,
    SuffixRules,
    apply_edit,
    differences,
    edit_between,
    suffixes,
)

PLURAL = ("NOUN", "NNS", "Number=Plur")


@pytest.mark.parametrize(
    ("lemma", "form", "edit"),
    [
        ("cat", "cat", ()),
        ("cat", "cats", ((0, "", "s"),)),
        ("study", "studies", ((0, "y", "ies"),)),
        ("sing", "sang", ((2, "i", "a"),)),
        ("5000", "5,000", ((3, "", ","),)),
        ("1234567", "1,234,567", ((6, "", ","), (3, "", ","))),
        ("machen", "gemacht", ((START, "", "ge"), (0, "en", "t"))),
    ],
)
def test_edits_count_from_the_end(lemma: str, form: str, edit: object) -> None:
    assert edit_between(lemma, form) == edit


@given(st.text("abc5,", min_size=1, max_size=8), st.text("abc5,", min_size=1, max_size=8))
def test_an_edit_makes_its_own_form(lemma: str, form: str) -> None:
    assert apply_edit(lemma, edit_between(lemma, form)) == form


def test_an_edit_that_does_not_fit_makes_nothing() -> None:
    assert apply_edit("dog", edit_between("study", "studies")) is None
    assert apply_edit("12", edit_between("5000", "5,000")) is None
    assert apply_edit("y", ((0, "y", ""),)) is None  # a form has characters


def test_suffixes_from_the_longest_and_shapes_of_numbers() -> None:
    assert list(suffixes("ox")) == ["^ox", "ox", "x", ""]
    assert list(suffixes("5000"))[:3] == ["^0000", "^0000", "^0000"]
    assert list(suffixes("4512"))[:2] == ["^0512", "^0000"]


def test_the_longest_suffix_that_two_types_have_decides() -> None:
    forms = {
        "cat": "cats",
        "bird": "birds",
        "dog": "dogs",
        "fox": "foxes",
        "box": "boxes",
        "ox": "oxen",
    }
    rules = SuffixRules.learn((lemma, (PLURAL,), form) for lemma, form in forms.items())
    assert rules.guess("tax", (PLURAL,)) == (
        ({"taxes": 2, "taxen": 1}, "rule", "x"),
        2 / 4,
    )  # fox, box, ox
    assert rules.guess("hen", (PLURAL,)) == (
        ({"hens": 3, "henes": 2}, "rule", ""),
        3 / 7,
    )  # an edit for one is rare
    assert rules.guess("hen", (("VERB", "VB", ""),)) == (({"hen": 0}, "lemma", ""), 0.0)


def test_unseen_features_take_the_forms_of_similar_ones() -> None:
    def verb(lemma: str, person: str, tense: str) -> Cell:
        return Cell(lemma, "VERB", "_", f"Person={person}|Tense={tense}")

    occurrences = []
    for lemma in ("go", "see", "walk"):
        past = {"go": "went", "see": "saw", "walk": "walked"}[lemma]
        occurrences += [(verb(lemma, "1", "Past"), past), (verb(lemma, "3", "Past"), past)]
        occurrences += [(verb(lemma, "1", "Pres"), lemma), (verb(lemma, "3", "Pres"), f"{lemma}s")]
    occurrences += [(verb("run", "1", "Past"), "ran"), (verb("run", "1", "Pres"), "run")]
    table = FormTable.learn(occurrences)
    assert differences(verb("run", "3", "Past"), verb("run", "1", "Past")) == (
        ("VERB", "Person", "1", "3"),
    )
    assert table.forms(verb("run", "1", "Past")) == {"ran": 1}
    assert table.forms(verb("run", "3", "Pres")) == {"runs": 3}  # three of three types add s
    assert table.forms(verb("zzz", "9", "Fut")) == {"zzz": 0}
    assert FormTable.of_text(table.text()).counts == table.counts


def test_what_is_missing_of_features_is_unknown() -> None:
    past, part = "Mood=Ind|Number={}|Person=3|Tense=Past|VerbForm=Fin", "Tense=Past|VerbForm=Part"
    sing, plur = (past.format(number) for number in ("Sing", "Plur"))
    occurrences = [(Cell("buy", "VERB", "VBD", sing), "bought")] * 2
    occurrences += [
        (Cell("buy", "VERB", "VB", "VerbForm=Inf"), "buy"),
        (Cell("obey", "X", "", ""), "o"),
    ]
    for lemma in ("destroy", "obey", "employ"):
        occurrences += [(Cell(lemma, "VERB", "VBD", sing), f"{lemma}ed")]
        occurrences += [(Cell(lemma, "VERB", "VBN", part), f"{lemma}ed")]
    table = FormTable.learn(occurrences)
    source = table.source(Cell("buy", "VERB", "VBD", ""))
    assert source == ({"bought": 2}, "similar", f"VERB VBD {sing}")
    assert table.forms(Cell("buy", "VERB", "VBD", "Tense=Past")) == {"bought": 2}
    source = table.source(Cell("buy", "VERB", "", ""))
    assert source == ({"bought": 2, "buy": 1}, "similar", "VERB")
    # Where lemmas were seen with just these features, they are complete; and some do not fit.
    assert table.source(Cell("buy", "VERB", "VBN", part)).detail == f"VERB VBD {sing}"
    assert table.source(Cell("buy", "VERB", "VBN", "")).origin == "rule"
    assert table.source(Cell("enjoy", "VERB", "VBD", "")).origin == "rule"
    assert table.source(Cell("buy", "VERB", "VBD", plur)).forms == {"bought": 2}


def test_a_form_that_is_seen_once_among_many_is_a_slip() -> None:
    cell = Cell("be", "AUX", "VBZ", "")
    table = FormTable.learn([(cell, "is")] * 60 + [(cell, "si")])
    assert table.forms(cell) == {"is": 60}
