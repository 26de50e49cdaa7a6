"""The kernel's matchings against the rules they stand for."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import matching_rules as rules
from sizes import examples

import karat as kt
from karat import _kernel

EXPONENTS = (1.0, 1.5, 2.0, 3.0)
ENOUGH = 10**8
Tokens = Sequence[Hashable]
WAYS: tuple[dict[str, Any], ...] = (
    {},  # as bits, where there are few enough rows
    {"narrow": False, "most_hits": math.inf},  # one by one
    {"narrow": False, "most_hits": -1.0},  # through the suffix array
)
"""How the greedy matching can be found."""


class Found(NamedTuple):
    runs: list[tuple[int, int, int]]
    kept: list[float]
    sum: float
    size: float
    bound: float
    proven: bool
    cap: float


def find(
    candidate: Tokens,
    references: Sequence[Tokens],
    e: float,
    search: str,
    budget: int = ENOUGH,
    **options: Any,
) -> Found:
    """The kernel's matching of any hashable tokens."""
    numbers: dict[Hashable, int] = {}

    def ids(tokens: Sequence[Hashable]) -> Any:
        return np.array([numbers.setdefault(t, len(numbers)) for t in tokens], np.int32)

    flat = ids([token for reference in references for token in reference])
    offsets = np.cumsum([0, *map(len, references)]).astype(np.int64)
    runs, actual_matching, *rest = _kernel.gtm_runs(
        ids(candidate), flat, offsets, e, search == "exact", budget, **options
    )
    return Found([tuple(run) for run in runs.tolist()], actual_matching.tolist(), *rest)


def texts(alphabet: int, longest: int) -> st.SearchStrategy[list[int]]:
    return st.integers(1, alphabet).flatmap(
        lambda n: st.lists(st.integers(0, n - 1), max_size=longest)
    )


@st.composite
def problems(
    draw: st.DrawFn, longest: int = 7, references: int = 3
) -> tuple[list[int], list[list[int]]]:
    """A candidate and references small enough for trying everything."""
    number = draw(st.integers(1, references))
    entry = longest if number == 1 else longest * 2 // 3
    groups = draw(st.lists(texts(4, entry), min_size=number, max_size=number))
    return draw(texts(4, longest)), groups


exponents = st.sampled_from(EXPONENTS)


@given(problems(longest=14), exponents)
@examples(100, 400)
def test_greedy_is_the_rule_of_the_original_tool(problem: Any, e: float) -> None:
    candidate, references = problem
    expected = sorted(rules.greedy_runs(candidate, references))
    for method in WAYS:
        matching = find(candidate, references, e, "greedy", **method)
        assert sorted(matching.runs) == expected
        assert matching.sum == pytest.approx(rules.greedy_sum(candidate, references, e), rel=1e-12)


@given(st.integers(1, 3), st.integers(0, 70), st.integers(0, 70), st.randoms(use_true_random=False))
def test_all_ways_to_the_greedy_matching_agree(
    alphabet: int, rows: int, columns: int, random: Any
) -> None:
    candidate = random.choices(range(alphabet), k=rows)
    references = [random.choices(range(alphabet), k=columns), candidate[: rows // 2]]
    first, *other_texts = (find(candidate, references, 2, "greedy", **method) for method in WAYS)
    assert other_texts == [first] * len(other_texts)


@pytest.mark.parametrize("rows", [1, 2, 63, 64, 65])
def test_the_edges_of_a_narrow_grid(rows: int) -> None:
    """One run of all rows, and the same with its last row cut off."""
    candidate = list(range(rows))
    for method in WAYS:
        matching = find(candidate, [candidate], 2, "greedy", **method)
        parted = find(candidate, [[*candidate[:-1], "|", *candidate[-1:]]], 2, "greedy", **method)
        assert matching.runs == [(0, 0, rows)]
        assert sorted(parted.runs) == [(0, 0, rows - 1), (rows - 1, rows, 1)][rows == 1 :]


def test_segments_of_all_widths_in_one_call() -> None:
    """Nothing of one segment is left when the next one's turn comes."""
    rng = np.random.default_rng(7)
    lengths = [0, 5, 80, 64, 3, 65, 1, 0, 40]
    candidates, references = ([rng.integers(0, 9, n).tolist() for n in lengths] for _ in range(2))
    sizes = kt.GTM(e=2).stats(
        *([" ".join(map(str, t)) for t in side] for side in (candidates, references))
    )
    expected = [
        math.sqrt(rules.greedy_sum(actual, [peer], 2))
        for actual, peer in zip(candidates, references, strict=True)
    ]
    assert sizes[:, 0].tolist() == expected


@given(problems(), exponents)
@examples(100, 400)
def test_exact_is_the_best_of_all_matchings(problem: Any, e: float) -> None:
    candidate, references = problem
    matching = find(candidate, references, e, "exact")
    assert matching.proven
    assert matching.sum == pytest.approx(rules.best_sum(candidate, references, e), rel=1e-9)
    assert matching.bound == matching.size


@given(problems(), exponents)
@examples(80, 300)
def test_a_whole_cap_deletes_whole_hits(problem: Any, e: float) -> None:
    """Section 2.3 of the paper: until the number of hits is at most the bound."""
    candidate, references = problem
    for method in WAYS:
        greedy = find(candidate, references, e, "greedy", whole_cap=True, **method)
        assert greedy.cap == math.floor(rules.cap(candidate, references))
        assert all(selected == int(selected) for selected in greedy.kept)
        expected = rules.greedy_sum(candidate, references, e, whole_hits=True)
        assert greedy.sum == pytest.approx(expected, rel=1e-12)
    exact = find(candidate, references, e, "exact", whole_cap=True)
    assert exact.proven
    assert exact.sum == pytest.approx(
        rules.best_sum(candidate, references, e, whole_hits=True), rel=1e-9
    )


@pytest.mark.parametrize("e", [1.1, 1.5, 3.0, 7.0, 16.0, 17.0, 33.3, 50.0])
@pytest.mark.parametrize("search", ["greedy", "exact"])
def test_equal_texts_have_exactly_their_length(e: float, search: str) -> None:
    for length in (1, 2, 3, 7, 61, 64, 65, 100, 997, 4000):
        words = list(range(length))
        matching = find(words, [words], e, search)
        assert (matching.size, matching.bound, matching.proven or search == "greedy") == (
            length,
        ) * 2 + (True,)
        text = " ".join(map(str, words))
        assert kt.GTM(e, search).segments([text], [text]).tolist() == [1.0]


@given(problems(), exponents, st.integers(1, 2000))
@examples(80, 300)
def test_the_certificate_is_honest_under_any_budget(problem: Any, e: float, budget: int) -> None:
    candidate, references = problem
    matching = find(candidate, references, e, "exact", budget)
    best = rules.best_sum(candidate, references, e)
    slack = 1e-9 * max(best, 1)
    assert rules.greedy_sum(candidate, references, e) - slack <= matching.sum <= best + slack
    assert matching.bound >= best ** (1 / e) - slack
    assert not matching.proven or matching.sum >= best - slack


def is_matching(candidate: Tokens, references: Sequence[Tokens], found: Found) -> bool:
    """Whether every word is used at most once, and equals its partner."""
    columns = rules.concatenated(references)
    cells = [(i + k, j + k) for i, j, length in found.runs for k in range(length)]
    rows, used = zip(*cells, strict=True) if cells else ((), ())
    return (
        len(set(rows)) == len(rows)
        and len(set(used)) == len(used)
        and all(candidate[i] == columns[j] for i, j in cells)
    )


@given(
    st.lists(texts(6, 40), min_size=1, max_size=4), texts(6, 40), exponents, st.integers(1, 10**5)
)
def test_larger_texts(references: Any, candidate: list[int], e: float, budget: int) -> None:
    greedy = find(candidate, references, e, "greedy")
    exact = find(candidate, references, e, "exact", budget)
    for actual in (greedy, exact):
        assert is_matching(candidate, references, actual)
        lengths = [length for _, _, length in actual.runs]
        cap = rules.cap(candidate, references)
        assert actual.cap == pytest.approx(cap)
        assert actual.sum == pytest.approx(rules.capped_sum(lengths, cap, e), rel=1e-9)
        assert sum(actual.kept) <= cap + 1e-9
    assert exact.sum >= greedy.sum * (1 - 1e-12)
    assert exact.bound >= exact.size * (1 - 1e-12)
    if e == 1:
        assert exact.sum == greedy.sum
        assert exact.proven


@given(texts(3, 12), texts(3, 12), exponents)
def test_exact_with_one_reference_is_symmetric(a: list[int], b: list[int], e: float) -> None:
    item, other = find(a, [b], e, "exact"), find(b, [a], e, "exact")
    assert item.proven
    assert item.sum == pytest.approx(other.sum, rel=1e-9)


def words(text: str) -> list[str]:
    return text.split()


WORKED = [
    ("C B A I C D E", ["A B C D E F I C A B"], 1, "greedy", 7),
    ("C B A I C D E", ["A B C D E F I C A B"], 2, "greedy", 13),
    ("C B A I C D E", ["A B C D E F I C A B"], 2, "exact", 13),
    ("G H I J L M C D E K", ["A B C D E", "F G H I J", "K L M N P"], 2, "greedy", 17),
    ("G H I J L M C D E K", ["A B C D E", "F G H I J", "K L M N P"], 2, "exact", 17),
    ("a b c d", ["a b c", "a b"], 2, "greedy", 6.25),
    ("a b c d", ["a b c", "a b"], 2, "exact", 6.25),
    ("a b a a", ["a a a b"], 2, "greedy", 6),
    ("a b a a", ["a a a b"], 2, "exact", 8),
    ("b c a c a a", ["c b a a a c b"], 2, "greedy", 8),
    ("c b a a a c b", ["b c a c a a"], 2, "greedy", 10),
    ("b c a c a a", ["c b a a a c b"], 2, "exact", 10),
    ("c b a a a c b", ["b c a c a a"], 2, "exact", 10),
]


@pytest.mark.parametrize(("candidate", "references", "e", "search", "expected"), WORKED)
def test_worked_values(
    candidate: str, references: list[str], e: float, search: str, expected: float
) -> None:
    matching = find(words(candidate), [words(r) for r in references], e, search)
    assert matching.sum == expected
    assert matching.proven == (search == "exact" or e == 1)


def test_the_cap_is_part_of_what_is_maximised() -> None:
    """The best matching, capped afterwards, keeps 3 + 2 hits; under the cap 4 + 1 are better."""
    candidate, references = words("c a b a b c a a b"), [words("c a b a a b"), words("a b c c")]
    free = find(candidate, [[*references[0], "|", *references[1]]], 2, "exact")
    lengths = [length for _, _, length in free.runs]
    assert rules.capped_sum(lengths, rules.cap(candidate, references), 2) == 13
    assert find(candidate, references, 2, "greedy").sum == 17
    assert find(candidate, references, 2, "exact").sum == 17


LONG = 20_000


@pytest.mark.parametrize("e", EXPONENTS)
def test_one_word_again_and_again(e: float) -> None:
    text = ["x"] * LONG
    for search in ("greedy", "exact"):
        matching = find(text, [text], e, search, 10**6)
        assert matching.runs == [(0, 0, LONG)]
        assert matching.sum == pytest.approx(float(LONG) ** e, rel=1e-12)
    assert matching.proven


def test_many_hits_within_the_budget() -> None:
    rng = np.random.default_rng(1)
    a, b = (rng.integers(0, 2, LONG).tolist() for _ in range(2))
    greedy, exact = (find(a, [b], 2, search, 10**6) for search in ("greedy", "exact"))
    assert exact.sum >= greedy.sum
    assert not exact.proven
    assert exact.bound > exact.size


def test_a_long_word_run_under_the_cap() -> None:
    """No run can count for more than the cap, so the bound is the cap's power."""
    matching = find(["x"] * LONG, [["x"] * 15_000, ["x"] * 9_000], 2, "exact", 10**6)
    assert matching.sum == 12_000**2
    assert matching.proven


def test_bad_exponents_and_offsets_are_refused() -> None:
    item, ends = np.zeros(1, np.int32), np.array([0, 1], np.int64)
    with pytest.raises(ValueError, match="exponent"):
        _kernel.gtm_runs(item, item, ends, 0.5, False, 1)
    with pytest.raises(ValueError, match="offsets"):
        _kernel.gtm_runs(item, item, np.array([0, 2], np.int64), 2.0, False, 1)


@pytest.mark.parametrize("e", [1, 1.7, 2, 3])
@given(
    candidate=st.lists(st.sampled_from("abcdefgh"), max_size=70),
    references=st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=70), min_size=1, max_size=3),
)
def test_a_size_without_its_runs_is_that_of_the_runs(
    e: float, candidate: list[str], references: list[list[str]]
) -> None:
    metric, texts = kt.GTM(e=e), [" ".join(reference) for reference in references]
    ((size, *_),) = metric.stats([" ".join(candidate)], [texts])
    assert size == metric.explain(" ".join(candidate), texts).size


class Stopped(Exception):
    """What the check raises."""


def stop() -> None:
    """A request to stop."""
    raise Stopped


@pytest.mark.parametrize(("exact", "segments", "words"), [(True, 99_999, 3), (False, 1, 99_999)])
def test_work_on_many_or_long_segments_can_be_stopped(
    exact: bool, segments: int, words: int
) -> None:
    ids = np.tile(np.arange(words, dtype=np.int32) % 7, segments)
    offsets = np.arange(0, len(ids) + 1, words, dtype=np.int64)
    starts = np.arange(segments + 1, dtype=np.int64)
    sides = (ids, offsets, ids, offsets, starts)
    assert len(_kernel.gtm_sizes(*sides, 2.0, exact, ENOUGH, None)) == segments
    with pytest.raises(Stopped):
        _kernel.gtm_sizes(*sides, 2.0, exact, ENOUGH, stop)
