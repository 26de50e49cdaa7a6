"""Pseudo-documents, against loops over shuffled segments and concatenated text."""

from __future__ import annotations

import numpy as np
import pytest
from oracles.pair_loops import pearson
from oracles.small_sets import small_set

import karat as kt
from karat.errors import InputError
from karat.meta.pseudo_documents import reliability
from karat.meta.scores import score_evalset


@pytest.mark.parametrize("name", ["bleu", "ter"])
@pytest.mark.parametrize("length", [1, 2, 4])
def test_documents_are_scored_as_their_text_is(name: str, length: int) -> None:
    evalset = small_set(1)
    metric, human = kt.metric(name), evalset.human("quality")
    (found,) = reliability(
        score_evalset(evalset, name),
        "quality",
        lengths=[length],
        statistics=["pearson"],
        repeats=3,
        seed=5,
    )
    assert found.documents == 9 // length
    rng = np.random.default_rng([5, length])
    for value in found.values:
        order = rng.permutation(9).tolist()
        xs, ys = [], []
        for k, texts in enumerate(evalset.systems.values()):
            for start in range(0, 9 // length * length, length):
                part = order[start : start + length]
                good = [j for j in part if texts[j] is not None and not np.isnan(human[k, j])]
                if good:
                    xs.append(float(np.mean([human[k, j] for j in good])))
                    references = [list(evalset.references[j]) for j in good]
                    score = metric.corpus([texts[j] or "" for j in good], references).value
                    ys.append(metric.sign * score)
        assert value == pytest.approx(pearson(xs, ys), abs=1e-9)


def test_metrics_see_the_same_documents_and_seeds_repeat() -> None:
    scored = score_evalset(small_set(2), ["bleu", "rouge1"])
    alone = score_evalset(small_set(2), ["rouge1"])
    both = reliability(scored, "quality", lengths=[2, 3], repeats=4)
    one = reliability(alone, "quality", lengths=[2, 3], repeats=4)
    mine = [r for r in both if str(r.metric) == "rouge1"]
    assert len(both) == 2 * len(one) == 8
    for a, b in zip(mine, one, strict=True):
        assert np.array_equal(a.values, b.values)
        assert a.mean == pytest.approx(np.mean(a.values))
        assert a.ends == (a.values.min(), a.values.max())


def test_what_is_undefined_is_nan() -> None:
    evalset = small_set(3, value=lambda *_: 1.0)
    (found,) = reliability(
        score_evalset(evalset, "bleu"), "quality", lengths=[2], statistics=["pearson"], repeats=2
    )
    assert np.isnan(found.values).all()
    assert np.isnan([found.mean, *found.ends]).all()


def test_lengths_and_repeats_are_checked() -> None:
    scored = score_evalset(small_set(4), "bleu")
    for lengths in ([0], [10]):
        with pytest.raises(InputError, match="segments: expected 1 to 9"):
            reliability(scored, "quality", lengths=lengths)
    with pytest.raises(InputError, match="repeats=0: expected at least 1"):
        reliability(scored, "quality", repeats=0)
    seen: list[tuple[int, int, str]] = []
    reliability(scored, "quality", lengths=[1, 3], repeats=1, progress=lambda *x: seen.append(x))
    assert seen == [(1, 2, "pseudo-documents"), (2, 2, "pseudo-documents")]
