"""Estimates of nugget scores on TREC RAG 2024: what their intervals hold, and Nuggeteer's beside.

    KARAT_DATA=… python experiments/estimates_nuggets.py [--draws 2000] [--sets 12] [ROW]...

Prints Markdown. ROW is A-words and so on, differences, or nuggeteer for the second table; the
default is all rows. First table: 10 of the 21 questions are drawn, the judgements of the others are
dropped, and the scores of the 43 runs that answer all questions are estimated with `kt.estimate`.
Held: the share of draws in which the 95% interval contains the score on all questions; width: the
width with the judge divided by the width from people alone. Both are means over runs with their
standard errors. `calibrated` has seen RAG24: its built-in weights were fitted to this set and
another.

Second table: which runs were judged on which questions, the share of runs whose interval of A by
Nuggeteer contains the score, with the standard error over random sets of judgements, and its mean
width. Others: the mean number of other runs judged on a question on which a run was not judged,
divided by the same number where errors are measured. The rule in `nuggets/estimation/methods.py`
was chosen by this table.

Chosen here: words by idf, not by counts, and for F the mean match of vital nuggets in place of
Pourpre's F.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from estimates import SEED, Coverage, outcomes, simple
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


def answering_all(nuggets: NuggetSet) -> NuggetSet:
    """Return the runs that answer all questions; all judgements stay."""
    questions = nuggets.key.questions
    return nuggets.select(*(t for t, r in nuggets.runs.items() if all(map(r.responses, questions))))


def full_sample(nuggets: NuggetSet, dimension: str, judges: Sequence[str]) -> Sample:
    """Return the sample in which every question is judged."""
    scores = question_scores(nuggets, dimension, kt.OfficialSettings())
    return sample_of_questions(scores, question_judges(scores, judges))


def held(
    nuggets: NuggetSet, dimension: str, judges: Sequence[str], draws: int, differences: bool = False
) -> Coverage:
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


def same_questions(count: int) -> Judge:
    """All runs are judged on the same questions, but some, which are judged on all."""

    def judge(rng: np.random.Generator, runs: int, questions: int) -> Flags:
        is_judged = np.zeros((runs, questions), bool)
        is_judged[:, rng.permutation(questions)[:QUESTIONS]] = True
        is_judged[rng.permutation(runs)[:count]] = True
        return is_judged

    return judge


def own_questions(rng: np.random.Generator, runs: int, questions: int) -> Flags:
    """Each run is judged on questions drawn for it."""
    order = np.argsort(rng.random((runs, questions)), axis=1)
    return np.asarray(order < QUESTIONS)


def some_runs(count: int) -> Judge:
    """Some runs are judged on all questions, the others on none."""

    def judge(rng: np.random.Generator, runs: int, questions: int) -> Flags:
        is_judged = np.zeros((runs, questions), bool)
        is_judged[rng.permutation(runs)[:count]] = True
        return is_judged

    return judge


CASES: dict[str, Judge] = {
    "all runs on the same 10 questions": same_questions(0),
    "the same, but 5 runs on all": same_questions(5),
    "the same, but 20 runs on all": same_questions(20),
    "the same, but 30 runs on all": same_questions(30),
    "each run on 10 questions of its own": own_questions,
    "5 runs on all questions, the others on none": some_runs(5),
    "20 runs on all questions, the others on none": some_runs(20),
}


class NuggeteerCoverage(NamedTuple):
    """Nuggeteer's intervals of runs that were not judged whole, in one random set."""

    held: float
    width: float
    other_share: float


def nuggeteer_coverage(
    nuggets: NuggetSet, judge: Judge, rng: np.random.Generator
) -> NuggeteerCoverage:
    """Return what Nuggeteer's intervals of A hold."""
    runs, questions = [*nuggets.runs], [*nuggets.key.questions]
    judged = judge(rng, len(runs), len(questions))
    judged_pairs = {(runs[k], questions[q]) for k, q in zip(*np.nonzero(judged), strict=True)}
    judgements = (row for row in nuggets.judgements.rows if (row.run, row.question) in judged_pairs)
    done = kt.score_nuggets(replace(nuggets, judgements=nuggets.judgements.with_rows(judgements)))
    true = kt.score_nuggets(nuggets, guess=False).scored
    rows = []
    for run, truth_run, run_judged in zip(done.scored, true, judged, strict=True):
        if not run_judged.all() and run.intervals:
            ends, score = run.intervals.share, mean_shares(truth_run.shares).A
            rows.append((ends.low <= score <= ends.high, ends.width))
    total = judged.sum(axis=0)
    other_coverage = (total * ~judged).sum() / (~judged).sum()
    own_coverage = (total * (total - 1)).sum() / total.sum()
    return NuggeteerCoverage(*np.mean(rows, axis=0).tolist(), float(other_coverage / own_coverage))


def estimates(nuggets: NuggetSet, names: Sequence[str], draws: int) -> None:
    """Print the first table."""
    print("| row | held, people alone | held, with the judge | width over people alone |")
    print("|---|---|---|---|")
    for name in names:
        if name == DIFFERENCES:
            coverage = held(nuggets, *ROWS["A-words"], max(draws // 20, 2), differences=True)
        else:
            coverage = held(nuggets, *ROWS[name], draws)
        print(coverage.line(name), flush=True)


def intervals(nuggets: NuggetSet, sets: int) -> None:
    """Print the second table."""
    print("\n| judged | others | Nuggeteer: held | width |\n|---|---|---|---|")
    for name, judge in CASES.items():
        rng = np.random.default_rng(SEED)
        rows = np.array([nuggeteer_coverage(nuggets, judge, rng) for _ in range(sets)])
        (inside, width, share), error = rows.mean(axis=0), rows[:, 0].std(ddof=1)
        spread = error / np.sqrt(len(rows))
        print(f"| {name} | {share:.2f} | {inside:.3f} ± {spread:.3f} | {width:.3f} |", flush=True)


def main() -> None:
    """Print the requested rows, or all."""
    row_names = [*ROWS, DIFFERENCES, NUGGETEER]
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("rows", nargs="*", choices=[*row_names, []], metavar="ROW")
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--sets", type=int, default=12)
    options = parser.parse_args()
    nuggets, rows = answering_all(kt.load_nuggets("rag24")), options.rows or row_names
    if first := [name for name in rows if name != NUGGETEER]:
        estimates(nuggets, first, options.draws)
    if NUGGETEER in rows:
        intervals(nuggets, options.sets)


if __name__ == "__main__":
    main()
