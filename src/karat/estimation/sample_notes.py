"""Notes of estimates: what was taken for granted, and where labels or judges do not do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import sqrt
from typing import TYPE_CHECKING

from karat.arrays import Flags, np
from karat.estimation.samples import Sample
from karat.estimation.system_estimates import BOUNDED, EXACT, NONE
from karat.stats.population import Prediction

if TYPE_CHECKING:
    from karat.estimation.estimate_results import EstimateRow

FAR = 3.3
"""Standard errors by which the judge's values of labelled units are far from the others'."""


def notes_of(
    sample: Sample,
    rows: Sequence[EstimateRow],
    worths: Sequence[tuple[int, str]],
    prediction: Prediction | None,
    finite: bool,
) -> Iterator[str]:
    """Yield what a reader of the estimates should know."""
    yield from sample.notes
    yield from _drawn(sample, finite)
    yield from _forms(sample, rows)
    yield from _judges(sample, rows, worths, prediction)


def _drawn(sample: Sample, finite: bool) -> Iterator[str]:
    """State how units were drawn, and warn where they do not look random."""
    labelled: Flags = np.asarray(sample.known.any(axis=0))
    n, whole = int(labelled.sum()), len(labelled)
    if sample.partly is not None and sample.partly.any():
        yield from _partly(sample, finite)
        if n == whole:
            return
    elif n == whole:
        return
    recorded = not np.isnan(sample.design.probability[labelled]).all()
    if recorded:
        return
    yield (
        f"Labels are taken as drawn at random, {n:,} of {whole:,} {sample.unit}s: no draws were "
        "given."
    )
    if labelled[:n].all() or labelled[whole - n :].all():
        where = "first" if labelled[:n].all() else "last"
        yield (
            f"Warning: the labelled {sample.unit}s are the {where} {n:,} of the set. If they were "
            "not drawn at random, estimates and intervals can be wrong."
        )
    for j, name in enumerate(sample.judges):
        yield from _unlike(sample, labelled, j, name)


def _partly(sample: Sample, finite: bool) -> Iterator[str]:
    """State what intervals make of units that are labelled in part."""
    units = 0 if sample.partly is None else int(sample.partly.any(axis=0).sum())
    if sample.compared:
        yield (
            f"People compared only some pairs of systems on {units:,} {sample.unit}s: these pairs "
            f"are taken as drawn at random, and intervals are as wide as for new {sample.unit}s."
        )
    elif finite:
        yield (
            f"Only some segments of {units:,} {sample.unit}s are labelled: intervals treat no "
            f"{sample.unit} as fully known and are slightly too wide."
        )


def _unlike(sample: Sample, labelled: Flags, j: int, name: str) -> Iterator[str]:
    """Warn where a judge finds labelled units better or worse than the others."""
    count = np.maximum(sample.present.sum(axis=0), 1)
    values = np.where(sample.present, sample.every[:, :, j], 0.0).sum(axis=0) / count
    mine, others = values[labelled], values[~labelled]
    if len(mine) < 2 or len(others) < 2:
        return
    error = sqrt(float(mine.var(ddof=1)) / len(mine) + float(others.var(ddof=1)) / len(others))
    gap = float(mine.mean() - others.mean())
    if error > 0 and abs(gap) > FAR * error:
        told = "higher" if gap > 0 else "lower"
        yield (
            f"Warning: {name} rates the labelled {sample.unit}s {told} than the others "
            f"({float(mine.mean()):.4g} against {float(others.mean()):.4g}, {abs(gap) / error:.1f} "
            "standard errors): they may not have been drawn at random."
        )


def _forms(sample: Sample, rows: Sequence[EstimateRow]) -> Iterator[str]:
    bounded = [row.system for row in rows if row.form == BOUNDED]
    if bounded:
        yield (
            f"For {len(bounded)} of {len(rows)} systems, at least a quarter of the labels are at "
            "one end of the scale, or all labels are equal: their intervals have the bounded form, "
            "which allows for values that were not seen."
        )
    without = [row.system for row in rows if row.form == NONE]
    if without:
        yield (
            f"No interval for {', '.join(without)}: all labels are equal, and the ends of the "
            "scale are not known."
        )


def _judges(
    sample: Sample,
    rows: Sequence[EstimateRow],
    worths: Sequence[tuple[int, str]],
    prediction: Prediction | None,
) -> Iterator[str]:
    for name, (missing, _) in zip(sample.judges, worths, strict=True):
        if missing:
            yield (
                f"{name} has no value for {missing:,} outputs: the mean of its values for the "
                "system stands in their place."
            )
    if prediction is None:
        if not rows or any(row.form != EXACT for row in rows):
            yield "No judge was named: estimates are those of people alone."
        return
    if prediction.correlation < 0:
        yield "Warning: higher values of the judge go with lower labels. Is its direction right?"
