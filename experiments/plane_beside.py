"""BLEU and ROUGE beside the plane, with one and with all references, and planes of groups.

    KARAT_DATA=… python experiments/plane_beside.py
    python experiments/plane_beside.py --sets demo --resamples 50

Section 4.1 of the paper gives R^2 of BLEU with the plane's one reference and with all four;
section 4.2 fits summaries of one length at a time. Both as Markdown, for docs/lab/plane.md, by the
paper's preset without regard to case. Nothing is tuned.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from plane_on_data import markdown, percent

import karat as kt
from karat.meta.plane import BLEU_CELL, ROUGE_CELL
from karat.meta.plane_study import PlaneStudy
from karat.metrics.ngram import AEv

FAMILY = "aev:preset=paper"
BESIDE = ("bleu:case=lower", "rouge1:alpha=0,stem=porter-nltk", "rouge1:stem=porter-nltk")
"""ROUGE of 2003 is recall; today its F is used."""


class Fit(NamedTuple):
    """Dimensions of a set, with the prediction and the groups to evaluate."""

    evalset: str
    dimensions: tuple[str, ...]
    task: str = ""
    guideline: str = ""
    by: str = ""


MEASURED = (
    Fit("summeval", ("relevance", "fluency", "consistency", "coherence")),
    Fit("e2e", ("naturalness", "quality")),
    Fit("realsumm", ("coverage",)),
    Fit("ted-zhen", ("accuracy", "fluency")),
    Fit("rag24", ("all",)),
)
GROUPED = (
    Fit("realsumm", ("coverage",), "summary", "coverage", "lengths:parts=4"),
    Fit("summeval", ("relevance",), "summary", "coverage", "lengths:parts=2"),
    Fit("ted-zhen", ("accuracy",), "mt", "adequacy", "groups"),
    Fit("ted-zhen", ("fluency",), "mt", "fluency", "groups"),
)
DEMO = (Fit("demo", ("fluency",), "mt", "fluency", "groups"),)


def studied(fit: Fit, metrics: Sequence[str], resamples: int) -> PlaneStudy:
    """Fit planes with the first reference of each segment."""
    metric = kt.metric(FAMILY)
    assert isinstance(metric, AEv)
    return kt.study_plane(
        kt.load_evalset(fit.evalset),
        metric,
        fit.dimensions,
        references=[1],
        compare_with=metrics,
        by=fit.by or None,
        region=kt.predicted(fit.task, fit.guideline) if fit.guideline else None,
        resamples=resamples,
        splits=0,
    )


BESIDE_HEADS = ("set", "dimension", "metric", "references", "r", "R^2 %", "95%", "left out %")


def beside_rows(fit: Fit, resamples: int) -> Iterator[list[str]]:
    """Yield two points of the plane, its maximum, and the other metrics."""
    study = studied(fit._replace(by="", guideline=""), BESIDE, resamples)
    for plane in study.fits:
        cells = dict.fromkeys(c for c in (plane.maximum, BLEU_CELL, ROUGE_CELL) if c)
        rows = [(str(cell), "1", plane.row(cell)) for cell in cells]
        metric_rows = [(row.metric, row.references, row) for row in plane.compared]
        for name, references, row in (*rows, *metric_rows):
            ends = f"{percent(row.low)} to {percent(row.high)}"
            numbers = [f"{row.r:.2f}", percent(row.r2), ends, percent(row.q2)]
            yield [fit.evalset, plane.dimension, name, references, *numbers]


GROUP_HEADS = (
    *("set", "dimension", "group", "segments", "maximum", "R^2 %", "95%", "p", "AEv(0,1)"),
    *("AEv(0,2)", "AEv(0,4)", "there / elsewhere", "difference, 95%", "prediction"),
)


def group_rows(fit: Fit, resamples: int) -> Iterator[list[str]]:
    """Yield the planes of all segments and of groups, one line each; negative if r is."""
    study = studied(fit, (), resamples)
    lines = zip(study.groups, study.fits, study.verdicts, strict=True)
    for row, plane, held in lines:
        shares = {(r.alpha, r.n): percent(math.copysign(r.r2, r.r)) for r in plane.rows}
        yield [
            *(fit.evalset, row.dimension, row.group or "all", str(row.segments)),
            *(row.maximum or "none", percent(row.r2), f"{percent(row.low)} to {percent(row.high)}"),
            *(f"{row.p:.3f}", *(shares[0.0, n] for n in (1, 2, 4))),
            f"{percent(held.inside)} / {percent(held.outside)}",
            f"{percent(held.low)} to {percent(held.high)}",
            row.prediction,
        ]


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    set_names = list(dict.fromkeys(fit.evalset for fit in (*MEASURED, *GROUPED, *DEMO)))
    parser.add_argument("--sets", nargs="+", choices=set_names, default=set_names[:-1])
    parser.add_argument("--resamples", type=int, default=1000)
    options = parser.parse_args()
    for title, heads, fits, rows in (
        ("Metrics beside the plane", BESIDE_HEADS, (*MEASURED, *DEMO), beside_rows),
        ("Groups of segments", GROUP_HEADS, (*GROUPED, *DEMO), group_rows),
    ):
        chosen = [fit for fit in fits if fit.evalset in options.sets]
        table = [row for fit in chosen for row in rows(fit, options.resamples)]
        print(f"## {title} ({FAMILY})\n\n{markdown(heads, table)}\n", flush=True)


if __name__ == "__main__":
    main()
