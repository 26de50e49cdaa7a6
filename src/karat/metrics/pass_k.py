"""pass@k and pass^k: several answers to each question, each of them right or wrong.

A question has n answers, c of them right. Both scores are functions of n and c, computed for each
question; the score of a system is their mean over questions, which weigh equally. They are never
functions of counts that were added over questions.
"""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import Field, dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from karat.arrays import ArrayLike, Flags, Floats, Ints, NDArray, np
from karat.errors import InputError, quoted
from karat.metrics.answers import AnswerMetric
from karat.metrics.base import Metric
from karat.progress import Progress, silent
from karat.settings import quote_if_needed, setting
from karat.text.tokens import Recipe

if TYPE_CHECKING:
    from karat.evalset.sets import EvalSet
    from karat.metrics.pairs import Pairs, SegmentNames

MAX_K = 1_000_000


@dataclass(frozen=True)
class PassMetric(Metric):
    """The base class of pass@k and pass^k, which score questions by the metric `of` of answers."""

    by_unit: ClassVar[bool] = True
    is_share: ClassVar[bool] = True
    symbol: ClassVar[str]
    """The character between `pass` and k."""

    k: int = setting(
        1, "Number of answers drawn; part of the name: pass@1, pass@5, …", low=1, high=MAX_K
    )
    of: str = setting(
        "em", "Metric that scores an answer 1 or 0: em, contains, number, regex, json or given."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        scoring = self.answer_metric
        if scoring.by_unit or not (scoring.is_share or not scoring.reads_texts):
            problem = "does not score an answer 1 or 0: expected em, contains, number, regex, json"
            raise self._error("of", self.of, f"{problem}, or given scores")
        object.__setattr__(self, "of", str(scoring))

    @abstractmethod
    def probability(self, correct: Ints, answers: Ints) -> Floats:
        """Return the score of questions with these numbers of right answers and of answers."""

    @cached_property
    def answer_metric(self) -> Metric:
        """The metric of single answers."""
        from karat.metrics.names import metric

        return metric(self.of)

    def with_answer_metric(self, answer_metric: Metric) -> PassMetric:
        """Return this metric with a metric of answers that has its data."""
        changed = copy.copy(self)
        object.__setattr__(changed, "of", str(answer_metric))
        changed.__dict__["answer_metric"] = answer_metric
        return changed

    def _head(self) -> str:
        return f"pass{self.symbol}{self.k}"

    @classmethod
    def settings(cls) -> list[Field[Any]]:
        return [f for f in fields(cls) if f.name != "k"]

    def _full(self, name: str) -> str:
        return self.answer_metric.full_name() if name == "of" else super()._full(name)

    def method(self, references: int | None) -> str:
        """Return the signature without fields that differ between two runs of one method."""
        name = self.answer_metric.full_name()
        method = self.answer_metric.method(references).partition("|nrefs=")[0]
        signature = self.signature(references)
        return signature.replace(quote_if_needed(name), quote_if_needed(method))

    # ------------------------------------------------------------------------------ statistics

    def columns(self) -> tuple[str, ...]:
        """Return the columns: right answers, answers, sum of the scores of questions, questions."""
        return "correct", "segments", "passed", "questions"

    def rows(self, pairs: Pairs) -> NDArray[Any]:
        """Return 1 or 0 and 1 for each answer; `unit_rows` adds the scores of questions."""
        rows = self.answer_metric.rows(pairs)
        has_score = self.answer_metric.has_score(rows)
        values = np.where(has_score, self.answer_metric.of_segments().measure(rows)["value"], 0.0)
        other = np.flatnonzero((values != 0) & (values != 1))
        if len(other):
            place = f"segment {pairs.row_number(int(other[0])):,}"
            problem = f"{place} scores {values[other[0]]:g} by {self.of}: expected 1 or 0"
            raise InputError(f"{self}: {problem} for an answer that is right or wrong")
        none = np.zeros(len(rows), np.int64)
        return np.column_stack([values.astype(np.int64), has_score.astype(np.int64), none, none])

    def unit_rows(self, rows: NDArray[Any], labels: Sequence[str] | None) -> NDArray[Any]:
        """Return the rows of questions, from the sums of their answers."""
        correct, answers = (rows[:, at].astype(np.int64) for at in range(2))
        lacking = np.flatnonzero((answers > 0) & (answers < self.k))
        if len(lacking) and answers.max() == 1 and labels is None:
            raise self._unknown_questions("each answer is a question of its own here")
        if len(lacking):
            at = int(lacking[answers[lacking].argmin()])
            name, count = f"{at + 1:,}" if labels is None else quoted(labels[at]), answers[at]
            size = f"1 answer, and k is {self.k}" if count == 1 else f"{count:,} answers"
            raise InputError(
                f"{self}: question {name} has {size}: give at most pass{self.symbol}{count}, or "
                "more answers"
            )
        has_score = answers > 0
        passed = np.zeros(len(rows))
        if has_score.any():
            passed[has_score] = self.probability(correct[has_score], answers[has_score])
        return np.column_stack([correct, answers, passed, has_score])

    def unit_notes(self, rows: NDArray[Any]) -> tuple[str, ...]:
        """Return a note on the numbers of answers, if questions differ in it."""
        answers = rows[rows[:, 1] > 0, 1]
        if not len(answers) or answers.min() == answers.max():
            return ()
        return (f"questions have {answers.min():.0f} to {answers.max():.0f} answers",)

    def measure(self, rows: NDArray[Any]) -> dict[str, Floats]:
        """Return the mean over questions; of a single answer, whether it is right."""
        correct, answers, passed, questions = np.asarray(rows, np.float64).T
        pooled = (questions == 0) & (answers > 1)
        if self.k > 1 and pooled.any():
            raise self._unknown_questions("right answers were added without them")
        value = np.divide(correct, answers, out=np.full(len(rows), np.nan), where=answers > 0)
        value = np.divide(passed, questions, out=value, where=questions > 0)
        return {"value": value, "correct": correct, "segments": answers, "questions": questions}

    def _unknown_questions(self, reason: str) -> InputError:
        return InputError(
            f"{self} needs the question of each answer, and {reason}: score or compare a set that "
            "groups its answers, or name the questions (--unit COLUMN, in Python units=[...])"
        )

    def has_score(self, rows: NDArray[Any]) -> Flags:
        """Return whether each answer, or question, has a score."""
        scored: Flags = rows[:, 1] > 0
        return scored

    def without_scores(self, rows: NDArray[Any], left_out: Flags) -> NDArray[Any]:
        """Return the rows as if some answers had no score."""
        changed: NDArray[Any] = rows.copy()
        changed[left_out] = 0
        return changed

    def of_segments(self) -> Metric:
        """Return the metric of single answers, where it reads rows like these."""
        return self.answer_metric if isinstance(self.answer_metric, AnswerMetric) else self

    # -------------------------------------------------------------- as the metric of answers is

    @property
    def reads_texts(self) -> bool:  # type: ignore[override]
        """False if scores come from other programs, so that no references are needed."""
        return self.answer_metric.reads_texts

    @property
    def uses_human_scores(self) -> bool:  # type: ignore[override]
        """True if scores are made from human scores."""
        return self.answer_metric.uses_human_scores

    @property
    def needs_references(self) -> bool:
        """True if segments need references."""
        return self.answer_metric.needs_references

    @property
    def slow(self) -> bool:
        """True if segments take so long that batches must be small."""
        return self.answer_metric.slow

    def overlaps(self) -> Iterator[tuple[Recipe, int]]:
        """Yield the recipes and orders of n-grams."""
        return self.answer_metric.overlaps()

    def input_files(self) -> list[str]:
        """Return the files named in the settings."""
        return self.answer_metric.input_files()

    def remarks(self) -> tuple[str, ...]:
        """Return notes for the readers of all scores."""
        return self.answer_metric.remarks()

    def for_evalset(
        self, evalset: EvalSet | None, threads: int | None = None, progress: Progress = silent
    ) -> Sequence[Metric]:
        """Return the metrics to compute for an evaluation set, with the data that they need."""
        loaded = self.answer_metric.for_evalset(evalset, threads, progress)
        return [self.with_answer_metric(answer_metric) for answer_metric in loaded]

    def check_independent(self, evalset: EvalSet, dimensions: Iterable[str]) -> None:
        """Raise if answers have human scores that are part of the ones it is compared with."""
        self.answer_metric.check_independent(evalset, dimensions)

    def table_columns(self) -> tuple[str, ...]:
        """Return the columns of a table from which scores are read."""
        return self.answer_metric.table_columns()

    def check_outputs(self, systems: Sequence[str], segments: SegmentNames) -> None:
        """Raise if systems or segments cannot be scored."""
        self.answer_metric.check_outputs(systems, segments)


@dataclass(frozen=True)
class PassAtK(PassMetric):
    """Probability that at least one of k answers is right; the mean over questions.

        pass@k = 1 - C(n - c, k) / C(n, k)

    with c of the n answers to a question right.
    """

    name: ClassVar[str] = "pass@1"
    title: ClassVar[str] = "pass@1, pass@5, …"
    symbol: ClassVar[str] = "@"

    def probability(self, correct: Ints, answers: Ints) -> Floats:
        return pass_at_k(correct, answers, self.k)


@dataclass(frozen=True)
class PassAllK(PassMetric):
    """Probability that all of k answers are right; the mean over questions.

        pass^k = C(c, k) / C(n, k)

    with c of the n answers to a question right.
    """

    name: ClassVar[str] = "pass^1"
    title: ClassVar[str] = "pass^1, pass^5, …"
    symbol: ClassVar[str] = "^"

    def probability(self, correct: Ints, answers: Ints) -> Floats:
        return pass_all_k(correct, answers, self.k)


# ------------------------------------------------------------------------------- the formulas


def pass_at_k(correct: ArrayLike, answers: ArrayLike, k: int) -> Floats:
    """Return for each question the probability that at least one of k answers is right.

    The k answers are drawn from the n = `answers` of the question, c = `correct` of them right,
    without replacement (Chen et al. 2021):

        pass@k = 1 - C(n - c, k) / C(n, k)

    It is computed as the probability that the first right answer is the i-th, summed over i up to
    k, which loses no digits where n is large and pass@k small. The score of a system is the mean.
    """
    right, total = _check_counts(correct, answers, k)
    none_so_far, value = np.ones(len(right)), np.zeros(len(right))
    for draw in range(k):
        left = total - draw
        value += none_so_far * np.minimum(right / left, 1.0)
        none_so_far *= np.maximum(left - right, 0) / left
    return np.minimum(value, 1.0)


def pass_all_k(correct: ArrayLike, answers: ArrayLike, k: int) -> Floats:
    """Return for each question the probability that all of k answers are right.

    With n = `answers`, c = `correct` of them right, drawn without replacement (Yao et al. 2024):

        pass^k = C(c, k) / C(n, k)
    """
    right, total = _check_counts(correct, answers, k)
    value = np.ones(len(right))
    for draw in range(k):
        value *= np.maximum(right - draw, 0) / (total - draw)
    return value


def _check_counts(correct: ArrayLike, answers: ArrayLike, k: int) -> tuple[Ints, Ints]:
    """Return the counts as arrays; raise if they are no counts, or k is too large."""
    right, total = (_whole_numbers(counts) for counts in (correct, answers))
    if len(right) != len(total) or not len(right):
        raise InputError(
            f"{len(right):,} numbers of right answers and {len(total):,} numbers of answers: "
            "expected one of each for every question"
        )
    wrong = np.flatnonzero((right < 0) | (right > total))
    if len(wrong):
        question = int(wrong[0])
        raise InputError(
            f"question {question + 1:,}: {right[question]:,} of {total[question]:,} answers are "
            "right: expected 0 to all of them"
        )
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise InputError(f"k={quoted(k)}: expected a whole number, 1 or more")
    fewest = int(total.argmin())
    if k > total[fewest]:
        raise InputError(
            f"k={k}: question {fewest + 1:,} has {total[fewest]:,} answers; give at most "
            "the smallest number of answers"
        )
    return right, total


def _whole_numbers(counts: ArrayLike) -> Ints:
    numbers = np.asarray(counts)
    if numbers.ndim != 1 or numbers.dtype.kind not in "iub":
        raise InputError(f"counts {quoted(counts)}: expected a list of whole numbers")
    return numbers.astype(np.int64)
