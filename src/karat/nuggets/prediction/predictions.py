"""Classifiers as values: what guesses which response carries which nugget, with all settings.

    calibrated:idf=corpus.txt    paper:n=1,stem=porter,threshold_model=nugget

A classifier of another package is found by the entry point group `karat.classifiers`. It is a
frozen dataclass like these, derived from `karat.Named`, with a method `guess(pool, labels,
fold, progress)` that returns two arrays: probabilities and decisions of all cells, those of a fold
learned from the labels of the others alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, ClassVar, NamedTuple

from karat.arithmetic import logit
from karat.arrays import Flags, Floats, Ints, np
from karat.errors import InputError
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
from karat.nuggets.prediction.evidence import UnjudgedEvidence
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
from karat.nuggets.scores.official import Official, run_answers
from karat.nuggets.scores.words import ENGLISH, IdfSource
from karat.nuggets.sets.judgements import Judgements
from karat.nuggets.sets.keys_and_runs import Question, Response, Run, make_run, normal
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.progress import Progress, silent
from karat.registry import Registry, call, expect_type, make_check
from karat.settings import NamedSettings, parse_settings
from karat.stats.judges import Kappa, cohen_kappa


@dataclass(frozen=True)
class Calibrated(WithIdf):
    """Probabilities from rich evidence."""

    name: ClassVar[str] = "calibrated"

    idf: str = idf_setting()


def _is_one(candidate: Any) -> bool:
    return (
        isinstance(candidate, type)
        and issubclass(candidate, NamedSettings)
        and hasattr(candidate, "guess")
    )


classifiers: Registry[type[NamedSettings]] = Registry(
    "classifiers",
    "classifier",
    {"calibrated": Calibrated, "paper": Paper},
    check=make_check(_is_one, "classifier", "a class derived from karat.Named with a method guess"),
)


def parse_classifier(given: str | NamedSettings) -> NamedSettings:
    """Return the classifier that `name:setting=value,…` describes; its string parses back."""
    if not isinstance(given, str):
        return given
    return parse_settings(classifiers[given.partition(":")[0].strip()], given)


MIN_MODEL_LABELS = 20
"""Labels of a model beside people's judgements, from which its error can be told."""
MIN_MODEL_LABELS_OF_A_KIND = 5
"""Carried ones among them, and ones that are not."""
_HOLD_P, _HOLD_LABELS = 10.0, 1.0  # ridges: of the weight of logit p to 1, of labels to 0
_AS_GUESSED = Logistic(np.zeros(1), np.ones(1), np.ones(1), 0.0)


class ModelJudge(NamedTuple):
    """A model beside people: both say yes or no to a pair."""

    name: str
    labels: int
    agreement: Kappa
    used: bool
    """True if guesses listen to it."""


class ModelAdjustment(NamedTuple):
    """Guesses with the help of models."""

    probabilities: Floats
    carried: Flags
    helped: Flags
    """The cells whose guess a model helped."""
    models: tuple[ModelJudge, ...]
    measured: MeasuredErrors | None = None
    """Judged runs, guessed without themselves and with help; None if errors are not measured."""
    share: float = 0.0
    """H: the share of judged cells there that had help."""

    def errors(self, plain: RunErrors, with_help: RunErrors, share: float) -> RunErrors:
        """Return those of a run of whose guesses a share has help."""
        w = min(1.0, share / self.share) if self.share else 0.0
        return RunErrors(*(_between(a, b, w) for a, b in zip(plain, with_help, strict=True)))


def _between(
    plain: ScoreErrors | None, with_help: ScoreErrors | None, w: float
) -> ScoreErrors | None:
    if plain is None or with_help is None:
        return plain
    both = zip(plain[:3], with_help[:3], strict=True)
    bias, between, within = ((1 - w) * a + w * b for a, b in both)
    return ScoreErrors(bias, between, within, plain.runs)


def model_values(pool: Pool, judgements: Judgements) -> Floats:
    """Return cells x models: labels, known by the words of responses; NaN where there is none."""
    labels_by_text: dict[tuple[str, str], dict[str, dict[int, float]]] = {}
    for m, labels in enumerate(judgements.of_models.values()):
        for (question, nugget, text), value in labels.items():
            labels_by_text.setdefault((question, text), {}).setdefault(nugget, {})[m] = value
    values = np.full((int(pool.cell_starts[-1]), len(judgements.of_models)), np.nan)
    first = 0
    for q, text in zip(pool.question.tolist(), pool.texts, strict=True):
        question = pool.questions[q]
        nugget_labels = labels_by_text.get((question.id, normal(text)), {})
        for j, nugget in enumerate(question.nuggets) if nugget_labels else ():
            for m, value in nugget_labels.get(nugget.id, {}).items():
                values[first + j, m] = value
        first += len(question.nuggets)
    return values


def apply_model_labels(
    predictions: Predictions, batch: PredictionBatch, judgements: Judgements
) -> Predictions:
    """Return the predictions, adjusted by the labels of models where people bear these out."""
    adjustment = _adjust(
        batch, judgements, predictions.probabilities, predictions.carried, predictions.measured
    )
    return replace(
        predictions,
        probabilities=adjustment.probabilities,
        carried=adjustment.carried,
        heard=adjustment,
    )


def _adjust(
    batch: PredictionBatch,
    judgements: Judgements,
    all_probabilities: Floats,
    all_carried: Flags,
    errors: MeasuredErrors | None,
) -> ModelAdjustment:
    """Fit the labels of models on pairs that people judged, and adjust the other pairs."""
    folded, cells, values = batch.seen, batch.cells, model_values(batch.pool, judgements)
    labels = zip(judgements.of_models, values.T, strict=True)
    judges = tuple(_judge(name, column, folded, cells) for name, column in labels)
    values = values[:, [judge.used for judge in judges]]
    probabilities, carried = all_probabilities.copy(), all_carried.copy()
    # Judged cells as they were predicted: without themselves, if errors are measured.
    judged = errors.probabilities if errors else probabilities[cells]
    model = _fit(folded.labels, judged, values[cells])
    if model is None:
        is_adjusted = np.zeros(len(probabilities), np.bool_)
        return ModelAdjustment(probabilities, carried, is_adjusted, judges)
    is_adjusted = _helpable(probabilities, values)
    columns = _columns(probabilities[is_adjusted], values[is_adjusted])
    probabilities[is_adjusted] = model.probabilities(columns)
    carried[is_adjusted] = probabilities[is_adjusted] > model.threshold
    adjustment = ModelAdjustment(probabilities, carried, is_adjusted, judges)
    if errors is None:
        return adjustment
    left_out, was_adjusted = judged.copy(), np.zeros(len(judged), dtype=np.bool_)
    labelled, candidates = values[cells], _helpable(judged, values[cells])
    for k in np.unique(folded.fold[candidates]).tolist():  # each fold by what the others tell
        in_fold = candidates & (folded.fold == k)
        model = _fit(np.where(folded.fold == k, np.nan, folded.labels), judged, labelled)
        if model is not None:
            was_adjusted |= in_fold
            left_out[in_fold] = model.probabilities(_columns(judged[in_fold], labelled[in_fold]))
    share = float(was_adjusted[folded.judged].mean())
    return adjustment._replace(measured=replace(errors, probabilities=left_out), share=share)


def _judge(name: str, values: Floats, seen: FoldedCells, cells: Ints) -> ModelJudge:
    model_labels, people = (
        np.where(np.isnan(x), np.nan, x > 0) for x in (values[cells], seen.labels)
    )
    both_labels = people[~np.isnan(model_labels) & seen.judged]
    labels = int((~np.isnan(values)).sum())
    return ModelJudge(name, labels, cohen_kappa(people, model_labels), _enough(both_labels))


def _enough(labels: Floats) -> bool:
    """Return whether people's labels tell how wrong a model is."""
    kinds = int((labels > 0).sum()), int((labels == 0).sum())
    return len(labels) >= MIN_MODEL_LABELS and min(kinds) >= MIN_MODEL_LABELS_OF_A_KIND


def _helpable(chances: Floats, values: Floats) -> Flags:
    """Return which cells are guessed, not known from an identical response, and were labelled."""
    return np.asarray((~np.isnan(values)).any(axis=1) & (chances > 0) & (chances < 1))


def _columns(chances: Floats, values: Floats) -> Floats:
    return np.column_stack([logit(chances), np.nan_to_num(2 * values - 1)])


def _fit(labels: Floats, chances: Floats, values: Floats) -> Logistic | None:
    """Fit the worth of models' labels on cells that people judged; None if these are too few."""
    rows = _helpable(chances, values) & ~np.isnan(labels)
    if not _enough(labels[rows]):
        return None
    ridge = np.append(_HOLD_P, np.full(values.shape[1], _HOLD_LABELS))
    return fit_calibrated(_columns(chances[rows], values[rows]), labels[rows], ridge, _AS_GUESSED)


@dataclass(frozen=True, eq=False)
class Predictions:
    """Guesses of a classifier about all responses of some runs."""

    pool: Pool
    probabilities: Floats
    """Of every cell of the pool."""
    carried: Flags
    labels: Floats
    """Judgements of cells in their own runs, else NaN."""
    learned: int
    """Judged pairs that it learned from; 0 for the built-in model."""
    measured: MeasuredErrors | None = None
    """Judged runs that tell how wrong it is, if there are any."""
    classifier: str = Calibrated.name
    rule: NamedSettings = field(default_factory=Calibrated)
    """The classifier that was asked for."""
    paper: PaperPredictions | None = None
    """Thresholds of the paper's classifier, if it is the one that guesses."""
    heard: ModelAdjustment | None = None
    """Models that helped, where any labelled responses."""
    strict: bool = False
    """True if it guesses full support: support in part is then none."""
    spread: ShiftVariances = PRIOR_SPREAD
    """The variances of shifts of its guesses, for intervals where errors were not measured."""
    _errors: dict[tuple[Official, bool], RunErrors] = field(default_factory=dict)

    def errors(self, how: Official, helped: bool = False) -> RunErrors:
        """Return the errors of scores of its guesses, as far as they were measured.

        If `helped`, those of guesses with the help of models.
        """
        if (how, helped) not in self._errors:
            measurement = self.heard.measured if helped and self.heard else self.measured
            self._errors[how, helped] = measurement.errors(how) if measurement else RunErrors()
        return self._errors[how, helped]

    @cached_property
    def _told(self) -> MeasuredErrors | None:
        """Judged runs, with labels as they were learned from."""
        if self.measured is None or not self.strict:
            return self.measured
        return replace(self.measured, labels=strict_labels(self.measured.labels))

    @cached_property
    def doubt(self) -> float:
        """The weight of a pair known from an identical response beside a guess, as measured."""
        return self._told.doubt() if self._told else 1.0

    @cached_property
    def shift(self) -> SetShift:
        """The shift of the base rate of this set, from whatever was judged.

        A classifier of several judged runs knows as much itself; what it learned from so few is not
        as good as the built-in one, and may be as far off.
        """
        if self.measured is not None:
            return SetShift(0.0, self.spread.question)
        labels = strict_labels(self.labels) if self.strict else self.labels
        judged = np.flatnonzero(~np.isnan(labels))
        question, run = self.pool.cell_question[judged], self.pool.cell_run[judged]
        logits, yes = logit(self.probabilities[judged]), labels[judged] > 0
        return learn_shift(logits, yes, question, run, self.spread)

    def guess(self, run: str) -> PredictAnswer:
        """Return the guesses about one run, as `decide_run` takes them."""

        def guess(question: Question, responses: Sequence[Response]) -> Floats:
            carried = self.pool.answer(self.carried, run, question.id)
            if len(carried) != len(responses):
                raise InputError(f"run {run} has other responses to {question.id} than before")
            return np.asarray(carried.astype(np.float64))

        return guess

    def chances_of(self, run: str, question: str) -> Floats:
        """Return the probabilities of a run's responses to a question: responses x nuggets."""
        return self.pool.answer(self.probabilities, run, question)

    def intervals(
        self,
        run: Run,
        decided: Mapping[str, AnswerDecisions],
        how: Official,
        *,
        general: bool = False,
    ) -> RunIntervals | None:
        """Return intervals of A and of F on these questions; if `general`, on questions like these.

        They are about the score that is shown once the run is judged whole. Scores are expected
        ones, with what judgements say in place of guesses, less their bias; an interval is made to
        hold the score that decisions give, which is what reports show. Only what is guessed can be
        wrong, and, by `doubt`, what is known from another run alone. A question without a response
        scores 0, and nothing is wrong there.

        Scores whose errors judgements do not tell have intervals that allow for an unknown base
        rate, by what is known of the calibrated classifier; those of others have none. Errors of
        fewer than `FEWEST_RUNS` judged runs tell little: then the narrower interval counts.

        None for a run that answered nothing; if `general`, from one question, which is no sample;
        and where nothing tells how wrong another classifier than the calibrated is.
        """
        questions = [q for q in self.pool.questions if q.nuggets]
        answered = sum(len(decided[q.id].values) > 0 for q in questions) / max(len(questions), 1)
        if not answered or (general and len(questions) < 2):
            return None
        errors = self._errors_of(run, decided, answered, how)
        tables = (
            {q.id: self.pool.answer(cells, run.tag, q.id) for q in questions}
            for cells in (self.probabilities, ~np.isnan(self.labels))
        )
        guessed = PredictedRun(questions, run, decided, how, *tables)
        expected_answers, decided_answers = run_answers(
            questions, run, decided, how, guessed.chances
        )
        intervals = errors.intervals(expected_answers, how.beta, general)
        if self.classifier == Calibrated.name and any(few_runs(error) for error in errors):
            other = shifted_intervals(guessed, self.shift, self.spread, general)
            intervals = errors.narrower(intervals, other) if intervals else other
        return intervals and intervals.holding(decided_answers, how.beta)

    def _errors_of(
        self, run: Run, decided: Mapping[str, AnswerDecisions], answered: float, how: Official
    ) -> RunErrors:
        """Return the errors of a run of which a part is guessed, and a part known from others.

        A nugget that a judgement settles adds no error, whatever is guessed of other responses.
        """
        counts = np.zeros(4)
        for id, answer in decided.items():
            if answer.known.size:
                unjudged = np.isnan(self.pool.answer(self.labels, run.tag, id))
                helped = self.pool.answer(self.heard.helped, run.tag, id) if self.heard else False
                open_pairs = answer.open_pairs
                in_this_run = replace(answer, known=answer.known & ~unjudged)
                borrowed = answer.known & in_this_run.open_pairs
                tables = open_pairs, borrowed, open_pairs & helped
                counts += [*(int(table.sum()) for table in tables), answer.known.size]
        guessed, borrowed, _, _ = (counts / max(counts[3], 1)).tolist()
        errors = self.errors(how)
        if self.heard and self.heard.measured:
            share = float(counts[2] / max(counts[0], 1))
            errors = self.heard.errors(errors, self.errors(how, helped=True), share)
        doubtful = guessed + self.doubt * borrowed
        return RunErrors(*(error and error.scaled(guessed, doubtful, answered) for error in errors))


MIN_JUDGED_PAIRS = 100
"""Judged pairs from which something can be learned."""
MIN_JUDGED_OF_A_KIND = 20
"""Carried ones among them, and ones that are not."""


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
    runs = [*nuggets.runs.values(), *_judged_runs(judgements, nuggets.runs)]
    pool = make_pool(nuggets.key, sorted(runs, key=lambda run: run.tag))  # whatever their order
    labels = run_labels(pool, judgements)
    source = getattr(classifier, "source", None) or IdfSource()
    idf = source.of_classifier(pool, ENGLISH)
    batch = PredictionBatch(pool, strict_labels(labels) if strict else labels, idf)
    if isinstance(classifier, Calibrated):
        predictions = _predict_calibrated(batch, strict, progress)
    else:
        predictions = _predict_by_classifier(batch, classifier, progress)
    # Errors are measured by judgements as they are: A counts partial support.
    errors = predictions.measured and replace(predictions.measured, labels=labels[batch.cells])
    predictions = replace(predictions, rule=classifier, strict=strict, measured=errors)
    return (
        apply_model_labels(predictions, batch, judgements) if judgements.of_models else predictions
    )


def _predict_by_classifier(
    batch: PredictionBatch, classifier: Any, progress: Progress
) -> Predictions:
    """Predict by another classifier; judged runs are predicted without themselves."""
    pool, fold = batch.pool, run_folds(batch.pool, batch.labels)
    folded = replace(batch.seen, fold=fold[batch.cells])
    guess = partial(classifier.guess, pool, batch.labels, fold, progress)
    expected = expect_type(tuple, "two arrays")
    arrays = call(f"classifier {classifier}", type(classifier), guess, expected)
    probabilities, carried, *_ = arrays
    errors = None
    if len(np.unique(pool.cell_run[~np.isnan(batch.labels)])) > 1:
        p, yes = (
            np.where(folded.known, folded.elsewhere > 0, array[batch.cells]) for array in arrays[:2]
        )
        errors = MeasuredErrors(folded.pool, p, yes, folded.labels)
    name = Paper.name if isinstance(classifier, Paper) else classifier.name
    learned = int((~np.isnan(batch.labels)).sum())
    paper = arrays if isinstance(arrays, PaperPredictions) else None
    return Predictions(
        pool, probabilities, carried, batch.labels, learned, errors, name, paper=paper
    )


def _predict_calibrated(batch: PredictionBatch, strict: bool, progress: Progress) -> Predictions:
    """Predict by the calibrated classifier, or by the built-in one with too few judgements."""
    labels, prior = batch.labels, calibrated.PRIOR_STRICT if strict else calibrated.PRIOR
    n_judged, n_yes = int((~np.isnan(labels)).sum()), int((labels > 0).sum())
    if n_judged < MIN_JUDGED_PAIRS or min(n_yes, n_judged - n_yes) < MIN_JUDGED_OF_A_KIND:
        return _predict_by_model(batch, prior, 0, progress)
    folded = batch.seen
    X = batch.evidence(folded.pool, progress)
    if len(np.unique(folded.pool.cell_run[folded.judged])) < 2:  # no run to learn from without it
        model = calibrated.fit_calibrated(X, folded.labels, prior=prior)
        return _predict_by_model(batch, model, n_judged, progress)
    model, probabilities, carried = calibrated.hold_out(folded, X, Likeness(folded.pool), progress)
    question = folded.pool.cell_question
    is_unjudged = ~np.isin(question, question[folded.judged])
    if is_unjudged.any():  # questions without any judgement have a model without likeness
        unjudged = UnjudgedEvidence(folded.pool)
        unjudged_model, rows = calibrated.fit_unjudged(X, folded.labels, unjudged)
        probabilities = np.where(is_unjudged, unjudged_model.probabilities(rows), probabilities)
        carried = np.where(is_unjudged, probabilities > unjudged_model.threshold, carried)
    errors = MeasuredErrors(folded.pool, probabilities, carried, folded.labels)
    if len(batch.together) < len(batch.pool.texts):
        remaining = np.setdiff1d(np.arange(len(batch.pool.texts)), batch.together)
        together, plain = (probabilities, carried), calibrated.fit_calibrated(X, folded.labels)
        probabilities = batch.ask(remaining, model, progress, plain)
        carried = probabilities > model.threshold
        probabilities[batch.cells], carried[batch.cells] = together
    return Predictions(batch.pool, probabilities, carried, labels, n_judged, errors)


def _predict_by_model(
    batch: PredictionBatch, model: Logistic, learned: int, progress: Progress
) -> Predictions:
    """Predict all cells by one model, whose errors here are unknown."""
    probabilities = batch.ask(np.arange(len(batch.pool.texts)), model, progress)
    carried = probabilities > model.threshold
    return Predictions(batch.pool, probabilities, carried, batch.labels, learned)


def _mark_earlier_versions(judgements: Judgements, runs: Mapping[str, Run]) -> Judgements:
    """Assign judgements of words that a run no longer has to an earlier version of it."""
    judged = [(row.run, row.question, normal(row.response)) for row in judgements.rows]
    judged_texts = set(judged)
    have = {
        words
        for run, question in {words[:2] for words in judged_texts if words[0] in runs}
        for response in runs[run].responses(question)
        if (words := (run, question, response.normal)) in judged_texts
    }
    return judgements.with_rows(
        row if row.run not in runs or words in have else row._replace(run=f"{row.run} (earlier)")
        for row, words in zip(judgements.rows, judged, strict=True)
    )


def _judged_runs(judgements: Judgements, named: Mapping[str, Run]) -> list[Run]:
    """Return other runs that were judged, as their judgements quote them."""
    answers_by_run: dict[str, dict[tuple[str, str], Response]] = {}
    for row in judgements.deciding:
        if row.run not in named:
            answers_by_run.setdefault(row.run, {})[row.question, row.response] = Response(
                row.response
            )
    return [
        make_run(tag, ((question, response) for (question, _), response in answers.items()))
        for tag, answers in answers_by_run.items()
    ]
