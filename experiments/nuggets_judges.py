"""The value of model labels as evidence, and of strict guesses, on TREC RAG 2024.

    KARAT_DATA=… python experiments/nuggets_judges.py

Prints Markdown. First: people judged 15 of the 45 runs, drawn at random (seeds 0, 1 and 2); the
other 30 are scored. A simulated model labels pairs: it turns a person's label (carried or not) with
the given probability, which differs from run to run (standard deviation 0.03, upward for what is
not carried, downward for what is). Inside: the share of the 30 runs whose interval contains the
score from their judgements, over all three draws; RMSE: the error of A as shown.

Second: every other run is treated as unjudged and scored strictly, by a classifier trained on full
or partial support and by one trained on full support; then all runs by the built-in one.

Nothing about models was chosen here: ridges and the 20 pairs in `guess.model_labels` were
set before this was run. The intercept of the built-in classifier's strict form was -3.1 at first,
with a mean error of -0.0265 and an RMSE of 0.0566; now it is that of both sets together, rounded.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

import karat as kt
from karat.nuggets.prediction.predictions import predict_support
from karat.nuggets.results.scoring import ScoredRun
from karat.nuggets.scores.decisions import decide_run
from karat.nuggets.scores.official import mean_shares
from karat.nuggets.sets.judgements import JudgedResponse, Judgements
from karat.nuggets.sets.nugget_set import NuggetSet

SEEDS, JUDGED, OWN = (0, 1, 2), 15, 0.03


class Model(NamedTuple):
    """A simulated model: how often it is wrong, and which share of the open runs it labels."""

    name: str
    wrong: float
    share: float = 1.0


MODELS = (
    Model("wrong in 15% of pairs", 0.15),
    Model("the same, half of the pairs of open runs", 0.15, 0.5),
    Model("wrong in 30% of pairs", 0.3),
    Model("wrong in 50% of pairs", 0.5),
)


def labels(
    model: Model, rows: tuple[JudgedResponse, ...], people: set[str], rng: np.random.Generator
) -> Iterator[JudgedResponse]:
    """The labels of the model."""
    run_effects = {run: rng.normal(0, OWN) for run in sorted({row.run for row in rows})}
    for row in rows:
        carried = row.value > 0
        turned = rng.random() < model.wrong + run_effects[row.run] * (-1 if carried else 1)
        if row.run in people or rng.random() < model.share:
            value = float(carried != turned)
            yield row._replace(value=value, judge="simulated", kind="model")


def compared(
    scored_runs: list[ScoredRun], truth: dict[str, ScoredRun]
) -> list[tuple[bool, bool, float, float]]:
    """Of each run: A inside, F macro inside, width of A, error of A."""
    rows = []
    for scored in scored_runs:
        true_run, ends = truth[scored.run.tag], scored.intervals
        a, f = mean_shares(true_run.shares).A, true_run.official_score.macro.f
        inside = ends.share.low <= a <= ends.share.high, ends.macro.low <= f <= ends.macro.high
        rows.append((*inside, ends.share.width, mean_shares(scored.shares).A - a))
    return rows


def with_models(nuggets: NuggetSet, truth: dict[str, ScoredRun]) -> None:
    """The first table."""
    print("| labels of a model | A inside | F macro inside | width of A | RMSE of A |")
    print("|---|---|---|---|---|")
    for model in (None, *MODELS):
        rows = []
        for seed in SEEDS:
            rng = np.random.default_rng(seed)
            people = set(rng.choice([*nuggets.runs], JUDGED, replace=False).tolist())
            rows_given = [row for row in nuggets.judgements.rows if row.run in people]
            if model:
                rows_given += labels(model, nuggets.judgements.rows, people, rng)
            done = kt.score_nuggets(replace(nuggets, judgements=Judgements(tuple(rows_given))))
            rows += compared(
                [scored for scored in done.scored if scored.run.tag not in people], truth
            )
        a, f, width, error = (np.array(column) for column in zip(*rows, strict=True))
        name = model.name if model else "none"
        rmse = np.sqrt((error**2).mean())
        print(f"| {name} | {a.mean():.1%} | {f.mean():.1%} | {width.mean():.3f} | {rmse:.3f} |")


def strictly(nuggets: NuggetSet) -> None:
    """The second table."""
    measure = kt.OfficialSettings(strict=True)
    truth = kt.score_nuggets(nuggets, measure, guess=False).scored
    half = replace(nuggets, judgements=nuggets.judgements.without([*nuggets.runs][::2]))
    none = replace(nuggets, judgements=Judgements(()))
    print("\n| strict F macro, guesses of | mean error | RMSE |")
    print("|---|---|---|")
    for name, judged_set, step in (("", half, 2), ("the built-in classifier, ", none, 1)):
        for strict in (False, True):
            predictions = predict_support(judged_set, strict=strict)
            errors = []
            for true_run in truth[::step]:
                guess = predictions.guess(true_run.run.tag)
                decisions = decide_run(true_run.run, judged_set.key, judged_set.judgements, guess)
                errors.append(
                    measure.score(true_run.run, judged_set.key, decisions).macro.f
                    - true_run.official_score.macro.f
                )
            kind = "full support" if strict else "full or partial support"
            rmse = np.sqrt(np.mean(np.square(errors)))
            print(f"| {name}{kind} | {np.mean(errors):+.4f} | {rmse:.4f} |")


if __name__ == "__main__":
    whole = kt.load_nuggets("rag24")
    official = {scored.run.tag: scored for scored in kt.score_nuggets(whole).scored}
    with_models(whole, official)
    strictly(whole)
