"""Prints digests of what the applications compute, as JSON: `test_applications.py` runs it.

Names of applications may be given; else all are run.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from hashlib import sha256
from importlib import resources
from typing import Any

import numpy as np
from nuggets.nugget_world import pooled

Found = Iterator[tuple[str, Any]]


def nuggets() -> Found:
    """Evidence and likeness, the probabilities made of them, and thresholds."""
    from karat.nuggets.calibrated import cross_validate, fit_with_likeness
    from karat.nuggets.evidence import evidence
    from karat.nuggets.folds import folds
    from karat.nuggets.held_out import without_folds
    from karat.nuggets.likeness import Likeness
    from karat.nuggets.thresholds import NOISY, compare_models, fit_thresholds

    pool, labels, _ = pooled()
    fold, near = folds(pool, "system"), Likeness(pool)
    X = evidence(pool)
    model, columns = fit_with_likeness(X, labels, fold, near)
    yield "evidence and likeness", columns
    yield "without folds", without_folds(model, columns, labels, fold, 10.0).probabilities
    left = cross_validate(pool, X, labels, folds(pool, "question"))
    yield "unjudged questions", left.probabilities
    scores = X[:, 0]
    yield "threshold models", [one.log10 for one in compare_models(pool, scores, labels)]
    for name in NOISY:
        found = fit_thresholds(pool, scores, labels, name)
        yield f"thresholds: {name}", [found.fp, found.fn, *found.chances(pool, scores)]


def paraphrases() -> Found:
    """A regression learned and used; the bundled model's scores and what it writes."""
    from karat.paraphrase.pem import PEM
    from karat.paraphrase.svr import Setting, fit_svr

    rng = np.random.default_rng(7)
    features = rng.random((400, 9))
    human = np.rint(4 * features[:, 0] * features[:, 1] + rng.random(400))
    svr = fit_svr(features, human, Setting(1.0, 0.2, 0.5))
    yield from svr.arrays().items()
    yield "predicted", svr.predict(features)
    model = PEM.open()
    texts = ["A dog runs through the water .", "Two men are standing on the street ."]
    yield "scores", model.score(texts, texts[::-1]).pem
    yield "written", [str(some) for some in model.generate(texts)]


def language_model() -> Found:
    """Trained on a few lines."""
    from karat.lm.model import LanguageModel

    rng = np.random.default_rng(7)
    lines = [" ".join(f"w{k}" for k in np.floor(40 * rng.random(9) ** 2)) for _ in range(300)]
    for smoothing in ("kneser-ney", "katz"):
        model = LanguageModel.train(lines[:250], order=3, smoothing=smoothing)
        yield f"{smoothing}: log10", model.score(lines[250:])
        yield f"{smoothing}: perplexity", model.perplexity(lines[250:]).perplexity


def realisers() -> Found:
    """Both realisers trained on the bundled treebank, and what they make of it."""
    from karat.realize.fergus import Fergus
    from karat.realize.ordering_training import train_ordering
    from karat.realize.treebank import read_treebank
    from karat.realize.trees import input_trees

    treebank = read_treebank(str(resources.files("karat.data") / "treebank" / "demo.conllu"))
    trees = input_trees(treebank)
    for realizer in (Fergus.train(treebank), train_ordering(treebank, threads=1)):
        yield realizer.name, [str(one) for one in realizer.realize(trees, 3)]


APPLICATIONS: dict[str, Callable[[], Found]] = {
    one.__name__: one for one in (nuggets, paraphrases, language_model, realisers)
}


def digest(value: Any) -> str:
    """Of all bits of numbers, or of text."""
    if isinstance(value, list) and value and isinstance(value[0], str):
        return sha256("\n".join(value).encode()).hexdigest()[:12]
    return sha256(np.asarray(value, dtype=np.float64).tobytes()).hexdigest()[:12]


if __name__ == "__main__":
    asked = sys.argv[1:] or list(APPLICATIONS)
    print(json.dumps({f"{a}: {k}": digest(v) for a in asked for k, v in APPLICATIONS[a]()}))
