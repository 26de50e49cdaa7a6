"""Classifiers as values, and their predictions: which response carries which nugget.

    calibrated:idf=corpus.txt    paper:n=1,stem=porter,threshold_model=nugget

Classifiers of other packages are found by the entry point group `karat.classifiers`. They are
frozen dataclasses derived from `karat.Named`, with a method `guess(pool, labels, fold, progress)`
that returns two arrays: probabilities and decisions of all cells, each learned from the labels of
other folds only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

from karat.arithmetic import logit
from karat.arrays import Flags, Floats, Ints, np
from karat.errors import InputError
from karat.facts.comparing import FactChange
from karat.metrics.encoders import encoder_digest, encoder_files
from karat.nuggets.prediction import calibrated
from karat.nuggets.prediction.base_rates import (
    PRIOR_SPREAD,
    PredictedRun,
    SetShift,
    ShiftVariances,
    learn_shift,
    shifted_intervals,
)
from karat.nuggets.prediction.calibrated import Logistic, PredictionBatch, fit_calibrated, run_folds
from karat.nuggets.prediction.contradictions import MAX_PROBABILITY, find_contradictions
from karat.nuggets.prediction.evidence import UnjudgedEvidence
from karat.nuggets.prediction.evidence_groups import evidence_source
from karat.nuggets.prediction.intervals import (
    MeasuredErrors,
    RunErrors,
    RunIntervals,
    ScoreErrors,
    few_runs,
)
from karat.nuggets.prediction.likeness import Likeness
from karat.nuggets.prediction.paper import Paper, PaperPredictions, WithIdf, idf_setting
from karat.nuggets.prediction.pool import (
    FoldedCells,
    Pool,
    assign_runs,
    make_pool,
    run_labels,
    strict_labels,
)
from karat.nuggets.scores.decisions import AnswerDecisions, PredictAnswer
from karat.nuggets.scores.official import OfficialSettings, run_answers
from karat.nuggets.scores.words import ENGLISH, IdfSource
from karat.nuggets.sets.judgements import Judgements
from karat.nuggets.sets.keys_and_runs import Question, Response, Run, make_run, normal
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.progress import Progress, silent
from karat.registry import Registry, call, expect_type, make_check
from karat.settings import NamedSettings, parse_settings, setting
from karat.stats.judges import Kappa, cohen_kappa

MIN_JUDGED_PAIRS, MIN_JUDGED_OF_A_KIND = 100, 20
"""Judged pairs that the calibrated classifier needs for training: in all, and of each kind (carried
or not)."""
MIN_MODEL_LABELS, MIN_MODEL_LABELS_OF_A_KIND = 20, 5
"""Labels of a model on pairs judged by people that are needed to measure its error: in all, and of
each kind (carried or not)."""


@dataclass(frozen=True)
class Calibrated(WithIdf):
    """Probabilities from rich evidence."""

    name: ClassVar[str] = "calibrated"
    digests: ClassVar[Any] = MappingProxyType({"model": encoder_digest, "entail": encoder_digest})

    idf: str = idf_setting()
    model: str | None = setting(
        None,
        "folder of an encoder such as BERT, which adds evidence from tokens (none: words alone)",
        kind=str,
        place=True,
    )
    facts: bool = setting(
        True, "lower guesses where a response contradicts a number, name or negation of the nugget"
    )

    entail: str | None = setting(
        None,
        "folder of a cross-encoder for entailment, which adds evidence from sentences (none: no)",
        kind=str,
        place=True,
    )

    def input_files(self) -> list[str]:
        """Return the files of the models."""
        models = (folder for folder in (self.model, self.entail) if folder is not None)
        return [file for folder in models for file in encoder_files(folder)]


def _is_classifier(candidate: Any) -> bool:
    is_named = isinstance(candidate, type) and issubclass(candidate, NamedSettings)
    return is_named and hasattr(candidate, "guess")


classifiers: Registry[type[NamedSettings]] = Registry(
    "classifiers",
    "classifier",
    {"calibrated": Calibrated, "paper": Paper},
    check=make_check(
        _is_classifier, "classifier", "a class derived from karat.Named with a method guess"
    ),
)


def parse_classifier(classifier: str | NamedSettings) -> NamedSettings:
    """Return the classifier that `name:setting=value,…` describes; its string parses back."""
    if not isinstance(classifier, str):
        return classifier
    return parse_settings(classifiers[classifier.partition(":")[0].strip()], classifier)


@dataclass(frozen=True, eq=False)
class Predictions:
    """Predictions of a classifier about all responses of some runs."""

    pool: Pool
    probabilities: Floats  # of every cell of the pool
    carried: Flags
    labels: Floats  # judgements of cells in their own runs, else NaN
    learned: int  # number of judged pairs it was trained on; 0 for the built-in model
    measured_errors: MeasuredErrors | None = None
    """Errors measured on judged runs, if there are any."""
    classifier: NamedSettings = field(default_factory=Calibrated)
    paper: PaperPredictions | None = None
    """Thresholds of the paper's classifier, if it is the one that predicts."""
    adjustment: ModelAdjustment | None = None  # adjustment by labels of models, if there are any
    strict: bool = False  # True if it predicts full support: partial support does not count
    spread: ShiftVariances = PRIOR_SPREAD
    """Variances of the shifts of predictions, for intervals without measured errors."""
    contradictions: Mapping[int, FactChange] = field(default_factory=dict)
    """Cells whose guess was lowered because the response contradicts the nugget."""
    _errors: dict[tuple[OfficialSettings, bool], RunErrors] = field(default_factory=dict)

    def errors(self, official_settings: OfficialSettings, adjusted: bool = False) -> RunErrors:
        """Return the measured errors of scores; with `adjusted`, after adjustment by models."""
        if (official_settings, adjusted) not in self._errors:
            source = self.adjustment if adjusted and self.adjustment else self
            runs = source.measured_errors
            self._errors[official_settings, adjusted] = (
                runs.errors(official_settings) if runs else RunErrors()
            )
        return self._errors[official_settings, adjusted]

    def contradiction(
        self, run: str, question: str, nugget: int, is_judged: Flags
    ) -> FactChange | None:
        """Return the first contradiction of a nugget, by number, by an unjudged response of a run.

        `is_judged` has the run's responses to the question, and all nuggets.
        """
        changes = self._contradictions_by_nugget.get((run, question, nugget), {}).items()
        return next((change for k, change in changes if not is_judged[k, nugget]), None)

    @cached_property
    def _contradictions_by_nugget(self) -> dict[tuple[str, str, int], dict[int, FactChange]]:
        """(run, question, nugget) -> number of the response -> contradiction."""
        changes: dict[tuple[str, str, int], dict[int, FactChange]] = {}
        for cell, change in self.contradictions.items():
            run, q, response, nugget = self.pool.locate(cell)
            by_response = changes.setdefault((run, self.pool.questions[q].id, nugget), {})
            by_response[response] = change
        return changes

    @cached_property
    def doubt(self) -> float:
        """Measured weight of a pair known from an identical response, relative to a guess."""
        if self.measured_errors is None:
            return 1.0
        errors = self.measured_errors
        labels = strict_labels(errors.labels) if self.strict else errors.labels
        return replace(errors, labels=labels).doubt()

    @cached_property
    def shift(self) -> SetShift:
        """The shift of the base rate of this set, learned from all judged pairs.

        A classifier that was trained on several judged runs contains the shift already, but after
        few of them it may be as far off as the built-in one: its variance is the prior's.
        """
        if self.measured_errors is not None:
            return SetShift(0.0, self.spread.question)
        labels = strict_labels(self.labels) if self.strict else self.labels
        judged = np.flatnonzero(~np.isnan(labels))
        question, run = self.pool.cell_question[judged], self.pool.cell_run[judged]
        logits, yes = logit(self.probabilities[judged]), labels[judged] > 0
        return learn_shift(logits, yes, question, run, self.spread)

    def guess(self, run: str) -> PredictAnswer:
        """Return the predictions about one run, as `decide_run` takes them."""

        def guess(question: Question, responses: Sequence[Response]) -> Floats:
            carried = self.pool.answer(self.carried, run, question.id)
            if len(carried) != len(responses):
                raise InputError(f"run {run} has other responses to {question.id} than before")
            return np.asarray(carried.astype(np.float64))

        return guess

    def intervals(
        self,
        run: Run,
        decisions: Mapping[str, AnswerDecisions],
        official_settings: OfficialSettings,
        *,
        general: bool = False,
    ) -> RunIntervals | None:
        """Return intervals of A and of F on these questions; if `general`, on questions like these.

        They are about the score that the run would have if it were completely judged. Scores are
        expected values minus their bias, with judgements in place of guesses; an interval is
        extended to include the score by decisions, which reports show. Only guesses can be wrong
        and, weighted by `doubt`, pairs known from another run alone.

        For scores without measured errors, the intervals of the calibrated classifier allow for an
        unknown base rate. If errors were measured on fewer than `MIN_RUNS` judged runs, the
        narrower interval counts.

        Return None for a run without answers; for a single question if `general`; and for other
        classifiers without measured errors.
        """
        questions = [q for q in self.pool.questions if q.nuggets]
        answered = sum(len(decisions[q.id].values) > 0 for q in questions) / max(len(questions), 1)
        if not answered or (general and len(questions) < 2):
            return None
        errors = self._errors_of(run, decisions, answered, official_settings)
        tables = (
            {q.id: self.pool.answer(cells, run.tag, q.id) for q in questions}
            for cells in (self.probabilities, ~np.isnan(self.labels))
        )
        predicted = PredictedRun(questions, run, decisions, official_settings, *tables)
        expected, with_decisions = run_answers(
            questions, run, decisions, official_settings, predicted.probabilities
        )
        intervals = errors.intervals(expected, official_settings.beta, general)
        if isinstance(self.classifier, Calibrated) and any(few_runs(error) for error in errors):
            by_base_rate = shifted_intervals(predicted, self.shift, self.spread, general)
            intervals = errors.narrower(intervals, by_base_rate) if intervals else by_base_rate
        return intervals and intervals.holding(with_decisions, official_settings.beta)

    def _errors_of(
        self,
        run: Run,
        decisions: Mapping[str, AnswerDecisions],
        answered: float,
        official_settings: OfficialSettings,
    ) -> RunErrors:
        """Return the errors of a run that is partly guessed and partly known from other runs.

        A nugget that a judgement settles adds no error, whatever other responses are guessed to do.
        """
        counts, adjustment = np.zeros(4), self.adjustment
        is_adjusted = adjustment.is_adjusted if adjustment else np.zeros(len(self.labels), bool)
        for id, answer in decisions.items():
            if answer.is_judged.size:
                unjudged = np.isnan(self.pool.answer(self.labels, run.tag, id))
                adjusted = self.pool.answer(is_adjusted, run.tag, id)
                in_this_run = replace(answer, is_judged=answer.is_judged & ~unjudged)
                borrowed = answer.is_judged & in_this_run.open_pairs
                tables = answer.open_pairs, borrowed, answer.open_pairs & adjusted
                counts += [*(int(table.sum()) for table in tables), answer.is_judged.size]
        guessed, borrowed, _, _ = (counts / max(counts[3], 1)).tolist()
        errors = self.errors(official_settings)
        if adjustment and adjustment.measured_errors:
            share = float(counts[2] / max(counts[0], 1))
            errors = adjustment.errors(errors, self.errors(official_settings, adjusted=True), share)
        doubtful = guessed + self.doubt * borrowed
        return RunErrors(*(error and error.scaled(guessed, doubtful, answered) for error in errors))


def predict_support(
    nuggets: NuggetSet,
    progress: Progress = silent,
    *,
    classifier: NamedSettings | None = None,
    strict: bool = False,
) -> Predictions:
    """Predict which responses support which nuggets, for all runs of a set.

    With enough judgements the classifier is trained on them, and each judged run is also predicted
    by a model that has not seen it: its errors give the intervals. Otherwise the built-in model is
    used. With `strict`, full support is learned and predicted; partial support counts as none.
    """
    classifier = classifier or Calibrated()
    judgements = _mark_earlier_versions(assign_runs(nuggets.judgements, nuggets.runs), nuggets.runs)
    runs = [*nuggets.runs.values(), *runs_from_judgements(judgements, nuggets.runs)]
    pool = make_pool(nuggets.key, sorted(runs, key=lambda run: run.tag))  # whatever their order
    labels = run_labels(pool, judgements)
    source = getattr(classifier, "source", None) or IdfSource()
    idf = source.of_classifier(pool, ENGLISH)
    used_labels = strict_labels(labels) if strict else labels
    batch = PredictionBatch(pool, used_labels, idf, source.texts(pool))
    if isinstance(classifier, Calibrated):
        batch = replace(batch, source=evidence_source(classifier))
        predictions = _predict_calibrated(batch, strict, progress)
    else:
        predictions = _predict_by_classifier(batch, classifier, progress)
    # Errors are measured by judgements as they are: A counts partial support.
    errors = predictions.measured_errors
    errors = errors and replace(errors, labels=labels[batch.cells])
    predictions = replace(predictions, classifier=classifier, strict=strict, measured_errors=errors)
    if isinstance(classifier, Calibrated) and classifier.facts:
        predictions = lower_contradicted(predictions, batch, progress)
    if not judgements.labels_by_model:
        return predictions
    adjustment = adjust_by_models(predictions, batch, judgements)
    probabilities, carried = adjustment.probabilities, adjustment.carried
    return replace(predictions, probabilities=probabilities, carried=carried, adjustment=adjustment)


def lower_contradicted(
    predictions: Predictions, batch: PredictionBatch, progress: Progress = silent
) -> Predictions:
    """Lower guesses that a response carries a nugget where it contradicts the nugget."""
    probabilities, carried = predictions.probabilities.copy(), predictions.carried.copy()
    contradictions = find_contradictions(batch.pool, batch.idf, probabilities, carried, progress)
    is_contradicted = np.zeros(len(carried), dtype=np.bool_)
    is_contradicted[[*contradictions]] = True
    errors = predictions.measured_errors
    if errors:  # judged runs, predicted without their own judgements: lowered in the same way
        lowered = _lowered(errors.probabilities, errors.carried, is_contradicted[batch.cells])
        errors = replace(errors, probabilities=lowered[0], carried=lowered[1])
    probabilities, carried = _lowered(probabilities, carried, is_contradicted)
    return replace(
        predictions,
        probabilities=probabilities,
        carried=carried,
        measured_errors=errors,
        contradictions=contradictions,
    )


def _lowered(p: Floats, carried: Flags, is_contradicted: Flags) -> tuple[Floats, Flags]:
    return np.where(is_contradicted, np.minimum(p, MAX_PROBABILITY), p), carried & ~is_contradicted


def _predict_by_classifier(
    batch: PredictionBatch, classifier: Any, progress: Progress
) -> Predictions:
    """Predict by another classifier; judged runs are predicted without themselves."""
    pool, fold = batch.pool, run_folds(batch.pool, batch.labels)
    folded_cells = replace(batch.folded_cells, fold=fold[batch.cells])
    guess = partial(classifier.guess, pool, batch.labels, fold, progress)
    expected = expect_type(tuple, "two arrays")
    arrays = call(f"classifier {classifier}", type(classifier), guess, expected)
    errors = None
    if len(np.unique(pool.cell_run[~np.isnan(batch.labels)])) > 1:
        p, carries = (folded_cells.or_known(array[batch.cells]) for array in arrays[:2])
        errors = MeasuredErrors(folded_cells.pool, p, carries, folded_cells.labels)
    n_labels = int((~np.isnan(batch.labels)).sum())
    paper = arrays if isinstance(arrays, PaperPredictions) else None
    p, carries = arrays[:2]
    return Predictions(pool, p, carries, batch.labels, n_labels, errors, classifier, paper)


def _predict_calibrated(batch: PredictionBatch, strict: bool, progress: Progress) -> Predictions:
    """Predict by the calibrated classifier, or by the built-in one with too few judgements."""
    labels, prior = batch.labels, calibrated.built_in_model(batch.source, strict)
    n_judged, n_yes = int((~np.isnan(labels)).sum()), int((labels > 0).sum())
    if n_judged < MIN_JUDGED_PAIRS or min(n_yes, n_judged - n_yes) < MIN_JUDGED_OF_A_KIND:
        return _predict_by_model(batch, prior, 0, progress)
    folded_cells = batch.folded_cells
    X = batch.evidence(folded_cells.pool, progress)
    judged_runs = np.unique(folded_cells.pool.cell_run[folded_cells.is_judged])
    if len(judged_runs) < 2:  # no run to learn from without it
        model = fit_calibrated(X, folded_cells.labels, prior=prior)
        return _predict_by_model(batch, model, n_judged, progress)
    model, held_out = calibrated.hold_out(folded_cells, X, Likeness(folded_cells.pool), progress)
    probabilities, carried = held_out.probabilities, held_out.carried
    question = folded_cells.pool.cell_question
    is_unjudged = ~np.isin(question, question[folded_cells.is_judged])
    if is_unjudged.any():  # questions without any judgement have a model without likeness
        unjudged = UnjudgedEvidence(folded_cells.pool)
        unjudged_model, rows = calibrated.fit_unjudged(X, folded_cells.labels, unjudged)
        probabilities = np.where(is_unjudged, unjudged_model.probabilities(rows), probabilities)
        carried = np.where(is_unjudged, probabilities > unjudged_model.threshold, carried)
    errors = MeasuredErrors(folded_cells.pool, probabilities, carried, folded_cells.labels)
    if len(batch.together) < len(batch.pool.texts):
        remaining = np.setdiff1d(np.arange(len(batch.pool.texts)), batch.together)
        together, plain = (probabilities, carried), fit_calibrated(X, folded_cells.labels)
        probabilities = batch.ask(remaining, model, progress, plain)
        carried = probabilities > model.threshold
        probabilities[batch.cells], carried[batch.cells] = together
    return Predictions(batch.pool, probabilities, carried, labels, n_judged, errors)


def _predict_by_model(
    batch: PredictionBatch, model: Logistic, learned: int, progress: Progress
) -> Predictions:
    """Predict all cells by one model, without measured errors."""
    probabilities = batch.ask(np.arange(len(batch.pool.texts)), model, progress)
    carried = probabilities > model.threshold
    return Predictions(batch.pool, probabilities, carried, batch.labels, learned)


def _mark_earlier_versions(judgements: Judgements, runs: Mapping[str, Run]) -> Judgements:
    """Assign judgements of responses that a run no longer has to an earlier version of it."""
    judged = [(row.run, row.question, normal(row.response)) for row in judgements.rows]
    pairs = {(run, question) for run, question, _ in judged if run in runs}
    current = {
        (*pair, response.normal) for pair in pairs for response in runs[pair[0]].responses(pair[1])
    }
    return judgements.with_rows(
        row if row.run not in runs or words in current else row._replace(run=f"{row.run} (earlier)")
        for row, words in zip(judgements.rows, judged, strict=True)
    )


def runs_from_judgements(judgements: Judgements, runs: Mapping[str, Run]) -> list[Run]:
    """Return the judged runs that are not in `runs`, rebuilt from the responses in judgements."""
    responses_by_run: dict[str, dict[tuple[str, str], None]] = {}
    for row in judgements.deciding:
        if row.run not in runs:
            responses_by_run.setdefault(row.run, {})[row.question, row.response] = None
    return [
        make_run(tag, ((question, Response(text)) for question, text in responses))
        for tag, responses in responses_by_run.items()
    ]


# ------------------------------------------------------------------------------ labels of models

_RIDGE_OF_LOGIT = 10.0  # pulls the weight of logit p towards 1
_RIDGE_OF_LABEL = 1.0  # pulls the weight of a label towards 0
_UNADJUSTED = Logistic(np.zeros(1), np.ones(1), np.ones(1), 0.0)


class ModelJudge(NamedTuple):
    """A model that labels pairs, and its agreement with people."""

    name: str
    n_labels: int
    agreement: Kappa
    is_used: bool  # True if predictions use its labels


class ModelAdjustment(NamedTuple):
    """Predictions that were adjusted by labels of models."""

    probabilities: Floats
    carried: Flags
    is_adjusted: Flags  # cells whose prediction was adjusted
    models: tuple[ModelJudge, ...]
    measured_errors: MeasuredErrors | None = None
    """Errors of adjusted predictions on judged runs; None if errors are not measured."""
    adjusted_share: float = 0.0  # H: the share of judged cells there that were adjusted

    def errors(self, plain: RunErrors, adjusted: RunErrors, share: float) -> RunErrors:
        """Return the errors of a run if a share h of its guesses was adjusted.

        They are w adjusted + (1 - w) plain, with w = h / H, at most 1.
        """
        w = min(1.0, share / self.adjusted_share) if self.adjusted_share else 0.0

        def between(plain: ScoreErrors | None, adjusted: ScoreErrors | None) -> ScoreErrors | None:
            if plain is None or adjusted is None:
                return plain
            both = zip(plain[:3], adjusted[:3], strict=True)
            bias, between_runs, within = ((1 - w) * a + w * b for a, b in both)
            return ScoreErrors(bias, between_runs, within, plain.runs)

        return RunErrors(*map(between, plain, adjusted))


def model_label_table(pool: Pool, judgements: Judgements) -> Floats:
    """Return cells x models: labels, looked up by the words of responses; NaN without a label."""
    table = np.full((int(pool.cell_starts[-1]), len(judgements.labels_by_model)), np.nan)
    first_cell = 0
    for q, text in zip(pool.question.tolist(), pool.texts, strict=True):
        question, words = pool.questions[q], normal(text)
        for m, labels in enumerate(judgements.labels_by_model.values()):
            for j, nugget in enumerate(question.nuggets):
                table[first_cell + j, m] = labels.get((question.id, nugget.id, words), np.nan)
        first_cell += len(question.nuggets)
    return table


def adjust_by_models(
    predictions: Predictions, batch: PredictionBatch, judgements: Judgements
) -> ModelAdjustment:
    """Adjust predictions by the labels of models, as far as these agree with people.

    On pairs that a person judged too, a logistic regression learns the weights of labels:

        logit P(carried) = a + b logit p + sum over models of c (2 label - 1)

    Ridges pull b towards 1 and c towards 0, so a few such pairs change little. Pairs without a
    label are not changed. The errors after the adjustment are measured by cross-validation over
    groups of runs.
    """
    folded_cells, model_labels = batch.folded_cells, model_label_table(batch.pool, judgements)
    judges = tuple(
        _measure_judge(name, judge_labels, folded_cells, batch.cells)
        for name, judge_labels in zip(judgements.labels_by_model, model_labels.T, strict=True)
    )
    model_labels = model_labels[:, [judge.is_used for judge in judges]]
    probabilities, carried = predictions.probabilities.copy(), predictions.carried.copy()
    errors = predictions.measured_errors
    # Arrays named `folded_...` have the cells of `folded_cells`. If errors are measured, judged
    # cells were predicted without their own judgements.
    folded_probabilities = errors.probabilities if errors else probabilities[batch.cells]
    folded_model_labels = model_labels[batch.cells]
    regression = _fit(folded_cells.labels, folded_probabilities, folded_model_labels)
    if regression is None:
        return ModelAdjustment(probabilities, carried, np.zeros(len(carried), np.bool_), judges)
    is_adjusted = _is_adjustable(probabilities, model_labels)
    X = _design_matrix(probabilities[is_adjusted], model_labels[is_adjusted])
    probabilities[is_adjusted] = regression.probabilities(X)
    carried[is_adjusted] = probabilities[is_adjusted] > regression.threshold
    adjustment = ModelAdjustment(probabilities, carried, is_adjusted, judges)
    if errors is None:
        return adjustment
    held_out_probabilities = folded_probabilities.copy()
    was_adjusted = np.zeros(len(folded_probabilities), dtype=np.bool_)
    is_candidate = _is_adjustable(folded_probabilities, folded_model_labels)
    for k in np.unique(folded_cells.fold[is_candidate]).tolist():  # each fold by the others
        in_fold = folded_cells.fold == k
        training_labels = np.where(in_fold, np.nan, folded_cells.labels)
        regression = _fit(training_labels, folded_probabilities, folded_model_labels)
        if regression is not None:
            rows = is_candidate & in_fold
            X = _design_matrix(folded_probabilities[rows], folded_model_labels[rows])
            held_out_probabilities[rows] = regression.probabilities(X)
            was_adjusted |= rows
    return adjustment._replace(
        measured_errors=replace(errors, probabilities=held_out_probabilities),
        adjusted_share=float(was_adjusted[folded_cells.is_judged].mean()),
    )


def _measure_judge(
    name: str, judge_labels: Floats, folded_cells: FoldedCells, cells: Ints
) -> ModelJudge:
    """Measure the agreement of a model with people; `cells` are the indices of `folded_cells`."""
    model_labels, human_labels = (
        np.where(np.isnan(labels), np.nan, labels > 0)
        for labels in (judge_labels[cells], folded_cells.labels)
    )
    shared_labels = human_labels[~np.isnan(model_labels) & folded_cells.is_judged]
    n_labels = int((~np.isnan(judge_labels)).sum())
    agreement = cohen_kappa(human_labels, model_labels)
    return ModelJudge(name, n_labels, agreement, _has_enough_labels(shared_labels))


def _has_enough_labels(labels: Floats) -> bool:
    """Return whether there are enough human labels to measure the error of a model."""
    n_yes, n_no = int((labels > 0).sum()), int((labels == 0).sum())
    return len(labels) >= MIN_MODEL_LABELS and min(n_yes, n_no) >= MIN_MODEL_LABELS_OF_A_KIND


def _is_adjustable(probabilities: Floats, model_labels: Floats) -> Flags:
    """Return which cells have labels of models and are not known from an identical response."""
    has_label = (~np.isnan(model_labels)).any(axis=1)
    return np.asarray(has_label & (probabilities > 0) & (probabilities < 1))


def _design_matrix(probabilities: Floats, model_labels: Floats) -> Floats:
    return np.column_stack([logit(probabilities), np.nan_to_num(2 * model_labels - 1)])


def _fit(labels: Floats, probabilities: Floats, model_labels: Floats) -> Logistic | None:
    """Fit the weights of models' labels on cells that people judged; None if these are too few."""
    rows = _is_adjustable(probabilities, model_labels) & ~np.isnan(labels)
    if not _has_enough_labels(labels[rows]):
        return None
    ridge = np.append(_RIDGE_OF_LOGIT, np.full(model_labels.shape[1], _RIDGE_OF_LABEL))
    X = _design_matrix(probabilities[rows], model_labels[rows])
    return fit_calibrated(X, labels[rows], ridge, _UNADJUSTED)
