"""Evidence of nuggets from tokens and facts: leave one topic out, on REALSumm and TREC RAG 2024.

    KARAT_DATA=… python experiments/nuggets_evidence.py FOLDER [realsumm] [rag24] [--time]

FOLDER has an encoder, such as all-MiniLM-L6-v2 as ONNX file. Prints Markdown: F of decisions and
log loss in nats a judged pair (pairs known from an identical response left out) with the evidence
of words, with that of tokens too, and with contradictions by facts; differences from words with
95% intervals by a paired bootstrap over questions. With `--time`, the CPU of guesses about an
unjudged set, without facts, with them, and with evidence from tokens.

Inspected during development: leave-one-topic-out on both sets, all questions, chose the details of
token evidence: the idf of sentences (beside that of responses), matching with words alone (beside
special tokens), which two columns appear as differences from the question's mean (six pairs tried,
and differences from the mean of responses and of whole questions), and the rule for content tokens
(five tried). So these figures flatter a little. The rules for contradictions were chosen on planted
contradictions and untouched pairs of the first 11 topics of RAG 2024, and on every seventh pair of
REALSumm (`nuggets_contradictions.py` has the plants).
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import sys
import time
from dataclasses import dataclass, replace

import numpy as np
from nugget_sets import SETS, pooled

from karat.nuggets.prediction.calibrated import cross_validate
from karat.nuggets.prediction.contradictions import MAX_PROBABILITY, find_contradictions
from karat.nuggets.prediction.evidence_groups import EvidenceSource
from karat.nuggets.prediction.pool import Flags, Floats, FoldedCells, Pool
from karat.nuggets.prediction.predictions import Calibrated, predict_support
from karat.nuggets.prediction.token_evidence import token_evidence
from karat.nuggets.scores.words import ENGLISH, IdfSource, forget_texts
from karat.nuggets.sets.judgements import Judgements
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.progress import silent

RESAMPLES, SEED = 2000, 2006
FOLDS = {"realsumm": 20, "rag24": 21}  # groups of questions left out


@dataclass(frozen=True)
class Guesses:
    """Probabilities and decisions of all cells, each by a model without its topic."""

    probabilities: Floats
    carried: Flags


def lower_by_facts(pool: Pool, guesses: Guesses) -> tuple[Guesses, int]:
    """Lower guesses that a response contradicts; also return their number."""
    idf = IdfSource().of_classifier(pool, ENGLISH)
    cells = [*find_contradictions(pool, idf, guesses.probabilities, guesses.carried)]
    probabilities, carried = guesses.probabilities.copy(), guesses.carried.copy()
    probabilities[cells] = np.minimum(probabilities[cells], MAX_PROBABILITY)
    carried[cells] = False
    return Guesses(probabilities, carried), len(cells)


def sums_by_question(cells: FoldedCells, guesses: Guesses) -> Floats:
    """Questions x (loss, pairs with a loss, hits, yes decisions and yes judgements)."""
    yes, p = cells.labels > 0, np.clip(guesses.probabilities, 1e-6, 1 - 1e-6)
    has_loss = cells.is_judged & ~cells.is_known
    loss = np.where(has_loss, -np.log(np.where(yes, p, 1 - p)), 0.0)
    carried = guesses.carried & cells.is_judged
    columns = [loss, has_loss, carried & yes, carried * 1.0 + yes]
    return np.stack([np.bincount(cells.pool.cell_question, column) for column in columns], axis=1)


def measures(sums: Floats) -> Floats:
    """Log loss and F."""
    loss, pairs, hits, both = sums.sum(axis=-2).T
    return np.stack([loss / pairs, 2 * hits / both], axis=-1)


def compare(title: str, base: Floats, sums: Floats, rng: np.random.Generator) -> None:
    """Print a row of the table: both measures, and their differences from the base."""
    draws = rng.integers(0, len(base), (RESAMPLES, len(base)))
    ends = np.percentile(measures(sums[draws]) - measures(base[draws]), [2.5, 97.5], axis=0)
    cells = []
    for value, before, low, high in zip(measures(sums), measures(base), *ends, strict=True):
        cells += [f"{value:.4f}", f"{value - before:+.4f} [{low:+.4f}, {high:+.4f}]"]
    print(f"| {title} | {' | '.join(cells)} |", flush=True)


def agreement(name: str, folder: str) -> None:
    """Print the table of one set."""
    pool, labels = pooled(*SETS[name]())
    cells = FoldedCells(pool, labels, pool.cell_question % FOLDS[name])
    idf = IdfSource().of_classifier(pool, ENGLISH)
    words = EvidenceSource().compute(pool, idf, pool.texts)
    both = np.concatenate([words, token_evidence(folder, pool, pool.texts, silent)], axis=1)
    print(f"\n## {name}\n\n| evidence | log loss | from words | F | from words |")
    print("|---|---|---|---|---|")
    base = None
    for title, columns in (("words", words), ("words, tokens", both)):
        result = cross_validate(cells, columns)
        guesses = Guesses(result.probabilities, result.carried)
        lowered, count = lower_by_facts(pool, guesses)
        for kind, some in ((title, guesses), (f"{title}, facts ({count:,} lowered)", lowered)):
            sums = sums_by_question(cells, some)
            base = sums if base is None else base
            compare(kind, base, sums, np.random.default_rng(SEED))


def measure_time(name: str, folder: str) -> None:
    """Print the CPU of predictions without judgements, without and with facts and tokens."""
    key, runs, _ = SETS[name]()
    nuggets = NuggetSet(name, key, {run.tag: run for run in runs}, Judgements(()))
    print(f"\n## {name}: CPU seconds of guesses without judgements\n")
    print("| classifier | CPU s | ratio |\n|---|---|---|")
    first = None
    plain = Calibrated(facts=False)
    for classifier in (plain, Calibrated(), replace(plain, model=folder)):
        forget_texts()
        start = time.process_time()
        predict_support(nuggets, classifier=classifier)
        elapsed = time.process_time() - start
        first = first or elapsed
        settings = (
            "calibrated"
            + (":facts=no" * (not classifier.facts))
            + (",model=…" * (classifier.model is not None))
        )
        print(f"| {settings} | {elapsed:.2f} | {elapsed / first:.2f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", help="folder of an encoder")
    parser.add_argument("sets", nargs="*", choices=[*SETS, []], help="sets; by default both")
    parser.add_argument("--time", action="store_true", help="measure CPU instead of agreement")
    options = parser.parse_args()
    for name in options.sets or SETS:
        (measure_time if options.time else agreement)(name, options.folder)


if __name__ == "__main__":
    sys.exit(main())
