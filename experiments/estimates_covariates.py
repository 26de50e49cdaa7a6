"""Covariates in estimates of human scores: coverage and width of their intervals.

    KARAT_DATA=… python experiments/estimates_covariates.py [--draws 2000] [ROW]...

Each row takes a fully labelled set, draws some units at random, drops the other labels, and
estimates as `karat estimate` does, without and with all covariates that the set allows. Held: the
share of draws in which the 95% interval contains the mean over all units. Widths are means over
draws, divided by those without covariates (by the judges of the row), by those by people alone, and
by Student's plain intervals by people alone. All are means over systems (or pairs of systems), with
the standard error over them. Best single: the same ratio to people alone for the one covariate
with the smallest, without judges; its name follows. Draws are those of
`estimates.py`.

Rows: SET-JUDGES, and SET-JUDGES-differences. SET is wmt (WMT23 en-de MQM, 50 of 460 segments),
coherence, consistency, fluency or relevance (SummEval, 20 of 100 documents), ted (TED zh-en MQM, 50
of 529 segments), A or f (RAG 2024 nuggets, 10 of 21 questions). JUDGES is none, judge (GEMBA-MQM,
chrF, or the words of answers) or, for wmt, metrics (all metrics of the set together).

What covariates measure, penalties, the limits for few units and the criterion were chosen on
SummEval, TED and RAG24 with up to 200 draws. Nothing was chosen on WMT23, but 20 draws of it, with
logarithms of lengths, were the reason to compare these with lengths on the other sets.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from estimates import WMT, all_metrics, holds, simple
from estimates_nuggets import answering_all
from numpy.typing import NDArray

import karat as kt
from karat.estimation.covariates import make_covariates, texts_of
from karat.estimation.evalset_samples import make_sample
from karat.estimation.samples import Sample, judge_values
from karat.estimation.system_estimates import (
    add_covariates,
    difference_prediction,
    estimate_difference,
    estimate_system,
    fit_sample_covariates,
    predict_by_judges,
    student_width,
)
from karat.nuggets.estimation import (
    question_judges,
    question_scores,
    sample_of_questions,
    texts_of_questions,
)
from karat.progress import silent
from karat.stats.estimates import MeanInterval
from karat.stats.population import Prediction

LABELS = {"wmt": 50, "ted": 50, "A": 10, "f": 10}
SUMMEVAL = ("coherence", "consistency", "fluency", "relevance")
LABELS |= dict.fromkeys(SUMMEVAL, 20)
JUDGES = {"wmt": ["GEMBA-MQM"], "A": ["words"], "f": ["words"]}
ROWS = [
    f"{name}-{judges}{end}"
    for end in ("", "-differences")
    for name in LABELS
    for judges in (("none", "judge", "metrics") if name == "wmt" else ("none", "judge"))
]


def full_sample(name: str, judges: Sequence[str]) -> Sample:
    """Return the sample in which everything is labelled, with all covariates."""
    if name in ("A", "f"):
        nuggets = answering_all(kt.load_nuggets("rag24"))
        scores = question_scores(nuggets, name, kt.OfficialSettings())
        covariates = make_covariates(texts_of_questions(scores), "auto")
        values = question_judges(scores, judges) if judges else []
        return sample_of_questions(scores, values, None, covariates)
    source = {"wmt": os.path.join(os.environ["KARAT_DATA"], WMT), "ted": "ted-zhen"}
    dimension = name if name in SUMMEVAL else "mqm"
    evalset = kt.load_evalset(source.get(name, "summeval"))
    judged = ~np.isnan(evalset.human(dimension)).any(axis=0)
    segments = [segment for segment, good in zip(evalset.segments, judged, strict=True) if good]
    evalset = evalset.select(segments=segments)
    values = judge_values(evalset, judges, dimension, None, silent)
    covariates = make_covariates(texts_of(evalset), "auto")
    return make_sample(evalset, dimension, values, unit="segment", covariates=covariates.values)


class Intervals(NamedTuple):
    """The intervals of one draw by several predictions, and Student's widths by people."""

    by_prediction: list[list[MeanInterval]]
    student: list[float]


def system_intervals(sample: Sample, predictions: Sequence[Prediction | None]) -> Intervals:
    """Return the intervals of scores."""
    systems = range(len(sample.systems))
    intervals = [
        [estimate_system(sample, k, prediction, True).interval for k in systems]
        for prediction in predictions
    ]
    return Intervals(intervals, [student_width(sample, k, True) for k in systems])


def difference_intervals(sample: Sample, predictions: Sequence[Prediction | None]) -> Intervals:
    """Return the intervals of differences; Student's are not computed."""
    pairs = [*combinations(range(len(sample.systems)), 2)]
    intervals = []
    for prediction in predictions:
        estimates = [estimate_difference(sample, pair, prediction, True) for pair in pairs]
        intervals.append([e.intervals.interval() for e in estimates if e is not None])
    return Intervals(intervals, [np.nan] * len(pairs))


def single(sample: Sample, covariate: int) -> Sample:
    """Return the sample with one of its covariates."""
    for other in reversed(range(len(sample.covariates))):
        if other != covariate:
            sample = sample.without_covariate(other)
    return sample


def draw_intervals(full: Sample, count: int, draws: int, differences: bool) -> Iterator[Intervals]:
    """Yield the intervals by people, without covariates, with all, and with each of them."""
    covariates = len(full.covariates)
    for sample in simple(full, count, draws):
        by_judges = predict_by_judges(sample)
        if differences:
            without = difference_prediction(sample.by_judges, by_judges)
            both = difference_prediction(sample, by_judges)
            yield difference_intervals(sample, [None, without, both])
            continue
        singles = []
        if not full.judges:
            singles = [fit_sample_covariates(single(sample, k), None) for k in range(covariates)]
        both = add_covariates(sample, by_judges)
        yield system_intervals(sample, [None, by_judges, both, *singles])


def line(name: str, draws: int) -> str:
    """Return a row of the table."""
    set_name, judges, *rest = name.split("-")
    names = {"none": [], "judge": JUDGES.get(set_name, ["chrf"]), "metrics": all_metrics()}
    full = full_sample(set_name, names[judges])
    truth = full.y.mean(axis=1)
    if rest:
        truth = np.array([truth[a] - truth[b] for a, b in combinations(range(len(truth)), 2)])
    widths, held, student = [], [], []
    for intervals in draw_intervals(full, LABELS[set_name], draws, bool(rest)):
        widths.append([[i.width for i in row] for row in intervals.by_prediction])
        held.append(
            [
                [holds(i, t) for i, t in zip(row, truth, strict=True)]
                for row in intervals.by_prediction
            ]
        )
        student.append(intervals.student)
    width, shares = np.mean(widths, axis=0), np.mean(held, axis=0)
    people, without, both, *singles = width
    cells = [mean_and_error(share) for share in shares[:3]]
    ratios = both / without, both / people, both / np.mean(student, axis=0)
    cells += [mean_and_error(ratio) for ratio in ratios]
    cells.append("-")
    if singles:
        means = [float((width / people).mean()) for width in singles]
        best = int(np.argmin(means))
        cells[-1] = f"{mean_and_error(singles[best] / people)} {full.covariates[best]}"
    return f"| {name} | {' | '.join(cells)} |"


def mean_and_error(values: NDArray[np.float64]) -> str:
    """Return the mean over systems and its standard error."""
    if np.isnan(values).any():
        return "-"
    return f"{values.mean():.3f} ± {values.std(ddof=1) / np.sqrt(len(values)):.3f}"


COLUMNS = (
    *("row", "held, people alone", "held, without", "held, with covariates", "width over without"),
    *("over people alone", "over Student's", "best single"),
)


def main() -> None:
    """Print the requested rows, or all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("rows", nargs="*", choices=[*ROWS, []], metavar="ROW")
    parser.add_argument("--draws", type=int, default=2000)
    options = parser.parse_args()
    print(f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}")
    for name in options.rows or ROWS:
        print(line(name, options.draws), flush=True)


if __name__ == "__main__":
    main()
