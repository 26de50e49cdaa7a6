"""Estimates of run scores from judged questions, and Nuggeteer's intervals.

Nuggeteer's intervals are used if enough other runs were judged on the unjudged questions
(`karat.nuggets.prediction.intervals`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import nan, sqrt
from pathlib import Path
from typing import Any, NamedTuple

from karat import __version__
from karat.arrays import Flags, Floats, np
from karat.errors import InputError, quoted
from karat.estimation.covariates import (
    NO_VALUES,
    Covariates,
    CovariateTexts,
    make_covariates,
)
from karat.estimation.estimate_results import ESTIMATE, Estimate, EstimateRow
from karat.estimation.estimates import (
    MIN_LABELS,
    differences,
    estimate_sample,
    sample_differences,
)
from karat.estimation.planning import plan_draws, plan_units
from karat.estimation.samples import (
    JudgeValues,
    LabelScale,
    Sample,
    UnitGrouping,
    apply_draws,
    check_names,
    fill_missing,
)
from karat.estimation.settings import EstimateSettings
from karat.estimation.system_estimates import (
    EstimatedDifference,
    difference_prediction,
    estimate_system,
    predict_by_judges,
    student_width,
)
from karat.evalset.catalogue import GivenPath
from karat.evalset.draws import Draw, check_set_draws, draw_problem, read_draws
from karat.evalset.judgements import MODEL, PERSON
from karat.evalset.reading import Reading
from karat.nuggets.prediction.intervals import (
    MIN_RUNS,
    ScoreInterval,
    has_enough_judged_peers,
    judged_elsewhere,
)
from karat.nuggets.prediction.pool import Pool, make_pool
from karat.nuggets.prediction.predictions import classifiers, parse_classifier, predict_support
from karat.nuggets.results.item_scores import MEASURES
from karat.nuggets.results.scoring import score_nuggets
from karat.nuggets.scores.official import (
    OKAY_WEIGHTS,
    OfficialSettings,
    nugget_weights,
    pool_stats,
    sum_groups,
)
from karat.nuggets.scores.pourpre import Pourpre
from karat.nuggets.scores.words import IdfSource
from karat.nuggets.sets.judgements import HALF, UNNAMED, Judgements
from karat.nuggets.sets.keys_and_runs import Response, make_key
from karat.nuggets.sets.nugget_set import NuggetSet, first_names
from karat.progress import Progress, silent
from karat.settings import SEED
from karat.stats.distributions import student_quantile
from karat.stats.estimates import ALPHA, MeanInterval, PointEstimate, ScaledIntervals
from karat.stats.simultaneous import SIMULTANEOUS

UNIT = "question"


@dataclass(frozen=True, eq=False)
class QuestionScores:
    """Scores by people, runs x questions with a score."""

    nuggets: NuggetSet  # the set with these questions only
    dimension: str
    official_settings: OfficialSettings
    values: Floats  # the official score; NaN if it was not judged
    answered: Flags

    @property
    def judged(self) -> Flags:
        """The answers that people judged."""
        return self.answered & ~np.isnan(self.values)


def question_scores(
    nuggets: NuggetSet,
    dimension: str,
    official_settings: OfficialSettings,
    progress: Progress = silent,
) -> QuestionScores:
    """Return the scores of all runs on the questions that have one."""
    scores, is_complete = judged_scores(
        nuggets, nuggets.judgements, dimension, official_settings, progress
    )
    has_score = np.asarray(~np.isnan(scores).all(axis=0))
    if not has_score.any():
        raise InputError(f"{nuggets.name}: no question has a score {quoted(dimension)}")
    questions = zip(nuggets.key.questions.values(), has_score, strict=True)
    key = make_key(question for question, is_scored in questions if is_scored)
    runs, is_complete = nuggets.runs.values(), is_complete[:, has_score]
    answered = np.array([[bool(run.responses(id)) for id in key.questions] for run in runs])
    is_judged_question = (is_complete & answered).any(axis=0)
    is_known = is_complete & (answered | is_judged_question)
    values = np.where(is_known, scores[:, has_score], np.nan)
    return QuestionScores(replace(nuggets, key=key), dimension, official_settings, values, answered)


def judged_scores(
    nuggets: NuggetSet,
    judgements: Judgements,
    dimension: str,
    official_settings: OfficialSettings,
    progress: Progress = silent,
) -> tuple[Floats, Flags]:
    """Return scores by `judgements` alone, and whether these decide all pairs: runs x questions.

    `dimension` is f, A, V or W. Questions without the score are NaN.
    """
    judged_set = replace(nuggets, judgements=judgements)
    scoring = score_nuggets(judged_set, official_settings, guess=False, progress=progress)
    score_name = "F" if dimension == "f" else dimension
    ids = [*nuggets.key.questions]
    shape = len(scoring.scored), len(ids)
    scores, is_complete = np.full(shape, np.nan), np.zeros(shape, np.bool_)
    for k, scored_run in enumerate(scoring.scored):
        by_question = scored_run.by_question(score_name)
        scores[k] = [by_question.get(id, np.nan) for id in ids]
        is_complete[k] = [scored_run.decisions[id].all_settled for id in ids]
    return scores, is_complete


def sample_of_questions(
    scores: QuestionScores,
    judges: Sequence[JudgeValues],
    draws: Sequence[Draw] | None = None,
    covariates: Covariates = NO_VALUES,
) -> Sample:
    """Return the sample of a nugget set; judges have values of all runs and questions."""
    name, units = scores.nuggets.name, tuple(scores.nuggets.key.questions)
    grouping = UnitGrouping(units, np.arange(len(units)), UNIT)
    y, design, notes = apply_draws(name, scores.values, grouping, draws)
    columns = [*judges, *covariates.values]
    values = np.zeros((*y.shape, len(columns)))
    for k, column in enumerate(columns):
        values[:, :, k] = column.values
    has_label = ~np.isnan(y)
    return Sample(
        name=name,
        dimension=scores.dimension,
        systems=tuple(scores.nuggets.runs),
        units=units,
        unit=UNIT,
        y=y,
        x=np.where(has_label[:, :, None], values, 0.0),
        all_values=values,
        present=np.ones(y.shape, np.bool_),
        judges=tuple(judge.name for judge in judges),
        design=design,
        scale=LabelScale(0.0, 1.0),
        labels=has_label.sum(axis=1),
        notes=(*notes, *covariates.notes),
        draws=tuple(draws or ()),
        covariates=tuple(column.name for column in covariates.values),
    )


def texts_of_questions(scores: QuestionScores) -> CovariateTexts:
    """Return the responses of runs to the questions with a score; no response is an empty text."""
    nuggets = scores.nuggets
    outputs = [
        [" ".join(response.text for response in run.responses(id)) for id in nuggets.key.questions]
        for run in nuggets.runs.values()
    ]
    sources = [question.text or "" for question in nuggets.key.questions.values()]
    return CovariateTexts(nuggets.name, outputs, sources if any(sources) else None)


def draws_of_questions(
    nuggets: NuggetSet, scores: QuestionScores, draws: Sequence[Draw] | None
) -> Sequence[Draw] | None:
    """Return the draws of the scored questions; None for no draws.

    Raise InputError if a draw is invalid or its unit is not a question of the set.
    """
    for draw in draws or ():
        if draw.unit not in nuggets.key.questions:
            reason = f"{nuggets.name} has no such question"
            raise InputError(f"a draw of {quoted(draw.unit)}: {reason}")
        if problem := draw_problem(draw):
            raise InputError(f"{nuggets.name}: a draw of {quoted(draw.unit)}: {problem}")
    return draws and [draw for draw in draws if draw.unit in scores.nuggets.key.questions]


def read_question_draws(nuggets: NuggetSet, path: GivenPath) -> tuple[Draw, ...]:
    """Return the draws of a file, in which questions may be called segments or groups."""
    reading, questions = Reading(lister=""), nuggets.key.questions
    draws = check_set_draws(read_draws(Path(path), reading), questions, questions, reading)
    reading.check()
    return draws


WORDS = "words"


def question_judges(
    scores: QuestionScores, judges: Sequence[object] = (), progress: Progress = silent
) -> list[JudgeValues]:
    """Return the values of judges: by default the models that judged the set, else `words`."""
    model_names = {name or UNNAMED: name for name in scores.nuggets.judgements.labels_by_model}
    names = [str(judge) for judge in judges] or [*model_names] or [WORDS]
    check_names(names)
    judge_values = []
    for name in names:
        if name in model_names:
            judge_values.append(_model_values(scores, name, model_names[name], progress))
        elif name == WORDS:
            judge_values.append(_word_values(scores))
        elif name.partition(":")[0].strip() in classifiers:
            judge_values.append(_classifier_values(scores, name, progress))
        else:
            reason = f"{scores.nuggets.name} has no judge {quoted(name)}"
            expected = ", ".join([*model_names, WORDS, *classifiers])
            raise InputError(f"{reason}: expected one of {expected}")
    return [fill_missing(scores.nuggets.name, judge, scores.answered) for judge in judge_values]


def _model_values(scores: QuestionScores, label: str, name: str, progress: Progress) -> JudgeValues:
    """Return the scores by a model's labels; NaN if it did not label all pairs of an answer."""
    judgements = scores.nuggets.judgements
    rows = (row for row in judgements.rows if row.kind == MODEL and row.judge == name)
    labels = judgements.with_rows(row._replace(kind=PERSON) for row in rows)
    settings = scores.dimension, scores.official_settings, progress
    values, is_complete = judged_scores(scores.nuggets, labels, *settings)
    return JudgeValues(label, np.where(is_complete, values, np.nan), 0, f"judge:{label}")


def _word_values(scores: QuestionScores) -> JudgeValues:
    runs = scores.nuggets.runs.values()
    plain = Pourpre(beta=scores.official_settings.beta, weights=scores.official_settings.weights)
    pourpre = replace(plain, weigh=IdfSource().of_words(runs, plain.stem))
    pool = make_pool(scores.nuggets.key, runs)
    matches = []
    for k, question in enumerate(pool.questions):  # all runs at once, to cut words only once
        texts = pool.texts[pool.starts[k] : pool.starts[k + 1]]
        matches.append(pourpre.matches(question, [Response(text) for text in texts]).ravel())
    values = _weighted_mean(pool, np.concatenate(matches), _nugget_weights(pool, scores))
    signature = f"{WORDS}:{pourpre.signature}|key={scores.nuggets.key.digest}"
    return JudgeValues(WORDS, values, 0, signature)


def _classifier_values(scores: QuestionScores, name: str, progress: Progress) -> JudgeValues:
    """Return the expected scores of guesses made without the judgements of the set."""
    classifier, strict = parse_classifier(name), scores.official_settings.strict
    unjudged = replace(scores.nuggets, judgements=Judgements(()))
    predictions = predict_support(unjudged, progress, classifier=classifier, strict=strict)
    cells = np.asarray(predictions.probabilities, np.float64)
    if scores.dimension == "f":
        values = pool_stats(predictions.pool, cells, scores.official_settings).f(
            scores.official_settings.beta
        )
    else:
        values = _weighted_mean(predictions.pool, cells, _nugget_weights(predictions.pool, scores))
    order = [predictions.pool.runs.index(tag) for tag in scores.nuggets.runs]
    signed = f"classifier:{classifier},judgements=none|karat={__version__}"
    return JudgeValues(name, values[order], 0, signed)


def _nugget_weights(pool: Pool, scores: QuestionScores) -> Floats:
    """Return the weight of each nugget in the score, one question after the other."""
    if scores.dimension == "f":
        return np.concatenate(
            [nugget_weights(q, scores.official_settings.weights) for q in pool.questions]
        )
    vital = np.concatenate([question.is_vital for question in pool.questions])
    return np.where(vital, 1.0, OKAY_WEIGHTS[scores.dimension])


def _weighted_mean(pool: Pool, cells: Floats, weight: Floats) -> Floats:
    """Return runs x questions: the weighted mean of the best values; 0 without a response."""
    best = np.nan_to_num(pool.answers(cells))
    sums = sum_groups(best * weight, pool.nugget_starts)
    means: Floats = sums / sum_groups(weight[None], pool.nugget_starts)
    return means


NUGGETEER = "nuggeteer"
_INTERVALS = {"f": "macro", "A": "share"}  # scores with intervals by Nuggeteer
_FREEDOM = 1_000
"""Degrees of freedom of a difference of intervals, which contain Student's quantiles already."""


class NuggeteerIntervals(NamedTuple):
    """Nuggeteer's intervals, for the runs that they are used for."""

    ends: dict[str, ScoreInterval]
    signature: str
    notes: tuple[str, ...]  # sentences on the basis of guesses


def nuggeteer_intervals(
    scores: QuestionScores, general: bool, progress: Progress = silent
) -> NuggeteerIntervals | None:
    """Return the intervals of `score_nuggets`; if `general`, for new questions.

    None if they are used for no run.
    """
    if scores.dimension not in _INTERVALS:
        return None
    elsewhere = judged_elsewhere(scores.nuggets)
    is_better = has_enough_judged_peers(scores.answered, scores.judged, elsewhere)
    if not is_better.any():
        return None
    scoring = score_nuggets(
        scores.nuggets, scores.official_settings, general=general, progress=progress
    )
    ends = {}
    for scored, better in zip(scoring.scored, is_better.tolist(), strict=True):
        interval = getattr(scored.intervals, _INTERVALS[scores.dimension], None)
        if better and interval is not None:
            ends[scored.run.tag] = interval
    notes = tuple(scoring.about_guesses)
    return NuggeteerIntervals(ends, scoring.signature, notes) if ends else None


def nuggeteer_row(sample: Sample, tag: str, ends: ScoreInterval, finite: bool) -> EstimateRow:
    """Return the row of a run by Nuggeteer's interval; people alone need ten judged questions."""
    system = sample.systems.index(tag)
    labels = len(sample.labelled(system))
    alone = MeanInterval(nan, nan, nan, nan)
    if labels >= MIN_LABELS:
        alone = estimate_system(sample, system, None, finite).interval
    score = min(max(ends.score, ends.low), ends.high)
    ratio = ends.width / alone.width if alone.width > 0 else nan
    student = student_width(sample, system, finite) if labels >= MIN_LABELS else nan
    student_ratio = ends.width / student if student > 0 else nan
    return EstimateRow(
        *(tag, *alone[:3], score, ends.low, ends.high, ratio),
        *(labels, len(sample.units), NUGGETEER, None, nan, nan, nan, student_ratio),
    )


def difference_of_rows(
    rows: Mapping[str, EstimateRow], system: str, other: str
) -> EstimatedDifference:
    """Return the difference of two scores by their intervals (Zou and Donner 2008).

    Errors are assumed to be independent, so the interval is conservative.
    """
    a, b = rows[system], rows[other]
    delta = a.estimate - b.estimate
    below = _root_sum_of_squares(a.estimate - a.low, b.high - b.estimate)
    above = _root_sum_of_squares(a.high - a.estimate, b.estimate - b.low)
    labels, units = min(a.labels, b.labels), min(a.units, b.units)
    if below == above == 0:
        return EstimatedDifference(PointEstimate(delta, 0.0), NUGGETEER, labels, units)
    error = (below if delta > 0 else above) / student_quantile(ALPHA / 2, _FREEDOM)
    intervals = ScaledIntervals(delta, error, below, above, _FREEDOM)
    return EstimatedDifference(intervals, NUGGETEER, labels, units)


def _root_sum_of_squares(x: float, y: float) -> float:
    return sqrt(x * x + y * y)


def estimate_nuggets(
    nuggets: NuggetSet,
    dimension: str | None = None,
    judges: Sequence[object] = (),
    exclude: Sequence[str] = (),
    *,
    population: str = "set",
    unit: str = "auto",
    correction: str = SIMULTANEOUS,
    covariates: str | Sequence[str] = EstimateSettings.covariates,
    draws: Sequence[Draw] | None = None,
    baseline: str | None = None,
    next: int = 0,
    seed: int = SEED,
    official_settings: OfficialSettings | None = None,
    progress: Progress = silent,
) -> Estimate:
    """Estimate the scores that runs would have if people judged them on all questions.

    Args:
        nuggets: a set with runs and judgements of some questions.
        dimension: `f`, the official F, by default; or the shares of nuggets `A`, `V` and `W`.
        judges: models that judged the set, `words`, or classifiers; by default the models that
            judged it, else `words`.
        exclude: runs to leave out; their judgements still teach the classifier.
        population: `set` for the questions of the set, `new` for new questions like these.
        unit: `auto`: the unit is the question.
        correction: `simultaneous` corrects p and intervals of differences for their number; `none`.
        covariates: `auto` for all covariates that the texts allow, `none`, or their names.
        draws: how questions were drawn; by default at random.
        baseline: run to compare the others with; by default the one with the best estimate.
        next: number of questions to draw for judging next.
        seed: seed of the random numbers of that draw.
        official_settings: settings of the official score.
        progress: function that is called with the progress.
    """
    official_settings = official_settings or OfficialSettings()
    if unit != "auto":
        raise InputError(f"unit {quoted(unit)}: that of a nugget set is the question: leave it out")
    if not nuggets.runs:
        raise InputError(f"{nuggets.name} comes without runs: there is nothing to estimate")
    for tag in exclude:
        nuggets.run(tag)
    selected = nuggets.select(*(tag for tag in nuggets.runs if tag not in exclude))
    if not selected.runs:
        raise InputError(f"{nuggets.name}: all runs are left out: leave out fewer")
    if baseline is not None:
        selected.run(baseline)
    if dimension is None:  # A where no question has an F
        has_f = any(question.vital for question in selected.key.questions.values())
        dimension = "f" if has_f else "A"
    elif dimension not in MEASURES:
        expected = ", ".join(MEASURES)
        raise InputError(f"dimension {quoted(dimension)} of nuggets: expected one of {expected}")
    scores = question_scores(selected, dimension, official_settings, progress)
    values = question_judges(scores, judges, progress)
    columns = make_covariates(texts_of_questions(scores), covariates)
    question_draws = draws_of_questions(nuggets, scores, draws)
    sample = sample_of_questions(scores, values, question_draws, columns)
    settings: dict[str, Any] = {
        "population": population,
        "correction": correction,
        "dimension": dimension,
        "judges": sample.judges,
        "seed": seed,
        "covariates": sample.covariates,
    }
    if dimension == "f":
        settings["score"] = str(official_settings)
    if nuggets.judgements.ties != HALF:
        settings["ties"] = nuggets.judgements.ties
    worths = [(judge.missing, judge.signature) for judge in values]
    predicted = nuggeteer_intervals(scores, population == "new", progress)
    if predicted is None:
        estimate = estimate_sample(sample, worths, baseline, next, settings)
        if not (scores.answered & ~scores.judged).any():
            return estimate
        reason = (
            "Scores are estimated from judged questions and judges. Nuggeteer's intervals are not "
            "used: they need other runs that were judged on the questions that are not judged here."
        )
        return replace(estimate, notes=(*estimate.notes, reason))
    is_estimated = np.array([tag not in predicted.ends for tag in sample.systems])
    has_labels = (sample.is_labelled.sum(axis=1) >= MIN_LABELS) & is_estimated
    other_runs = sample.select(np.flatnonzero(is_estimated)) if has_labels.any() else None
    by_sample = estimate_sample(other_runs, worths, None, next, settings) if other_runs else None
    return _combine_methods(sample, other_runs, by_sample, predicted, baseline, next, settings)


def _combine_methods(
    sample: Sample,
    other_runs: Sample | None,
    by_sample: Estimate | None,
    predicted: NuggeteerIntervals,
    baseline: str | None,
    next: int,
    settings: Mapping[str, Any],
) -> Estimate:
    """Return the estimate with Nuggeteer's intervals for some of the runs."""
    finite = settings["population"] == "set"
    rows = {row.system: row for row in by_sample.rows} if by_sample else {}
    rows |= {
        tag: nuggeteer_row(sample, tag, interval, finite)
        for tag, interval in predicted.ends.items()
    }
    if baseline is not None and baseline not in rows:
        reason = f"baseline {quoted(baseline)} has fewer than {MIN_LABELS} judged questions"
        raise InputError(f"{reason}: name another")
    ordered = tuple(rows[tag] for tag in sample.systems if tag in rows)
    by_labels = None
    if other_runs:
        by_difference = difference_prediction(other_runs, predict_by_judges(other_runs))
        by_labels = sample_differences(other_runs, by_difference, finite)

    def find(system: str, other: str) -> EstimatedDifference | None:
        """Compare two runs, by common labels where both have estimates from them."""
        if by_labels and NUGGETEER not in (rows[system].form, rows[other].form):
            return by_labels(system, other)
        return difference_of_rows(rows, system, other)

    compared = differences(ordered, find, baseline, settings["correction"])
    methods = {tag: NUGGETEER if tag in predicted.ends else ESTIMATE for tag in rows}
    short_runs = [tag for tag in sample.systems if tag not in rows] if by_sample is None else []
    base = by_sample or _without_estimates(sample, short_runs, next, settings)
    return replace(
        base,
        rows=ordered,
        differences=compared.rows,
        methods=methods,
        notes=(*base.notes, *_about_methods(methods), *predicted.notes, *compared.notes),
        settings={**base.settings, NUGGETEER: predicted.signature},
        data=sample.digest,
    )


def _without_estimates(
    sample: Sample, short_runs: Sequence[str], next: int, settings: Mapping[str, Any]
) -> Estimate:
    """Return an estimate without rows or judges, if all intervals are Nuggeteer's."""
    out = f"Left out, with fewer than {MIN_LABELS} judged questions: {', '.join(short_runs)}."
    planned = plan_units(sample, None, next, settings["seed"]) if next else ()
    return Estimate(
        name=sample.name,
        dimension=sample.dimension,
        rows=(),
        differences=(),
        judges=(),
        planned=planned,
        unit=UNIT,
        better="higher",
        ends=(0.0, 1.0),
        settings={**settings, "judges": (), "covariates": ()},
        notes=(out,) if short_runs else (),
        draws=plan_draws(sample, planned) if planned else (),
    )


def _about_methods(methods: Mapping[str, str]) -> Iterator[str]:
    """Yield sentences on the method used for each run, and why."""
    by_nuggeteer = [tag for tag, method in methods.items() if method == NUGGETEER]
    yield (
        f"Nuggeteer's intervals for {_count_runs(by_nuggeteer, len(methods))}: other runs were "
        "judged on the questions that these were not judged on, so a classifier guesses what is "
        "not judged, and its errors on judged runs make the interval."
    )
    if len(by_nuggeteer) < len(methods):
        by_estimate = [tag for tag, method in methods.items() if method == ESTIMATE]
        yield (
            "Estimates from judged questions and judges for "
            f"{_count_runs(by_estimate, len(methods))}: they are judged whole, or on an unjudged "
            f"question fewer than {MIN_RUNS} other runs were judged, or far fewer than on "
            "judged ones."
        )


def _count_runs(tags: Sequence[str], total: int) -> str:
    if len(tags) == total:
        return f"all {total:,} runs" if total > 1 else tags[0]
    return f"{len(tags):,} of {total:,} runs ({first_names(tags, 5)})"
