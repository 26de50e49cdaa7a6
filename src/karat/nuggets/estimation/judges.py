"""Judges of a nugget set by name: models that judged it, `words`, and classifiers.

A judge has a value of every answer, whether people judged it or not, and the value must not depend
on what people said. `words` puts the match of Pourpre by idf in the place of a judgement, and a
classifier the probability that it guesses without any judgement; scores are then expected ones:

    A, V, W = the weighted mean over nuggets of the best of any response

f of `words` is the weighted mean over nuggets that count for recall, which goes better with people
than Pourpre's own F does (within runs of TREC RAG 2024 r = .57 against .56); that of a classifier
is the expected F. A model's value is the official score by its labels; where it did not label all
pairs of a question, it has none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from karat import __version__
from karat.arrays import Floats, np
from karat.errors import InputError, quoted
from karat.estimation.judge_values import JudgeValues, check_names, fill_missing
from karat.evalset.judge_kinds import MODEL, PERSON
from karat.nuggets.estimation.question_samples import QuestionScores, judged_scores
from karat.nuggets.guess.classifiers import classifiers, parse_classifier
from karat.nuggets.guess.nuggeteer import nuggeteer
from karat.nuggets.guess.pool import Pool, make_pool
from karat.nuggets.intervals.expected_scores import returned
from karat.nuggets.scores.idf_sources import IdfSource
from karat.nuggets.scores.nugget_shares import OKAY
from karat.nuggets.scores.official import sums_between, weights
from karat.nuggets.scores.pourpre import Pourpre
from karat.nuggets.sets.judgements import UNNAMED, Judgements
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.nuggets.sets.runs import Response
from karat.progress import Progress, silent

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
