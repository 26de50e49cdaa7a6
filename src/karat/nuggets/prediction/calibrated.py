"""Logistic regression with a ridge, by Newton's method (iteratively reweighted least squares).

    maximise  sum of log P(y | x) - (ridge / 2) |w - v|^2,    P(1 | x) = 1 / (1 + exp(-(b + w z)))

where z is x minus its mean, divided by its standard deviation; the intercept b has no ridge. v is
0, or the weights of a model that was learned elsewhere and serves as a prior; that model then also
standardizes the columns it has. Each column may have a ridge of its own.

In a mixed model every nugget g has a difficulty u_g of its own:

    P(1 | x, g) = 1 / (1 + exp(-(b + w z + u_g))),    u_g ~ N(0, 1)
    maximise  sum of log P(y | x, g) - (ridge / 2) |w - v|^2 - (1 / 2) sum of u_g^2

Some nuggets are always expressed in other words than the key's; others share their words with all
answers. Without u_g, a few such nuggets influence the weights as much as many responses do. With
u_g, the weights describe why one response carries a nugget and another does not, which is what
ranks runs. For a nugget without judgements u_g is unknown; its logit is a + c (b + w z), with the a
and c that fit the training data best without u_g.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from karat.arithmetic import product, sigmoid, solve_symmetric
from karat.arrays import Flags, Floats, Ints, np
from karat.errors import InputError
from karat.nuggets.prediction.evidence import UnjudgedEvidence
from karat.nuggets.prediction.evidence_groups import EvidenceSource
from karat.nuggets.prediction.likeness import Likeness
from karat.nuggets.prediction.pool import AssessorAgreement, FoldedCells, Pool
from karat.nuggets.prediction.thresholds import best_f_threshold
from karat.nuggets.scores.words import IdfTexts, StemIdf
from karat.progress import Progress, silent

RIDGE = 100.0
_STEPS, _MIXED_STEPS = 30, 40
_NEAR = 1e-8


@dataclass(frozen=True, eq=False)
class Logistic:
    """Weights of standardized columns, and an intercept."""

    centre: Floats
    scale: Floats
    weights: Floats
    intercept: float
    threshold: float = 0.5  # yes if the probability exceeds it

    def logits(self, X: Floats) -> Floats:
        """Return log P / (1 - P) of every row."""
        z = X - self.centre
        z *= self.weights / self.scale
        return np.asarray(z.sum(axis=1) + self.intercept)

    def probabilities(self, X: Floats) -> Floats:
        """Return P(1 | x) of every row."""
        return sigmoid(self.logits(X))

    def columns(self, X: Floats) -> Floats:
        """Return an intercept, and the columns as the model weighs them."""
        return np.concatenate([np.ones((len(X), 1)), (X - self.centre) / self.scale], axis=1)


def fit_logistic(
    X: Floats,
    yes: Flags,
    ridge: float | Floats = RIDGE,
    prior: Logistic | None = None,
    nugget: Ints | None = None,
) -> Logistic:
    """Fit the weights; constant columns have weight 0, or the prior's.

    With `nugget`, the nugget of each row, the mixed model is fitted; its weights are then scaled to
    be used without the difficulties of nuggets.
    """
    if not len(X):
        raise InputError("no cell was judged: nothing can be learned; give judgements")
    aim = _start(X, prior)
    Z, v = aim.columns(X), np.append(aim.intercept, aim.weights)
    hold = np.append(1e-6, np.broadcast_to(ridge, X.shape[1]))
    if nugget is None:
        w = _newton(Z, yes, hold, v)
        return Logistic(aim.centre, aim.scale, w[1:], float(w[0]))
    w = _newton_mixed(Z, yes, np.unique(nugget, return_inverse=True)[1].ravel(), hold, v)
    line = fit_logistic(product(Z, w)[:, None], yes, 1e-3)
    c = float(line.weights[0] / line.scale[0])
    a = line.intercept - c * float(line.centre[0])
    return Logistic(aim.centre, aim.scale, w[1:] * c, a + c * float(w[0]))


def _start(X: Floats, prior: Logistic | None) -> Logistic:
    """Return means, standard deviations (infinite for constant columns) and the weights v."""
    scale = X.std(axis=0)
    scale, weights = np.where(scale > 1e-12, scale, np.inf), np.zeros(X.shape[1])
    centre = X.mean(axis=0)
    if prior:
        n = len(prior.weights)
        centre[:n], scale[:n], weights[:n] = prior.centre, prior.scale, prior.weights
    return Logistic(centre, scale, weights, prior.intercept if prior else 0.0)


def _newton(Z: Floats, yes: Flags, hold: Floats, aim: Floats) -> Floats:
    """Find the best w by Newton's method."""
    w, V = aim, np.empty_like(Z)
    for _ in range(_STEPS):
        p = sigmoid(product(Z, w))
        gradient = product(Z.T, yes - p) - hold * (w - aim)
        np.multiply(Z, (p * (1 - p))[:, None], out=V)
        step = solve_symmetric(product(V.T, Z) + np.diag(hold), gradient)
        w = w + step * min(1.0, 5.0 / max(float(np.abs(step).max()), 1e-300))
        if np.abs(step).max() < _NEAR:
            break
    return w


def _newton_mixed(Z: Floats, yes: Flags, nugget: Ints, hold: Floats, aim: Floats) -> Floats:
    """Find the best w and u together; the curvature in u is diagonal and is eliminated."""
    order = np.argsort(nugget, kind="stable")
    Z, yes, nugget = Z[order], yes[order], nugget[order]
    first = np.flatnonzero(np.diff(nugget, prepend=-1))
    w, u = aim, np.zeros(len(first))
    V = np.empty_like(Z)
    for _ in range(_MIXED_STEPS):
        p = sigmoid(product(Z, w) + u[nugget])
        np.multiply(Z, (p * (1 - p))[:, None], out=V)
        both = np.add.reduceat(V, first, axis=0)  # nuggets x columns
        nugget_curvature = both[:, 0] + 1  # the first column is 1
        slope = product(Z.T, yes - p) - hold * (w - aim)
        slope_u = np.add.reduceat(yes - p, first) - u
        shared = product((both / nugget_curvature[:, None]).T, both)
        curvature = product(V.T, Z) + np.diag(hold) - shared
        step = solve_symmetric(curvature, slope - product(both.T, slope_u / nugget_curvature))
        step_u = (slope_u - product(both, step)) / nugget_curvature
        largest = max(float(np.abs(step).max()), float(np.abs(step_u).max()))
        w, u = (x + d * min(1.0, 5.0 / max(largest, 1e-300)) for x, d in ((w, step), (u, step_u)))
        if largest < _NEAR:
            break
    return w


_BUILT_IN_INTERCEPT, _BUILT_IN_THRESHOLD = -2.9, 0.39
_STRICT_INTERCEPT = -3.0


def built_in_model(source: EvidenceSource, strict: bool = False) -> Logistic:
    """Return the model without judgements, with the built-in weights of groups of evidence.

    The weights of words are the rounded ones of a fit to REALSumm and TREC RAG 2024 together. These
    two sets are its training data; its quality elsewhere is measured by learning on one of them and
    testing on the other. In the model of full support (`strict`), the intercept of both sets
    together falls by 0.07, rounded up. Only TREC RAG 2024 has partial support, a twelfth of what is
    carried there; alone it falls by 0.2.
    """
    weights, intercept = source.weights, _STRICT_INTERCEPT if strict else _BUILT_IN_INTERCEPT
    centre, scale = np.zeros(len(weights)), np.ones(len(weights))
    return Logistic(centre, scale, weights, intercept, _BUILT_IN_THRESHOLD)


LIKENESS_RIDGE = 10.0
"""Ridge of the model with likeness: small, because its columns apply to any question."""

PLACE_RIDGE = 1.0
"""Ridge of the place in the key: small, because its weight differs from key to key."""

EXACT = 4_000  # judged cells below which every fold has a model fitted without it


def fit_calibrated(
    X: Floats,
    labels: Floats,
    ridge: float | Floats = RIDGE,
    prior: Logistic | None = None,
    nugget: Ints | None = None,
) -> Logistic:
    """Fit to the judged rows (more than 0 is yes), with the threshold that has the best F on them.

    With `nugget`, the nugget of each row, the mixed model is fitted.
    """
    is_judged = ~np.isnan(labels)
    yes, nugget_of_row = labels[is_judged] > 0, None if nugget is None else nugget[is_judged]
    logistic = fit_logistic(X[is_judged], yes, ridge, prior, nugget_of_row)
    threshold = best_f_threshold(logistic.probabilities(X[is_judged]), yes)
    return replace(logistic, threshold=threshold)


def fit_unjudged(
    X: Floats, training_labels: Floats, unjudged: UnjudgedEvidence, prior: Logistic | None = None
) -> tuple[Logistic, Floats]:
    """Fit a model for questions without judgements; also return its columns of all cells.

    A first model, of the descriptions and the place, weights the responses for the echoes; the
    second one uses these too. Cells that are left out are NaN.
    """
    nugget = unjudged.pool.cell_nugget
    ridges = np.append(np.full(X.shape[1], RIDGE), PLACE_RIDGE)
    placed = np.column_stack([X, unjudged.place])
    first = fit_calibrated(placed, training_labels, ridges, prior, nugget)
    all_columns = np.column_stack([placed, unjudged.echoes(first.probabilities(placed))])
    ridges = np.append(ridges, RIDGE)
    return fit_calibrated(all_columns, training_labels, ridges, prior, nugget), all_columns


def fit_with_likeness(
    X: Floats,
    training_labels: Floats,
    fold: Ints,
    likeness: Likeness,
    prior: Logistic | None = None,
) -> tuple[Logistic, Floats]:
    """Fit a model that also uses judgements of other folds on the same questions as evidence.

    The prior is for the model of the descriptions. The model with likeness needs no difficulties:
    the rate of a nugget contains them.
    """
    plain = fit_calibrated(X, training_labels, RIDGE, prior, likeness.pool.cell_nugget)
    likeness_columns = likeness.columns(training_labels, plain.probabilities(X), fold)
    all_columns = np.concatenate([X, likeness_columns], axis=1)
    return fit_calibrated(all_columns, training_labels, LIKENESS_RIDGE), all_columns


class CrossValidation(NamedTuple):
    """Guesses about cells by models that were trained without their folds."""

    probabilities: Floats  # judgements of identical responses in other folds are 0 or 1
    carried: Flags
    agreement: AssessorAgreement  # the scores of runs are expected values: means of probabilities


def _known_or_guessed(cells: FoldedCells, chances: Floats, carried: Flags) -> CrossValidation:
    chances, carried = cells.or_known(chances), cells.or_known(carried)
    return CrossValidation(chances, carried, cells.agreement(carried, chances))


def cross_validate(
    cells: FoldedCells,
    X: Floats,
    further: Likeness | UnjudgedEvidence | None = None,
    prior: Logistic | None = None,
    progress: Progress = silent,
) -> CrossValidation:
    """Predict each fold by a model that was trained on the others.

    With likeness, judgements of other folds on the same questions are evidence, and identical
    responses in other folds decide. Without it, folds are whole questions.
    """
    further = further or UnjudgedEvidence(cells.pool)
    chances, limits = np.zeros(len(cells.labels)), np.zeros(len(cells.labels))
    total = len(np.unique(cells.fold))
    for done, (k, train) in enumerate(cells.training()):
        training_labels = np.where(train, cells.labels, np.nan)
        if isinstance(further, Likeness):
            model, columns = fit_with_likeness(X, training_labels, cells.fold, further, prior)
        else:
            model, columns = fit_unjudged(X, training_labels, further, prior)
        test = cells.fold == k
        chances[test], limits[test] = model.probabilities(columns[test]), model.threshold
        progress(done + 1, total, "cross-validating")
    return _known_or_guessed(cells, chances, chances > limits)


def hold_out(
    cells: FoldedCells, X: Floats, near: Likeness, progress: Progress = silent
) -> tuple[Logistic, CrossValidation]:
    """Return the model of all judged cells, and guesses by models without the fold of a cell."""
    model, columns = fit_with_likeness(X, cells.labels, cells.fold, near)
    if cells.is_judged.sum() < EXACT:
        return model, cross_validate(cells, X, near, progress=progress)
    held_out = without_folds(model, columns, cells, LIKENESS_RIDGE, progress)
    return model, _known_or_guessed(cells, *held_out)


def without_folds(
    model: Logistic, X: Floats, cells: FoldedCells, ridge: float, progress: Progress = silent
) -> tuple[Floats, Flags]:
    """Return probabilities and decisions of all rows, each by a model without its fold.

    One step of Newton's method from the model of all judged cells, with H its curvature and the
    gradient at its weights w being 0, takes a fold off:

        w without the fold = w - (H - H_fold)^-1 g_fold,   g_fold = sum over its cells of (y - p) z

    The likeness of a cell leaves its own fold out, as in cross-validation, but the likeness of the
    other cells does not. Below `EXACT` judged cells, where this would matter, models are refitted.
    """
    fold, start = cells.fold, np.append(model.intercept, model.weights)
    judged = np.flatnonzero(cells.is_judged)
    Z, yes, fold_of_row = model.columns(X), cells.labels[judged] > 0, fold[judged]
    p, shares = sigmoid(product(Z[judged], start)), {}
    for k in np.unique(fold_of_row).tolist():  # what its cells add to gradient and curvature
        in_fold = fold_of_row == k
        rows, chance = Z[judged[in_fold]], p[in_fold]
        curvature = product((rows * (chance * (1 - chance))[:, None]).T, rows)
        shares[k] = product(rows.T, yes[in_fold] - chance), curvature
    hold = np.diag([1e-6, *[ridge] * X.shape[1]])
    total_curvature = hold + sum(curvature for _, curvature in shares.values())
    probabilities, carried = np.zeros(len(X)), np.zeros(len(X), dtype=np.bool_)
    kinds = np.unique(fold).tolist()
    for done, k in enumerate(kinds, 1):
        w, limit, in_fold = start, model.threshold, np.flatnonzero(fold == k)
        if k in shares:
            gradient, curvature = shares[k]
            w = start - solve_symmetric(total_curvature - curvature, gradient)
            elsewhere = fold_of_row != k
            limit = best_f_threshold(sigmoid(product(Z[judged[elsewhere]], w)), yes[elsewhere])
        probabilities[in_fold] = sigmoid(product(Z[in_fold], w))
        carried[in_fold] = probabilities[in_fold] > limit
        progress(done, len(kinds), "leaving out")
    return probabilities, carried


SMALL = 20_000  # responses of a set that are looked at together
MAX_RESPONSES = 1_000  # responses to a question that are looked at together
COMPARED = 250  # judged responses that the others are compared with, where there are more
FOLDS = 10  # groups of judged runs that are guessed without themselves


@dataclass(frozen=True, eq=False)
class PredictionBatch:
    """Responses to predict, their judgements, and the idf of words.

    A small set is predicted at once. If a question has more than `MAX_RESPONSES` responses, or the
    set more than `SMALL`, the classifier learns from the judged ones and predicts the others in
    batches of `MAX_RESPONSES`, each with `COMPARED` judged responses; identical responses are
    predicted once. Memory is proportional to responses times nuggets.
    """

    pool: Pool
    labels: Floats
    idf: StemIdf
    background: IdfTexts = ()
    """Texts that idf comes from."""
    source: EvidenceSource = field(default_factory=EvidenceSource)

    def evidence(self, pool: Pool, progress: Progress = silent) -> Floats:
        """Return the columns of evidence of some of the responses."""
        return self.source.compute(pool, self.idf, self.background, progress)

    @cached_property
    def together(self) -> Ints:
        """Responses that are predicted together: all, or only the training responses."""
        sizes = np.diff(self.pool.starts)
        if len(self.pool.texts) <= SMALL and sizes.max(initial=0) <= MAX_RESPONSES:
            return np.arange(len(self.pool.texts))
        most = min(MAX_RESPONSES, max(SMALL // max(len(sizes), 1), 20))
        rows = (self.select_judged(question, most) for question in range(len(sizes)))
        return np.concatenate([np.zeros(0, np.int64), *rows])

    @cached_property
    def cells(self) -> Ints:
        """Cells that are predicted together."""
        return self.pool.cells(self.together)

    @cached_property
    def folded_cells(self) -> FoldedCells:
        """Cells that are predicted together, in folds."""
        pool, labels = self.pool.take(self.together), self.labels[self.cells]
        return FoldedCells(pool, labels, run_folds(pool, labels))

    def select_judged(self, question: int, max_responses: int) -> Ints:
        """Return at most `max_responses` judged responses to a question, in their order.

        Responses that carry a nugget are preferred.
        """
        table = self.pool.table(self.labels, question)
        rows = np.flatnonzero(~np.isnan(table).all(axis=1)) if table.size else np.zeros(0, np.int64)
        has_nugget = (table[rows] > 0).any(axis=1) if len(rows) else np.zeros(0, bool)
        selected = np.sort(np.concatenate([rows[has_nugget], rows[~has_nugget]])[:max_responses])
        return np.asarray(selected + self.pool.starts[question], dtype=np.int64)

    def ask(
        self, rows: Ints, model: Logistic, progress: Progress, plain: Logistic | None = None
    ) -> Floats:
        """Return the probabilities of the cells of some responses; other cells are NaN.

        With `plain`, the model of the descriptions alone, likeness to judged responses counts.
        """
        pool = self.pool
        _, index, inverse = np.unique(pool.text_ids[rows], return_index=True, return_inverse=True)
        distinct = rows[np.sort(index)]
        probabilities, done = np.full(int(pool.cell_starts[-1]), np.nan), 0
        question = pool.question[distinct]
        groups = (
            [distinct] if plain is None else [distinct[question == q] for q in np.unique(question)]
        )
        for group in groups:
            for start in range(0, len(group), MAX_RESPONSES):
                batch = group[start : start + MAX_RESPONSES]
                probabilities[pool.cells(batch)] = self._chances(batch, model, plain)
                done += len(batch)
                progress(done, len(distinct), "asking the model")
        first = rows[index][inverse.ravel()]
        again = first != rows
        probabilities[pool.cells(rows[again])] = probabilities[pool.cells(first[again])]
        return probabilities

    def _chances(self, batch: Ints, model: Logistic, plain: Logistic | None) -> Floats:
        """Return the probabilities of a batch; with `plain`, all answer the same question."""
        if plain is None:
            return model.probabilities(self.evidence(self.pool.take(batch)))
        judged_rows = self.select_judged(int(self.pool.question[batch[0]]), COMPARED)
        pool = self.pool.take(np.concatenate([judged_rows, batch]))
        known_labels = self.labels[self.pool.cells(judged_rows)]
        X = self.evidence(pool)
        labels = np.concatenate([known_labels, np.full(len(X) - len(known_labels), np.nan)])
        fold = (np.arange(len(X)) >= len(known_labels)).astype(np.int64)
        near = Likeness(pool, first=len(judged_rows)).columns(labels, plain.probabilities(X), fold)
        return model.probabilities(np.concatenate([X, near], axis=1)[len(known_labels) :])


def run_folds(pool: Pool, labels: Floats) -> Ints:
    """Return the fold of every cell: judged runs in groups, and one more for unjudged responses.

    Unjudged responses are predicted from all judgements, including those of their own run. Runs
    with partly judged responses have separate groups: their guesses count, and in small groups most
    judgements can be learned from.
    """
    counts = np.bincount(pool.cell_response, ~np.isnan(labels), len(pool.texts))
    widths = np.bincount(pool.cell_response, minlength=len(pool.texts))
    partly = np.unique(pool.run[(counts > 0) & (counts < widths)])
    wholly = np.setdiff1d(pool.run[counts > 0], partly)
    group = np.full(len(pool.runs), FOLDS, dtype=np.int64)
    group[wholly] = np.arange(len(wholly)) % FOLDS
    group[partly] = np.arange(len(partly)) % FOLDS + FOLDS + 1
    return np.where(counts > 0, group[pool.run], FOLDS)[pool.cell_response]
