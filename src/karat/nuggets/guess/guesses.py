"""Guesses about the responses of some runs, and intervals of the runs' scores.

`nuggeteer.py` makes a `Nuggeteer`. A score of guesses is an expected one, less the mean error on
judged runs; its interval is from errors on judged runs that were guessed without themselves
(`measured_errors.py`), scaled to the part of the run that is guessed. Where none could be measured,
it allows for a base rate that is unknown (`shifted_scores.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from karat.arrays import Flags, Floats, np
from karat.errors import InputError
from karat.nuggets.guess.calibrated.logistic import logit
from karat.nuggets.guess.classifiers import Calibrated
from karat.nuggets.guess.labels import strictly
from karat.nuggets.guess.model_labels import Heard
from karat.nuggets.guess.paper.classifier import PaperGuesses
from karat.nuggets.guess.pool import Pool
from karat.nuggets.intervals.base_rates import PRIOR_SPREAD, SetShift, Spread, learn_shift
from karat.nuggets.intervals.expected_scores import of_answers
from karat.nuggets.intervals.intervals import AllErrors, RunIntervals, few_runs
from karat.nuggets.intervals.measured_errors import Measured
from karat.nuggets.intervals.shifted_scores import GuessedRun, shifted_intervals
from karat.nuggets.scores.decisions import Decided, Guess
from karat.nuggets.scores.official import Official
from karat.nuggets.sets.keys import Question
from karat.nuggets.sets.runs import Response, Run
from karat.settings import Named


@dataclass(frozen=True, eq=False)
class Nuggeteer:
    """Guesses of a classifier about all responses of some runs."""

    pool: Pool
    probabilities: Floats
    """Of every cell of the pool."""
    carried: Flags
    labels: Floats
    """Judgements of cells in their own runs, else NaN."""
    learned: int
    """Judged pairs that it learned from; 0 for the built-in model."""
    measured: Measured | None = None
    """Judged runs that tell how wrong it is, if there are any."""
    classifier: str = Calibrated.name
    rule: Named = field(default_factory=Calibrated)
    """The classifier that was asked for."""
    paper: PaperGuesses | None = None
    """Thresholds of the paper's classifier, if it is the one that guesses."""
    heard: Heard | None = None
    """Models that helped, where any labelled responses."""
    strict: bool = False
    """True if it guesses full support: support in part is then none."""
    spread: Spread = PRIOR_SPREAD
    """The variances of shifts of its guesses, for intervals where errors were not measured."""
    _errors: dict[tuple[Official, bool], AllErrors] = field(default_factory=dict)

    def errors(self, how: Official, helped: bool = False) -> AllErrors:
        """Return the errors of scores of its guesses, as far as they were measured.

        If `helped`, those of guesses with the help of models.
        """
        if (how, helped) not in self._errors:
            told = self.heard.measured if helped and self.heard else self.measured
            self._errors[how, helped] = told.errors(how) if told else AllErrors()
        return self._errors[how, helped]

    @cached_property
    def _told(self) -> Measured | None:
        """Judged runs, with labels as they were learned from."""
        if self.measured is None or not self.strict:
            return self.measured
        return replace(self.measured, labels=strictly(self.measured.labels))

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
        labels = strictly(self.labels) if self.strict else self.labels
        judged = np.flatnonzero(~np.isnan(labels))
        question, run = self.pool.cell_question[judged], self.pool.cell_run[judged]
        logits, yes = logit(self.probabilities[judged]), labels[judged] > 0
        return learn_shift(logits, yes, question, run, self.spread)

    def guess(self, run: str) -> Guess:
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
        self, run: Run, decided: Mapping[str, Decided], how: Official, *, general: bool = False
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
        guessed = GuessedRun(questions, run, decided, how, *tables)
        told, shown = of_answers(questions, run, decided, how, guessed.chances)
        found = errors.intervals(told, how.beta, general)
        if self.classifier == Calibrated.name and any(few_runs(one) for one in errors):
            other = shifted_intervals(guessed, self.shift, self.spread, general)
            found = errors.narrower(found, other) if found else other
        return found and found.holding(shown, how.beta)

    def _errors_of(
        self, run: Run, decided: Mapping[str, Decided], answered: float, how: Official
    ) -> AllErrors:
        """Return the errors of a run of which a part is guessed, and a part known from others.

        A nugget that a judgement settles adds no error, whatever is guessed of other responses.
        """
        counts = np.zeros(4)
        for id, found in decided.items():
            if found.known.size:
                unjudged = np.isnan(self.pool.answer(self.labels, run.tag, id))
                helped = self.pool.answer(self.heard.helped, run.tag, id) if self.heard else False
                open_pairs = found.open_pairs
                in_this_run = replace(found, known=found.known & ~unjudged)
                borrowed = found.known & in_this_run.open_pairs
                tables = open_pairs, borrowed, open_pairs & helped
                counts += [*(int(table.sum()) for table in tables), found.known.size]
        guessed, borrowed, _, _ = (counts / max(counts[3], 1)).tolist()
        errors = self.errors(how)
        if self.heard and self.heard.measured:
            share = float(counts[2] / max(counts[0], 1))
            errors = self.heard.errors(errors, self.errors(how, helped=True), share)
        doubtful = guessed + self.doubt * borrowed
        return AllErrors(*(one and one.scaled(guessed, doubtful, answered) for one in errors))
