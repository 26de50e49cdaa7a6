"""The aligner: numbers by hand, the kernel against enumeration, and what never changes a result."""

from __future__ import annotations

import signal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import align_enumeration as oracle
from oracles.translated_text import translated

from karat import _kernel
from karat.errors import InputError, Interrupted
from karat.paraphrase.align import alignment, parallel_text
from karat.paraphrase.align.aligner import Aligner
from karat.paraphrase.align.alignment import align_words
from karat.paraphrase.align.parallel_text import Links
from karat.text.tokens import Tokens, tokenize

Corpus = list[tuple[list[int], list[int]]]


def ragged(rows: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    ids = np.array([i for row in rows for i in row], dtype=np.int32)
    return ids, np.cumsum([0, *map(len, rows)]).astype(np.int64)


def kernel(
    corpus: Corpus, agreement: str = "product", most_cells: int = 1 << 20, longest: int = 99
) -> _kernel.JointAligner:
    texts = (*ragged([es for es, _ in corpus]), *ragged([fs for _, fs in corpus]))
    return _kernel.JointAligner(*texts, longest, most_cells, agreement)


def train(aligner: _kernel.JointAligner, sentences: int, model1: int, hmm: int) -> None:
    for stage in [False] * model1 + [True] * hmm:
        aligner.expect(0, sentences, stage)
        aligner.update(stage)


def tokens(*lines: str) -> Tokens:
    return tokenize(list(lines), tok="none")


# ----------------------------------------------------------------------------------- by hand


def test_one_iteration_of_model_1_by_hand() -> None:
    # "das Haus" / "the house" and "das" / "the". At first all is even: in the first pair each
    # direction believes 1/2 of every link, so that the product is 1/4; in the second it is 1.
    # (Null words weigh a millionth.)  c(das, the) = 5/4, c(das, house) = c(Haus, the) = 1/4.
    aligner = kernel([([0, 1], [0, 1]), ([0], [0])])
    train(aligner, 2, 1, 0)
    assert aligner.translation(0, 0) == pytest.approx((5 / 6, 5 / 6), abs=1e-5)
    assert aligner.translation(0, 1) == pytest.approx((1 / 6, 1 / 2), abs=1e-5)
    assert aligner.translation(1, 0) == pytest.approx((1 / 2, 1 / 6), abs=1e-5)


def test_two_iterations_of_model_1_by_hand() -> None:
    # From the numbers above, first pair: P(the <- das) = (5/6) / (5/6 + 1/2) = 5/8, and the other
    # direction the same, so das-the counts 25/64 there and 1 in the second pair; das-house counts
    # P(house <- das) P(das <- house) = (1/6) / (1/6 + 1/2) (1/2) / (5/6 + 1/2) = 1/4 3/8 = 3/32.
    aligner = kernel([([0, 1], [0, 1]), ([0], [0])])
    train(aligner, 2, 2, 0)
    assert aligner.translation(0, 0)[0] == pytest.approx(89 / 64 / (89 / 64 + 3 / 32), abs=1e-5)


def test_the_root_counts_what_is_uncertain_for_more() -> None:
    aligner = kernel([([0, 1], [0, 1]), ([0], [0])], agreement="root")
    train(aligner, 2, 1, 0)
    assert aligner.translation(0, 0)[0] == pytest.approx(1.5 / 2, abs=1e-5)


def test_words_that_are_never_together() -> None:
    aligner = kernel([([0], [0]), ([1], [1])])
    assert aligner.translation(0, 1) == (0, 0)
    with pytest.raises(IndexError):
        aligner.translation(2, 0)


def test_translations_and_order_are_learned() -> None:
    source = tokens("the house", "the book", "a book", "a house is red", "a red house", "red")
    pivot = tokens("das haus", "das buch", "ein buch", "ein haus ist rot", "ein rotes haus", "rot")
    links = align_words(source, pivot).links
    assert links[0] == [(0, 0), (1, 1)]
    assert links[3] == [(0, 0), (1, 1), (2, 2), (3, 3)]
    assert links[4] == [(0, 0), (1, 1), (2, 2)]


# --------------------------------------------------------------------------- against enumeration

word = st.integers(0, 3)


@st.composite
def corpora(draw: st.DrawFn) -> Corpus:
    """A few sentence pairs, small enough to enumerate; some are long enough for far jumps."""
    pairs = []
    for _ in range(draw(st.integers(1, 3))):
        n, m = draw(st.sampled_from([(1, 1), (2, 2), (3, 2), (3, 3), (1, 4), (7, 1), (6, 2)]))
        row = st.tuples(
            st.lists(word, min_size=n, max_size=n), st.lists(word, min_size=m, max_size=m)
        )
        es, fs = draw(row)
        pairs.append((fs, es) if draw(st.booleans()) else (es, fs))
    return pairs


@settings(max_examples=40)
@given(
    corpora(),
    st.integers(0, 2),
    st.integers(0, 2),
    st.sampled_from(["min", "root", "product"]),
    st.booleans(),
)
def test_joint_training(
    corpus: Corpus, model1: int, hmm: int, agreement: str, stored: bool
) -> None:
    aligner = kernel(corpus, agreement, 1 << 20 if stored else 0)
    train(aligner, len(corpus), model1, hmm)
    table, jumps = oracle.uniform(corpus), (oracle.even_jumps(), oracle.even_jumps())
    for stage in [False] * model1 + [True] * hmm:
        table, jumps = oracle.iterate(corpus, table, stage, jumps, agreement)
    for (e, f), expected_p in table.items():
        assert aligner.translation(e, f) == pytest.approx(expected_p, rel=2e-3, abs=2e-4)
    for side in (False, True):
        expected_p = [weight for _, weight in sorted(jumps[side].items())]
        assert aligner.jumps(side).tolist() == pytest.approx(expected_p, rel=2e-3, abs=2e-4)
    for s, pair in enumerate(corpus):
        for stage in (False, True):
            both = oracle.both_beliefs(pair, table, stage, jumps)
            for actual, expected_value in zip(aligner.beliefs(s, stage), both, strict=True):
                np.testing.assert_allclose(actual, expected_value, rtol=5e-3, atol=1e-3)


@given(corpora(), st.sampled_from([0.3, 0.5, 0.9]))
def test_links_follow_from_beliefs(corpus: Corpus, threshold: float) -> None:
    aligner = kernel(corpus)
    train(aligner, len(corpus), 2, 1)
    decoded = {}
    for rule in ("mean", "forward", "backward"):
        source, pivot, ends = aligner.decode(0, len(corpus), True, rule, threshold)
        decoded[rule] = Links(source, pivot, np.concatenate([[0], ends]))
    for s in range(len(corpus)):
        forward, backward = aligner.beliefs(s, True)
        sure = np.argwhere((forward + backward) / 2 >= threshold)
        assert decoded["mean"][s] == [tuple(row) for row in sure.tolist()]
        check_best(decoded["forward"][s], forward.T)
        check_best([(j, i) for i, j in decoded["backward"][s]], backward)


def check_best(links: list[tuple[int, int]], beliefs: np.ndarray) -> None:
    """Each generated word is linked to its best place if that beats the null word, and to one."""
    for word, row in enumerate(beliefs):
        places = [place for place, other in links if other == word]
        assert len(places) <= 1
        for place in places:
            assert row[place] == row.max()
        if row.max() > 1 - row.sum() + 1e-4:
            assert places


def test_long_sentences_do_not_underflow() -> None:
    rng = np.random.default_rng(3)
    text = rng.integers(0, 50, 190).tolist()
    corpus = [(text, text[::-1]), (text[:60], text[:60]), ([7], [9])]
    aligner = kernel(corpus, longest=200)
    train(aligner, len(corpus), 2, 3)
    for s in range(len(corpus)):
        for beliefs, axis in zip(aligner.beliefs(s, True), (0, 1), strict=True):
            sums = beliefs.sum(axis=axis)
            assert (sums > 0.9).all()
            assert (sums < 1.001).all()


# ------------------------------------------------------------------------- what changes nothing


@pytest.mark.parametrize("decoding", ["posterior", "grow-diag-final-and"])
def test_threads_do_not_matter(monkeypatch: pytest.MonkeyPatch, decoding: str) -> None:
    monkeypatch.setattr(parallel_text, "_CELLS", 1000)
    texts = translated(1, 300)
    aligner = Aligner(model="hmm", decoding=decoding)
    single_threaded = align_words(*texts, aligner, threads=1).links
    assert len(single_threaded.source) > 1000
    for threads in (2, 5):
        other = align_words(*texts, aligner, threads=threads).links
        for name in ("source", "pivot", "offsets"):
            np.testing.assert_array_equal(getattr(single_threaded, name), getattr(other, name))


def test_a_translation_word_by_word_is_found() -> None:
    source, pivot = translated(3, 400)
    links = align_words(source, pivot, Aligner(model="hmm")).links
    right = sum(
        source[s][i][:-1] == pivot[s][j][:-1] for s in range(len(source)) for i, j in links[s]
    )
    assert right > 0.97 * len(links.source)
    assert right > 0.97 * len(pivot.ids)


# ------------------------------------------------------------------------------------ bad input


def test_sentences_that_take_no_part() -> None:
    source = tokens("a b", "", "c", "a " * 9, "b")
    pivot = tokens("x y", "x", "", "x", "y")
    word_alignment = align_words(source, pivot, Aligner(longest=8))
    assert word_alignment.rows[0][2:] == (2, 1)
    assert [bool(word_alignment.links[s]) for s in range(5)] == [True, False, False, False, True]
    assert word_alignment.pairs == 4


def test_nothing_to_align() -> None:
    word_alignment = align_words(tokens(), tokens())
    assert (len(word_alignment.links), word_alignment.pairs) == (0, 0)
    only_empty = align_words(tokens("", ""), tokens("", "x"))
    assert (len(only_empty.links), only_empty.rows[0].empty) == (2, 2)


def test_unequal_texts() -> None:
    with pytest.raises(InputError, match="source text has 2 sentences and the pivot text 1: "):
        align_words(tokens("a", "b"), tokens("x"))


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"agreement": "sum"}, "agreement=sum: expected one of min, root, product"),
        ({"decoding": "viterbi"}, "decoding=viterbi: expected one of posterior, "),
        ({"model1": -1}, "model1=-1: "),
        ({"hmm": 1001}, "hmm=1001: expected 0 to 1,000 iterations"),
        ({"model1": 0, "hmm": 0}, "model1=0 and hmm=0: expected at least one iteration"),
        ({"decoding": "union", "threshold": 0.5}, "decoding=union has no threshold"),
        ({"threshold": 0.0}, "threshold=0.0: "),
        ({"longest": 0}, "longest=0: "),
    ],
)
def test_wrong_settings(wrong: dict[str, object], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        Aligner(**wrong)  # type: ignore[arg-type]


def test_work_can_be_stopped() -> None:
    def progress(done: int, total: int, step_name: str) -> None:
        if step_name.startswith("HMM"):
            raise Interrupted("enough")

    with pytest.raises(Interrupted, match="enough"):
        align_words(*translated(4, 50), progress=progress)


def test_signals_are_heeded_while_word_pairs_are_found() -> None:
    """Ten million cells are several pieces of work, and signals are looked at after each."""
    rows = [[(40 * s + i) % 997 for i in range(40)] for s in range(8000)]
    ids, offsets = ragged(rows)
    heeded = []
    before = signal.signal(signal.SIGALRM, lambda *_: heeded.append(1))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
        _kernel.JointAligner(ids, offsets, ids, offsets, 99, 1 << 28, "root")
        signal.setitimer(signal.ITIMER_REAL, 0)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert len(heeded) > 3


def test_the_kernel_checks_what_it_is_given() -> None:
    ids, offsets = ragged([[0, 1]])
    with pytest.raises(ValueError, match="different numbers"):
        _kernel.JointAligner(ids, offsets, *ragged([[0], [1]]), 9, 9, "root")
    with pytest.raises(ValueError, match="negative"):
        _kernel.JointAligner(-ids, offsets, ids, offsets, 9, 9, "root")
    with pytest.raises(ValueError, match="do not fit"):
        _kernel.JointAligner(ids[:1].copy(), offsets, ids, offsets, 9, 9, "root")
    aligner = _kernel.JointAligner(ids, offsets, ids, offsets, 9, 9, "root")
    with pytest.raises(IndexError):
        aligner.expect(0, 2, False)


# ----------------------------------------------------------------------------- texts of any size

SMALLEST = 0.01 / 11  # weight of a jump


def part(places: int, pivots: int, weights: list[float], words: int) -> _kernel.JointAligner:
    """One sentence pair whose words all differ, as a part of a text of so many words."""
    texts = ragged([list(range(places))]), ragged([list(range(pivots))])
    cells = np.arange(places * pivots, dtype=np.int32)
    entries = np.full((len(cells), 2), 1e-6, np.float32)
    entries[:: pivots + 1] = 1  # word i translates word i
    jumps = np.array([weights, weights], np.float32)
    tables = {"cells": cells, "entries": entries, "jumps": jumps}
    return _kernel.JointAligner(*texts[0], *texts[1], 9999, "root", **tables, words=words)  # type: ignore[arg-type]


@pytest.mark.parametrize("words", [1, 10**5, 9 * 10**5, 10**6, 10**7, 10**9, alignment.MAX_WORDS])
def test_counts_of_jumps_fit_into_64_bits(words: int) -> None:
    """At most two departures a word, and 1 / (the smallest weight) for each."""
    unit = _kernel.whole_of_jump(words)
    most = 2 * words / SMALLEST * unit
    assert most < 2**63
    assert np.log2(unit) % 1 == 0
    assert unit == 2**32 if words < 950_000 else most > 2**61


@pytest.mark.parametrize(("places", "pivots"), [(1, 1), (60, 1), (3000, 1), (50, 50), (1, 60)])
@pytest.mark.parametrize("likely", [0, 5, 6, 10])
def test_jumps_of_a_sentence_keep_to_the_bound(places: int, pivots: int, likely: int) -> None:
    weights = [SMALLEST + 0.99 * (b == likely) for b in range(11)]
    aligner = part(places, pivots, weights, max(places, pivots))
    aligner.expect(0, 1, True)
    counts = aligner.jump_counts() / _kernel.whole_of_jump(1)
    for (jumps_made, could), generated in zip(counts, (pivots, places), strict=True):
        assert jumps_made.sum() < 2 * generated + 1e-3
        assert could.max() < jumps_made.sum() / SMALLEST * 1.001


def test_counts_of_a_large_text_are_those_of_a_small_one_in_another_unit() -> None:
    weights = [SMALLEST + 0.99 * (b == 6) for b in range(11)]
    small, large = (part(40, 30, weights, words) for words in (40, 10**9))
    for aligner in (small, large):
        aligner.expect(0, 1, True)
    ratio = _kernel.whole_of_jump(40) / _kernel.whole_of_jump(10**9)
    assert ratio == 2**11
    np.testing.assert_allclose(large.jump_counts() * ratio, small.jump_counts(), atol=ratio)


def test_a_text_of_too_many_words_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alignment, "MAX_WORDS", 3)
    texts = tokenize(["a b", "c"]), tokenize(["d", "e"])
    assert align_words(*texts).rows[0].sentences == 2
    for model in ("fertility", "hmm"):
        with pytest.raises(
            InputError, match=r"has 4 words, and at most 3 can be aligned .*: split the text"
        ):
            align_words(tokenize(["a", "b"]), tokenize(["d e", "f g"]), Aligner(model=model))
