"""Scores of answers from decisions: the official F(beta), and shares of nuggets.

With r vital and a okay nuggets returned, R vital nuggets in the key and l characters in the answer,
white space not counted:

    recall = r / R      allowance = 100 (r + a)      precision = 1 if l < allowance
                                                                 allowance / l otherwise
    F(beta) = (beta^2 + 1) precision recall / (beta^2 precision + recall)

Pyramid weights (Lin and Demner-Fushman 2006) replace vital and okay by w = votes / the most votes
of any nugget of the question: recall = sum of returned w / sum of all w. A nugget that a run has
with the probability p counts p: the expected number of nuggets takes the place of their number.

A nugget counts once, for the first response that carries it. A question whose weights are all 0 -
no vital nugget in its key - has no recall: it is skipped and named, never scored 0.

The shares of today's RAG evaluation ignore length. With s = 1 for a nugget that the answer
supports, 1/2 in part (strict: 0) and 0 for one it does not:

    A = sum of s / all nuggets            V = sum of s over vital nuggets / vital nuggets
    W = (sum over vital + sum over okay / 2) / (vital nuggets + okay nuggets / 2)

A question without vital nuggets has no V: it is NaN and left out of the mean.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

from karat.arrays import Flags, Floats, Ints, NDArray, np
from karat.errors import InputError, quoted, short
from karat.nuggets.prediction.pool import Pool, starts_of
from karat.nuggets.scores.decisions import AnswerDecisions
from karat.nuggets.sets.keys_and_runs import NuggetKey, Question, Response, Run, characters
from karat.settings import to_text

NAME = "nugget-f"  # name of the score in signatures
ALLOWANCE = 100  # characters that a returned nugget may cost
MAX_BETA = 1e6
"""With this, F is recall to all digits that are shown; its square is far from overflowing."""
WEIGHTS = ("vital", "pyramid")
OKAY_WEIGHTS = {"A": 1.0, "V": 0.0, "W": 0.5}
"""Weight of an okay nugget in each share; a vital one weighs 1."""
_OKAY_COLUMN = np.array([[weight] for weight in OKAY_WEIGHTS.values()])


class NuggetStats(NamedTuple):
    """Statistics of answers: arrays of one shape, which can be summed over questions."""

    returned_weight: Floats  # r: the weight of the returned nuggets
    total: Floats  # R: the weight of all nuggets
    allowance: Floats
    length: Floats

    @property
    def recall(self) -> Floats:
        """r / R; NaN without any weight."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.returned_weight / self.total)

    @property
    def precision(self) -> Floats:
        """Precision by length; NaN for an empty answer without nuggets."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.length < self.allowance, 1.0, self.allowance / self.length)

    def f(self, beta: float) -> Floats:
        """F(beta); 0 where nothing was returned, NaN without any weight."""
        square, precision, recall = beta * beta, self.precision, self.recall
        with np.errstate(divide="ignore", invalid="ignore"):
            f = (square + 1) * precision * recall / (square * precision + recall)
        return np.where(self.total > 0, np.where(self.returned_weight > 0, f, 0.0), np.nan)

    def run(self, k: int | slice | Ints) -> NuggetStats:
        """Return the statistics of one run, or of some of several."""
        return NuggetStats(*(part[k] for part in self))

    def select(self, answers: Flags) -> NuggetStats:
        """Return the statistics with no weight for the other answers."""
        return self._replace(total=np.where(answers, self.total, 0.0))

    def sums(self) -> NuggetStats:
        """Return the sums over questions that have a weight, the last axis: for micro F."""
        has_weight = self.total > 0
        return NuggetStats(*(np.where(has_weight, part, 0.0).sum(axis=-1) for part in self))


class OfficialMeasure(NamedTuple):
    """F, recall and precision; the precision of an empty answer without nuggets is NaN."""

    recall: float
    precision: float
    f: float


class QuestionScore(NamedTuple):
    """The score of one answer."""

    run: str
    question: str
    recall: float
    precision: float
    f: float
    vital_returned: float  # a whole number, except that a tie between judges counts half
    okay_returned: float
    vital: int
    okay: int
    length: int
    allowance: float
    responses: int
    judged: int  # number of pairs of response and nugget that judgements decide
    undecided: int


@dataclass(frozen=True)
class RunScore:
    """The score of a run: over questions as a whole (micro) and on average (macro)."""

    run: str
    micro: OfficialMeasure
    macro: OfficialMeasure
    questions: tuple[QuestionScore, ...]
    skipped: tuple[str, ...]  # questions without weight: no vital nuggets, or no votes
    stats: NuggetStats = field(compare=False, repr=False)  # statistics of all questions of the key


@dataclass(frozen=True)
class OfficialSettings:
    """Settings of the official score; beta is 3 since 2004, it was 5 in 2003.

    `strict`: partial support does not count; else it counts in full.
    """

    beta: float = 3.0
    weights: str = "vital"
    strict: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.beta <= MAX_BETA:
            top = f"{MAX_BETA:,.0f}"
            raise InputError(f"beta={self.beta}: expected a number of at least 0 and at most {top}")
        if self.weights not in WEIGHTS:
            expected = ", ".join(WEIGHTS)
            raise InputError(f"weights={quoted(self.weights)}: expected one of {expected}")

    def __str__(self) -> str:
        """Return every setting; the signature adds the key, judgements and classifier."""
        settings = ",".join(f"{f.name}={to_text(getattr(self, f.name))}" for f in fields(self))
        return f"{NAME}:{settings}"

    def score(self, run: Run, key: NuggetKey, decisions: Mapping[str, AnswerDecisions]) -> RunScore:
        """Score a run from the decisions on every question."""
        questions = list(key.questions.values())
        answers = [decisions[question.id] for question in questions]
        returned_counts = _join(answer.returned_counts(self.strict) for answer in answers)
        lengths = run_lengths(run, questions)
        stats = nugget_stats(
            questions, self.weights, returned_counts[None], returned_counts[None], lengths[None]
        )
        pairs = [(int(np.count_nonzero(a.is_judged)), a.undecided) for a in answers]
        return score_run(run, key, stats.run(0), returned_counts, pairs, self.beta)


def score_run(
    run: Run,
    key: NuggetKey,
    stats: NuggetStats,
    returned_counts: Floats | Flags,
    pairs: Sequence[tuple[int, int]],
    beta: float,
) -> RunScore:
    """Return the score of a run from the statistics of its answers, in the order of the key.

    `returned_counts` has the count of each nugget; `pairs` has, for each question, the numbers of
    judged and of undecided pairs of response and nugget.
    """
    questions = list(key.questions.values())
    is_vital = _join(question.is_vital for question in questions)
    counts = sum_groups(np.stack([is_vital, 1 - is_vital]) * returned_counts, _starts(questions)).T
    recalls, precisions, f_scores = stats.recall, stats.precision, stats.f(beta)
    rows, skipped = [], []
    for k, question in enumerate(questions):
        if not stats.total[k]:
            skipped.append(question.id)
            continue
        vital = len(question.vital)
        vital_returned, okay_returned = (
            int(count) if count.is_integer() else count for count in counts[k].tolist()
        )
        rows.append(
            QuestionScore(
                run.tag,
                question.id,
                recall=float(recalls[k]),
                precision=float(precisions[k]),
                f=float(f_scores[k]),
                vital_returned=vital_returned,
                okay_returned=okay_returned,
                vital=vital,
                okay=len(question.nuggets) - vital,
                length=int(stats.length[k]),
                allowance=float(stats.allowance[k]),
                responses=len(run.responses(question.id)),
                judged=pairs[k][0],
                undecided=pairs[k][1],
            )
        )
    scored = stats.total > 0
    sums = NuggetStats(*(np.array(math.fsum(part[scored].tolist())) for part in stats))
    micro = OfficialMeasure(float(sums.recall), float(sums.precision), float(sums.f(beta)))
    means = (finite_mean(getattr(row, part) for row in rows) for part in OfficialMeasure._fields)
    return RunScore(run.tag, micro, OfficialMeasure(*means), tuple(rows), tuple(skipped), stats)


def sum_groups(rows: Floats, ends: Ints) -> Floats:
    """Return rows x groups of columns: the sum of each group, from one end to the next."""
    sums = np.zeros((len(rows), len(ends) - 1))
    nonempty = np.diff(ends) > 0  # reduceat would give an empty group its neighbor's value
    if nonempty.any():
        sums[:, nonempty] = np.add.reduceat(rows, ends[:-1][nonempty], axis=1)
    return sums


def _starts(questions: Sequence[Question]) -> Ints:
    """Return the first nugget of each question, and the number of all."""
    return starts_of([len(question.nuggets) for question in questions])


def _join(arrays: Iterable[NDArray[Any]]) -> Floats:
    return np.concatenate([np.zeros(0), *arrays])


def nugget_stats(
    questions: Sequence[Question], weights: str, credit: Floats, allowed: Floats, lengths: Floats
) -> NuggetStats:
    """Return runs x questions from runs x nuggets: credit in recall, and in the allowance."""
    ends, weight = _starts(questions), _join(nugget_weights(q, weights) for q in questions)
    total = np.broadcast_to(sum_groups(weight[None], ends), lengths.shape)
    credited = sum_groups(credit * weight, ends)
    return NuggetStats(credited, total, ALLOWANCE * sum_groups(allowed, ends), lengths)


def answer_length(responses: Iterable[Response]) -> int:
    """Return l: the characters of an answer, white space not counted."""
    return sum(characters(response.text) for response in responses)


def run_lengths(run: Run, questions: Sequence[Question]) -> Floats:
    """Return the length of a run's answer to each question."""
    lengths = [answer_length(run.responses(question.id)) for question in questions]
    return np.array(lengths, dtype=np.float64)


def nugget_weights(question: Question, kind: str = "vital") -> Floats:
    """Return the weight of each nugget in recall."""
    if kind == "vital":
        return question.is_vital.astype(np.float64)
    for nugget in question.nuggets:
        if nugget.votes is None:
            raise InputError(
                f"question {short(question.id)}, nugget {short(nugget.id)} has no votes, "
                "which pyramid weights need: give them to all nuggets, or score by vital and okay"
            )
    votes = np.array([nugget.votes for nugget in question.nuggets], dtype=np.float64)
    return np.divide(votes, max(float(votes.max(initial=0.0)), 1.0))


def finite_mean(values: Iterable[float]) -> float:
    """Return the mean of the values that are not NaN."""
    finite = [value for value in values if not math.isnan(value)]
    return math.fsum(finite) / len(finite) if finite else math.nan


# ------------------------------------------------------------------------------------ shares


class NuggetShares(NamedTuple):
    """The shares of one answer, or their means over a run."""

    run: str
    question: str
    A: float
    V: float
    W: float
    A_strict: float
    V_strict: float
    W_strict: float


def score_shares(
    run: Run, key: NuggetKey, decisions: Mapping[str, AnswerDecisions]
) -> tuple[NuggetShares, ...]:
    """Return the shares of every answer of a run; a question without a response has no nugget."""
    questions = list(key.questions.values())
    weights = np.where(_join(q.is_vital for q in questions), 1.0, _OKAY_COLUMN)
    support = _join(decisions[q.id].best for q in questions)
    strict = _join(decisions[q.id].returned_counts(strict=True) for q in questions)
    table = np.concatenate([weights, weights * support, weights * strict])
    rows = []
    for question, sums in zip(questions, sum_groups(table, _starts(questions)).T, strict=True):
        shares = zip(sums[3:].tolist(), sums[:3].tolist() * 2, strict=True)
        values = (part / total if total else math.nan for part, total in shares)
        rows.append(NuggetShares(run.tag, question.id, *values))
    return tuple(rows)


def mean_shares(rows: Sequence[NuggetShares]) -> NuggetShares:
    """Return means over questions, each over those that have the score."""
    run = rows[0].run if rows else ""
    columns = zip(*(row[2:] for row in rows), strict=True) if rows else [()] * 6
    return NuggetShares(run, "", *map(finite_mean, columns))


# ------------------------------------------------------------------------------ expected scores


def jackknife_pseudo_values(stats: NuggetStats, beta: float) -> Floats:
    """Return the jackknife's pseudo-values of micro F: n F - (n - 1) F without k, by question k.

    The variance of their mean is the jackknife's of F; their mean is F, less the jackknife's bias.
    """
    scored = np.flatnonzero(stats.total > 0)
    without = [stats.select(np.arange(len(stats.total)) != k).sums().f(beta) for k in scored]
    return np.asarray(len(scored) * stats.sums().f(beta) - (len(scored) - 1) * np.array(without))


def pool_stats(pool: Pool, cells: Floats, official_settings: OfficialSettings) -> NuggetStats:
    """Return runs x questions from values of cells; without a response nothing is returned."""
    best = np.nan_to_num(pool.answers(cells))
    return nugget_stats(pool.questions, official_settings.weights, best, best, pool.lengths)


class RunAnswers(NamedTuple):
    """The answers of one run, question by question."""

    share: Floats  # A
    official_stats: NuggetStats

    def scores(self, beta: float) -> tuple[float, float, float]:
        """Return A, F macro and F micro; F is NaN where no nugget has any weight."""
        f, scored = self.official_stats.f(beta), self.official_stats.total > 0
        macro = float(f[scored].mean()) if scored.any() else np.nan
        return float(self.share.mean()), macro, float(self.official_stats.sums().f(beta))


def run_answers(
    questions: Sequence[Question],
    run: Run,
    decisions: Mapping[str, AnswerDecisions],
    official_settings: OfficialSettings,
    probabilities: Mapping[str, Floats],
) -> tuple[RunAnswers, RunAnswers]:
    """Return a run's expected answers, with probabilities for guesses, and its decided ones.

    All questions have nuggets.
    """
    supports, counts = [], []  # for each question a row of expected values and one of decided ones
    for question in questions:
        answer, probability = decisions[question.id], probabilities[question.id]
        support = expected_support = answer.best
        count = expected_count = answer.returned_counts(official_settings.strict)
        if not answer.is_judged.all():
            tables = answer.values, answer.carried(official_settings.strict)
            mixed = (np.where(answer.is_judged, table, probability) for table in tables)
            expected_support, expected_count = (x.max(axis=0, initial=0.0) for x in mixed)
        supports.append(np.stack([expected_support, support]))
        counts.append(np.stack([expected_count, count]))
    ends, returned_counts = _starts(questions), np.concatenate(counts, axis=1)
    shares = sum_groups(np.concatenate(supports, axis=1), ends) / np.diff(ends)
    lengths = np.broadcast_to(run_lengths(run, questions), shares.shape)
    stats = nugget_stats(
        questions, official_settings.weights, returned_counts, returned_counts, lengths
    )
    return RunAnswers(shares[0], stats.run(0)), RunAnswers(shares[1], stats.run(1))
