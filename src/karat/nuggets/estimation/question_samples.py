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

from karat.arrays import Flags, Floats, np
from karat.errors import InputError, quoted
from karat.estimation.samples import JudgeValues, LabelScale, Sample, UnitGrouping, apply_draws
from karat.evalset.catalogue import GivenPath
from karat.evalset.draws import Draw, check_set_draws, draw_problem, read_draws
from karat.evalset.reading import Reading
from karat.nuggets.results.scoring import score_nuggets
from karat.nuggets.scores.official import Official
from karat.nuggets.sets.judgements import Judgements
from karat.nuggets.sets.keys import make_key
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
    grouping = UnitGrouping(units, np.arange(len(units)), UNIT)
    y, design, told = apply_draws(name, found.values, grouping, draws)
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
        scale=LabelScale(0.0, 1.0),
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
        if wrong := draw_problem(draw):
            raise InputError(f"{nuggets.name}: a draw of {quoted(draw.unit)}: {wrong}")
    return draws and [draw for draw in draws if draw.unit in found.nuggets.key.questions]


def read_question_draws(nuggets: NuggetSet, path: GivenPath) -> tuple[Draw, ...]:
    """Return the draws of a file; a question may stand there as a segment or as a group."""
    reading, questions = Reading(lister=""), nuggets.key.questions
    found = check_set_draws(read_draws(Path(path), reading), questions, questions, reading)
    reading.check()
    return found
