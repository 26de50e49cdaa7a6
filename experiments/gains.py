"""What a gain in a metric is worth to people: fit and evaluate the model of `karat.meta.gains`.

    KARAT_DATA=… python experiments/gains.py            print the tables of docs/lab/gains.md
    KARAT_DATA=… python experiments/gains.py --variants  print its table of other weights and priors
    KARAT_DATA=… python experiments/gains.py --write     write src/karat/data/gains.json

Seven judged collections; all their dimensions and language pairs stay together. Collections are
left out one by one. The unit of gains (points, or the root mean square of the gains of the
collection) and the shape f are chosen by the mean Brier score over all metrics, in the inner loop:
among the collections that are not left out, which are left out one by one in turn (nested).

Brier score of a pair: y (1 - p)^2 + (1 - y) p^2, averaged over the pairs of a collection, then over
collections. Baselines: the mean agreement of the other collections, and the published logistic of
Kocmi et al. (2024). A 90% band holds if the observed share of agreement, as a whole percentage, is
not outside the mean of the bands of the collection's pairs.

Rule for percentages, fixed before the final run: a metric shows percentages if, in the nested
evaluation, (1) its mean Brier score is better than that of the constant and of the published curve,
and (2) its bands hold in at least 80% of the collections, six of seven; and then for kinds of
tasks with at least three collections only. Otherwise it has a sentence without a percentage.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

import karat as kt
from karat.arithmetic import exp, log1p, power, sigmoid
from karat.arrays import Floats
from karat.meta.gains import (
    GAIN_METRICS,
    SLOPES,
    PairGains,
    gain_curves,
    gain_evidence,
    log_likelihood,
    pair_gains,
    preferences,
    slope_distributions,
    slope_quantiles,
    typical_gain,
)
from karat.meta.scores import score_evalset

COLLECTIONS = {
    "ted-zhen": "translation",
    "mt-wmt23-ende": "translation",
    "believability": "translation",
    "summeval": "summary",
    "realsumm": "summary",
    "rag24": "answer",
    "e2e": "data-to-text",
}
PUBLISHED = {"bleu": (0.883, 0.966), "chrf": (0.930, 1.114)}
"""a and b of accuracy = a / (1 + exp(-b d))."""
SHAPES: Mapping[str, Callable[[Floats], Floats]] = {
    "linear": lambda x: x,
    "square root": lambda x: power(x, 0.5),
    "logarithm": lambda x: log1p(x) / log1p(1.0),
    "saturating": lambda x: 2 * x / (1 + x),
}
"""f of a gain in typical gains; f(1) = 1."""
UNITS = ("points", "spread")
FORMS = tuple((unit, shape) for unit in UNITS for shape in SHAPES)
Form = tuple[str, str]


class Prediction(NamedTuple):
    """The prediction for a collection that was left out, by pair."""

    probability: Floats
    low: Floats
    high: Floats


def load_collections() -> dict[str, list[PairGains]]:
    """Return the pairs of all collections, by metric."""
    by_metric: dict[str, list[PairGains]] = {}
    for name, kind in COLLECTIONS.items():
        folder = os.path.join(os.environ["KARAT_DATA"], name)
        evalset = kt.load_evalset(folder if os.path.isdir(folder) else name)
        scored = score_evalset(evalset, GAIN_METRICS)
        shares = {
            dimension: preferences(evalset.human(dimension), evalset.groups)
            for dimension in evalset.human_dimensions
        }
        for metric in scored.metrics:
            by_metric.setdefault(str(metric), []).append(pair_gains(scored, metric, kind, shares))
    return by_metric


def effect_sizes(gains: PairGains, form: Form, typical: float) -> Floats:
    """Return f of the gains of a collection."""
    unit, shape = form
    if unit == "spread":
        typical = typical_gain([gains])
    return SHAPES[shape](gains.gain / typical)


class Study:
    """The collections of one metric, and cached likelihoods."""

    def __init__(
        self,
        collections: Sequence[PairGains],
        largest_weight: float | None = None,
        scale: float = 1.0,
    ) -> None:
        self.collections, self.largest_weight, self.scale = collections, largest_weight, scale
        self.likelihood = lru_cache(maxsize=None)(self._likelihood)
        self.predict = lru_cache(maxsize=None)(self._predict)

    def _likelihood(self, index: int, form: Form, typical: float) -> Floats:
        gains = self.collections[index]
        return log_likelihood(gains, effect_sizes(gains, form, typical), self.largest_weight)

    def _predict(self, index: int, training: frozenset[int], form: Form) -> Prediction:
        typical = typical_gain([self.collections[k] for k in sorted(training)])
        left_out = self.collections[index]
        likelihoods = [
            (self.collections[k].kind, self.likelihood(k, form, typical)) for k in sorted(training)
        ]
        slopes = slope_distributions(likelihoods, [left_out.kind], self.scale)[left_out.kind]
        sizes = effect_sizes(left_out, form, typical)
        low, high = slope_quantiles(slopes, np.array([0.05, 0.95]))
        probability = (slopes[:, None] * sigmoid(SLOPES[:, None] * sizes)).sum(axis=0)
        return Prediction(probability, sigmoid(low * sizes), sigmoid(high * sizes))

    def loss(self, index: int, training: frozenset[int], form: Form) -> float:
        """Return the mean Brier score of a collection that was left out."""
        prediction = self.predict(index, training, form)
        return brier(prediction.probability, self.collections[index])

    def constant(self, index: int) -> float:
        """Return the mean agreement of the other collections."""
        means = [g.mean_agreement.mean() for g in self.collections]
        return float(np.mean(means[:index] + means[index + 1 :]))


def brier(probability: Floats | float, gains: PairGains) -> float:
    """Return the mean Brier score over the pairs of a collection."""
    y = gains.mean_agreement
    return float((y * (1 - probability) ** 2 + (1 - y) * probability**2).mean())


def published(metric: str, gains: PairGains) -> Floats | None:
    """Return the accuracy of the published curve; None if there is none for the metric."""
    if metric not in PUBLISHED:
        return None
    a, b = PUBLISHED[metric]
    return np.asarray(a / (1 + exp(-b * gains.gain)))


def best_form(studies: Mapping[str, Study], training: frozenset[int]) -> Form:
    """Return the form with the lowest mean loss when each of `training` is left out."""

    def mean_loss(form: Form) -> float:
        return float(
            np.mean([s.loss(k, training - {k}, form) for s in studies.values() for k in training])
        )

    return min(FORMS, key=mean_loss)


def print_forms(studies: Mapping[str, Study], everything: frozenset[int]) -> None:
    """Print the mean Brier score of every form."""
    print("| unit | f |", " | ".join(studies), "| mean |\n|---|---|" + "---|" * (len(studies) + 1))
    for form in FORMS:
        by_metric = [
            [s.loss(k, everything - {k}, form) for k in everything] for s in studies.values()
        ]
        means = np.mean(by_metric, axis=1)
        print("|", " | ".join([*form, *(f"{x:.4f}" for x in (*means, means.mean()))]), "|")


class LeftOutRow(NamedTuple):
    """A collection that was left out, and the Brier scores of the predictions for it."""

    gains: PairGains
    form: Form
    prediction: Prediction
    scores: tuple[float, float, float]  # model, constant, published curve or NaN

    @property
    def holds(self) -> bool:
        """Whether the observed share lies within the mean band, in whole percentages."""
        shares = self.prediction.low, self.gains.mean_agreement, self.prediction.high
        low, share, high = (round(100 * float(x.mean())) for x in shares)
        return low <= share <= high


def left_out_rows(
    metric: str, study: Study, forms: Mapping[int, Form], everything: frozenset[int]
) -> list[LeftOutRow]:
    """Return a row for each collection, with the form that was chosen without it."""
    rows = []
    for k, gains in enumerate(study.collections):
        prediction = study.predict(k, everything - {k}, forms[k])
        curve = published(metric, gains)
        scores = (
            brier(prediction.probability, gains),
            brier(study.constant(k), gains),
            np.nan if curve is None else brier(curve, gains),
        )
        rows.append(LeftOutRow(gains, forms[k], prediction, scores))
    return rows


def is_reliable(rows: Sequence[LeftOutRow]) -> bool:
    """Return whether a metric shows percentages: the rule above."""
    model, constant, curve = np.mean([row.scores for row in rows], axis=0)
    better = model < constant and not model >= curve
    return bool(better and np.mean([row.holds for row in rows]) >= 0.8)


def print_rows(metric: str, rows: Sequence[LeftOutRow]) -> None:
    """Print the collections of one metric, and means."""
    print(f"\n{metric}, percentages: {'yes' if is_reliable(rows) else 'no'}\n")
    print(
        "| collection | kind | systems | form | observed | predicted | band | holds | Brier "
        "| constant | published |\n" + "|---" * 11 + "|"
    )
    for gains, form, prediction, scores in rows:
        cells = [gains.collection, gains.kind, str(gains.systems), ", ".join(form)]
        cells += [f"{x.mean():.2f}" for x in (gains.mean_agreement, prediction.probability)]
        cells.append(f"{prediction.low.mean():.2f} to {prediction.high.mean():.2f}")
        cells.append("yes" if LeftOutRow(gains, form, prediction, scores).holds else "no")
        print("|", " | ".join([*cells, *(f"{x:.4f}" for x in scores)]), "|")
    for label, part in (
        ("all", rows),
        ("translations", [r for r in rows if r.gains.kind == "translation"]),
    ):
        means = " | ".join(f"{x:.4f}" for x in np.mean([row.scores for row in part], axis=0))
        print(f"| mean, {label} |||||||{sum(r.holds for r in part)} of {len(part)} | {means} |")


VARIANTS: Mapping[str, tuple[float | None, float]] = {
    "as above": (None, 1.0),
    "weight H / J, at most 1": (1.0, 1.0),
    "scale 2 for tau and omega": (None, 2.0),
    "scale 0.5 for tau and omega": (None, 0.5),
}
"""Largest weight and scale of the priors; the form is linear in points."""


def print_variants(collections: Mapping[str, list[PairGains]], everything: frozenset[int]) -> None:
    """Print bands that hold and Brier scores of each variant, then the weights."""
    forms = dict.fromkeys(everything, ("points", "linear"))
    for name, (largest_weight, scale) in VARIANTS.items():
        cells = []
        for metric, several in collections.items():
            study = Study(several, largest_weight, scale)
            rows = left_out_rows(metric, study, forms, everything)
            loss = np.mean([row.scores[0] for row in rows])
            cells.append(f"{sum(row.holds for row in rows)} of {len(rows)}, {loss:.3f}")
        print("|", " | ".join([name, *cells]), "|", flush=True)
    ratios = []
    for several in collections.values():
        typical = typical_gain(several)
        for gains in several:
            sizes = gains.gain / typical
            values = [log_likelihood(gains, sizes, largest) for largest in (np.inf, None)]
            ratios.append(float(values[0].sum() / values[1].sum()))
    print(f"H / J over the smaller of H / J and 2 / S: {min(ratios):.1f} to {max(ratios):.1f}")


def write_curves(collections: Mapping[str, list[PairGains]], reliable: Mapping[str, bool]) -> None:
    """Write the data of the package."""
    metrics = {}
    for metric, several in collections.items():
        typical = round(typical_gain(several), 4)
        evidence = [gain_evidence(gains, typical) for gains in several]
        curves = gain_curves(metric, evidence, typical, is_reliable=reliable[metric])
        metrics[metric] = {
            "is_reliable": reliable[metric],
            "typical_gain": typical,
            "curves": {
                kind: {
                    "collections": curve.collections,
                    "largest_gain": curve.largest_gain,
                    "band": [curve.low, curve.high],
                    "slopes": curve.slopes,
                }
                for kind, curve in curves.items()
            },
            "collections": [
                {name: value for name, value in e._asdict().items() if name != "is_built_in"}
                for e in evidence
            ],
        }
    path = Path(__file__).parents[1] / "src" / "karat" / "data" / "gains.json"
    path.write_text(json.dumps({"metrics": metrics}) + "\n", encoding="utf-8")


def main() -> None:
    """Evaluate the model and print the tables, or write the data of the package."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--write", action="store_true", help="write src/karat/data/gains.json")
    parser.add_argument("--variants", action="store_true", help="other weights and priors")
    options = parser.parse_args()
    collections = load_collections()
    everything = frozenset(range(len(COLLECTIONS)))
    if options.variants:
        print_variants(collections, everything)
        return
    studies = {metric: Study(gains) for metric, gains in collections.items()}
    forms = {k: best_form(studies, everything - {k}) for k in everything}
    rows = {m: left_out_rows(m, study, forms, everything) for m, study in studies.items()}
    if options.write:
        write_curves(collections, {metric: is_reliable(rows[metric]) for metric in studies})
        return
    print_forms(studies, everything)
    print("\nchosen on all collections:", ", ".join(best_form(studies, everything)))
    for metric in studies:
        print_rows(metric, rows[metric])


if __name__ == "__main__":
    main()
