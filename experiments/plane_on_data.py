"""The evaluation plane on judged sets: does the paper's prediction hold?

    KARAT_DATA=… python experiments/plane_on_data.py
    python experiments/plane_on_data.py --sets demo --metrics aev --resamples 200 --halves 50

For each of `PLANES` it prints the R^2 table in the paper's layout, and for all of them a summary
and the verdicts on the predicted regions; all is Markdown, for docs/lab/plane.md. Nothing is
tuned: the metrics are AEv as it is by default and with the paper's stemmer and stop words,
with and without regard to case.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

import karat as kt
from karat.evalset.flooding import Flood, flood
from karat.meta.plane import ALPHAS, BLEU_CELL, CELLS, ORDERS, PlaneFit, fit_plane, plane_data
from karat.meta.plane_study import Halves, Region, Verdict, predicted, split_halves, verdict
from karat.meta.scores import ScoredSet, score_evalset
from karat.metrics.ngram import AEv
from karat.stats.correlation import pearson
from karat.stats.significance import UNDECIDED

METRICS = ("aev", "aev:preset=paper,case=mixed", "aev:case=lower", "aev:preset=paper")
"""Case is ignored too, because some systems write no capitals at all and their references do: 8 of
25 of realsumm, 1 of 21 of e2e. With case they are compared by their capitals."""
FLOODS = (1, 2, 3, 4, 5)
"""Seeds of the flooded sets: which answers are flooded, and with what."""

FEW = 6
"""With fewer systems only segments are resampled, and no system is left out. Any two systems lie on
a line, so halves need three systems each, and picking among cells needs three others."""


@dataclass(frozen=True)
class Plane:
    """A plane to fit: a dimension of a set, and the corresponding task and guideline of the paper.

    Without a guideline there is no prediction.
    """

    evalset: str
    dimension: str
    task: str = ""
    guideline: str = ""
    references: int | None = None
    """The number of segments to use; None for all."""
    flood: Flood | None = None
    """How answers are flooded, if they are."""

    @property
    def name(self) -> str:
        """The set, after preprocessing."""
        parts = [self.evalset]
        parts += [f"{self.references} ref."] if self.references else []
        parts += [f"flooded, seed {self.flood.seed}"] if self.flood else []
        return ", ".join(parts)

    @property
    def region(self) -> Region | None:
        """What the paper predicts."""
        return predicted(self.task, self.guideline) if self.guideline else None


# docs/lab/plane.md justifies the guideline of each dimension.
_SUMMEVAL = {"relevance": "coverage", "fluency": "fluency", "consistency": "", "coherence": ""}
_RAG24 = ("all", "vital", "weighted", "strict-all", "strict-vital", "strict-weighted")
PLANES = (
    Plane("ted-zhen", "accuracy", "mt", "adequacy"),
    Plane("ted-zhen", "fluency", "mt", "fluency"),
    Plane("believability", "adequacy", "mt", "adequacy"),
    Plane("believability", "fluency", "mt", "fluency"),
    *(Plane("summeval", d, "summary", g, 1) for d, g in _SUMMEVAL.items()),
    *(Plane("summeval", d, "summary", g, 11) for d, g in _SUMMEVAL.items()),
    Plane("e2e", "naturalness", "mt", "fluency"),
    Plane("e2e", "quality"),
    Plane("realsumm", "coverage", "summary", "coverage"),
    *(Plane("rag24", dimension, "qa", "lenient") for dimension in _RAG24),
    *(Plane("rag24", "all", "qa", "strict", flood=Flood("all", seed=seed)) for seed in FLOODS),
)
DEMO = (Plane("demo", "adequacy", "mt", "adequacy"), Plane("demo", "fluency", "mt", "fluency"))


class Fitted(NamedTuple):
    """A plane with its statistics; those that need more systems are None."""

    plane: Plane
    fit: PlaneFit
    segments: int
    references: str
    halves: Halves | None
    verdict: Verdict | None

    @property
    def has_few_systems(self) -> bool:
        """Whether there are too few systems to leave any out."""
        return len(self.fit.systems) < FEW


@lru_cache(maxsize=1)
def outputs(evalset: str, references: int | None, flooding: Flood | None, metric: AEv) -> ScoredSet:
    """The scored outputs of a set, cached for its next dimension."""
    loaded = kt.load_evalset(evalset)
    loaded = flood(loaded, flooding).evalset if flooding else loaded
    return score_evalset(
        loaded.select(references=range(references)) if references else loaded, metric
    )


def fitted(plane: Plane, metric: AEv, resamples: int, halves: int) -> Fitted:
    """Fit one plane."""
    scored = outputs(plane.evalset, plane.references, plane.flood, metric)
    sample = plane_data(scored, metric, plane.dimension)
    has_few_systems = len(sample.systems) < FEW
    over = "segments" if has_few_systems else "both"
    fit = fit_plane(sample, plane.dimension, resamples=resamples, over=over)
    numbers = sorted({len(group) for group in scored.evalset.references})
    return Fitted(
        plane,
        fit,
        int((~np.isnan(sample.judged)).any(axis=0).sum()),
        "-".join(str(n) for n in dict.fromkeys((numbers[0], numbers[-1]))),
        None if has_few_systems else split_halves(sample, halves),
        verdict(fit, plane.region) if plane.region else None,
    )


# --------------------------------------------------------------------------------- printing


def markdown(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A pipe table."""
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def percent(value: float) -> str:
    """With one decimal; a dash where it is undefined."""
    return "-" if np.isnan(value) else f"{100 * value:.1f}"


def r2_table(fitted: Fitted) -> str:
    """R^2 in percent as the paper prints it, negative where r is; the predicted region in italics.

    The maximum is in bold letters.
    """
    fit, region = fitted.fit, fitted.plane.region
    signed = fit.table(np.sign(fit.r) * fit.r2)
    rows = []
    for n, values in zip(reversed(ORDERS), signed, strict=True):
        cells = []
        for alpha, value in zip(ALPHAS, values, strict=True):
            text = f"*{percent(value)}*" if region and region.holds(alpha, n) else percent(value)
            cells.append(f"**{text}**" if (alpha, n) == fit.maximum else text)
        rows.append([str(n), *cells])
    return markdown(["N / alpha", *(f"{alpha:g}" for alpha in ALPHAS)], rows)


SUMMARY = (
    *("set", "dimension", "systems", "segments", "refs", "maximum", "R^2 %", "95%", "p"),
    *("pick", "left out %: pick", "picking", "BLEU", "loses to BLEU %", "predicted", "verdict"),
)


def summary_row(fitted: Fitted) -> list[str]:
    """One row of the summary; statistics that need more than three systems are a dash."""
    fit, plane = fitted.fit, fitted.plane
    top = fit.maximum
    middle = ["none", "-", "-"]
    if top:
        row = fit.row(top)
        ends = f"{percent(row.low)} to {percent(row.high)}"
        middle = [str(top), percent(row.r2), ends + "*" * fitted.has_few_systems]
    return [
        *(plane.name, plane.dimension, str(len(fit.systems)), str(fitted.segments)),
        *(fitted.references, *middle, f"{fit.p:.3f}", *_left_out(fitted)),
        f"{100 * fitted.halves.loses:.0f}" if fitted.halves else "-",
        str(plane.region) if plane.region else "nothing",
        _words(fitted),
    ]


def _left_out(fitted: Fitted) -> list[str]:
    """The cross-validated pick, and the variance of left-out systems that is explained."""
    fit = fitted.fit
    if fitted.has_few_systems or fit.pick is None:
        return ["-", "-", "-", "-"]
    shares = [fit.row(fit.pick).q2, fit.picking, fit.row(BLEU_CELL).q2]
    return [str(fit.pick), *map(percent, shares)]


def _words(fitted: Fitted) -> str:
    if fitted.verdict is None:
        return "-"
    return UNDECIDED if fitted.has_few_systems else fitted.verdict.words


VERDICTS = (
    *("set", "dimension", "task", "guideline", "predicted", "R^2 % there", "elsewhere"),
    *("difference, 95%", "maximum there", "wins there %", "cells there %", "verdict"),
)


def verdict_row(fitted: Fitted, region: Region, held: Verdict) -> list[str]:
    """A prediction against the plane: mean R^2 of its cells, and where the best cell is."""
    plane, fit = fitted.plane, fitted.fit
    inside = np.array([region.holds(*cell) for cell in CELLS])
    is_inside = "-" if fit.maximum is None else "yes" if region.holds(*fit.maximum) else "no"
    return [
        *(plane.name, plane.dimension, plane.task, plane.guideline, str(region)),
        *(percent(held.inside), percent(held.outside)),
        f"{percent(held.low)} to {percent(held.high)}" + "*" * fitted.has_few_systems,
        *(is_inside, percent(fit.wins[inside].sum()), percent(inside.mean()), _words(fitted)),
    ]


def report(metric: AEv, planes: Sequence[Plane], resamples: int, halves: int) -> Iterator[str]:
    """The planes of one metric as they get ready, then the tables over all of them."""
    yield f"## {metric}\n"
    all_fitted = []
    for plane in planes:
        fit = fitted(plane, metric, resamples, halves)
        all_fitted.append(fit)
        yield f"### {plane.name}: {plane.dimension} ({metric})\n\n{r2_table(fit)}\n"
    yield f"### Summary ({metric})\n\n{markdown(SUMMARY, [summary_row(f) for f in all_fitted])}\n"
    rows = [verdict_row(f, f.plane.region, f.verdict) for f in all_fitted if f.verdict]
    yield f"### Predictions ({metric})\n\n{markdown(VERDICTS, rows)}\n"
    yield f"`*` fewer than {FEW} systems: segments alone are resampled, for these systems.\n"


def length_row(plane: Plane) -> list[str]:
    """A control: signed R^2 of the mean length of the judged outputs alone, in words."""
    metric = AEv()
    scored = outputs(plane.evalset, plane.references, plane.flood, metric)
    judged = plane_data(scored, metric, plane.dimension).judged
    lengths = np.where(np.isnan(judged), np.nan, scored.rows[metric][:, :, 0])
    r = pearson(np.nanmean(judged, axis=1), np.nanmean(lengths, axis=1))
    return [plane.name, plane.dimension, percent(np.sign(r) * r**2)]


def main() -> None:
    """Print everything."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    set_names = list(dict.fromkeys(plane.evalset for plane in (*PLANES, *DEMO)))
    parser.add_argument("--sets", nargs="+", choices=set_names, default=set_names[:-1])
    parser.add_argument("--metrics", nargs="+", default=list(METRICS))
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument("--halves", type=int, default=500)
    options = parser.parse_args()
    planes = [plane for plane in (*PLANES, *DEMO) if plane.evalset in options.sets]
    print(f"{options.resamples:,} bootstrap resamples, {options.halves:,} splits into halves.\n")
    for name in options.metrics:
        metric = kt.metric(name)
        assert isinstance(metric, AEv)
        for part in report(metric, planes, options.resamples, options.halves):
            print(part, flush=True)
    rows = [length_row(plane) for plane in planes]
    print(f"## Length alone\n\n{markdown(['set', 'dimension', 'R^2 % of length'], rows)}")


if __name__ == "__main__":
    main()
