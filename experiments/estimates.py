"""Estimates of human scores: coverage and width of their intervals.

    KARAT_DATA=… python experiments/estimates.py [--draws 2000] [ROW]...

Each row takes a fully labelled set, draws some units at random, drops the other labels, and
estimates as `karat estimate` does. Held: the share of draws in which the 95% interval contains the
mean over all units. Width: the width with the judge divided by the width from people alone,
averaged over systems. Both have the standard error over systems. Draws use numpy's default
generator with seed 2026, the same for all systems.

Rows: gemba (WMT23 en-de, GEMBA-MQM, 50 of 460 segments), metrics (the same with all metrics of the
set together), random (Random-sysname), gemba-differences, metrics-differences, ceiling (SummEval
consistency, chrF, 20 of 100 documents), coherence, fluency and relevance (the same), ted (TED zh-en
MQM, chrF, 50 of 529 segments), unequal (simulated: segments with large errors drawn more often),
documents (simulated: whole documents drawn), rounds (simulated: a second round by the plan).

Choices and the data behind them: forms of intervals (Student's, Hall's, the farther of both,
bootstrap-t), the pseudo-observation of the bounded form (a quarter, a half, a whole one), ridge
penalties, folds and the splitting of means were chosen on SummEval, RAG24, TED and simulations.
WMT23 en-de was inspected while Hall's form alone was in use (coverage 91.8%); the use of the
farther of both ends was then decided on TED, RAG24 and SummEval, where the coverage of differences
was 92.6% with Hall's form alone.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import karat as kt
from karat.estimation.evalset_samples import make_sample
from karat.estimation.planning import plan_units
from karat.estimation.samples import LabelScale, Sample, judge_values
from karat.estimation.system_estimates import (
    difference_prediction,
    estimate_difference,
    estimate_system,
    predict,
    predict_by_judges,
)
from karat.progress import silent
from karat.stats.estimates import MeanInterval
from karat.stats.population import Design

Ints = NDArray[np.int64]
SEED = 2026


class Coverage(NamedTuple):
    """The outcome of a row: shares held and widths, draws x systems (or pairs)."""

    people: NDArray[np.bool_]
    judged: NDArray[np.bool_]
    people_width: NDArray[np.float64]
    width: NDArray[np.float64]

    def line(self, name: str) -> str:
        """Return the row as Markdown."""
        ratio = self.width.mean(axis=0) / self.people_width.mean(axis=0)
        cells = [_share(self.people), _share(self.judged), _mean(ratio)]
        return f"| {name} | {' | '.join(cells)} |"


def _share(held: NDArray[np.bool_]) -> str:
    return _mean(held.mean(axis=0))


def _mean(values: NDArray[np.float64]) -> str:
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
    return f"{values.mean():.3f} ± {error:.3f}"


def forgotten(full: Sample, units: Ints, design: Design | None = None) -> Sample:
    """Return the sample with the labels of some units alone."""
    has_label = np.zeros(len(full.units), bool)
    has_label[units] = True
    y = np.where(has_label, full.y, np.nan)
    return replace(full, y=y, design=design or full.design)


def holds(interval: MeanInterval, truth: float) -> bool:
    """Return whether an interval holds the truth, up to rounding."""
    slack = 1e-9 * max(1.0, abs(truth))
    return interval.low - slack <= truth <= interval.high + slack


def outcomes(full: Sample, samples: Iterator[Sample], differences: bool = False) -> Coverage:
    """Return what the estimates of samples of a set hold."""
    weights = full.design.sizes / full.design.sizes.sum()
    truth = (full.y * weights).sum(axis=1)
    rows: list[list[tuple[bool, bool, float, float]]] = []
    for sample in samples:
        both = _pairs(sample, truth) if differences else _systems(sample, truth)
        rows.append([(holds(a, t), holds(b, t), a.width, b.width) for a, b, t in both])
    table = np.array(rows)
    held, width = table[:, :, :2].astype(bool), table[:, :, 2:]
    return Coverage(held[:, :, 0], held[:, :, 1], width[:, :, 0], width[:, :, 1])


Both = Iterator[tuple[MeanInterval, MeanInterval, float]]


def _systems(sample: Sample, truth: NDArray[np.float64]) -> Both:
    prediction = predict(sample)
    for k in range(len(sample.systems)):
        alone, judged = (estimate_system(sample, k, p, True) for p in (None, prediction))
        yield alone.interval, judged.interval, float(truth[k])


def _pairs(sample: Sample, truth: NDArray[np.float64]) -> Both:
    prediction = difference_prediction(sample, predict_by_judges(sample))
    for a in range(len(sample.systems)):
        for b in range(a):
            estimates = [estimate_difference(sample, (a, b), p, True) for p in (None, prediction)]
            if estimates[0] is not None and estimates[1] is not None:
                yield (
                    estimates[0].intervals.interval(),
                    estimates[1].intervals.interval(),
                    float(truth[a] - truth[b]),
                )


def simple(full: Sample, count: int, draws: int) -> Iterator[Sample]:
    """Yield samples of so many units, all equally likely."""
    rng = np.random.default_rng(SEED)
    for _ in range(draws):
        yield forgotten(full, rng.permutation(len(full.units))[:count])


def full_sample(name: str, dimension: str, judges: Sequence[str], **reader: str) -> Sample:
    """Return the sample of a set, restricted to the segments that all systems were judged on."""
    evalset = kt.load_evalset(name, **reader)
    judged = ~np.isnan(evalset.human(dimension)).any(axis=0)
    judged_segments = [
        segment for segment, good in zip(evalset.segments, judged, strict=True) if good
    ]
    evalset = evalset.select(segments=judged_segments)
    values = judge_values(evalset, judges, dimension, None, silent)
    return make_sample(evalset, dimension, values, unit="segment")


WMT = "mt-wmt23-ende"


def wmt(judges: Sequence[str], draws: int, differences: bool = False) -> Coverage:
    """Return a row of WMT23 en-de: 50 of the 460 segments that were judged."""
    full = full_sample(_place(WMT), "mqm", judges)
    return outcomes(full, simple(full, 50, draws), differences)


def _place(folder: str) -> str:
    import os

    return os.path.join(os.environ["KARAT_DATA"], folder)


def all_metrics() -> list[str]:
    """Return the metrics that came with WMT23 en-de and score segments, but the control."""
    return [
        *("BERTscore", "BLEU", "BLEURT-20", "COMET", "CometKiwi-XXL", "GEMBA-MQM", "MEE4"),
        *("MetricX-23", "XCOMET-Ensemble", "YiSi-1", "chrF", "f200spBLEU", "prismSrc"),
    ]


def summeval(dimension: str, draws: int) -> Coverage:
    """Return a row of SummEval: 20 of 100 documents."""
    full = full_sample("summeval", dimension, ["chrf"])
    return outcomes(full, simple(full, 20, draws))


def ted(draws: int) -> Coverage:
    """Return a row of TED zh-en: 50 of 529 segments."""
    full = full_sample("ted-zhen", "mqm", ["chrf"])
    return outcomes(full, simple(full, 50, draws))


def simulated(groups: int = 1, seed: int = 1) -> Sample:
    """Return a set of 8 systems and 400 units with skewed labels and a judge that sees some of it.

    With `groups` above 1 a unit is a document of up to twice as many segments.
    """
    rng = np.random.default_rng(seed)
    systems, units = 8, 400
    hard, system_effects = rng.normal(size=(1, units)), rng.normal(size=(systems, units))
    y = -np.exp(0.5 * hard + 0.5 * system_effects + 0.2 * rng.normal(size=(systems, 1)))
    f = y + 0.8 * rng.normal(size=y.shape) + 0.1 * rng.normal(size=(systems, 1))
    sizes = rng.integers(1, 2 * groups, units).astype(float) if groups > 1 else np.ones(units)
    names = tuple(f"s{k}" for k in range(systems))
    about = "simulated", "quality", names, tuple(map(str, range(units))), "segment"
    values = f[:, :, None]
    has_output = np.ones(y.shape, bool)
    return Sample(
        *about, y, values, values, has_output, ("judge",), Design.simple(sizes), LabelScale()
    )


def unequal(draws: int) -> Coverage:
    """Return a row in which units that the judge rates low are drawn up to five times as often."""
    from karat.estimation.planning import draw_systematically, inclusion_probabilities

    full = simulated()
    level = full.all_values[:, :, 0].mean(axis=0)
    place = np.argsort(np.argsort(level)) / len(level)
    chance = inclusion_probabilities(5 - 4 * place, 60)
    rng = np.random.default_rng(SEED)

    def samples() -> Iterator[Sample]:
        for _ in range(draws):
            order = rng.permutation(len(chance))
            units = order[draw_systematically(chance[order], float(rng.random()))]
            rounds = np.zeros(len(chance), np.int64)
            rounds[units] = 1
            probability = np.where(rounds > 0, chance, np.nan)
            yield forgotten(full, units, Design(full.design.sizes, probability, rounds))

    return outcomes(full, samples())


def documents(draws: int) -> Coverage:
    """Return a row in which 60 of 400 documents of 1 to 9 segments are drawn."""
    full = simulated(groups=5)
    return outcomes(full, simple(full, 60, draws))


def rounds(draws: int) -> Coverage:
    """Return a row in which 30 units are drawn at random, and 30 by the plan made from these."""
    full = simulated()
    rng = np.random.default_rng(SEED)

    def samples() -> Iterator[Sample]:
        for seed in range(draws):
            first = rng.permutation(len(full.units))[:30]
            planned = plan_units(forgotten(full, first), predict(forgotten(full, first)), 30, seed)
            number = np.zeros(len(full.units), np.int64)
            probability = np.full(len(full.units), np.nan)
            number[first], probability[first] = 1, 30 / len(full.units)
            for planned_unit in planned:
                number[int(planned_unit.unit)], probability[int(planned_unit.unit)] = (
                    2,
                    planned_unit.probability,
                )
            design = Design(full.design.sizes, probability, number)
            yield forgotten(full, np.flatnonzero(number), design)

    return outcomes(full, samples())


ROWS: dict[str, Callable[[int], Coverage]] = {
    "gemba": partial(wmt, ["GEMBA-MQM"]),
    "metrics": lambda draws: wmt(all_metrics(), draws),
    "random": partial(wmt, ["Random-sysname"]),
    "gemba-differences": partial(wmt, ["GEMBA-MQM"], differences=True),
    "metrics-differences": lambda draws: wmt(all_metrics(), draws, True),
    "ceiling": partial(summeval, "consistency"),
    "coherence": partial(summeval, "coherence"),
    "fluency": partial(summeval, "fluency"),
    "relevance": partial(summeval, "relevance"),
    "ted": ted,
    "unequal": unequal,
    "documents": documents,
    "rounds": rounds,
}


def main() -> None:
    """Print the rows that were asked for, or all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("rows", nargs="*", choices=[*ROWS, []], metavar="ROW")
    parser.add_argument("--draws", type=int, default=2000)
    options = parser.parse_args()
    print("| row | held, people alone | held, with the judge | width over people alone |")
    print("|---|---|---|---|")
    for name in options.rows or ROWS:
        print(ROWS[name](options.draws).line(name), flush=True)


if __name__ == "__main__":
    main()
