"""Nugget classifiers against assessors, on REALSumm and TREC RAG 2024.

    KARAT_DATA=… python experiments/nuggets_classifiers.py [realsumm] [rag24] [--quick]

Prints Markdown. Settings and thresholds are chosen inside the training folds only. LOTO leaves
questions out (RAG24 one at a time, REALSumm five at a time): no judgement of their nuggets is
known. LOSO leaves one run out at a time: the judgements of the others on the same nuggets are
known, which lowers the error, but ranks a run by its similarity to the others. Only the subsamples
of topics are random (numpy's default generator, seed 2006).

Data inspected during development: the even-numbered questions (counting from 0) of both sets, for
the columns of evidence and likeness, their constants, the difficulties of nuggets, the position in
the key, echoes and all ridges; `nuggets_variants.py` prints the last variants tried. The rows "odd"
and "even" apply everything to those questions alone. All questions were inspected for: the paper's
classifier with other idf, stemmers, tokenisers and settings, of which `FIXED` is the best on RAG24;
the correlation of each column of evidence with the labels, printed once, before columns were
dropped on the even questions; learning on one set and testing on the other, which chose the four
columns of the built-in model and led to the rows with the other set as a prior (its ridge is the
usual one); and earlier prints of these tables, after which the column `gp` of likeness was changed
to exclude a response's own judgements, because a test had found them in it.

Intervals: each run in turn is treated as unjudged. Errors of guesses are estimated from the other
runs, on the same questions; their guesses come from models that had seen this run's judgements as
one run among many.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
import time
from dataclasses import replace

import numpy as np
from nugget_sets import SETS, pooled, strict

from karat.nuggets.prediction.calibrated import (
    CrossValidation,
    Logistic,
    cross_validate,
    fit_calibrated,
    fit_logistic,
)
from karat.nuggets.prediction.evidence import UnjudgedEvidence, evidence
from karat.nuggets.prediction.intervals import score_errors, score_interval
from karat.nuggets.prediction.likeness import Likeness
from karat.nuggets.prediction.paper import Paper, ngram_scores
from karat.nuggets.prediction.pool import (
    AssessorAgreement,
    Floats,
    FoldedCells,
    Pool,
    assessor_agreement,
    folds,
)
from karat.nuggets.prediction.thresholds import MODELS, best_f_threshold, compare_models
from karat.nuggets.results.tuning import best_trial, settings, trial
from karat.nuggets.sets.keys_and_runs import make_key

SEED, SUBSAMPLES = 2006, 200
INNER = 3  # folds of the remaining data, for choosing a classifier
FOLDS = {"realsumm": 20, "rag24": 21}  # groups of questions left out
BASES = {
    "paper": Paper(),
    "normalised": Paper(normalised=True),
    "normalised, once": Paper(normalised=True, once=True),
}
INFORMED = {"paper, informed by responses": Paper(informativeness="responses")}  # LOSO only
FIXED = Paper(1, stem="porter", normalised=True, once=True)  # seen to be the best on RAG24
HEAD = "| {} | P | R | F | tau_b | R^2 | RMSE |\n|---|---|---|---|---|---|---|"


def row(name: str, agreement: AssessorAgreement) -> None:
    print(f"| {name} | " + " | ".join(f"{value:.3f}" for value in agreement) + " |", flush=True)


def nested(cells: FoldedCells, tried: list[Paper]) -> AssessorAgreement:
    """The paper's classifier: the setting and the threshold of each fold from the other folds."""
    carried, most = np.zeros(len(cells.labels), dtype=bool), dict[int, float]()
    for setting in tried:
        for k, scores in setting.each_fold(cells):
            is_test = cells.fold == k
            train = cells.is_judged & ~is_test
            yes = cells.labels[train] > 0
            limit = best_f_threshold(scores[train], yes)
            f = _f(scores[train] > limit, yes)
            if f > most.get(k, -1.0):
                most[k], carried[is_test] = f, scores[is_test] > limit
    return cells.agreement(np.where(cells.is_known, cells.elsewhere > 0, carried))


class Unplaced(UnjudgedEvidence):
    """The columns for unjudged questions, except the position of a nugget in its key."""

    @property
    def place(self) -> Floats:
        return np.zeros(len(self.pool.cell_nugget))


def choose_classifier(cells: FoldedCells, X: Floats) -> tuple[AssessorAgreement, float]:
    """Choose inside the training folds; also return the share of folds that chose `calibrated`.

    For each fold left out, cross-validation over the others decides which classifier agrees better.
    (LOTO only: in LOSO the calibrated classifier is so far ahead that there is no choice to make.)
    """
    pool, labels = cells.pool, cells.labels
    base = replace(BASES["normalised, once"], informativeness="descriptions")  # none else is known
    carried, estimates, choices = np.zeros(len(labels), dtype=bool), np.zeros(len(labels)), []
    for k, train in cells.training():
        apart = np.where(train, pool.cell_question % INNER, -1)
        training_cells = FoldedCells(pool, np.where(train, labels, np.nan), apart)
        calibrated = cross_validate(training_cells, X)
        paper = best_trial([trial(training_cells, setting) for setting in settings(base)])
        choices.append(calibrated.agreement.f > paper.agreement.f)
        choice, is_test = calibrated if choices[-1] else paper, cells.fold == k
        carried[is_test] = choice.carried[is_test]
        estimates[is_test] = (
            calibrated.probabilities[is_test] if choices[-1] else choice.carried[is_test]
        )
    return cells.agreement(carried, estimates), float(np.mean(choices))


def _f(carried: np.ndarray, yes: np.ndarray) -> float:
    return float(2 * (carried & yes).sum() / max(1, carried.sum() + yes.sum()))


def judgements(
    name: str, pool: Pool, X: Floats, labels: Floats, prior: Logistic
) -> tuple[CrossValidation, CrossValidation]:
    """The tables of agreement; the validated classifiers of both ways."""
    topics = FoldedCells(pool, labels, pool.cell_question % FOLDS[name])
    runs = FoldedCells(pool, labels, folds(pool, "system"))
    print(HEAD.format("LOTO"))
    for title, base in BASES.items():
        row(
            f"{title}: 24 settings, global threshold",
            nested(topics, settings(base)),
        )
    row(f"{FIXED.summary}: global threshold", nested(topics, [FIXED]))
    loto = cross_validate(topics, X)
    chosen_agreement, share = choose_classifier(topics, X)
    row(f"chosen in the training folds, calibrated in {100 * share:.0f}%", chosen_agreement)
    row("calibrated, scores from decisions", assessor_agreement(pool, loto.carried, labels))
    row("calibrated, expected scores", loto.agreement)
    bare = cross_validate(topics, X, Unplaced(pool))
    row("the same without the place in the key", bare.agreement)
    started = cross_validate(topics, X, prior=prior)
    row(
        "the same, the other set as prior, decisions",
        assessor_agreement(pool, started.carried, labels),
    )
    row("the same, the other set as prior, expected", started.agreement)
    print("\n" + HEAD.format(f"LOSO, {100 * runs.is_known.mean():.1f}% known"))
    for title, base in (BASES | INFORMED).items():
        row(
            f"{title}: 24 settings, global threshold",
            nested(runs, settings(base)),
        )
    loso = cross_validate(runs, X, Likeness(pool))
    row("calibrated, scores from decisions", assessor_agreement(pool, loso.carried, labels))
    row("calibrated, expected scores", loso.agreement)
    return loto, loso


def coverage(pool: Pool, validated: CrossValidation, labels: Floats) -> None:
    """Each run in turn: errors of the others, its interval on half of the topics."""
    guessed = pool.question_scores(validated.probabilities)
    official = pool.question_scores((labels > 0).astype(float))
    rng = np.random.default_rng(SEED)
    N = official.shape[1]
    draws = [np.sort(rng.permutation(N)[: N // 2]) for _ in range(SUBSAMPLES)]
    rows: dict[str, list[tuple[bool, float]]] = {}
    for s in range(len(official)):
        other_runs = np.arange(len(official)) != s
        errors = score_errors(guessed[other_runs], official[other_runs])
        truth = float(np.nanmean(official[s]))
        answered = np.flatnonzero(~np.isnan(guessed[s]))
        all_interval = score_interval(guessed[s][answered], errors, len(answered))
        _note(
            rows, "all topics, official score on them", all_interval.low, all_interval.high, truth
        )
        for draw in draws:
            topics = draw[np.isin(draw, answered)]
            if len(topics) < 2:  # a run that answered only a few topics
                continue
            a = guessed[s][topics]
            half_interval = score_interval(a, errors, len(answered))
            _note(
                rows,
                "half of the topics, official score on all",
                half_interval.low,
                half_interval.high,
                truth,
            )
            own_interval = score_interval(a, errors, len(a))
            own_score = float(official[s][topics].mean())
            _note(
                rows,
                "half of the topics, official score on them",
                own_interval.low,
                own_interval.high,
                own_score,
            )
            reach = 1.96 * float(a.std(ddof=1)) * (1 / len(a) - 1 / len(answered)) ** 0.5
            low, high = a.mean() - reach, a.mean() + reach
            _note(rows, "questions alone, official score on all", low, high, truth)
    print("| 95% interval from, about | coverage | mean width |\n|---|---|---|")
    for name, outcomes in rows.items():
        inside, widths = zip(*outcomes, strict=True)
        print(f"| {name} | {100 * np.mean(inside):.1f}% | {np.mean(widths):.3f} |", flush=True)


def _note(rows: dict, name: str, low: float, high: float, truth: float) -> None:
    rows.setdefault(name, []).append((low <= truth <= high, high - low))


def halves(name: str) -> None:
    """Evaluate everything on the questions inspected during development, and on the others."""
    key, runs, human_judgements = SETS[name]()
    print("\n" + HEAD.format("half of the questions"))
    for title, part in (("even, looked at", 0), ("odd, not looked at", 1)):
        questions = [q for i, q in enumerate(key.questions.values()) if i % 2 == part]
        pool, labels = pooled(make_key(questions), runs, human_judgements)
        X = evidence(pool)
        topics = FoldedCells(pool, labels, pool.cell_question % min(len(questions), 10))
        row(f"{title}: normalised once, LOTO", nested(topics, settings(BASES["normalised, once"])))
        row(f"{title}: calibrated, LOTO", cross_validate(topics, X).agreement)
        bare = cross_validate(topics, X, Unplaced(pool))
        row(f"{title}: the same without the place in the key", bare.agreement)
        loso = cross_validate(FoldedCells(pool, labels, folds(pool, "system")), X, Likeness(pool))
        row(f"{title}: calibrated, LOSO", loso.agreement)


def transfer(pools: dict[str, tuple[Pool, Floats, Floats]]) -> None:
    """Train on one set and test on the other: the quality of a model without judgements."""
    print("\n## From one set to the other\n\n" + HEAD.format("trained, tested"))
    for source, target in (("realsumm", "rag24"), ("rag24", "realsumm")):
        _, X, labels = pools[source]
        model = fit_calibrated(X, labels, nugget=pools[source][0].cell_nugget)
        pool, target_X, target_labels = pools[target]
        p = model.probabilities(target_X)
        row(f"{source}, {target}", assessor_agreement(pool, p > model.threshold, target_labels, p))


def main() -> None:
    names = [name for name in sys.argv[1:] if name in SETS] or list(SETS)
    pools = {}
    for name in SETS:
        pool, labels = pooled(*SETS[name]())
        pools[name] = pool, evidence(pool), labels
    for name in names:
        start = time.perf_counter()
        pool, X, labels = pools[name]
        elsewhere, other_X, other_labels = next(pools[other] for other in SETS if other != name)
        prior = fit_logistic(other_X, other_labels > 0, nugget=elsewhere.cell_nugget)
        print(f"\n## {name}: {len(pool.runs)} runs, {len(pool.questions)} questions, "
              f"{len(labels):,} judgements\n")  # fmt: skip
        loto, loso = judgements(name, pool, X, labels, prior)
        for title, validated in (("LOTO", loto), ("LOSO", loso)):
            print(f"\n{title}:\n")
            coverage(pool, validated, labels)
        print("\n| model | log10 P(Data given Model) |\n|---|---|")
        for model in compare_models(pool, ngram_scores(pool, Paper()), labels):
            print(f"| {MODELS[model.name]} | {model.log10:.0f} |")
        if "--quick" not in sys.argv:
            if (strict(labels) != labels).any():
                print("\nStrict (partial support is none):\n")
                judgements(name, pool, X, strict(labels), prior)
            halves(name)
        print(f"\n{time.perf_counter() - start:.0f} s", flush=True)
    transfer(pools)


if __name__ == "__main__":
    main()
