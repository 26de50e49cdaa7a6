"""Probabilities: equal to the formulas, and one in all for every history."""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib import resources

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.lm_formulas import BOS, EOS, UNK, Katz, KneserNey, count, known_words

import karat as kt
from karat.errors import InputError
from karat.lm.smoothing import FALLBACK, discounts

SMOOTHING = {"kneser-ney": KneserNey, "katz": Katz}
WORDS = st.sampled_from(["a", "a", "a", "a", "b", "b", "c", "d", "e", "f", "g"])
SENTENCE = st.lists(WORDS, max_size=7)
TEXT = st.lists(SENTENCE, min_size=1, max_size=25)
EXAMPLE = "the cat sat\nthe dog sat\nthe cat ran\na dog ran\nthe dog\nsat\n\nthe cat sat on the mat"


def demo() -> list[str]:
    folder = resources.files("karat") / "data" / "demo"
    return [
        line
        for name in ("reference-1.txt", "reference-2.txt", "reference-3.txt")
        for line in (folder / name).read_text("utf-8").splitlines()
    ]


def settings(draw: st.DrawFn) -> tuple[int, list[int] | None, int | None, int]:
    order = draw(st.integers(1, 4))
    least = sorted(draw(st.lists(st.integers(1, 3), min_size=order, max_size=order)))
    chosen = draw(st.sampled_from([None, [1, *least[1:]]]))
    return order, chosen, draw(st.sampled_from([None, 1, 3])), draw(st.sampled_from([1, 2]))


def compare(model: kt.LanguageModel, oracle: KneserNey | Katz, sentence: Sequence[str]) -> None:
    """Every word of a sentence against the oracle."""
    history: tuple[str, ...] = (BOS,)
    words = [w if w in oracle.vocabulary else UNK for w in sentence]
    for scored, word in zip(model.words(" ".join(sentence)), [*words, EOS], strict=True):
        assert 10**scored.log10_p == pytest.approx(oracle.p(word, history), rel=1e-5)
        history = (*history, word)


@pytest.mark.parametrize("smoothing", SMOOTHING)
@given(data=st.data(), text=TEXT, queries=st.lists(SENTENCE, max_size=3))
def test_probabilities_are_those_of_the_formulas(
    smoothing: str, data: st.DataObject, text: list[list[str]], queries: list[list[str]]
) -> None:
    order, least, size, often = settings(data.draw)
    vocabulary = known_words(text, size, often)
    cut = [[w if w in vocabulary else UNK for w in sentence] for sentence in text]
    default = [1, 1, 2, 2] if smoothing == "katz" else [1, 1, 1, 1]
    oracle = SMOOTHING[smoothing](count(cut, order), vocabulary, least or default[:order])
    model = kt.LanguageModel.train(
        [" ".join(sentence) for sentence in text],
        order,
        smoothing,
        min_counts=least,
        vocabulary=size,
        min_count=often,
        threads=1,
    )
    for sentence in [*text[:3], *queries, ["zz", "a", "zz"]]:
        compare(model, oracle, sentence)


@pytest.mark.parametrize("smoothing", SMOOTHING)
@pytest.mark.parametrize("more", [{}, {"vocabulary": 50}, {"min_count": 3}], ids=str)
@pytest.mark.parametrize("least", [None, [1, 1, 2, 3, 3]], ids=str)
def test_probabilities_of_all_words_sum_to_one(
    smoothing: str, more: dict[str, int], least: list[int] | None
) -> None:
    lines = demo()
    model = kt.LanguageModel.train(lines, 5, smoothing, case="lower", min_counts=least, **more)
    words = np.array([i for i in range(len(model)) if i != 1], np.int32)
    rng = np.random.default_rng(1)
    for _ in range(30):
        tokens = kt.tokenize([lines[rng.integers(len(lines))]], case="lower")
        history = model.find(tokens.vocab)[tokens.ids][: rng.integers(0, 9)]
        rows = np.hstack([np.tile(history, (len(words), 1)), words[:, None]])
        rows = rows[words != 2].astype(np.int32)
        offsets = np.arange(len(rows) + 1) * rows.shape[1]
        p, _ = model.kernel.words(rows.ravel(), offsets)
        word_p = p.reshape(len(rows), -1)[:, -2].astype(np.float64)
        end, _ = model.kernel.words(history, np.array([0, len(history)]))
        assert (10**word_p).sum() + 10 ** float(end[-1]) == pytest.approx(1, abs=2e-5)


def test_discounts_by_hand() -> None:
    y = 4 / (4 + 2 * 2)
    expected = (1 - 2 * y * 2 / 4, 2 - 3 * y * 1 / 2, 3 - 4 * y * 1 / 1)
    assert discounts([0, 4, 2, 1, 1, 1]) == pytest.approx(expected)  # of 1 1 1 1 2 2 3 4 7


@pytest.mark.parametrize(
    "t",
    [
        [0, 0, 0, 0, 0, 0],
        [0, 1, 0, 0, 0, 0],
        [0, 1, 1, 0, 0, 0],
        [0, 0, 1, 1, 0, 0],
        [0, 1, 2, 8, 0, 0],
        [0, 0, 0, 0, 0, 2],
    ],
    ids=str,
)
def test_too_few_counts_have_no_discounts(t: list[int]) -> None:
    assert discounts(t) is None


@pytest.mark.parametrize("smoothing", SMOOTHING)
@pytest.mark.parametrize(
    "text", [["a"], [""], ["", ""], ["a a a a a a"], ["a", "b"], EXAMPLE.splitlines()], ids=str
)
def test_tiny_texts_have_sound_probabilities(smoothing: str, text: list[str]) -> None:
    model = kt.LanguageModel.train(text, 4, smoothing)
    for score in model.words("a b zz the a a a a"):
        assert -99 < score.log10_p <= 0
        assert math.isfinite(score.log10_p)
    assert model.notes


def test_the_fall_back_is_said() -> None:
    model = kt.LanguageModel.train(["a b"], 2)
    assert all(str(FALLBACK) in note for note in model.notes)
    assert len(model.notes) == 2
    assert not kt.LanguageModel.train(demo(), 2).notes


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"order": 0}, "order=0: expected 1 to 8"),
        ({"order": 9}, "order=9"),
        ({"smoothing": "laplace"}, "expected one of kneser-ney, katz"),
        ({"min_counts": [1, 1]}, "expected 3 numbers"),
        ({"min_counts": [2, 2, 2]}, "the first of them 1"),
        ({"min_counts": [1, 3, 2]}, "do not fall"),
        ({"vocabulary": 0}, "vocabulary=0"),
        ({"min_count": 0}, "min_count=0"),
        ({"tok": "moses"}, "tok=moses"),
        ({"stem": "none at all"}, "stem="),
        ({"memory": 10}, "10 bytes.: expected at least"),
        ({"threads": 0}, "threads=0"),
    ],
)
def test_settings_that_cannot_be(more: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        kt.LanguageModel.train(["a b c"], **{"order": 3, **more})  # type: ignore[arg-type]


@pytest.mark.parametrize("text", [[], [[]], "abc", [1], [["a"], "b"]], ids=str)
def test_what_is_no_text(text: object) -> None:
    with pytest.raises(InputError):
        kt.LanguageModel.train(text)  # type: ignore[arg-type]
