"""Covariates in loops: their values text by text, and predictions row by row."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, log, sqrt
from typing import Any

import numpy as np
from oracles.chrf_formulas import chrf, triples

from karat.stats.population import Prediction

PENALTIES = (inf, 3.0, 0.3, 0.03)


def values(
    name: str, outputs: Sequence[Sequence[str]], sources: Sequence[str] = ()
) -> list[list[float]]:
    """Return systems x segments: the values of one covariate; every output is there."""
    return [
        [_value(name, outputs, sources, k, i) for i in range(len(outputs[k]))]
        for k in range(len(outputs))
    ]


def _value(
    name: str, outputs: Sequence[Sequence[str]], sources: Sequence[str], k: int, i: int
) -> float:
    text, words = outputs[k][i], outputs[k][i].split()
    elsewhere = {w for row in outputs for j, t in enumerate(row) if j != i for w in t.split()}
    others = ["".join(row[i].split()) for other, row in enumerate(outputs) if other != k]
    similar = [chrf(triples("".join(words), other, 6), 2) for other in others]
    return {
        "source-length": len(sources[i]),
        "length": len(text),
        "ratio": log(1 + len(text)) - log(1 + len(sources[i])),
        "digits": sum(c.isdigit() for c in text) / max(len(text), 1),
        "capitals": sum(word[0].isupper() for word in words) / max(len(words), 1),
        "rare": sum(word not in elsewhere for word in words) / max(len(words), 1),
        "consensus": sum(similar) / len(similar),
    }[name]


class _Rows:
    """The labels and columns of a sample, scaled, and the fold of each labelled unit."""

    def __init__(self, labelled: Any, is_unit_mean: Sequence[bool], base: Prediction | None):
        y, x, x_all, self.w = labelled.y, labelled.x, labelled.all_values, labelled.weights
        self.kinds = ["mean" if m else "deviation" for m in is_unit_mean]
        if base is not None:
            x = np.concatenate([x, base.units[:, :, None]], axis=2)
            x_all = np.concatenate([x_all, base.all_outputs[:, :, None]], axis=2)
            y, self.kinds = y - base.units, [*self.kinds, "base"]
        self.y, (self.systems, self.units) = y, y.shape
        rows = [(k, u) for k in range(self.systems) for u in range(self.units)]
        self.rows = [row for row in rows if not np.isnan(y[row])]
        sample = np.array([x[row] for row in self.rows])
        centre, spread = sample.mean(axis=0), sample.std(axis=0)
        self.x, self.x_all = (x - centre) / spread, (x_all - centre) / spread
        drawn = sorted({u for _, u in self.rows})
        self.folds, self.drawn = min(10, len(drawn)), len(drawn)
        self.fold = {u: n % self.folds for n, u in enumerate(drawn)}

    def of(self, system: int, left_out: int | None = None) -> list[int]:
        """The labelled units of a system that are not in a fold."""
        return [u for k, u in self.rows if k == system and self.fold[u] != left_out]

    def fit(self, left_out: int, by_correlation: bool, penalty: dict[str, float]) -> Any:
        """The coefficients fitted to all folds but one."""
        used = [j for j, kind in enumerate(self.kinds) if penalty[kind] < inf]
        xx, xy, count = np.zeros((len(used), len(used))), np.zeros(len(used)), 0
        for k in range(self.systems):
            units = self.of(k, left_out)
            if units:
                a = self.w[k, units] / self.w[k, units].mean()
                c, t = self.x[k, units][:, used], self.y[k, units]
                c, t = c - np.average(c, axis=0, weights=a), t - np.average(t, weights=a)
                xx, xy, count = xx + (c.T * a) @ c, xy + (c.T * a) @ t, count + len(units)
        is_base = np.array([self.kinds[j] == "base" for j in used])
        scale = np.ones(len(used))
        if by_correlation:
            r = np.where(is_base, 0.0, abs(xy) / np.sqrt(np.diag(xx)))
            scale = np.where(is_base, 1.0, r / max(r))
        ridge = count * np.diag([penalty[self.kinds[j]] for j in used])
        coefficients = np.zeros(len(self.kinds))
        coefficients[used] = scale * np.linalg.solve(
            xx * scale[:, None] * scale + ridge, xy * scale
        )
        return coefficients

    def error(self, predicted: Any) -> float:
        """The sum of standard errors of what predictions leave."""
        total = 0.0
        for k in range(self.systems):
            a, rest = self.w[k, self.of(k)], (self.y - predicted)[k, self.of(k)]
            variance = np.average((rest - np.average(rest, weights=a)) ** 2, weights=a)
            total += sqrt(variance * (a**2).sum() / a.sum() ** 2)
        return total

    def tuned(self, predicted: Any, left_out: int) -> float:
        """Lambda by all folds but one."""
        shared = square = 0.0
        for k in range(self.systems):
            units = self.of(k, left_out)
            a = self.w[k, units] / self.w[k, units].mean()
            p, t = predicted[k, units], self.y[k, units]
            p, t = p - np.average(p, weights=a), t - np.average(t, weights=a)
            shared, square = shared + (a * p * t).sum(), square + (a * p * p).sum()
        return min(max(shared / square, 0.0), 1.0)

    def shrinkages(self) -> list[tuple[bool, dict[str, float]]]:
        """All ways to shrink, the strongest first."""
        deviations = PENALTIES if "deviation" in self.kinds else PENALTIES[:1]
        means = PENALTIES if "mean" in self.kinds else PENALTIES[:1]
        return [
            (by_correlation, {"deviation": d, "mean": m, "base": 0.003})
            for by_correlation in (True, False)
            for d in deviations
            for m in (means if self.drawn >= 20 else means[:2])
            if min(d, m) < inf
        ]


def fit(labelled: Any, is_unit_mean: Sequence[bool], base: Prediction | None) -> Any:
    """Return the predictions of labelled and of all outputs; None if covariates are not used."""
    rows = _Rows(labelled, is_unit_mean, base)
    shape, best = (rows.systems, rows.units), None
    least = rows.error(np.zeros(shape))
    for by_correlation, penalty in rows.shrinkages():
        fits = [rows.fit(fold, by_correlation, penalty) for fold in range(rows.folds)]
        predicted = np.zeros(shape)
        for k, u in rows.rows:
            predicted[k, u] = rows.x[k, u] @ fits[rows.fold[u]]
        if rows.error(predicted) < least * (1 - 1e-12):
            least, best = rows.error(predicted), (predicted, fits)
    if best is None:
        return None
    predicted, fits = best
    factors = [rows.tuned(predicted, fold) for fold in range(rows.folds)]
    by_label, by_output = np.zeros(shape), np.zeros(shape)
    for k, u in np.ndindex(shape):
        units = rows.of(k)
        parts = [sum(rows.w[k, v] for v in units if rows.fold[v] == n) for n in range(rows.folds)]
        if u in units:
            parts = [float(n == rows.fold[u]) for n in range(rows.folds)]
            by_label[k, u] = factors[rows.fold[u]] * predicted[k, u]
        by_output[k, u] = sum(
            part / sum(parts) * factors[n] * (rows.x_all[k, u] @ fits[n])
            for n, part in enumerate(parts)
        )
    if base is not None:
        by_label, by_output = by_label + base.units, by_output + base.all_outputs
    return by_label, by_output
