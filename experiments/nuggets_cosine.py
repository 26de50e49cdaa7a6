"""Cosines of sentence embeddings as evidence about nuggets, on REALSumm and TREC RAG 2024.

    KARAT_DATA=… python experiments/nuggets_cosine.py [realsumm] [rag24] [--model MODEL]

The calibrated classifier without and with the columns of `meaning.py`, by default of wordllama.
LOTO leaves questions out, LOSO runs (see `nuggets_classifiers.py`). Log loss is in nats a judged
pair, of pairs that are not known from an identical response. Differences have 95% intervals of a
paired bootstrap over questions (1,000 resamples, seed 2006).
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys

import numpy as np
from nugget_sets import SETS, pooled

from karat.metrics.cosine import load_vectors
from karat.nuggets.guess.calibrated.classifier import Validated, cross_validate
from karat.nuggets.guess.calibrated.evidence import NAMES, evidence
from karat.nuggets.guess.calibrated.likeness import Likeness
from karat.nuggets.guess.folds import Folded, folds

FOLDS = {"realsumm": 20, "rag24": 21}
RESAMPLES, SEED = 1000, 2006


def sums(cells: Folded, validated: Validated) -> np.ndarray:
    """Questions x (loss, pairs it is of, carried rightly, carried, to be carried)."""
    judged = cells.judged
    yes, p = cells.labels > 0, np.clip(validated.probabilities, 1e-6, 1 - 1e-6)
    loss = -np.where(yes, np.log(p), np.log(1 - p))
    open_ = judged & ~validated.known
    columns = [
        np.where(open_, loss, 0.0),
        open_,
        judged & yes & validated.carried,
        judged & validated.carried,
        judged & yes,
    ]
    question = cells.pool.cell_question
    return np.stack([np.bincount(question, column) for column in columns], axis=1)


def measures(total: np.ndarray) -> np.ndarray:
    """Log loss and F of sums."""
    loss, pairs, hits, predicted, actual = np.moveaxis(total, -1, 0)
    return np.stack([loss / pairs, 2 * hits / (predicted + actual)], axis=-1)


def compared(title: str, cells: Folded, X: np.ndarray, near: Likeness | None) -> None:
    both = [
        sums(cells, cross_validate(cells, columns, near)) for columns in (X[:, : len(NAMES)], X)
    ]
    rng = np.random.default_rng(SEED)
    resamples = rng.multinomial(len(both[0]), np.full(len(both[0]), 1 / len(both[0])), RESAMPLES)
    plain, with_cosine = (measures(columns.sum(axis=0)) for columns in both)
    differences = measures(resamples @ both[1]) - measures(resamples @ both[0])
    low, high = np.quantile(differences, (0.025, 0.975), axis=0)
    for k, name in enumerate(("log loss", "F")):
        change = with_cosine[k] - plain[k]
        ends = f"{low[k]:+.4f}, {high[k]:+.4f}"
        cells_text = f"{plain[k]:.4f} | {with_cosine[k]:.4f} | {change:+.4f} [{ends}]"
        print(f"| {title} | {name} | {cells_text} |", flush=True)


def main() -> None:
    arguments = sys.argv[1:]
    model = arguments.pop(arguments.index("--model") + 1) if "--model" in arguments else "wordllama"
    names = [name for name in arguments if name in SETS] or list(SETS)
    vectors = load_vectors(model)
    print("| set, left out | | without | with cosine | difference |\n|---|---|---|---|---|")
    for name in names:
        pool, labels = pooled(*SETS[name]())
        X = evidence(pool, vectors=vectors)
        topics = Folded(pool, labels, pool.cell_question % FOLDS[name])
        compared(f"{name}, questions", topics, X, None)
        runs = Folded(pool, labels, folds(pool, "system"))
        compared(f"{name}, runs", runs, X, Likeness(pool))


if __name__ == "__main__":
    main()
