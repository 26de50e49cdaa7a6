"""PEM against human judgement: the paper's three tables, for any judged set that has what it takes.

Everything here is a correlation of rows of numbers; what PEM predicts comes from `cross_predict`,
which never shows a regression the originals that it is tested on.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from karat.paraphrase.pem.judged_pairs import Judged
from karat.stats.correlation import pearson, spearman
from karat.stats.resampling import SEED, bootstrap_sums

Floats = NDArray[np.float64]

CRITERIA = ("adequacy", "fluency", "dissimilarity")
HIGH = 4.0  # adequacy and fluency of the paraphrases whose dissimilarity is looked at alone


class Correlation(NamedTuple):
    """How two columns go together, over paraphrases and over the means of systems."""

    first: str
    second: str
    rows: int
    pearson: float
    spearman: float
    systems: int
    pearson_systems: float


def correlate(judged: Judged, first: str, x: Floats, second: str, y: Floats) -> Correlation:
    """The correlations of two columns over the rows that have both."""
    known = ~(np.isnan(x) | np.isnan(y))
    names = [name for name, keep in zip(judged.systems, known, strict=True) if keep]
    means = [_means(names, column[known]) for column in (x, y)]
    return Correlation(
        first,
        second,
        int(known.sum()),
        pearson(x[known], y[known]),
        spearman(x[known], y[known]),
        len(means[0]),
        pearson(*means) if len(means[0]) > 2 else float("nan"),
    )


def _means(names: Sequence[str], values: Floats) -> Floats:
    number: dict[str, int] = {}
    at = np.array([number.setdefault(name, len(number)) for name in names], dtype=np.int64)
    counts = np.bincount(at, minlength=len(number))
    return np.asarray(np.bincount(at, values, minlength=len(number)) / np.maximum(counts, 1))


def without_controls(judged: Judged, column: Floats) -> Floats:
    """A column in which the controls are missing."""
    return np.where(judged.real, column, np.nan)


def judge_names(judged: Judged) -> list[str]:
    """Who judged overall quality, controls apart."""
    rows = judged.evalset.judgements
    asked = rows.where(rows.dimension == rows.dimensions.index(judged.overall))
    names = dict.fromkeys(asked.judges[k] for k in np.unique(asked.judge).tolist())
    return [name for name in names if name != "control"]


def inter_judge(judged: Judged) -> list[Correlation]:
    """The paper's Table 1: each pair of judges, controls left out."""
    columns = {
        name: without_controls(judged, judged.values(judged.overall, [name]))
        for name in judge_names(judged)
    }
    return [correlate(judged, a, columns[a], b, columns[b]) for a, b in combinations(columns, 2)]


def criteria(judged: Judged) -> list[Correlation]:
    """The paper's Table 2: each criterion with overall quality, where the set has criteria."""
    have = [name for name in CRITERIA if name in judged.evalset.dimensions]
    columns = {name: judged.values(name) for name in have}
    found = [correlate(judged, name, columns[name], "overall", judged.human) for name in have]
    if len(have) == len(CRITERIA):
        good = (columns["adequacy"] >= HIGH) & (columns["fluency"] >= HIGH)
        some = np.where(good, columns["dissimilarity"], np.nan)
        name = "dissimilarity (adequacy, fluency >= 4)"
        found.append(correlate(judged, name, some, "overall", judged.human))
    return found


def against_humans(judged: Judged, name: str, predicted: Floats) -> list[Correlation]:
    """The paper's Table 3: against the mean of judges, with controls and without; each judge."""
    rows = [correlate(judged, name, predicted, "human average", judged.human)]
    if not judged.real.all():
        real = without_controls(judged, predicted)
        rows.append(correlate(judged, name, real, "human average, no controls", judged.human))
    names = judge_names(judged)
    for judge in names if len(names) > 1 else ():
        given = without_controls(judged, judged.values(judged.overall, [judge]))
        rows.append(correlate(judged, name, predicted, f"judge {judge}", given))
    return rows


class Better(NamedTuple):
    """How much better one prediction is than another: Pearson's r, their difference, its interval.

    `p` is the share of bootstrap resamples of originals in which the first is not better.
    """

    first: str
    second: str
    r_first: float
    r_second: float
    difference: float
    low: float
    high: float
    p: float


def better(
    judged: Judged,
    first: tuple[str, Floats],
    second: tuple[str, Floats],
    resamples: int = 1000,
    seed: int = SEED,
) -> Better:
    """A paired bootstrap over originals: each draw takes all paraphrases of an original or none."""
    parts = [_moments(judged, column) for _, column in (first, second)]
    r_first, r_second = (float(_r(part.sum(axis=0)[None])[0]) for part in parts)
    width = parts[0].shape[1]
    sums = bootstrap_sums(np.hstack(parts), resamples, seed)
    differences = _r(sums[:, :width]) - _r(sums[:, width:])
    low, high = (float(end) for end in np.quantile(differences, (0.025, 0.975)))
    p = float((1 + (differences <= 0).sum()) / (1 + resamples))
    return Better(first[0], second[0], r_first, r_second, r_first - r_second, low, high, p)


def _moments(judged: Judged, column: Floats) -> Floats:
    """For each original the sums from which Pearson's r is made: n, x, y, xx, yy, xy."""
    number: dict[str, int] = {}
    at = [number.setdefault(text, len(number)) for text in judged.originals]
    x, y = column - column.mean(), judged.human - judged.human.mean()
    rows = np.stack([np.ones(len(x)), x, y, x * x, y * y, x * y], axis=1)
    found = np.zeros((len(number), rows.shape[1]))
    np.add.at(found, at, rows)
    return found


def _r(sums: Floats) -> Floats:
    n, x, y, xx, yy, xy = sums.T
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((n * xy - x * y) / np.sqrt((n * xx - x * x) * (n * yy - y * y)))
