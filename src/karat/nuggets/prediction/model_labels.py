"""Scores from a model's labels: how far they may be off, if few or no labels were checked.

A model labels every nugget of an answer as carried (z = 1) or not, with an unknown error:

    sensitivity  s = P(z = 1 | carried),    specificity  c = P(z = 0 | not carried)

Both have the prior Beta(8, 2), independently: a judge is right on 80% of each kind, and with 95%
probability on 52% to 97%. It is weakly informative, and not learned from data. Nuggets that people
judged too count as further evidence, each with the weight

    k = 1 / (D (1 + n / 140)),    s ~ Beta(8 + k true positives, 2 + k false negatives)

with n such nuggets and D the dispersion of single pairs. As n grows, n k approaches 140 / D: a
judge's error differs from run to run, so the error on other runs is never known exactly.

The interval of a run has the quantiles of draws. Each draw has s and c, drawn from those that can
explain the run's labels (1 - c <= q <= s; see `condition_on_labels`); the share of carried
nuggets that explains the share q of labels (Rogan and Gladen 1978), for vital and okay nuggets,

    π = (q + c - 1) / (s + c - 1),    variance D q (1 - q) / (N (s + c - 1)^2),    within [0, 1]

(all questions weigh the same; if q is 0 or 1, the variance has (N q + 1/2) / (N + 1) instead, as it
would be 0); the truth of each of the N labelled nuggets, given its label; and
the error of the mean over questions, which are a sample: Student's t times the standard error of
the drawn scores. What people judged is not drawn. Nuggets without label and judgement count 0 at
the lower end, 1 at the upper.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from karat.arrays import Flags, Floats, Ints, np
from karat.errors import InputError, quoted
from karat.nuggets.prediction.base_rates import PRIOR_SPREAD
from karat.nuggets.prediction.intervals import RunIntervals, ScoreInterval
from karat.nuggets.prediction.pool import starts_of
from karat.nuggets.prediction.predictions import runs_from_judgements
from karat.nuggets.scores.decisions import AnswerDecisions, decide
from karat.nuggets.scores.official import (
    NuggetStats,
    OfficialSettings,
    nugget_stats,
    run_answers,
    run_lengths,
    sum_groups,
)
from karat.nuggets.sets.judgements import SUPPORT, UNNAMED, Judgements, PairKey
from karat.nuggets.sets.keys_and_runs import Question, Response, Run
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.settings import SEED

PRIOR_RIGHT, PRIOR_WRONG = 8.0, 2.0
"""The prior of sensitivity and of specificity: Beta(8, 2)."""
MAX_EVIDENCE = 140.0
"""The most that judged nuggets can weigh, times D: an error that differs by .03 between runs."""
DRAWS = 4_000
_LEVEL = 0.95
_LEAST_YOUDEN = 0.05  # labels with a smaller s + c - 1 tell nothing about the score
_PROPOSALS = 10  # rates drawn for each that is used
_LEAST_POSSIBLE = 20  # of the drawn rates; with fewer, labels do not select rates
_BATCH = 4_000_000  # nuggets drawn at once


UNKNOWN_FAVOR = "a model's labels may be wrong in favor of one run"
"""Reason for no test of a difference that rests on a model's labels."""


class ErrorCounts(NamedTuple):
    """Nuggets of answers that people judged and the model labelled."""

    true_positives: int = 0
    false_negatives: int = 0
    true_negatives: int = 0
    false_positives: int = 0


class ErrorRates(NamedTuple):
    """Draws of a judge's sensitivity and specificity."""

    sensitivity: Floats
    specificity: Floats

    def take(self, batch: slice) -> ErrorRates:
        """Return some of the draws."""
        return ErrorRates(self.sensitivity[batch], self.specificity[batch])


def draw_error_rates(counts: ErrorCounts, draws: int, rng: np.random.Generator) -> ErrorRates:
    """Draw sensitivity and specificity from the prior and the nuggets that people judged."""

    def rate(right: int, wrong: int) -> Floats:
        weight = 1 / (PRIOR_SPREAD.dispersion * (1 + (right + wrong) / MAX_EVIDENCE))
        return rng.beta(PRIOR_RIGHT + weight * right, PRIOR_WRONG + weight * wrong, draws)

    return ErrorRates(rate(*counts[:2]), rate(*counts[2:]))


def condition_on_labels(
    rates: ErrorRates, labels: Flags, draws: int, rng: np.random.Generator
) -> ErrorRates:
    """Draw the rates again, given the share q of a run's labels that are positive.

    Before, all shares of carried nuggets are equally likely. So the likelihood of s and c is the
    mass of a normal density around q between 1 - c and s, divided by s + c - 1. If hardly any rates
    explain q, all are kept.
    """
    s, c = rates
    rate = (float(labels.sum()) + 0.5) / (len(labels) + 1)
    spread = np.sqrt(PRIOR_SPREAD.dispersion * rate * (1 - rate) / (len(labels) + 1))
    drawn_rate = rate + spread * rng.standard_normal(len(s))
    is_possible = (1 - c <= drawn_rate) & (drawn_rate <= s)
    weight = np.where(is_possible, 1 / np.maximum(s + c - 1, _LEAST_YOUDEN), 0.0)
    if is_possible.sum() < _LEAST_POSSIBLE:
        weight = np.ones(len(s))
    rows = rng.choice(len(s), draws, p=weight / weight.sum())
    return ErrorRates(s[rows], c[rows])


def draw_carried(
    labels: Flags, is_vital: Flags, question: Ints, rates: ErrorRates, rng: np.random.Generator
) -> Flags:
    """Draw whether nuggets are carried, given their labels: draws x nuggets.

    `question` is the question of each nugget. All questions weigh the same, as in the scores.
    """
    carried = np.zeros((len(rates.sensitivity), len(labels)), np.bool_)
    for group in (is_vital, ~is_vital):
        columns = np.flatnonzero(group)
        if len(columns):
            weights = 1 / np.bincount(question[columns])[question[columns]]
            if_labelled, if_not = _draw_probabilities(labels[columns], weights, rates, rng)
            probabilities = np.where(labels[columns], if_labelled[:, None], if_not[:, None])
            carried[:, columns] = rng.random(probabilities.shape) < probabilities
    return carried


def _draw_probabilities(
    labels: Flags, weights: Floats, rates: ErrorRates, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Draw the probability that a nugget is carried if it was labelled so, and if it was not."""
    s, c = rates
    weights = weights / weights.sum()
    share, youden = float((weights * weights).sum()), s + c - 1
    rate = varying = min(1.0, float((labels * weights).sum()))
    if labels.all() or not labels.any():  # a variance of 0 would take the rate for certain
        varying = (rate + share / 2) / (1 + share)
    is_informative = youden > _LEAST_YOUDEN
    youden = np.where(is_informative, youden, 1.0)
    spread = np.sqrt(PRIOR_SPREAD.dispersion * varying * (1 - varying) * share) / youden
    corrected = (rate + c - 1) / youden + spread * rng.standard_normal(len(s))
    prevalence = np.where(is_informative, np.clip(corrected, 0, 1), rng.random(len(s)))
    yes, no = prevalence, 1 - prevalence
    with np.errstate(divide="ignore", invalid="ignore"):
        if_labelled = yes * s / (yes * s + no * (1 - c))
        if_not = yes * (1 - s) / (yes * (1 - s) + no * c)
    return np.nan_to_num(if_labelled), np.nan_to_num(if_not)


class LabelledRun(NamedTuple):
    """A run's nuggets, one after the other, question by question; all questions have nuggets."""

    questions: Sequence[Question]
    lengths: Floats  # of the answers
    values: Floats  # by people, else by the model; 0 without either
    is_settled: Flags  # decided by people, or without a response
    is_open: Flags  # neither judged nor labelled

    @classmethod
    def of(
        cls, run: Run, questions: Sequence[Question], decisions: Mapping[str, AnswerDecisions]
    ) -> LabelledRun:
        """Return the nuggets of the run that decisions by labels and judgements are about."""
        answers = [decisions[question.id] for question in questions]
        values = np.concatenate([answer.best for answer in answers])
        is_settled = np.concatenate([answer.settled for answer in answers])
        has_gap = np.concatenate([np.isnan(answer.values).any(axis=0) for answer in answers])
        is_open = has_gap & (values == 0) & ~is_settled
        return cls(questions, run_lengths(run, questions), values, is_settled, is_open)

    def intervals(
        self,
        counts_by_kind: Mapping[bool, ErrorCounts],
        official_settings: OfficialSettings,
        n_draws: int = DRAWS,
    ) -> RunIntervals | None:
        """Return intervals on questions like these; None with fewer than two questions.

        `counts_by_kind` has the errors of labels of any support (False) and of full support (True).
        """
        if len(self.questions) < 2:
            return None
        batches = self._score_draws(counts_by_kind, official_settings, n_draws)
        share, macro, micro = (
            _interval(low, high) for low, high in np.concatenate(batches, axis=2)
        )
        return share and RunIntervals(share, macro, micro)

    def _score_draws(
        self,
        counts_by_kind: Mapping[bool, ErrorCounts],
        official_settings: OfficialSettings,
        n_draws: int,
    ) -> list[Floats]:
        """Return batches of draws of A, F macro and F micro: scores x (low, high) x draws."""
        rng = np.random.default_rng(SEED)
        rates = {
            strict: self._draw_rates(strict, counts_by_kind[strict], n_draws, rng)
            for strict in ((False, True) if official_settings.strict else (False,))
        }
        size = max(1, _BATCH // max(len(self.values), 1))
        batches = []
        for first in range(0, n_draws, size):
            batch = slice(first, min(first + size, n_draws))
            support, counts = self._draw(
                {strict: draws.take(batch) for strict, draws in rates.items()},
                official_settings,
                rng,
            )
            t = rng.standard_t(len(self.questions) - 1, len(support))
            ends = [self._scores(support, counts, t, official_settings)]
            if self.is_open.any():
                filled = np.where(self.is_open, 1.0, support), np.where(self.is_open, 1.0, counts)
                ends.append(self._scores(*filled, t, official_settings))
            batches.append(np.stack([ends[0], ends[-1]], axis=1))
        return batches

    def _draw_rates(
        self, strict: bool, counts: ErrorCounts, n_draws: int, rng: np.random.Generator
    ) -> ErrorRates:
        """Draw error rates that explain the labels of the run."""
        rates = draw_error_rates(counts, n_draws * _PROPOSALS, rng)
        labels = self.is_carried(strict)[self.is_labelled]
        return condition_on_labels(rates, labels, n_draws, rng)

    @property
    def is_labelled(self) -> Flags:
        """The nuggets that the model's labels decide."""
        return ~(self.is_settled | self.is_open)

    def is_carried(self, strict: bool) -> Flags:
        """Return which nuggets are carried by judgements and labels; if `strict`, in full."""
        return np.asarray(self.values >= SUPPORT if strict else self.values > 0)

    def _draw(
        self,
        rates: Mapping[bool, ErrorRates],
        official_settings: OfficialSettings,
        rng: np.random.Generator,
    ) -> tuple[Floats, Floats]:
        """Draw the support of nuggets, and their counts in F: draws x nuggets."""
        is_vital = np.concatenate([question.is_vital for question in self.questions]) > 0
        is_labelled = self.is_labelled
        sizes = [len(question.nuggets) for question in self.questions]
        question = np.repeat(np.arange(len(sizes)), sizes)

        def carried(strict: bool) -> Floats:
            is_carried = self.is_carried(strict)
            carried_draws = np.broadcast_to(
                is_carried, (len(rates[strict].sensitivity), len(is_carried))
            ).copy()
            carried_draws[:, is_labelled] = draw_carried(
                *(is_carried[is_labelled], is_vital[is_labelled], question[is_labelled]),
                *(rates[strict], rng),
            )
            carried_draws[:, self.is_open] = False
            return np.asarray(carried_draws, dtype=np.float64)

        counts = carried(False)
        positive = self.values[is_labelled & (self.values > 0)]
        missed = float(positive.mean()) if len(positive) else SUPPORT
        support = counts * np.where(self.values > 0, self.values, missed)
        return support, carried(True) if official_settings.strict else counts

    def _scores(
        self, support: Floats, counts: Floats, t: Floats, official_settings: OfficialSettings
    ) -> Floats:
        """Return A, F macro and F micro of draws, each with t standard errors added."""
        ends = starts_of([len(question.nuggets) for question in self.questions])
        shares = sum_groups(support, ends) / np.diff(ends)
        lengths = np.broadcast_to(self.lengths, shares.shape)
        stats = nugget_stats(self.questions, official_settings.weights, counts, counts, lengths)
        scored = stats.total[0] > 0
        stats = NuggetStats(*(part[:, scored] for part in stats))
        if scored.sum() < 2:
            missing = np.full(len(t), np.nan)
            return np.stack([_with_error(shares, t), missing, missing])
        f = stats.f(official_settings.beta)
        return np.stack(
            [
                _with_error(shares, t),
                _with_error(f, t),
                _micro_with_error(stats, official_settings.beta, t),
            ]
        )


def _with_error(values: Floats, t: Floats) -> Floats:
    """Return means over questions with t standard errors added."""
    means, deviations = values.mean(axis=1), values.std(axis=1, ddof=1)
    return np.asarray(means + t * deviations / np.sqrt(values.shape[1]))


def _micro_with_error(stats: NuggetStats, beta: float, t: Floats) -> Floats:
    """Return micro F with t of the jackknife's standard errors added."""
    sums = NuggetStats(*(part.sum(axis=1, keepdims=True) for part in stats))
    f = sums.f(beta)[:, 0]
    without = NuggetStats(*(total - part for total, part in zip(sums, stats, strict=True))).f(beta)
    n = without.shape[1]
    return np.asarray(f + t * np.sqrt(n - 1) * without.std(axis=1))


def _interval(low: Floats, high: Floats) -> ScoreInterval | None:
    """Return the median and the quantiles of draws, within [0, 1]; None without a score."""
    if np.isnan(low).any():
        return None
    tail = (1 - _LEVEL) / 2
    middle = float(np.median(np.concatenate([low, high])))
    ends = middle, float(np.quantile(low, tail)), float(np.quantile(high, 1 - tail))
    return ScoreInterval(*(min(1.0, max(0.0, end)) for end in ends))


class RateSummary(NamedTuple):
    """Mean and 95% interval of a rate."""

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, draws: Floats) -> RateSummary:
        """Return those of draws."""
        tail = (1 - _LEVEL) / 2
        low, high = np.quantile(draws, [tail, 1 - tail]).tolist()
        return cls(float(draws.mean()), low, high)


class ModelLabels:
    """The labels of the model that judged a set, and what people's judgements tell of its error."""

    def __init__(self, nuggets: NuggetSet) -> None:
        labels_by_model = nuggets.judgements.labels_by_model
        if not labels_by_model:
            raise InputError(
                f"{nuggets.name} has no labels of a model, which --labels model needs: add them "
                "with --judgements (karat judge nuggets makes them), or name the judge that is a "
                "model with --model-judge"
            )
        if len(labels_by_model) > 1:
            names = ", ".join(quoted(name or UNNAMED) for name in labels_by_model)
            raise InputError(
                f"{nuggets.name} has labels of {len(labels_by_model)} models ({names}), expected "
                "one with --labels model: leave out the judgements of the others"
            )
        ((self.judge, self.labels),) = labels_by_model.items()
        self.nuggets = nuggets

    @property
    def name(self) -> str:
        """Name of the model in sentences."""
        return self.judge or "the model without a name"

    def predict(self, question: Question, responses: Sequence[Response]) -> Floats:
        """Return the labels of responses x nuggets; NaN without a label."""
        rows = [
            [self._label((question.id, nugget.id, response.normal)) for nugget in question.nuggets]
            for response in responses
        ]
        return np.array(rows, np.float64).reshape(len(responses), len(question.nuggets))

    def _label(self, pair: PairKey) -> float:
        return self.labels.get(pair, np.nan)

    @cached_property
    def checked(self) -> int:
        """The number of nuggets of answers that people judged and the model labelled."""
        return sum(self.counts_by_kind[False])

    @cached_property
    def counts_by_kind(self) -> dict[bool, ErrorCounts]:
        """The errors of labels of any support (False) and of full support (True).

        Identical answers count once.
        """
        judgements, key = self.nuggets.judgements, self.nuggets.key
        runs = [*self.nuggets.runs.values(), *runs_from_judgements(judgements, self.nuggets.runs)]
        answers = {
            (id, tuple(response.normal for response in run.responses(id))): run.responses(id)
            for run in runs
            for id in key.questions
            if run.responses(id)
        }
        pairs = [
            pair
            for (id, _), responses in answers.items()
            for pair in self._checked_pairs(key.questions[id], responses, judgements)
        ]
        return {
            strict: _count_errors(pairs, SUPPORT if strict else 0.5) for strict in (False, True)
        }

    def _checked_pairs(
        self, question: Question, responses: Sequence[Response], judgements: Judgements
    ) -> list[tuple[float, float]]:
        """Return the value by people and by the model of nuggets that both decided."""
        answer = decide(question, responses, judgements)
        if not answer.settled.any():
            return []
        table = self.predict(question, responses)
        best = np.fmax.reduce(table, axis=0)
        is_decided = answer.settled & ((best > 0) | ~np.isnan(table).any(axis=0))
        return [*zip(answer.best[is_decided].tolist(), best[is_decided].tolist(), strict=True)]

    def error_rates(self, strict: bool) -> tuple[RateSummary, RateSummary]:
        """Return sensitivity and specificity, by the prior and the nuggets that people judged."""
        rates = draw_error_rates(self.counts_by_kind[strict], DRAWS, np.random.default_rng(SEED))
        return RateSummary.of(rates.sensitivity), RateSummary.of(rates.specificity)

    def intervals(
        self,
        run: Run,
        decisions: Mapping[str, AnswerDecisions],
        official_settings: OfficialSettings,
    ) -> RunIntervals | None:
        """Return intervals on questions like these, extended to include the scores by labels."""
        questions = [q for q in self.nuggets.key.questions.values() if q.nuggets]
        if not any(len(decisions[question.id].values) for question in questions):
            return None
        labelled_run = LabelledRun.of(run, questions, decisions)
        intervals = labelled_run.intervals(self.counts_by_kind, official_settings)
        values = {id: np.nan_to_num(answer.values) for id, answer in decisions.items()}
        _, by_labels = run_answers(questions, run, decisions, official_settings, values)
        return intervals and intervals.holding(by_labels, official_settings.beta)


def _count_errors(pairs: Sequence[tuple[float, float]], least: float) -> ErrorCounts:
    """Count values by people and labels, which are at least `least` if the nugget is carried."""
    kinds = [(value >= least, label >= least) for value, label in pairs]
    cells = ((True, True), (True, False), (False, False), (False, True))
    return ErrorCounts(*(kinds.count(cell) for cell in cells))
