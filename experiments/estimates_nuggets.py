"""Estimates of nugget scores on TREC RAG 2024: what their intervals hold, and Nuggeteer's beside.

    KARAT_DATA=… python experiments/estimates_nuggets.py [--draws 2000] [--sets 12] [ROW]...

Prints Markdown. ROW is A-words and so on, differences, or nuggeteer for the second table; by
default all are made. First: 10 of the 21 questions are drawn, the judgements of the others are
forgotten, and the scores of the 43 runs that answer all questions are estimated, as `kt.estimate`
does. Held: the share of draws in which the 95% interval holds the score on all questions; width:
that with the judge over that by people alone. Both are means over runs with their standard errors.
`calibrated` has seen RAG24: its built-in weights were fitted to this set and another.

Second: which runs were judged on which questions, and the share of runs whose interval of A by
Nuggeteer holds the score, with the standard error over random sets of judgements; its mean width.
Others: the mean number of other runs judged on a question that a run was not judged on, over that
where errors are measured. This is what the rule in `nuggets/estimation/methods.py` was chosen by.

Chosen here: words by idf, not by counts, and for F the mean match of vital nuggets in place of
Pourpre's F.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from estimates import SEED, Found, outcomes, simple
from numpy.typing import NDArray

import karat as kt
from karat.estimation.samples import Sample
from karat.nuggets.estimation import question_judges, question_scores, sample_of_questions
from karat.nuggets.scores.official import mean_shares
from karat.nuggets.sets.nugget_set import NuggetSet

QUESTIONS = 10
Flags = NDArray[np.bool_]
Judge = Callable[[np.random.Generator, int, int], Flags]
"""From a generator and the numbers of runs and questions to who was judged on what."""


def whole(nuggets: NuggetSet) -> NuggetSet:
    """Return the runs that answer all questions; all judgements stay."""
    asked = nuggets.key.questions
    return nuggets.select(*(t for t, r in nuggets.runs.items() if all(map(r.responses, asked))))


def full_sample(nuggets: NuggetSet, dimension: str, judges: Sequence[str]) -> Sample:
    """Return the sample in which every question is judged."""
    found = question_scores(nuggets, dimension, kt.Official())
    return sample_of_questions(found, question_judges(found, judges))


def held(
    nuggets: NuggetSet, dimension: str, judges: Sequence[str], draws: int, differences: bool = False
) -> Found:
    """Return what estimates from ten questions hold."""
    full = full_sample(nuggets, dimension, judges)
    return outcomes(full, simple(full, QUESTIONS, draws), differences)


ROWS: dict[str, tuple[str, list[str]]] = {
    "A-words": ("A", ["words"]),
    "V-words": ("V", ["words"]),
    "F-words": ("f", ["words"]),
    "A-calibrated": ("A", ["calibrated"]),
    "F-calibrated": ("f", ["calibrated"]),
    "A-both": ("A", ["words", "calibrated"]),
}
DIFFERENCES, NUGGETEER = "differences", "nuggeteer"
"""Differences of A with words (a twentieth of the draws: there are 903 pairs of runs), and the
second table."""


def same(count: int) -> Judge:
    """All runs are judged on the same questions, but some, which are judged on all."""

    def judge(rng: np.random.Generator, runs: int, questions: int) -> Flags:
        found = np.zeros((runs, questions), bool)
        found[:, rng.permutation(questions)[:QUESTIONS]] = True
        found[rng.permutation(runs)[:count]] = True
        return found

    return judge


def own(rng: np.random.Generator, runs: int, questions: int) -> Flags:
    """Each run is judged on questions drawn for it."""
    order = np.argsort(rng.random((runs, questions)), axis=1)
    return np.asarray(order < QUESTIONS)


def some(count: int) -> Judge:
    """Some runs are judged on all questions, the others on none."""

    def judge(rng: np.random.Generator, runs: int, questions: int) -> Flags:
        found = np.zeros((runs, questions), bool)
        found[rng.permutation(runs)[:count]] = True
        return found

    return judge


CASES: dict[str, Judge] = {
    "all runs on the same 10 questions": same(0),
    "the same, but 5 runs on all": same(5),
    "the same, but 20 runs on all": same(20),
    "the same, but 30 runs on all": same(30),
    "each run on 10 questions of its own": own,
    "5 runs on all questions, the others on none": some(5),
    "20 runs on all questions, the others on none": some(20),
}


class Beside(NamedTuple):
    """Nuggeteer's intervals of runs that were not judged whole, in one random set."""

    held: float
    width: float
    others: float


def beside(nuggets: NuggetSet, judge: Judge, rng: np.random.Generator) -> Beside:
    """Return what Nuggeteer's intervals of A hold."""
    runs, questions = [*nuggets.runs], [*nuggets.key.questions]
    judged = judge(rng, len(runs), len(questions))
    told = {(runs[k], questions[q]) for k, q in zip(*np.nonzero(judged), strict=True)}
    kept = (row for row in nuggets.judgements.rows if (row.run, row.question) in told)
    done = kt.score_nuggets(replace(nuggets, judgements=nuggets.judgements.with_rows(kept)))
    true = kt.score_nuggets(nuggets, guess=False).scored
    rows = []
    for one, official, mine in zip(done.scored, true, judged, strict=True):
        if not mine.all() and one.intervals:
            ends, score = one.intervals.share, mean_shares(official.shares).A
            rows.append((ends.low <= score <= ends.high, ends.width))
    total = judged.sum(axis=0)
    others = (total * ~judged).sum() / (~judged).sum()
    measured = (total * (total - 1)).sum() / total.sum()
    return Beside(*np.mean(rows, axis=0).tolist(), float(others / measured))


def estimates(nuggets: NuggetSet, names: Sequence[str], draws: int) -> None:
    """Print the first table."""
    print("| row | held, people alone | held, with the judge | width over people alone |")
    print("|---|---|---|---|")
    for name in names:
        if name == DIFFERENCES:
            found = held(nuggets, *ROWS["A-words"], max(draws // 20, 2), differences=True)
        else:
            found = held(nuggets, *ROWS[name], draws)
        print(found.line(name), flush=True)


def intervals(nuggets: NuggetSet, sets: int) -> None:
    """Print the second table."""
    print("\n| judged | others | Nuggeteer: held | width |\n|---|---|---|---|")
    for name, judge in CASES.items():
        rng = np.random.default_rng(SEED)
        rows = np.array([beside(nuggets, judge, rng) for _ in range(sets)])
        (inside, width, others), error = rows.mean(axis=0), rows[:, 0].std(ddof=1)
        spread = error / np.sqrt(len(rows))
        print(f"| {name} | {others:.2f} | {inside:.3f} ± {spread:.3f} | {width:.3f} |", flush=True)


def main() -> None:
    """Print the rows that were asked for, or all."""
    every = [*ROWS, DIFFERENCES, NUGGETEER]
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("rows", nargs="*", choices=[*every, []], metavar="ROW")
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--sets", type=int, default=12)
    asked = parser.parse_args()
    nuggets, rows = whole(kt.load_nuggets("rag24")), asked.rows or every
    if first := [name for name in rows if name != NUGGETEER]:
        estimates(nuggets, first, asked.draws)
    if NUGGETEER in rows:
        intervals(nuggets, asked.sets)


if __name__ == "__main__":
    main()
