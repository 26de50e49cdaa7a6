"""Variants of the nugget classifier, mostly on the even-numbered questions alone.

    KARAT_DATA=… python experiments/nuggets_variants.py

Prints Markdown: first how often the first five nuggets of a key, and the later ones, were judged to
be carried when nearly all or hardly any of their words occur. Then F, Kendall's tau_b, RMSE and the
mean log loss when something is added to the calibrated classifier or removed from it. Its
components were chosen on this half of the questions; `nuggets_classifiers.py` evaluates it on all,
and on the other half. The last table is about the paper's classifier on all questions of RAG24: the
F that its settings reach while single questions are left out, and with the threshold that is best
in hindsight.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from collections.abc import Callable
from dataclasses import replace
from itertools import product

import numpy as np
from nugget_sets import SETS, pooled

from karat.arithmetic import logit
from karat.nuggets.prediction import likeness as likenesses
from karat.nuggets.prediction.calibrated import Logistic, cross_validate, fit_logistic
from karat.nuggets.prediction.evidence import NAMES, SENTENCES, UnjudgedEvidence, evidence
from karat.nuggets.prediction.likeness import Likeness
from karat.nuggets.prediction.paper import Paper, ngram_scores
from karat.nuggets.prediction.pool import (
    AssessorAgreement,
    Floats,
    FoldedCells,
    Ints,
    Pool,
    assessor_agreement,
    folds,
)
from karat.nuggets.prediction.thresholds import best_f_threshold
from karat.nuggets.results.tuning import fold_guesses
from karat.nuggets.scores.words import smoothed_idf
from karat.nuggets.sets.keys_and_runs import make_key

BASIC = [NAMES.index(name) for name in ("informative-whole", "paper-2", "characters")]
HEAD = "| {} | F | tau_b | RMSE | log loss |\n|---|---|---|---|---|"
Fit = Callable[[Floats, Floats, Ints], Logistic]
Limit = Callable[[Pool, Floats, Floats, np.ndarray], Floats]


def half(name: str) -> tuple[Pool, Floats]:
    """The questions of even number."""
    key, runs, human_judgements = SETS[name]()
    questions = [question for i, question in enumerate(key.questions.values()) if i % 2 == 0]
    return pooled(make_key(questions), runs, human_judgements)


# ------------------------------------------------------------------------------------ columns


def by_question(pool: Pool, X: Floats, function: Callable[[Floats], Floats]) -> Floats:
    """A function of responses x nuggets x columns, question by question, as rows again."""
    tables = []
    for q, question in enumerate(pool.questions):
        first, last = pool.cell_starts[q : q + 2]
        table = X[first:last].reshape(-1, len(question.nuggets), X.shape[1])
        tables.append(np.broadcast_to(function(table), table.shape).reshape(-1, X.shape[1]))
    return np.concatenate(tables)


RELATIVE: dict[str, Callable[[Floats], Floats]] = {
    "the nugget's mean over responses": lambda t: t.mean(0, keepdims=True),
    "how far above the nugget's mean, in deviations": lambda t: (t - t.mean(0)) / (t.std(0) + 0.02),
    "share of the nugget's largest": lambda t: t / np.maximum(np.abs(t).max(0), 1e-9),
    "the response's mean over nuggets": lambda t: t.mean(1, keepdims=True),
    "the question's mean": lambda t: t.mean((0, 1), keepdims=True),
}


def lengths(pool: Pool, X: Floats) -> Floats:
    """Words of the response."""
    return np.log1p([len(text.split()) for text in pool.texts])[pool.cell_response][:, None]


def propagated(pool: Pool, X: Floats) -> Floats:
    """Bare evidence of like responses: regression of a column over likeness, itself left out."""
    columns, near = [], Likeness(pool)
    for q, responses in enumerate(near._questions):
        rows = np.arange(len(responses.cosines))
        all_rows = np.ones(len(rows), dtype=bool)
        table = pool.table(X[:, BASIC[0]].copy(), q)
        columns.append(likenesses._regress(responses.cosines, table, all_rows, rows).ravel())
    return np.concatenate(columns)[:, None]


# --------------------------------------------------------------------------------- thresholds


def best_limit(pool: Pool, p: Floats, labels: Floats, train: np.ndarray) -> Floats:
    return np.full(len(p), best_f_threshold(p[train], labels[train] > 0))


def expected_limit(pool: Pool, p: Floats, labels: Floats, train: np.ndarray) -> Floats:
    """Half of the best F that the probabilities let expect."""
    return np.full(len(p), expected_f(p[train]) / 2)


def question_limit(pool: Pool, p: Floats, labels: Floats, train: np.ndarray) -> Floats:
    limits = [expected_f(pool.table(p, q).ravel()) / 2 for q in range(len(pool.questions))]
    return np.array(limits)[pool.cell_question]


def expected_f(p: Floats) -> float:
    high = np.sort(p)[::-1]
    return float((2 * np.cumsum(high) / (np.arange(1, len(p) + 1) + high.sum())).max())


# ---------------------------------------------------------------------------------- measuring


def mixed(ridge: float = 100.0, prior: Logistic | None = None) -> Fit:
    return lambda X, yes, nugget: fit_logistic(X, yes > 0, ridge, prior, nugget)


def plain(ridge: float = 100.0) -> Fit:
    return lambda X, yes, nugget: fit_logistic(X, yes > 0, ridge)


def measure(
    pool: Pool, X: Floats, labels: Floats, fold: Ints, fit: Fit, limit: Limit = best_limit
) -> str:
    """F, tau_b, RMSE and log loss while each fold is left out."""
    chances, limits = np.zeros(len(labels)), np.zeros(len(labels))
    for k in np.unique(fold):
        train, test = fold != k, fold == k
        p = fit(X[train], labels[train], pool.cell_nugget[train]).probabilities(X)
        chances[test], limits[test] = p[test], limit(pool, p, labels, train)[test]
    return numbers_of(assessor_agreement(pool, chances > limits, labels, chances), chances, labels)


def numbers_of(agreement: AssessorAgreement, chances: Floats, labels: Floats) -> str:
    sure = np.clip(np.where(labels > 0, chances, 1 - chances), 1e-6, 1)
    numbers = agreement.f, agreement.tau_b, agreement.rmse, -np.log(sure).mean()
    return " | ".join(f"{number:.3f}" for number in numbers)


class Unplaced(UnjudgedEvidence):
    """The columns for unjudged questions, except the position of a nugget in its key."""

    @property
    def place(self) -> Floats:
        return np.zeros(len(self.pool.cell_nugget))


def loto(pool: Pool, X: Floats, labels: Floats, prior: Logistic) -> None:
    fold = pool.cell_question % min(len(pool.questions), 11)
    old = [k for k, name in enumerate(NAMES) if name not in SENTENCES]

    def show(title: str, Z: Floats, fit: Fit, limit: Limit = best_limit) -> None:
        print(f"| {title} | {measure(pool, Z, labels, fold, fit, limit)} |", flush=True)

    for title, further, start in (
        ("as it is", UnjudgedEvidence(pool), None),
        ("without the place in the key", Unplaced(pool), None),
        ("as it is, the other set as prior", UnjudgedEvidence(pool), prior),
    ):
        validated = cross_validate(FoldedCells(pool, labels, fold), X, further, prior=start)
        row = numbers_of(validated.agreement, validated.probabilities, labels)
        print(f"| {title} | {row} |", flush=True)
    show("without place and echoes; so are all below", X, mixed())
    show("without difficulties", X, plain())
    show("without sentences", X[:, old], mixed())
    show("without either", X[:, old], plain())
    for ridge in (30.0, 300.0):
        show(f"ridge {ridge:.0f}", X, mixed(ridge))
        show(f"the other set as prior, ridge {ridge:.0f}", X, mixed(ridge, prior))
    for title, function in RELATIVE.items():
        show(f"and {title}", np.c_[X, by_question(pool, X[:, BASIC], function)], mixed())
    show("and the response's length", np.c_[X, lengths(pool, X)], mixed())
    show("and the evidence of like responses", np.c_[X, propagated(pool, X)], mixed())
    show("threshold: half the expected F", X, mixed(), expected_limit)
    show("threshold: the same by question", X, mixed(), question_limit)


def habits(pool: Pool, X: Floats, labels: Floats) -> None:
    """The share of carried nuggets by position in the key, for equal word overlap."""
    first = (pool.cell_nugget - pool.nugget_starts[pool.cell_question]) < 5
    share = X[:, BASIC[0]]
    print("| place in the key | more than 80% of the words | less than 20% |\n|---|---|---|")
    for title, places in (("first five", first), ("later", ~first)):
        rates = [
            (labels[places & condition] > 0).mean() for condition in (share > 0.8, share < 0.2)
        ]
        print(f"| {title} | " + " | ".join(f"{rate:.2f}" for rate in rates) + " |", flush=True)


def whole_residual(near: Likeness, training_labels: Floats, guesses: Floats) -> Floats:
    """The column `residual` over the likeness of whole responses, as it was."""
    columns = []
    runs = folds(near.pool, "system").astype(np.float64)
    for q, responses in enumerate(near._questions):
        labels, guess, fold = (near.pool.table(x, q) for x in (training_labels, guesses, runs))
        rows = np.flatnonzero(~np.isnan(labels).all(axis=1))
        values = (labels[rows] > 0) - guess[rows]
        K = responses.cosines[:, rows]
        columns.append(likenesses._regress(K, values, rows, fold[:, 0].astype(np.int64)).ravel())
    return np.concatenate(columns)


def loso(pool: Pool, X: Floats, labels: Floats) -> None:
    """Runs in five groups; nothing is known of a run from identical responses."""
    fold = folds(pool, "system") % 5
    near = Likeness(pool)
    last = len(likenesses.NAMES)  # the column of `whole_residual`
    residual = likenesses.NAMES.index("residual")
    variants: dict[str, tuple[tuple[int, ...], float]] = {
        "as it is": ((last,), 10.0),
        "ridge 100": ((last,), 100.0),
        "residual over whole responses": ((residual,), 10.0),
        "residual over both": ((), 10.0),
        "without the residual": ((residual, last), 10.0),
        "without standing": ((last - 1, last), 10.0),
        "without the rate": ((0, last), 10.0),
        "without the words": ((5, last), 10.0),
    }
    chances = {title: np.zeros(len(labels)) for title in variants}
    limits = {title: np.zeros(len(labels)) for title in variants}
    for k in range(5):
        train, test = fold != k, fold == k
        training_labels = np.where(train, labels, np.nan)
        nugget = pool.cell_nugget[train]
        guesses = fit_logistic(X[train], labels[train] > 0, nugget=nugget).probabilities(X)
        columns = near.columns(training_labels, guesses, folds(pool, "system"))
        columns = np.c_[columns, whole_residual(near, training_labels, guesses)]
        for title, (left, ridge) in variants.items():
            Z = np.c_[X, np.delete(columns, left, axis=1)]
            p = fit_logistic(Z[train], labels[train] > 0, ridge).probabilities(Z)
            chances[title][test] = p[test]
            limits[title][test] = best_f_threshold(p[train], labels[train] > 0)
    for title, p in chances.items():
        agreement = assessor_agreement(pool, p > limits[title], labels, p)
        loss = -np.where(labels > 0, logit(p), 0).mean() + np.logaddexp(0, logit(p)).mean()
        print(
            f"| {title} | {agreement.f:.3f} | {agreement.tau_b:.3f} | "
            f"{agreement.rmse:.3f} | {loss:.3f} |"
        )


def paper() -> None:
    """Normalised, each n-gram once: stems, stop words, n, and idf, idf + 1 or counts."""
    pool, labels = pooled(*SETS["rag24"]())
    yes = labels > 0
    print("\n## rag24, all questions, the paper's classifier\n")
    print("| setting | F, LOTO | F, in hindsight |\n|---|---|---|")
    for stem, stop, n in product(("none", "english", "porter"), ("none", "en"), (1, 2)):
        base = Paper(n, stem=stem, stop=stop, normalised=True, once=True)
        idf = smoothed_idf(pool.texts, base.words)
        for extra in (0.0, 1.0, None):
            rule = base if extra is not None else replace(base, weight="count")
            s = ngram_scores(pool, rule, lambda w, idf=idf, more=extra or 0.0: idf(w) + more)
            cells = FoldedCells(pool, labels, pool.cell_question)
            left_out = fold_guesses(cells, ((k, s) for k in np.unique(cells.fold)))
            both = left_out, s > best_f_threshold(s, yes)
            numbers = [assessor_agreement(pool, carried, labels).f for carried in both]
            more = " + 1" if extra else ""
            print(
                f"| {rule.summary}{more} | " + " | ".join(f"{f:.3f}" for f in numbers) + " |",
                flush=True,
            )


def main() -> None:
    pools = {name: half(name) for name in SETS}
    tables = {name: evidence(pool) for name, (pool, _) in pools.items()}
    for name, (pool, labels) in pools.items():
        prior_set = next(set_name for set_name in SETS if set_name != name)
        prior_pool, prior_labels = pools[prior_set]
        prior = fit_logistic(tables[prior_set], prior_labels > 0, nugget=prior_pool.cell_nugget)
        print(f"\n## {name}, even questions\n")
        habits(pool, tables[name], labels)
        print("\n" + HEAD.format("LOTO"))
        loto(pool, tables[name], labels, prior)
        print("\n" + HEAD.format("LOSO"))
        loso(pool, tables[name], labels)
    paper()


if __name__ == "__main__":
    main()
