"""The alternative annotator test by loops over annotators and items, with scipy's distributions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from math import sqrt
from typing import Any

import numpy as np
import scipy.stats

Ratings = Mapping[Any, Mapping[Any, float]]
"""Annotator -> item -> value."""


def similarity(value: float, targets: Sequence[float], labels: bool) -> float:
    """Return the agreement with the targets, or minus the root mean square distance."""
    if labels:
        return sum(value == target for target in targets) / len(targets)
    return -sqrt(sum((value - target) ** 2 for target in targets) / len(targets))


def gaps(people: Ratings, judge: Mapping[Any, float], annotator: Any, labels: bool) -> dict:
    """Return item -> (W^f, W^h)."""
    wins = {}
    for item, value in people[annotator].items():
        targets = [
            rated[item] for name, rated in people.items() if name != annotator and item in rated
        ]
        if not targets or item not in judge:
            continue
        s_f, s_h = (similarity(v, targets, labels) for v in (judge[item], value))
        is_tie = abs(s_f - s_h) < 1e-12
        wins[item] = (int(s_f > s_h or is_tie), int(s_h > s_f or is_tie))
    return wins


def sign_enumeration(differences: Sequence[float]) -> float:
    """Return P(W+ <= w) over all signs; zeros are left out."""
    values = np.array([x for x in np.round(differences, 12) if x != 0])
    if not len(values):
        return 1.0
    ranks = scipy.stats.rankdata(np.abs(values))
    observed = ranks[values > 0].sum()
    sums = [np.dot(signs, ranks) for signs in product([0, 1], repeat=len(values))]
    return float(np.mean(np.array(sums) <= observed + 1e-9))


def yekutieli(p_values: Sequence[float]) -> list[float]:
    """Return adjusted p-values by Benjamini and Yekutieli."""
    return scipy.stats.false_discovery_control(p_values, method="by").tolist()


def panel_test(
    people: Ratings,
    judge: Mapping[Any, float],
    epsilon: float,
    labels: bool,
    unit: Mapping[Any, Any],
) -> dict[str, Any]:
    """Return shares, p-values, the winning rate and the advantage probability."""
    shares, p_values = [], []
    for annotator in people:
        wins = gaps(people, judge, annotator, labels)
        units: dict[Any, list[int]] = {}
        for item, (f, h) in wins.items():
            units.setdefault(unit[item], []).append(h - f)
        if len(units) < 6:
            continue
        shares.append(tuple(np.mean(list(wins.values()), axis=0).tolist()))
        d = [x for values in units.values() for x in values]
        if all(len(values) == 1 for values in units.values()) and np.std(d) > 0:
            p = float(scipy.stats.ttest_1samp(d, epsilon, alternative="less").pvalue)
        else:
            p = clustered(list(units.values()), epsilon)
        if len(units) < 30:  # both tests must reject
            p = max(p, sign_enumeration([np.mean(values) - epsilon for values in units.values()]))
        p_values.append(p)
    won = [p <= 0.05 for p in yekutieli(p_values)]
    return {
        "shares": shares,
        "p": p_values,
        "omega": sum(won) / len(won),
        "advantage": float(np.mean([share[0] for share in shares])),
    }


def clustered(units: Sequence[Sequence[int]], epsilon: float) -> float:
    """Return p of a mean of clustered values: the residuals of a unit are added."""
    n, count = sum(map(len, units)), len(units)
    mean = sum(map(sum, units)) / n
    squares = sum(sum(x - mean for x in values) ** 2 for values in units)
    if squares < 1e-12:
        return 2.0**-count if mean < epsilon else 1.0
    error = sqrt(count / (count - 1) * squares) / n
    return float(scipy.stats.t.cdf((mean - epsilon) / error, count - 1))
