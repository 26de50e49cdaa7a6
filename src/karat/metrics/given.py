"""Scores by another program for the same outputs, as a metric.

Statistics are the sum of the scores, their number, and the number of segments:

    score = sum of scores / number of scores

For whole systems, a given system score that differs from this mean replaces it.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, ClassVar

from karat.arrays import Flags, Floats, NDArray, np
from karat.errors import InputError, MetricError, quoted, short
from karat.evalset.directions import direction_of_name
from karat.evalset.formats.score_files import read_scores
from karat.evalset.given_scores import GivenScores, make_given_scores
from karat.evalset.judged_scores import judged_scores, parse_judged_name, shared_judges
from karat.metrics.base import Metric
from karat.metrics.pairs import Outputs, SegmentNames
from karat.progress import Progress, silent
from karat.settings import nearest, setting, to_text

if TYPE_CHECKING:
    from karat.evalset.sets import EvalSet
    from karat.metrics.pairs import Pairs

SET = "{set}"
"""Placeholder for the name of the evaluation set in the path of a file."""
_SYSTEM = {
    "given": "the score that the system was given, where it has one",
    "mean": "the mean of its segment scores",
}
_SOURCES_HINT = (
    "given:file=scores.tsv reads a file, given:column=NAME a column of the table, "
    "given:metric=NAME scores or judgements of the evaluation set"
)


@dataclass(frozen=True)
class ExternalScores(Metric):
    """Scores by another program for the same outputs; the mean of segments, or of systems."""

    name: ClassVar[str] = "given"
    title: ClassVar[str] = "Given scores"
    score_range: ClassVar[str] = "that of the scores"
    bounded: ClassVar[bool] = False
    reads_texts: ClassVar[bool] = False
    aliases: ClassVar[Mapping[str, str]] = {"name": "metric"}
    segments_only: ClassVar[bool] = False
    """True if system scores are ignored, to score segments."""

    file: str | None = setting(
        None,
        "File with the columns system, segment and score; {set} in it is the name of the set.",
        kind=str,
        place=True,
    )
    metric: str | None = setting(
        None,
        "Name of the metric, as it is shown; without file, that of scores that come with the set "
        "(a pattern such as * or COMET* takes several), a dimension of its judgements, or one "
        "judge of it, as in fluency/gpt.",
        kind=str,
    )
    column: str | None = setting(
        None,
        "Column of scores: of the file, or else of the table or the set that is scored.",
        kind=str,
    )
    higher: bool | None = setting(
        None, "Whether higher scores are better (none: by the name or the dimension).", kind=bool
    )
    system: str = setting("given", "Score of a whole system.", choices=_SYSTEM)
    digest: str | None = setting(
        None,
        "Digest of the scores, as signatures have it; others are refused.",
        kind=str,
        compare=False,
    )

    @cached_property
    def scores_by_system(self) -> GivenScores:
        """All scores of systems and segments."""
        if self.file is None:
            raise InputError(f"{self} has no scores here: {_SOURCES_HINT}")
        if SET in self.file:
            problem = f"{SET} stands for the name of an evaluation set, and texts are scored"
            raise InputError(f"{self}: {problem}: name the file")
        return self._check_digest(read_scores(self.file, self.column))

    def _check_digest(self, scores: GivenScores) -> GivenScores:
        if self.digest not in (None, scores.digest):
            problem = f"the scores of {scores.source} have the digest {scores.digest}"
            raise MetricError(f"{self}: {problem}: the signature is of other scores")
        return scores

    def with_scores(self, scores: GivenScores) -> ExternalScores:
        """Return this metric with these scores."""
        metric = copy.copy(self)
        metric.__dict__["scores_by_system"] = self._check_digest(scores)
        return metric

    @property
    def of_table(self) -> bool:
        """True if the scores are a column of the table that is scored."""
        has_scores = self.file is not None or "scores_by_system" in self.__dict__
        return self.column is not None and not has_scores

    @property
    def is_loaded(self) -> bool:
        """True if the scores are available without an evaluation set or a table."""
        has_file = self.file is not None and SET not in self.file
        return has_file or "scores_by_system" in self.__dict__

    @property
    def label(self) -> str:
        """The short name."""
        stem = "" if self.file is None else PurePath(self.file).name.partition(".")[0]
        return self.metric or self.column or stem or self.name

    def for_evalset(
        self, evalset: EvalSet | None, threads: int | None = None, progress: Progress = silent
    ) -> Sequence[Metric]:
        """Return the metrics with their scores: of a file, or of the set.

        A column or a name is scores that come with the set; a name may also be a dimension of its
        judgements, or a dimension and a judge. A pattern takes all matching scores, and no
        judgements.
        """
        if self.is_loaded or (evalset is None and (self.file or self.column)):
            return (self,)
        if evalset is None:
            raise InputError(f"{self} has no scores here: {_SOURCES_HINT}")
        if self.file is not None:
            path = self.file.replace(SET, evalset.name)
            return (self.with_scores(read_scores(path, self.column)),)
        if self.column is not None:
            return (self._with_column(evalset, self.column),)
        pattern, offered = self.metric or "*", evalset.offered
        judged = parse_judged_name(evalset, pattern) if pattern not in offered else None
        if pattern in offered and pattern in evalset.dimensions:
            column = type(self)(column=pattern)
            problem = f"{quoted(pattern)} has scores and is a dimension of {evalset.name}"
            raise InputError(f"{self}: {problem}: {column} takes the scores; rename one of them")
        if judged is not None:
            return (self.with_scores(judged_scores(evalset, judged)),)
        chosen = [pattern] if pattern in offered else []
        if any(c in pattern for c in "*?["):
            chosen = [name for name in offered if fnmatchcase(name, pattern)]
        if not chosen:
            raise self._no_such_scores(evalset, pattern)
        settings = {f.name: getattr(self, f.name) for f in self.settings()}
        return [type(self)(**{**settings, "metric": n}).with_scores(offered[n]()) for n in chosen]

    def _with_column(self, evalset: EvalSet, column: str) -> ExternalScores:
        """Return this metric with scores that come with the set."""
        if self.metric not in (None, column) and self.metric in evalset.offered:
            name = type(self)(column=self.metric)
            raise InputError(
                f"{self}: {quoted(self.metric)} is the name of other scores of {evalset.name}: "
                f"{name} takes them, {type(self)(column=column)} those of {quoted(column)}"
            )
        if column in evalset.offered:
            return self.with_scores(evalset.offered[column]())
        raise self._no_such_scores(evalset, column)

    def _no_such_scores(self, evalset: EvalSet, name: str) -> InputError:
        """Return the error for a name without scores in the set."""
        offered, dimensions = [*evalset.offered], [*evalset.dimensions]
        if not (offered or dimensions):
            return InputError(f"{self} has no scores here: {_SOURCES_HINT}")
        if name in dimensions:
            advice = f"it is a dimension of judgements: {type(self)(metric=name)}"
            return InputError(f"{self}: {evalset.name} has no column {quoted(name)}; {advice}")
        has = f"it offers {short(', '.join(offered))}" if offered else "it offers no scores"
        if dimensions:
            has = f"{has}; its judgements have the dimensions {short(', '.join(dimensions))}"
        return InputError(
            f"{self}: the set has no scores of {quoted(name)}{nearest(name, offered + dimensions)} "
            f"({has}); {_SOURCES_HINT}"
        )

    @cached_property
    def _named_direction(self) -> int:
        """1 or -1 by the name, 0 if the name does not say it; that of the column comes first."""
        of_column = 0 if self.column is None else direction_of_name(self.column, is_file=True)
        return of_column or direction_of_name(self.label, is_file=not (self.metric or self.column))

    @property
    def _declares_direction(self) -> bool:
        """True if the scores come with their direction."""
        if not self.is_loaded:
            return False
        return self.scores_by_system.oriented or self.scores_by_system.lower_is_better

    @property
    def _is_negated(self) -> bool:
        """True if the name is that of an error rate and all scores are below 0."""
        return self._named_direction < 0 and self.is_loaded and self.scores_by_system.negated

    @property
    def sign(self) -> int:
        """1 if higher is better: by the setting, the scores, or the name of the metric."""
        if self.higher is not None:
            return 1 if self.higher else -1
        if self._declares_direction:
            return -1 if self.scores_by_system.lower_is_better else 1
        return -1 if self._named_direction < 0 and not self._is_negated else 1

    @property
    def score_limits(self) -> tuple[float, float]:
        """The ends of the scale of judgements; infinite for other scores."""
        scores = self.scores_by_system if self.is_loaded else None
        low, high = (None, None) if scores is None else (scores.low, scores.high)
        return -math.inf if low is None else float(low), math.inf if high is None else float(high)

    def check_direction(self) -> None:
        """Raise if neither the setting, the scores nor the name say which direction is better."""
        if self.higher is None and not self._declares_direction and not self._named_direction:
            advice = f"add higher=yes or higher=no, as in {replace(self, higher=False)}"
            problem = "it is unknown whether higher scores are better, which decides the gate"
            raise InputError(f"{self}: {problem}: {advice}")

    def check_independent(self, evalset: EvalSet, dimensions: Iterable[str]) -> None:
        """Raise if the scores are judgements of judges with whose mean they are compared."""
        if not self.is_loaded or self.scores_by_system.dimension is None:
            return
        for dimension, judges in shared_judges(evalset, self.scores_by_system, dimensions):
            whose = short(", ".join(sorted(judges)))
            raise InputError(
                f"{self}: it has the judgements of {whose}, which are also in the human scores of "
                f"{short(dimension)} that it is compared with: leave it out, or use karat data "
                "judges for the agreement between judges"
            )

    def remarks(self) -> tuple[str, ...]:
        """Return notes on the assumed direction and on system scores."""
        scores = self.scores_by_system if self.is_loaded else None
        notes = []
        if self.higher is None and not self._declares_direction:
            if self.sign < 0:
                notes.append("lower is better, by its name; higher=yes says otherwise")
            elif self._is_negated:
                reason = "since scores are below 0, none above"
                notes.append(f"higher is better, {reason}; higher=no says otherwise")
            elif not self._named_direction:
                notes.append("higher is assumed to be better; higher=yes or higher=no states it")
        if scores and not scores.has_segments:
            notes.append("systems have scores, segments have none")
        elif scores and self.system == "given" and scores.has_system_scores:
            notes.append(
                "systems have scores that are not the mean of their segments' scores; resamples "
                "of segments leave them as they are (system=mean takes the mean)"
            )
        return tuple(f"{self}: {note}." for note in notes)

    def columns(self) -> tuple[str, ...]:
        """Return the columns: sums and numbers of segment scores, segments and system scores."""
        return "sum", "known", "segments", "system_sum", "system_known"

    def rows(self, pairs: Pairs) -> Floats:
        """Return the score of each segment, 0 if it is missing, and the system score."""
        outputs = pairs.outputs
        values, system_scores = np.full((2, outputs.count), np.nan)
        if not self.of_table:
            self._look_up(outputs, values, system_scores)
        elif self.column is None or self.column not in outputs.columns:
            raise self._no_table()
        else:
            values = outputs.columns[self.column]
        parts = *_split_missing(values), np.ones(outputs.count), *_split_missing(system_scores)
        return np.stack(parts, axis=1)

    def _no_table(self) -> InputError:
        problem = "a column of a table or of a set, and neither is scored"
        return InputError(f"{self} is {problem}: {_SOURCES_HINT}")

    def _look_up(self, outputs: Outputs, values: Floats, system_scores: Floats) -> None:
        """Fill in the scores of segments and of systems."""
        scores, ids = self.scores_by_system, outputs.segments()
        if outputs.of_table and scores.has_segments and (outputs.ids is None or scores.in_order):
            expected = "scores by the ids of segments, and a column of ids (--id COLUMN)"
            raise InputError(f"{self}: a table needs {expected}")
        for system, places in outputs.by_system():
            scores.check_system(system)
            system_ids = ids if len(places) == len(ids) else [ids[i] for i in places.tolist()]
            values[places] = scores.segment_scores(system, system_ids, outputs.first)
            if self.system == "given":
                system_scores[places] = scores.system_score(system)

    def table_columns(self) -> tuple[str, ...]:
        """Return the column of scores, if it is in the table."""
        return (self.column,) if self.of_table and self.column else ()

    def measure(self, rows: NDArray[Any]) -> dict[str, Floats]:
        """Return the mean of the scores, or the system score; NaN if both are missing."""
        total, count, segments, system_total, systems = np.asarray(rows, np.float64).T
        mean = np.divide(total, count, out=np.full(len(rows), np.nan), where=count > 0)
        value = mean
        if not self.segments_only:
            value = np.divide(system_total, systems, out=mean.copy(), where=systems > 0)
        return {"value": value, "mean": mean, "known": count, "segments": segments}

    def has_score(self, rows: NDArray[Any]) -> Flags:
        """Return whether each segment has a score."""
        scored: Flags = rows[:, 1] > 0
        return scored

    def without_scores(self, rows: NDArray[Any], left_out: Flags) -> NDArray[Any]:
        """Return the rows as if some segments had no score."""
        changed: NDArray[Any] = rows.copy()
        changed[left_out, :2] = 0
        return changed

    def of_segments(self) -> Metric:
        """Return the metric without system scores."""
        segment_metric = copy.copy(self)
        segment_metric.__dict__["segments_only"] = True
        return segment_metric

    def of_documents(self) -> Metric:
        """Return the mean over the segments of a document."""
        return self.of_segments()

    def check_outputs(self, systems: Sequence[str], segments: SegmentNames) -> None:
        """Raise if a system has no scores, or a score belongs to an unknown segment."""
        if self.of_table:
            raise self._no_table()
        for system in systems:
            self.scores_by_system.check_system(system)
            self.scores_by_system.check_order(system, segments.count)
        self.scores_by_system.check_ids(segments.has_id, (segments.listed() or ["1"])[0])

    def check_used(self, system: str, total: NDArray[Any]) -> None:
        """Raise if the table has no row for a score."""
        n_scores = len(self.scores_by_system.present_scores(system)) if self.is_loaded else 0
        if n_scores > total[1]:
            more = f"{n_scores - int(total[1]):,} of {n_scores:,} scores of system {quoted(system)}"
            raise InputError(
                f"{self.scores_by_system.source}: the table has no segments for {more}"
            )

    def check_resampled(self, system: str, total: NDArray[Any]) -> None:
        """Raise if the system score is not the mean of segment scores."""
        if total[4] > 0:
            mean = "; system=mean takes the mean of segment scores" if total[1] > 0 else ""
            raise InputError(
                f"{self}: the score of system {quoted(system)} does not come from scores of its "
                f"segments, which intervals and tests draw{mean or ': leave this metric out'}"
            )

    def notes(self, row: NDArray[Any]) -> tuple[str, ...]:
        """Return a note on segments without a score."""
        n_scored, segments = int(row[1]), int(row[2])
        if n_scored == segments or (row[4] > 0 and not n_scored):
            return ()
        missing = f"{segments - n_scored:,} of {segments:,} segments"
        return (f"{missing} {'has' if segments - n_scored == 1 else 'have'} no score",)

    def digested(self) -> str:
        """Return the name with the digest of the scores."""
        settings = {f.name: getattr(self, f.name) for f in self.settings()}
        return str(type(self)(**{**settings, "digest": self._full_digest()}))

    def method(self, references: int | None) -> str:
        """Return the signature without the digest of the scores, which differs between runs."""
        return self.signature(references).replace(f",digest={self._full_digest()}", "")

    def _full_digest(self) -> str | None:
        return self.scores_by_system.digest if self.is_loaded else self.digest

    def _full(self, name: str) -> str:
        return to_text(self._full_digest()) if name == "digest" else super()._full(name)


def external_scores(
    name: str,
    scores: Mapping[str, object] | Sequence[float | None],
    *,
    systems: Mapping[str, float] | None = None,
    higher: bool | None = None,
) -> ExternalScores:
    """Return scores by another program as a metric.

    Args:
        name: the metric's name, which is shown and decides the direction unless `higher` does.
        scores: for each system a score for each segment, in their order, or scores by the ids of
            segments; None and NaN are missing. A list alone is of the system `candidate`.
        systems: scores of whole systems, where they are not the mean of their segments' scores.
        higher: whether higher scores are better.
    """
    return ExternalScores(metric=name, higher=higher).with_scores(
        make_given_scores(name, scores, systems)
    )


def _split_missing(scores: Floats) -> tuple[Floats, Floats]:
    """Return scores with 0 for missing ones, and an array with 1 where a score is present."""
    has_score = ~np.isnan(scores)
    return np.where(has_score, scores, 0.0), has_score.astype(np.float64)
