"""Coverage of `nuggets score --labels model`: simulated judges inside and outside the prior.

    KARAT_DATA=… python experiments/nuggets_model_labels.py [--draws 2000] [--table TABLE]

Prints Markdown. Each draw has a run whose mean share of carried nuggets is uniform from .15 to
.85, 15 questions with 6 nuggets (3 vital) whose shares vary by question (Beta with a precision of
4), and a judge. The judge's sensitivity s and specificity c on the run differ from their means by a
normal error with the given standard deviation, .03 unless stated. People judged some nuggets of
other runs, each with an error of its own, and none of this run. Inside: the share of draws whose
interval contains the score of the run on all such questions, with its standard error; it is known
for A, and for F macro is the mean of 4,000 questions. Nothing was chosen by these figures: the
prior, the dispersion and the limit of 140 were set before they were first seen. That rates must
explain the labels of a run was added after a first form, without it, held 93.5% ± 0.6 of A for a
judge drawn from the prior whom people did not check. That all questions weigh the same in the share
of labels was added after a first table on TREC RAG 2024; here it changes nothing.

The third table has the answers of TREC RAG 2024 and a simulated model, as in `nuggets_judges.py`:
people judged no run, or 3 or 15 of the 45 (seeds 0, 1 and 2), and the others are scored. Intervals
are for questions like these, so they should hold the score on these questions more often than 95%.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from nuggets_judges import MODELS, SEEDS, Model, compared, labels

import karat as kt
from karat.nuggets.prediction.model_labels import (
    PRIOR_RIGHT,
    PRIOR_WRONG,
    ErrorCounts,
    LabelledRun,
)
from karat.nuggets.scores.official import nugget_stats
from karat.nuggets.sets.judgements import Judgements
from karat.nuggets.sets.keys_and_runs import Nugget, Question

QUESTIONS, NUGGETS, LENGTH, PRECISION = 15, 6, 400.0, 4.0
JUDGED = (0, 10, 20, 50, 200)
POSTERIOR_DRAWS = 500
PEOPLE_RUNS = 5  # runs that people judged
SETTINGS = kt.OfficialSettings()
KEY = tuple(
    Question(
        f"q{q}",
        tuple(Nugget(f"n{n}", ("",), "vital" if n % 2 else "okay") for n in range(NUGGETS)),
    )
    for q in range(QUESTIONS)
)


class Judge(NamedTuple):
    """A simulated judge; sensitivity and specificity are drawn from the prior if they are None."""

    name: str
    rates: tuple[float, float] | None = None
    run_deviation: float = 0.03


JUDGES = (
    Judge("drawn from the prior"),
    Judge("s .90, c .90", (0.9, 0.9)),
    Judge("s .99, c .99", (0.99, 0.99)),
    Judge("s .70, c .95", (0.7, 0.95)),
    Judge("s .50, c .95 (outside)", (0.5, 0.95)),
    Judge("s .95, c .50 (outside)", (0.95, 0.5)),
    Judge("s .40, c .40 (outside)", (0.4, 0.4)),
    Judge("drawn from the prior, .10 by run", None, 0.10),
)


def rates_of_run(
    rates: tuple[float, float], deviation: float, rng: np.random.Generator
) -> tuple[float, float]:
    """Return the judge's sensitivity and specificity on one run."""
    s, c = np.clip(np.array(rates) + rng.normal(0, deviation, 2), 0, 1).tolist()
    return s, c


def label(carried: np.ndarray, rates: tuple[float, float], rng: np.random.Generator) -> np.ndarray:
    """Return the judge's labels."""
    s, c = rates
    return rng.random(carried.shape) < np.where(carried, s, 1 - c)


def questions_of_run(mean: float, count: int, rng: np.random.Generator) -> np.ndarray:
    """Return which nuggets of a run are carried: questions x nuggets."""
    shares = rng.beta(mean * PRECISION, (1 - mean) * PRECISION, count)
    return rng.random((count, NUGGETS)) < shares[:, None]


def f_macro(carried: np.ndarray) -> float:
    """Return F macro of questions x nuggets."""
    counts = carried.reshape(-1, QUESTIONS * NUGGETS).astype(np.float64)
    lengths = np.full((len(counts), QUESTIONS), LENGTH)
    stats = nugget_stats(KEY, "vital", counts, counts, lengths)
    return float(stats.f(SETTINGS.beta).mean())


def people(
    judged: int, rates: tuple[float, float], deviation: float, rng: np.random.Generator
) -> ErrorCounts:
    """Return the errors of the judge on nuggets of other runs that people judged."""
    counts = np.zeros(4, int)
    for part in np.array_split(np.arange(judged), PEOPLE_RUNS):
        carried = rng.random(len(part)) < rng.uniform(0.15, 0.85)
        values = label(carried, rates_of_run(rates, deviation, rng), rng)
        cells = carried & values, carried & ~values, ~carried & ~values, ~carried & values
        counts += [int(cell.sum()) for cell in cells]
    return ErrorCounts(*counts.tolist())


def draw(judge: Judge, judged: int, rng: np.random.Generator) -> tuple[bool, bool, float, float]:
    """Return whether A and F macro are inside, and the widths of their intervals."""
    mean = rng.uniform(0.15, 0.85)
    drawn = rng.beta(PRIOR_RIGHT, PRIOR_WRONG, 2).tolist()
    rates = judge.rates or (drawn[0], drawn[1])
    carried = questions_of_run(mean, QUESTIONS, rng)
    values = label(carried, rates_of_run(rates, judge.run_deviation, rng), rng).ravel()
    none = np.zeros(len(values), bool)
    lengths = np.full(QUESTIONS, LENGTH)
    run = LabelledRun(KEY, lengths, values.astype(np.float64), none, none)
    counts = people(judged, rates, judge.run_deviation, rng)
    intervals = run.intervals({False: counts, True: counts}, SETTINGS, POSTERIOR_DRAWS)
    assert intervals is not None
    assert intervals.macro is not None
    true_f = f_macro(questions_of_run(mean, 4_000 // QUESTIONS * QUESTIONS, rng))
    share, macro = intervals.share, intervals.macro
    inside = share.low <= mean <= share.high, macro.low <= true_f <= macro.high
    return (*inside, share.width, macro.width)


def table(judges: tuple[Judge, ...], sizes: tuple[int, ...], draws: int) -> None:
    """Print coverage and widths by judge and number of judged nuggets."""
    print("| judge | judged by people | A inside | width | F macro inside | width |")
    print("|---|---|---|---|---|---|")
    for judge in judges:
        for judged in sizes:
            rng = np.random.default_rng(7)
            rows = np.array([draw(judge, judged, rng) for _ in range(draws)])
            a, f, a_width, f_width = rows.mean(axis=0)
            errors = [100 * np.sqrt(p * (1 - p) / draws) for p in (a, f)]
            print(
                f"| {judge.name} | {judged} | {a:.1%} ± {errors[0]:.1f} | {a_width:.3f} "
                f"| {f:.1%} ± {errors[1]:.1f} | {f_width:.3f} |",
                flush=True,
            )


def real_answers() -> None:
    """Print how often intervals hold the scores of runs of TREC RAG 2024 by people."""
    nuggets = kt.load_nuggets("rag24")
    truth = {run.run.tag: run for run in kt.score_nuggets(nuggets).scored}
    # A model labels the same words once, however many runs have them.
    unique_rows = tuple({row.pair_key: row for row in nuggets.judgements.rows}.values())
    print("| labels of a model | runs that people judged | A inside | width | F macro inside |")
    print("|---|---|---|---|---|")
    for model in (Model("wrong in 5% of pairs", 0.05), MODELS[0], MODELS[2], MODELS[3]):
        for n_judged in (0, 3, 15):
            rows = []
            for seed in SEEDS:
                rng = np.random.default_rng(seed)
                judged = set(rng.choice([*nuggets.runs], n_judged, replace=False).tolist())
                judgements = [row for row in nuggets.judgements.rows if row.run in judged]
                judgements += labels(model, unique_rows, judged, rng)
                labelled = replace(nuggets, judgements=Judgements(tuple(judgements)))
                scored = kt.score_nuggets(labelled, labels="model").scored
                rows += compared([run for run in scored if run.run.tag not in judged], truth)
            a, f, width, _ = np.array(rows).T
            print(
                f"| {model.name} | {n_judged} | {a.mean():.1%} | {width.mean():.3f} "
                f"| {f.mean():.1%} |",
                flush=True,
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=2_000)
    parser.add_argument("--table", choices=("sizes", "judges", "rag24"), help="One of the tables.")
    options = parser.parse_args()
    if options.table in (None, "sizes"):
        table(JUDGES[:1], JUDGED, options.draws)
    if options.table in (None, "judges"):
        table(JUDGES[1:], (0, 50), options.draws)
    if options.table in (None, "rag24"):
        real_answers()
