"""The sample of a nugget set: the score of a run on each question that people judged.

The unit is the question. Pairs of response and nugget of one question are not independent, so that
taking them for units would promise too much. People judged a run on a question if their judgements
tell its score: for every nugget, all responses were judged by people or adjudicated, or one of them
carries it in full. Labels of models do not count, and what was judged of the same words in another
run does.

A question without a response scores 0 without any judgement. It counts as judged where other runs
were judged on it, and as open elsewhere: if it counted as judged everywhere, the sample would have
too many zeros.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from karat import __version__
from karat.arrays import Flags, Floats, np
from karat.errors import InputError, quoted
from karat.estimation.judge_values import JudgeValues, check_names, fill_missing
from karat.estimation.samples import Sample, Scale
from karat.estimation.units import Grouping, designed
from karat.evalset.catalogue import GivenPath
from karat.evalset.draws import Draw, checked_draws, read_draws, wrong_numbers
from karat.evalset.judge_kinds import MODEL, PERSON
from karat.evalset.reading import Reading
from karat.nuggets.guess.pool import Pool, make_pool
from karat.nuggets.guess.predictions import classifiers, nuggeteer, parse_classifier
from karat.nuggets.intervals.expected_scores import returned
from karat.nuggets.results.scoring import score_nuggets
from karat.nuggets.scores.idf_sources import IdfSource
from karat.nuggets.scores.nugget_shares import OKAY
from karat.nuggets.scores.official import Official, sums_between, weights
from karat.nuggets.scores.pourpre import Pourpre
from karat.nuggets.sets.judgements import UNNAMED, Judgements
from karat.nuggets.sets.keys_and_runs import Response, make_key
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.progress import Progress, silent

UNIT = "question"


@dataclass(frozen=True, eq=False)
class QuestionScores:
    """Runs x questions that have a score: what people judged."""

    nuggets: NuggetSet
    """The set with these questions alone."""
    dimension: str
    how: Official
    values: Floats
    """The official score; NaN where judgements do not tell it."""
    answered: Flags

    @property
    def judged(self) -> Flags:
        """The answers that people judged."""
        return self.answered & ~np.isnan(self.values)


def question_scores(
    nuggets: NuggetSet, dimension: str, how: Official, progress: Progress = silent
) -> QuestionScores:
    """Return the scores of all runs on the questions that have one."""
    values = judged_scores(nuggets, nuggets.judgements, dimension, how, progress)
    ids = [*nuggets.key.questions]
    some = np.flatnonzero(~np.isnan(values.scores).all(axis=0)).tolist()
    if not some:
        raise InputError(f"{nuggets.name}: no question has a score {quoted(dimension)}")
    kept = replace(nuggets, key=make_key(nuggets.key.questions[ids[at]] for at in some))
    answered = np.array([[bool(r.responses(ids[at])) for at in some] for r in kept.runs.values()])
    known = values.known[:, some]
    drawn = (known & answered).any(axis=0)
    told = known & (answered | drawn)
    scores = np.where(told, values.scores[:, some], np.nan)
    return QuestionScores(kept, dimension, how, scores, answered)


@dataclass(frozen=True, eq=False)
class JudgedScores:
    """Runs x questions: scores from judgements alone, and whether these tell them."""

    scores: Floats
    """NaN where a question has no such score."""
    known: Flags


def judged_scores(
    nuggets: NuggetSet,
    judgements: Judgements,
    dimension: str,
    how: Official,
    progress: Progress = silent,
) -> JudgedScores:
    """Return the scores of all answers by some judgements, without guesses."""
    given = replace(nuggets, judgements=judgements)
    done = score_nuggets(given, how, guess=False, progress=progress)
    score = "F" if dimension == "f" else dimension
    ids = [*nuggets.key.questions]
    shape = len(done.scored), len(ids)
    scores, known = np.full(shape, np.nan), np.zeros(shape, np.bool_)
    for k, one in enumerate(done.scored):
        mine = one.by_question(score)
        scores[k] = [mine.get(id, np.nan) for id in ids]
        known[k] = [one.decided[id].whole for id in ids]
    return JudgedScores(scores, known)


def sample_of_questions(
    found: QuestionScores, judges: Sequence[JudgeValues], draws: Sequence[Draw] | None = None
) -> Sample:
    """Return the sample of a nugget set; judges have values of all runs and questions."""
    name, units = found.nuggets.name, tuple(found.nuggets.key.questions)
    grouping = Grouping(units, np.arange(len(units)), UNIT)
    y, design, told = designed(name, found.values, grouping, draws)
    shape = *y.shape, len(judges)
    every = np.stack([one.values for one in judges], axis=2) if judges else np.zeros(shape)
    known = ~np.isnan(y)
    return Sample(
        name=name,
        dimension=found.dimension,
        systems=tuple(found.nuggets.runs),
        units=units,
        unit=UNIT,
        y=y,
        x=np.where(known[:, :, None], every, 0.0),
        every=every,
        present=np.ones(y.shape, np.bool_),
        judges=tuple(one.name for one in judges),
        design=design,
        scale=Scale(0.0, 1.0),
        labels=known.sum(axis=1),
        notes=tuple(told),
        draws=tuple(draws or ()),
    )


def draws_of_questions(
    nuggets: NuggetSet, found: QuestionScores, draws: Sequence[Draw] | None
) -> Sequence[Draw] | None:
    """Return draws of questions that have a score; refuse those of what is no question."""
    for draw in draws or ():
        if draw.unit not in nuggets.key.questions:
            told = f"{nuggets.name} has no such question"
            raise InputError(f"a draw of {quoted(draw.unit)}: {told}")
        if wrong := wrong_numbers(draw):
            raise InputError(f"{nuggets.name}: a draw of {quoted(draw.unit)}: {wrong}")
    return draws and [draw for draw in draws if draw.unit in found.nuggets.key.questions]


def read_question_draws(nuggets: NuggetSet, path: GivenPath) -> tuple[Draw, ...]:
    """Return the draws of a file; a question may stand there as a segment or as a group."""
    reading, questions = Reading(lister=""), nuggets.key.questions
    found = checked_draws(read_draws(Path(path), reading), questions, questions, reading)
    reading.check()
    return found


WORDS = "words"


def question_judges(
    found: QuestionScores, asked: Sequence[object] = (), progress: Progress = silent
) -> list[JudgeValues]:
    """Return the values of judges; by default of the models that judged the set, else of words."""
    models = models_of(found.nuggets)
    names = [str(one) for one in asked] or [*models] or [WORDS]
    check_names(names)
    made = [_values(found, name, models, progress) for name in names]
    return [fill_missing(found.nuggets.name, one, found.answered) for one in made]


def models_of(nuggets: NuggetSet) -> dict[str, str]:
    """Return the models that judged a set: their names as they are shown and as files have them."""
    return {name or UNNAMED: name for name in nuggets.judgements.of_models}


def _values(
    found: QuestionScores, name: str, models: dict[str, str], progress: Progress
) -> JudgeValues:
    if name in models:
        return _model(found, name, models[name], progress)
    if name == WORDS:
        return _words(found)
    if name.partition(":")[0].strip() in classifiers:
        return _classifier(found, name, progress)
    known = ", ".join([*models, WORDS, *classifiers])
    raise InputError(f"{found.nuggets.name} has no judge {quoted(name)}: expected one of {known}")


def _model(found: QuestionScores, shown: str, name: str, progress: Progress) -> JudgeValues:
    """Return the scores by a model's labels; NaN where it did not label all pairs."""
    given = found.nuggets.judgements
    mine = (row for row in given.rows if row.kind == MODEL and row.judge == name)
    labels = given.with_rows(row._replace(kind=PERSON) for row in mine)
    told = judged_scores(found.nuggets, labels, found.dimension, found.how, progress)
    return JudgeValues(shown, np.where(told.known, told.scores, np.nan), 0, f"judge:{shown}")


def _words(found: QuestionScores) -> JudgeValues:
    runs = found.nuggets.runs.values()
    plain = Pourpre(beta=found.how.beta, weights=found.how.weights)
    pourpre = replace(plain, weigh=IdfSource().of_words(runs, plain.stem))
    pool = make_pool(found.nuggets.key, runs)
    tables = []
    for at, question in enumerate(pool.questions):  # all runs at once: words are cut but once
        texts = pool.texts[pool.starts[at] : pool.starts[at + 1]]
        tables.append(pourpre.matches(question, [Response(text) for text in texts]).ravel())
    values = _mean(pool, np.concatenate(tables), _nugget_weights(pool, found))
    signature = f"{WORDS}:{pourpre.signature}|key={found.nuggets.key.digest}"
    return JudgeValues(WORDS, values, 0, signature)


def _classifier(found: QuestionScores, name: str, progress: Progress) -> JudgeValues:
    """Return the expected scores of guesses that are made without judgements of the set."""
    rule = parse_classifier(name)
    silent_set = replace(found.nuggets, judgements=Judgements(()))
    guessed = nuggeteer(silent_set, progress, rule=rule, strict=found.how.strict)
    cells = np.asarray(guessed.probabilities, np.float64)
    if found.dimension == "f":
        values = returned(guessed.pool, cells, found.how).f(found.how.beta)
    else:
        values = _mean(guessed.pool, cells, _nugget_weights(guessed.pool, found))
    order = [guessed.pool.runs.index(tag) for tag in found.nuggets.runs]
    signed = f"classifier:{rule},judgements=none|karat={__version__}"
    return JudgeValues(name, values[order], 0, signed)


def _nugget_weights(pool: Pool, found: QuestionScores) -> Floats:
    """Return the weight of each nugget in the score, one question after the other."""
    if found.dimension == "f":
        return np.concatenate([weights(q, found.how.weights) for q in pool.questions])
    vital = np.concatenate([question.is_vital for question in pool.questions])
    return np.where(vital, 1.0, OKAY[found.dimension])


def _mean(pool: Pool, cells: Floats, weight: Floats) -> Floats:
    """Return runs x questions: the weighted mean of the best values; 0 without a response."""
    best = np.nan_to_num(pool.answers(cells))
    sums = sums_between(best * weight, pool.nugget_starts)
    found: Floats = sums / sums_between(weight[None], pool.nugget_starts)
    return found
