"""Edit alignments against the textbook table."""

from __future__ import annotations

import random
import resource

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import edit_tables
from oracles.strategies import any_text, id_rows

import karat as kt
from karat.errors import InputError
from karat.metrics.accuracy import KINDS, SCRIPTS

COSTS = {"accuracy": edit_tables.ACCURACY, "unit": edit_tables.UNIT}
rows = st.one_of(id_rows(3, 12), id_rows(6, 40), id_rows(2, 150), id_rows(30, 150))


def one(row: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """A single row as ragged ids."""
    return np.array(row, np.int32), np.array([0, len(row)], np.int64)


def kernel_script(candidate: list[int], reference: list[int], costs: str) -> list[tuple]:
    """The kernel's operations with the oracle's names."""
    starts = np.array([0, 1], np.int64)
    actual, _ = SCRIPTS[costs](*one(candidate), *one(reference), starts, None)
    return [(KINDS[kind], i, j) for kind, i, j in actual.tolist()]


@pytest.mark.parametrize("costs", COSTS)
@given(candidate=rows, reference=rows)
def test_the_kernel_takes_the_same_steps_as_the_table(costs, candidate, reference):
    expected = edit_tables.script(reference, candidate, COSTS[costs])
    assert kernel_script(candidate, reference, costs) == expected


@pytest.mark.parametrize("costs", COSTS)
@pytest.mark.parametrize("words", [1, 64, 65, 128, 200])
def test_bounds_of_machine_words(costs, words):
    rng = random.Random(words)
    reference = [rng.randrange(9) for _ in range(words)]
    candidate = [rng.randrange(9) for _ in range(words + 3)]
    expected = edit_tables.script(reference, candidate, COSTS[costs])
    assert kernel_script(candidate, reference, costs) == expected


@pytest.mark.parametrize("costs", COSTS)
@given(beginning=id_rows(2, 70), candidate=id_rows(2, 70), reference=id_rows(2, 9))
def test_texts_that_begin_alike(costs, beginning, candidate, reference):
    texts = beginning + candidate, beginning + reference
    for item, other in (texts, texts[::-1], (beginning, texts[0]), (texts[0], beginning)):
        expected = edit_tables.script(other, item, COSTS[costs])
        assert kernel_script(item, other, costs) == expected


@given(any_text, any_text, st.sampled_from(["none", "13a", "char"]))
def test_an_alignment_rebuilds_both_texts(candidate, reference, tok):
    actual_alignment = kt.alignment(candidate, reference, tok=tok)
    selected = [o for o in actual_alignment.operations if o.kind == "keep"]
    assert all(
        actual_alignment.reference[o.reference] == actual_alignment.candidate[o.candidate]
        for o in selected
    )
    for side, missing in (("reference", "insert"), ("candidate", "delete")):
        visited = [getattr(o, side) for o in actual_alignment.operations if o.kind != missing]
        assert visited == list(range(len(getattr(actual_alignment, side))))


@given(any_text, any_text)
def test_moves_pair_equal_words_and_are_as_many_as_counted(candidate, reference):
    actual_alignment = kt.alignment(candidate, reference)
    assert all(
        actual_alignment.reference[i] == actual_alignment.candidate[j]
        for i, j in actual_alignment.moves
    )
    parts = kt.metric("generation_accuracy").corpus([candidate], [reference]).parts
    assert len(actual_alignment.moves) == parts["moves"]
    assert actual_alignment.count("substitute") == parts["substitutions"]


def test_moves_number_the_first_with_the_first():
    actual_alignment = kt.alignment("x x a b c d", "a b c d x x")
    assert actual_alignment.moves == ((4, 0), (5, 1))


def distance_by_rows(reference: list[int], candidate: list[int]) -> int:
    """The edit distance, every operation at 1, a row of the table at a time."""
    tokens, places = np.array(candidate), np.arange(len(candidate) + 1)
    row = places.copy()
    for i, token in enumerate(reference, 1):
        best = np.append(i, np.minimum(row[:-1] + (tokens != token), row[1:] + 1))
        row = np.minimum.accumulate(best - places) + places  # insertions
    return int(row[-1])


def test_texts_too_long_to_keep_all_steps_are_aligned_in_blocks():
    rng = random.Random(5)
    reference = [rng.randrange(50) for _ in range(2500)]
    candidate = [t if rng.random() > 0.2 else 99 for t in reference * 30 if rng.random() > 0.1]
    assert len(candidate) * (len(reference) // 64) > 1 << 21
    check_long(candidate, reference)


def test_references_with_too_many_distinct_tokens_to_keep_bits_for_all():
    rng = random.Random(6)
    reference = rng.sample(range(12_000), 12_000)
    candidate = [t if rng.random() > 0.2 else 12_345 for t in reference[::40]]
    assert len(set(reference)) * (len(reference) // 64) > 1 << 20
    check_long(candidate, reference)


def check_long(candidate: list[int], reference: list[int]) -> None:
    """The script at costs of 1 takes all tokens in order and has as few errors as can be."""
    actual = kernel_script(candidate, reference, "unit")
    assert all(reference[i] == candidate[j] for kind, i, j in actual if kind == "keep")
    assert [i for kind, i, _ in actual if kind != "insert"] == list(range(len(reference)))
    assert [j for kind, _, j in actual if kind != "delete"] == list(range(len(candidate)))
    errors = sum(kind != "keep" for kind, _, _ in actual)
    assert errors == distance_by_rows(reference, candidate)


def test_two_texts_of_20000_words_need_little_memory():
    rng = random.Random(7)
    texts = [" ".join(str(rng.randrange(3000)) for _ in range(20_000)) for _ in range(2)]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    actual_alignments = kt.alignments(texts[:1], texts[1:])
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert len(actual_alignments.operations) >= 20_000
    assert after - before < 100_000  # kilobytes; a table of ints would have 1.6 million of them


def test_unknown_costs_are_refused_with_the_known_ones():
    with pytest.raises(InputError, match="expected one of accuracy, unit"):
        kt.alignment("a", "b", costs="free")


def test_texts_too_long_are_refused() -> None:
    long = "a " * 1_000_001
    with pytest.raises(kt.InputError, match="segment 2: 1,000,002,000,001 pairs of tokens are too"):
        kt.alignments(["a", long], ["b", long])
