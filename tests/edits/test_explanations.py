"""Metrics that explain themselves: TER's shifts against sacreBLEU's, alignments against scores."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.strategies import any_text, hard_text
from sacrebleu.metrics import lib_ter

import karat as kt
from karat.errors import InputError

LETTERS = {"keep": " ", "substitute": "s", "insert": "d", "delete": "i"}
"""Our operations turn the reference into the candidate, sacreBLEU's the candidate into it."""

words = st.lists(st.sampled_from("abcdefgh"), max_size=30)
REFERENCE = "the cat sat on the mat today"
CANDIDATE = "today the cat sat on mat"


def peers_way(candidate: list[str], reference: list[str]) -> tuple[list[list[str]], str]:
    """The candidate after each of sacreBLEU's shifts, itself first, and the trace at the end."""
    texts, tried = [candidate], 0
    distance = lib_ter.BeamEditDistance(reference)
    while reference:
        gain, shifted, tried = lib_ter._shift(texts[-1], reference, distance, tried)
        if gain <= 0 or tried >= lib_ter._MAX_SHIFT_CANDIDATES:
            break
        texts.append(shifted)
    return texts, distance(texts[-1])[1]


def our_way(found: kt.ShiftedAlignment) -> tuple[list[list[str]], str]:
    """The same of an explanation, every shift done anew from its numbers."""
    texts = [list(found.candidate)]
    for shift in found.shifts:
        block = texts[-1][shift.start : shift.start + shift.length]
        assert tuple(block) == shift.words
        rest = texts[-1][: shift.start] + texts[-1][shift.start + shift.length :]
        texts.append(rest[: shift.target] + block + rest[shift.target :])
    assert texts[-1] == list(found.alignment.candidate)
    return texts, "".join(LETTERS[o.kind] for o in found.alignment.operations)


@given(words, words)
def test_shifts_and_trace_are_sacrebleus(candidate, reference):
    explanation = kt.TER().explain(" ".join(candidate), " ".join(reference))
    assert our_way(explanation) == peers_way(candidate, reference)


@settings(max_examples=4)
@given(st.permutations(range(70)), st.integers(0, 70), st.integers(50, 70))
def test_long_texts_where_the_beam_and_the_limits_count(order, kept, length):
    reference = [f"w{i}" for i in range(length)]
    candidate = reference[:kept] + [f"w{i}" for i in order][: 70 - kept]
    explanation = kt.TER().explain(" ".join(candidate), " ".join(reference))
    assert our_way(explanation) == peers_way(candidate, reference)


@given(hard_text, st.lists(hard_text, min_size=1, max_size=3), st.booleans(), st.booleans())
def test_an_explanation_of_ter_has_the_edits_of_its_score(candidate, references, norm, nopunct):
    metric = kt.TER(norm=norm, nopunct=nopunct)
    explanation, parts = (
        metric.explain(candidate, references),
        metric.corpus([candidate], [references]),
    )
    assert explanation.edits == parts.parts["edits"]
    assert len(explanation.shifts) == parts.parts["shifts"]


@pytest.mark.parametrize("name", ["simple_accuracy", "generation_accuracy", "wer"])
@given(candidate=any_text, references=st.lists(any_text, min_size=1, max_size=3))
def test_an_alignment_has_the_counts_of_the_score(name, candidate, references):
    metric = kt.metric(f"{name}:tok=13a,case=lower")
    explanation, score = (
        metric.explain(candidate, references),
        metric.corpus([candidate], [references]),
    )
    moves = len(explanation.moves) if "moves" in score.parts else 0
    assert explanation.count("substitute") == score.parts["substitutions"]
    assert explanation.count("insert") - moves == score.parts["insertions"]
    assert explanation.count("delete") - moves == score.parts["deletions"]
    assert len(explanation.reference) == score.parts["tokens"]


def test_a_block_of_words_and_where_it_went():
    explanation = kt.TER().explain(CANDIDATE, REFERENCE)
    assert explanation.shifts == ((0, 1, 5, ("today",)),)
    assert " ".join(explanation.alignment.candidate) == "the cat sat on mat today"
    assert explanation.edits == 2


def test_the_first_of_equally_good_references_is_explained():
    for name in ("ter", "wer", "simple_accuracy", "generation_accuracy"):
        explanation = kt.metric(name).explain("a b", ["x y", "a c", "a d"])
        assert getattr(explanation, "alignment", explanation).reference == ("a", "c")


@pytest.mark.parametrize("name", ["ter", "wer", "generation_accuracy", "gtm"])
def test_what_cannot_be_explained(name):
    metric = kt.metric(name)
    with pytest.raises(InputError, match="no reference was given"):
        metric.explain("a", [])
    with pytest.raises(InputError, match=r"references\[1\] is NoneType, expected str"):
        metric.explain("a", ["a", None])
    with pytest.raises(InputError, match="references is int, expected a str or a list of str"):
        metric.explain("a", 3)


def test_texts_too_long_for_ter_are_refused():
    with pytest.raises(InputError, match="200,001 tokens are too many for ter"):
        kt.TER().explain("a " * 200_001, "a")
