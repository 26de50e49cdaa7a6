"""Forms by neighbours: the best path is that of an oracle that tries all."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.realize.inflector import (
    Candidates,
    FormParts,
    choose_forms,
    pair_features,
)
from karat.realize.log_linear import Choices, LogLinear, LogLinearFeatures, mix_keys, symbols

FORMS = ("a", "an", "do", "n't", "not", "wo")


def random_model(seed: int) -> LogLinear:
    """Weights of all pairs of forms, and of the edges."""
    parts = FormParts.of(list(FORMS))
    all_values = np.arange(-1, len(FORMS))
    left, right = np.repeat(all_values, len(all_values)), np.tile(all_values, len(all_values))
    keys = np.unique(pair_features(parts, left, right, np.arange(len(left))).keys)
    weights = np.random.default_rng(seed).normal(size=len(keys)).astype(np.float32)
    return LogLinear(keys, weights)


def score(model: LogLinear, words: tuple[str, ...]) -> float:
    """The sum over neighbours, each pair scored alone."""
    parts = FormParts.of(list(words))
    result = 0.0
    for i in range(len(words) + 1):
        left, right = i - 1, i if i < len(words) else -1
        item = pair_features(parts, np.array([left]), np.array([right]), np.zeros(1, np.int64))
        result += float(model.scores(item, 1)[0])
    return result


WORD = st.dictionaries(st.sampled_from(FORMS), st.floats(-2, 2), min_size=1, max_size=3)


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 99), st.lists(st.lists(WORD, min_size=1, max_size=4), min_size=1, max_size=3))
def test_the_best_forms_are_those_of_an_oracle(seed: int, sentences: list) -> None:
    words_of_all = [word for sentence in sentences for word in sentence]
    starts = np.cumsum([0, *map(len, sentences)])
    candidates = Candidates.of([dict.fromkeys(word, 1) for word in words_of_all], starts)
    scores = np.array([value for word in words_of_all for value in word.values()])
    model = random_model(seed)
    rows = choose_forms(model, candidates, scores).tolist()
    result = iter(candidates.forms[row] for row in rows)
    for sentence in sentences:
        words = tuple(next(result) for _ in sentence)

        def total(part: tuple[str, ...], arguments: list = sentence) -> float:
            return score(model, part) + sum(w[f] for w, f in zip(arguments, part, strict=True))

        # The edge counts only for words with several forms: it is the same for all paths else.
        best = max(total(part) for part in product(*sentence))
        assert total(words) >= best - 1e-6


def test_weights_are_learned_and_stored() -> None:
    """Items of two kinds: one has its first candidate right, the other its second."""
    n = 40
    choices = Choices(np.arange(0, 2 * n + 1, 2), np.zeros(2 * n))
    kind = np.arange(n) % 2
    keys = mix_keys(0, symbols([str(k) for k in np.repeat(kind, 2)]), symbols(["x", "y"] * n))
    right = (np.arange(2 * n) % 2) == np.repeat(kind, 2)
    features = LogLinearFeatures(np.arange(2 * n), keys)
    model = LogLinear.train(choices, features, right)
    assert len(model.keys) == 4
    scores = model.scores(features, 2 * n)
    assert choices.best(scores).tolist() == np.flatnonzero(right).tolist()
    sums = np.add.reduceat(choices.probabilities(scores), choices.offsets[:-1])
    assert np.allclose(sums, 1)
    stored = LogLinear.from_arrays("x", model.arrays("x"))
    assert np.allclose(stored.scores(features, 2 * n), scores, atol=1e-2)
    unknown = LogLinearFeatures(np.array([0]), np.array([12345], dtype=np.uint64))
    assert model.scores(unknown, 1).tolist() == [0.0]
