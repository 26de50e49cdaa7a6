"""`score_nuggets`: runs with their decisions, scores and intervals."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

from karat.arrays import np
from karat.errors import InputError, quoted
from karat.evalset.catalogue import GivenPath
from karat.nuggets.formats.loading import as_nuggets
from karat.nuggets.prediction.intervals import (
    UNKNOWN_ERROR,
    Margin,
    RunIntervals,
    has_enough_judged_peers,
    judged_elsewhere,
    paired_significance,
)
from karat.nuggets.prediction.model_labels import UNKNOWN_FAVOR, ModelLabels
from karat.nuggets.prediction.predictions import (
    Calibrated,
    Predictions,
    parse_classifier,
    predict_support,
)
from karat.nuggets.prediction.thresholds import ModelRow, model_rows
from karat.nuggets.results.notes import (
    about_guesses,
    about_intervals,
    about_labels,
    percentage,
    signature,
    unjudged_warning,
)
from karat.nuggets.scores.decisions import (
    GUESS,
    JUDGEMENT,
    LABEL,
    NOTHING,
    AnswerDecisions,
    decide_run,
)
from karat.nuggets.scores.official import (
    NuggetShares,
    OfficialSettings,
    RunScore,
    mean_shares,
    score_shares,
)
from karat.nuggets.scores.pourpre import Pourpre, score_pourpre
from karat.nuggets.scores.words import IdfSource, quotation, words_with_nuggets
from karat.nuggets.sets.judgements import EVIDENCE, LABEL_USES, MODEL_LABELS
from karat.nuggets.sets.keys_and_runs import Run
from karat.nuggets.sets.nugget_set import NuggetSet, remarks
from karat.progress import Progress, silent
from karat.results import Result
from karat.settings import NamedSettings


class RunRow(NamedTuple):
    """All scores of a run; ends of intervals are None where there is no interval."""

    run: str
    micro: float
    macro: float
    f_low: float | None
    f_high: float | None
    micro_low: float | None
    micro_high: float | None
    recall: float
    precision: float
    A: float
    low: float | None
    high: float | None
    V: float
    W: float
    A_strict: float
    V_strict: float
    W_strict: float
    questions: int
    known_share: float  # share of nuggets that judgements decide, over answers with a response
    guessed: float  # share of nuggets that rest on guesses
    undecided: float  # share of nuggets without a decision: they get no credit
    labelled: float = 0.0  # share of nuggets that rest on a model's labels


class QuestionRow(NamedTuple):
    """The scores of one answer; a question without weight has no F."""

    run: str
    question: str
    A: float
    V: float
    W: float
    f: float | None = None
    recall: float | None = None
    precision: float | None = None
    vital_returned: float | None = None
    vital: int | None = None
    okay_returned: float | None = None
    okay: int | None = None
    length: int | None = None
    allowance: float | None = None
    responses: int | None = None
    judged: int | None = None
    undecided: int | None = None


class NuggetRow(NamedTuple):
    """The decision on a nugget, its source, and the first response that carries it."""

    run: str
    question: str
    nugget: str
    importance: str
    support: float | None  # 1, 0.5 in part, 0; None if undecided
    by: str
    response: int | None  # number of the response, from 1
    evidence: str | None  # words that the response and the nugget share
    description: str
    p: float | None = None
    """If guesses decide: the highest probability of any unjudged response to carry it."""
    contradiction: str | None = None
    """If no response carries it: the fact that lowered a guess, `numbers: nugget 17, output 71`."""


class PourpreRow(NamedTuple):
    """Pourpre's F of a run, with words counted and weighted by idf."""

    run: str
    count_micro: float
    count_macro: float
    idf_micro: float
    idf_macro: float


class DifferenceRow(NamedTuple):
    """A run against the best one: the difference of their scores, its interval and test."""

    run: str
    best: str
    score: str  # F(beta), or A if no question has an F
    delta: float
    low: float | None
    high: float | None
    p: float | None
    verdict: str  # `worse` or `undecided`


class CorrectedRow(NamedTuple):
    """A run's scores by a model's labels, and corrected for the error of the labels."""

    run: str
    f_by_labels: float
    f_corrected: float | None
    f_low: float | None
    f_high: float | None
    A_by_labels: float
    A_corrected: float
    low: float
    high: float


class ScoredRun(NamedTuple):
    """A run with its decisions and scores."""

    run: Run
    decisions: Mapping[str, AnswerDecisions]
    official_score: RunScore
    shares: tuple[NuggetShares, ...]  # A, V and W of every question
    intervals: RunIntervals | None = None  # None without guesses

    @property
    def row(self) -> RunRow:
        """All scores of the run."""
        answers = [answer for answer in self.decisions.values() if len(answer.values)]
        sources = Counter(source for answer in answers for source in answer.sources())
        nuggets = sum(sources.values()) or math.nan
        ends: dict[str, Any] = {
            f"{name}{end}": getattr(getattr(self.intervals, interval_name, None), end, None)
            for name, interval_name in (("f_", "macro"), ("micro_", "micro"), ("", "share"))
            for end in ("low", "high")
        }
        return RunRow(
            run=self.run.tag,
            micro=self.official_score.micro.f,
            macro=self.official_score.macro.f,
            questions=len(self.official_score.questions),
            known_share=sources[JUDGEMENT] / nuggets,
            guessed=sources[GUESS] / nuggets,
            labelled=sources[LABEL] / nuggets,
            undecided=sources[NOTHING] / nuggets,
            **_shared_fields(self.official_score.macro, RunRow),
            **_shared_fields(mean_shares(self.shares), RunRow),
            **ends,
        )

    def questions(self) -> Iterator[QuestionRow]:
        """Yield the scores of all questions of the key."""
        scores = {
            row.question: _shared_fields(row, QuestionRow) for row in self.official_score.questions
        }
        for row in self.shares:
            yield QuestionRow(*row[:5], **scores.get(row.question, {}))

    def by_question(self, score: str = "F") -> dict[str, float]:
        """Return the score, F or A, V, W, of each question that has it."""
        rows: Sequence[Any] = self.official_score.questions if score == "F" else self.shares
        values = {row.question: getattr(row, "f" if score == "F" else score) for row in rows}
        return {id: value for id, value in values.items() if not math.isnan(value)}


def _shared_fields(row: Any, kind: Any) -> dict[str, Any]:
    """Return the fields of a row that another kind of row has, too."""
    shared = set(kind._fields) - {"run", "question"}
    return {key: value for key, value in row._asdict().items() if key in shared}


@dataclass(frozen=True, eq=False, repr=False)
class NuggetScoring(Result):
    """Scores of runs."""

    nuggets: NuggetSet
    official_settings: OfficialSettings
    corrected: bool
    general: bool
    scored: tuple[ScoredRun, ...]
    predictions: Predictions | None = None  # None without guesses
    by_words: tuple[tuple[Pourpre, Sequence[RunScore]], ...] = ()
    """Pourpre by counts and by idf, if requested."""
    details: bool = False  # True if reports list every nugget
    classifier: str = "calibrated"  # the classifier, with its settings
    model_labels: ModelLabels | None = None  # labels that decide where people did not judge

    def __repr__(self) -> str:
        runs = "; ".join(f"{row.run} F {row.macro:.4f} A {row.A:.4f}" for row in self.rows)
        return f"<NuggetScoring: {runs}>"

    @cached_property
    def rows(self) -> tuple[RunRow, ...]:
        """The scores of each run."""
        return tuple(scored_run.row for scored_run in self.scored)

    @property
    def scale(self) -> str:
        """The score that runs are ranked by: F, or A if no question has an F."""
        return "A" if all(math.isnan(row.macro) for row in self.rows) else "F"

    @cached_property
    def ranked(self) -> tuple[int, ...]:
        """The numbers of the runs, the best score first."""
        scores = [row.A if self.scale == "A" else row.macro for row in self.rows]
        sortable = [-1.0 if math.isnan(score) else score for score in scores]
        return tuple(sorted(range(len(sortable)), key=lambda k: -sortable[k]))

    @property
    def untested_reason(self) -> str:
        """The reason why a difference has no test, if it has none."""
        return UNKNOWN_FAVOR if self.model_labels else UNKNOWN_ERROR

    @cached_property
    def differences(self) -> tuple[DifferenceRow, ...]:
        """Differences of all other runs from the best one, the nearest first."""
        if len(self.rows) < 2:
            return ()
        first, *other_runs = self.ranked
        margins, tags = self.margins(self.scale), [row.run for row in self.rows]
        best_scores = self.scored[first].by_question(self.scale)
        rows = []
        for k in other_runs:
            run_scores = self.scored[k].by_question(self.scale)
            pairs = [(score, run_scores[id]) for id, score in best_scores.items()]
            test = paired_significance(
                self.scale, pairs, (margins[first], margins[k]), self.untested_reason
            )
            p = None if math.isnan(test.p) else test.p
            ends = test.low, test.high, p, test.verdict
            rows.append(DifferenceRow(tags[k], tags[first], self.scale, test.delta, *ends))
        return tuple(rows)

    def margins(self, score: str = "F") -> list[Margin | None]:
        """Return how far a score of each run may be off because of wrong guesses.

        None if it rests on guesses without an interval; V and W never have one. The intervals are
        for these questions, without their sampling error. None if it rests on a model's labels:
        their errors may favor one run.
        """
        interval_name = {"F": "macro", "A": "share"}.get(score, "")
        margins: list[Margin | None] = []
        for scored, row in zip(self.scored, self.rows, strict=True):
            value, intervals = row.macro if score == "F" else getattr(row, score), scored.intervals
            if self.general and self.predictions:
                intervals = self.predictions.intervals(
                    scored.run, scored.decisions, self.official_settings
                )
            ends = getattr(intervals, interval_name, None)
            if self.model_labels:
                margins.append(None if row.labelled > 0 else Margin())
            elif ends is not None:
                margins.append(Margin(value - ends.low, ends.high - value))
            else:  # without guesses, the score is exact
                margins.append(None if row.guessed > 0 else Margin())
        return margins

    @property
    def corrected_scores(self) -> tuple[CorrectedRow, ...]:
        """Scores corrected for the error of a model's labels, if these decide."""
        if self.model_labels is None:
            return ()
        rows = []
        for row, intervals in zip(self.rows, (s.intervals for s in self.scored), strict=True):
            if intervals and row.labelled > 0:
                f, share = intervals.macro, intervals.share
                by_f = f and f.score, row.f_low, row.f_high
                rows.append(CorrectedRow(row.run, row.macro, *by_f, row.A, *share))
        return tuple(rows)

    @cached_property
    def questions(self) -> tuple[QuestionRow, ...]:
        """The scores of each answer."""
        return tuple(row for scored_run in self.scored for row in scored_run.questions())

    @cached_property
    def decisions(self) -> tuple[NuggetRow, ...]:
        """The decision on every nugget of every run."""
        rows = []
        for scored, (id, question) in product(self.scored, self.nuggets.key.questions.items()):
            answer, responses = scored.decisions[id], scored.run.responses(id)
            credits = answer.credit(self.official_settings.strict)
            credited = {credit for credit in credits if credit is not None}
            words = {k: words_with_nuggets(responses[k].text, question.nuggets) for k in credited}
            supports = answer.support(self.official_settings.strict).tolist()
            for j, (nugget, credit) in enumerate(zip(question.nuggets, credits, strict=True)):
                by = answer.by(j, credit)
                rows.append(
                    NuggetRow(
                        run=scored.run.tag,
                        question=id,
                        nugget=nugget.id,
                        importance=nugget.importance,
                        support=None if by == NOTHING else supports[j],
                        by=by,
                        response=None if credit is None else credit + 1,
                        evidence=None if credit is None else quotation(words[credit], j),
                        description=nugget.descriptions[0],
                        p=self.guess_probability(scored, id, j) if by == GUESS else None,
                        contradiction=self.contradiction(scored, id, j, credit),
                    )
                )
        return tuple(rows)

    @property
    def pourpre(self) -> tuple[PourpreRow, ...]:
        """Pourpre's scores of each run, if requested."""
        return tuple(
            PourpreRow(pair[0].run, *(f for score in pair for f in (score.micro.f, score.macro.f)))
            for pair in zip(*(scores for _, scores in self.by_words), strict=True)
        )

    @property
    def models(self) -> tuple[ModelRow, ...]:
        """The threshold models of the paper's classifier, if it learned any."""
        thresholds = self.predictions and self.predictions.paper
        return model_rows(thresholds.models) if thresholds else ()

    @property
    def settings(self) -> dict[str, Any]:
        """Settings of the scores, and the classifier."""
        settings = {"corrected": self.corrected, "general": self.general}
        by = {"classifier": self.classifier if self.predictions else None}
        return {
            **asdict(self.official_settings),
            **settings,
            **by,
            "labels": MODEL_LABELS if self.model_labels else EVIDENCE,
            "ties": self.nuggets.judgements.ties,
        }

    @property
    def signature(self) -> str:
        """Everything that changes the numbers, except the texts of runs."""
        return signature(
            *(self.official_settings, self.predictions, self.nuggets),
            *(self.corrected, self.general, self.model_labels),
        )

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """Remarks on the set, and on the basis of guesses."""
        return (*self._set_notes, *self.about_guesses, *self._about_unjudged())

    @property
    def gate_notes(self) -> tuple[str, ...]:
        """Notes for a gate, whose intervals treat guesses as correct."""
        if self.predictions is None:
            return tuple(self._set_notes)
        guessed_share = max((row.guessed for row in self.rows if row.guessed > 0), default=0.0)
        guess_note = (
            f"Guesses decide {percentage(guessed_share)} of the nuggets of this run. The gate "
            "takes guesses as right: its intervals and verdicts do not allow for wrong ones."
            if guessed_share
            else "No nugget of this run rests on a guess."
        )
        return (*self._set_notes, *about_guesses(self.predictions, guess_note))

    @property
    def _set_notes(self) -> list[str]:
        labels = MODEL_LABELS if self.model_labels else EVIDENCE
        sentences = remarks(self.nuggets, corrected=self.corrected, labels=labels)
        sentences += about_skipped(
            q for scored in self.scored for q in scored.official_score.skipped
        )
        answers = [answer for scored in self.scored for answer in scored.decisions.values()]
        if any(answer.undecided for answer in answers):
            sentences.append(
                "Pairs of response and nugget without a judgement or a label get no credit; "
                "intervals count their nuggets as carried at the upper end."
                if self.model_labels
                else "Pairs of response and nugget that nobody judged get no credit."
            )
        return sentences

    @cached_property
    def about_guesses(self) -> list[str]:
        """Sentences on the basis of guesses or of a model's labels; empty without either."""
        if self.model_labels:
            return about_labels(self.model_labels, self.official_settings.strict)
        if self.predictions is None:
            return []
        has_intervals = any(scored.intervals for scored in self.scored)
        settings = self.official_settings, self.general, has_intervals
        return about_guesses(self.predictions, about_intervals(self.predictions, *settings))

    def _about_unjudged(self) -> list[str]:
        """Warn of intervals that do not allow for questions without any judgements."""
        judged_questions = {row.question for row in self.nuggets.judgements.deciding}
        is_unjudged = np.array([id not in judged_questions for id in self.nuggets.key.questions])
        if self.predictions is None or not is_unjudged.any() or not self.scored:
            return []
        if self.predictions.errors(self.official_settings).share is None:
            return []
        answers = [
            [(bool(scored.run.responses(id)), a.all_settled) for id, a in scored.decisions.items()]
            for scored in self.scored
        ]
        answered, is_judged = np.moveaxis(np.array(answers, np.bool_), 2, 0)
        elsewhere = judged_elsewhere(self.nuggets)
        is_trusted = has_enough_judged_peers(answered, answered & is_judged, elsewhere)
        if not ((answered & is_unjudged).any(axis=1) & ~is_trusted).any():
            return []
        return [unjudged_warning(int(is_unjudged.sum()), len(is_unjudged))]

    def guess_probability(self, scored: ScoredRun, question: str, nugget: int) -> float | None:
        """Return the highest probability of any unjudged response to carry a nugget, by number.

        None without guesses.
        """
        if self.predictions is None:
            return None
        unjudged = ~scored.decisions[question].is_judged[:, nugget]
        pool, cells = self.predictions.pool, self.predictions.probabilities
        chances = pool.answer(cells, scored.run.tag, question)[unjudged, nugget]
        return float(chances.max()) if len(chances) else None

    def contradiction(
        self, scored: ScoredRun, question: str, nugget: int, credit: int | None
    ) -> str | None:
        """Return the fact in which a response contradicts a nugget, which lowered its guess.

        None if a response carries the nugget (`credit`), or judgements decide.
        """
        answer = scored.decisions[question]
        if self.predictions is None or credit is not None or answer.settled[nugget]:
            return None
        tag, is_judged = scored.run.tag, answer.is_judged
        change = self.predictions.contradiction(tag, question, nugget, is_judged)
        return change and change.describe("nugget")


def about_skipped(questions: Iterable[str]) -> list[str]:
    """Return a sentence on questions without a score."""
    names = ", ".join(dict.fromkeys(questions))
    return [f"Skipped, not scored 0: {names}; no nugget there has any weight."] if names else []


def score_nuggets(
    nuggets: NuggetSet | GivenPath,
    official_settings: OfficialSettings | None = None,
    *,
    guess: bool = True,
    classifier: NamedSettings | str | None = None,
    corrected: bool = True,
    general: bool = False,
    labels: str = EVIDENCE,
    judged_as: Mapping[str, str] | None = None,
    pourpre: bool = False,
    details: bool = False,
    progress: Progress = silent,
) -> NuggetScoring:
    """Score all runs of a set by its judgements, and by guesses for unjudged pairs.

    Args:
        nuggets: a set, or its name or path.
        official_settings: settings of the official score.
        guess: let a classifier decide unjudged pairs; else they get no credit.
        classifier: such as `paper:n=1,stem=porter`; by default the calibrated one.
        corrected: apply the most favourable judgement to identical responses of all runs; else use
            the judgements of each run as they are.
        general: intervals for new questions like these, instead of these questions.
        labels: use of a model's labels: `evidence` for the classifier's guesses, or `model`, to
            score by them where people did not judge. Without a classifier, with intervals for
            questions like these, and without tests of differences.
        judged_as: tags under which runs were judged, if they have others.
        pourpre: also score by Pourpre.
        details: list every nugget in reports.
        progress: function that is called with the progress.
    """
    official_settings, names = official_settings or OfficialSettings(), judged_as or {}
    parsed: Any = parse_classifier(classifier or Calibrated())
    _check_labels(labels, guess)
    nuggets = as_nuggets(nuggets, progress)
    predictions = None
    model_labels = ModelLabels(nuggets) if labels == MODEL_LABELS else None
    if guess and not model_labels:
        predictions = predict_support(
            nuggets, progress, classifier=parsed, strict=official_settings.strict
        )
    scored = []
    for run in nuggets.runs.values():
        tag = None if corrected else names.get(run.tag, run.tag)
        predict, source = predictions.guess(run.tag) if predictions else None, GUESS
        if model_labels:
            predict, source = model_labels.predict, LABEL
        decisions = decide_run(
            *(run, nuggets.key, nuggets.judgements, predict, progress), run_tag=tag, source=source
        )
        intervals = None
        if model_labels:
            intervals = model_labels.intervals(run, decisions, official_settings)
        elif predictions:
            intervals = predictions.intervals(run, decisions, official_settings, general=general)
        shares = score_shares(run, nuggets.key, decisions)
        score = official_settings.score(run, nuggets.key, decisions)
        scored.append(ScoredRun(run, decisions, score, shares, intervals))
    idf = getattr(parsed, "source", IdfSource())
    by_words = score_pourpre(nuggets, official_settings, idf, progress) if pourpre else ()
    return NuggetScoring(
        *(nuggets, official_settings, corrected, general or bool(model_labels), tuple(scored)),
        *(predictions, by_words, details, str(parsed), model_labels),
    )


def _check_labels(labels: str, guess: bool) -> None:
    """Require a known use of labels, which does not exclude `guess`."""
    if labels not in LABEL_USES:
        raise InputError(f"labels {quoted(labels)}: expected one of {', '.join(LABEL_USES)}")
    if labels == MODEL_LABELS and not guess:
        raise InputError("labels=model and guess=False exclude each other: give one")


def score_name(scoring: NuggetScoring) -> str:
    """Return the score that runs are ranked by, as people read it: `F(3)` or `A`."""
    return f"F({scoring.official_settings.beta:g})" if scoring.scale == "F" else "A"
