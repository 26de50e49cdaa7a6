"""Scores by another program for the same outputs, as a metric.

Statistics are the sum of the scores, their number, and the number of segments:

    score = sum of scores / number of scores

For whole systems, a given system score that differs from this mean replaces it.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, ClassVar

from karat.arrays import Flags, Floats, NDArray, np
from karat.errors import InputError, MetricError, quoted, short
from karat.evalset.formats.score_files import read_scores
from karat.evalset.given_scores import GivenScores, Offered, make_given_scores
from karat.metrics.base import Metric
from karat.metrics.pairs import Outputs, SegmentNames
from karat.progress import Progress, silent
from karat.settings import nearest, setting, to_text

if TYPE_CHECKING:
    from karat.evalset.sets import EvalSet
    from karat.metrics.pairs import Pairs

LOWER = frozenset(
    ["ter", "wer", "cer", "per", "cder", "hter", "mwer", "metricx", "ppl", "perplexity"]
)
"""Metrics whose lower scores are better, unless all scores are at or below 0 (negated)."""
HIGHER = frozenset(
    [
        *("bartscore", "bertscore", "bleu", "bleurt", "chrf", "comet", "cometkiwi", "f200spbleu"),
        *("gemba", "mee", "mee4", "meteor", "mqm", "nist", "prism", "prismref", "prismsrc"),
        *("rouge", "sacrebleu", "spbleu", "unite", "xcomet", "yisi"),
    ]
)
"""Metrics whose higher scores are better."""
SET = "{set}"
"""Placeholder for the name of the evaluation set in the path of a file."""
_SYSTEM = {
    "given": "the score that the system was given, where it has one",
    "mean": "the mean of its segment scores",
}
_SOURCES_HINT = (
    "given:file=scores.tsv reads a file, given:column=NAME a column of the table, "
    "given:metric=NAME what the evaluation set offers"
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
        "(a pattern such as * or COMET* takes several).",
        kind=str,
    )
    column: str | None = setting(
        None, "Column of scores: of the file, or else of the table that is scored.", kind=str
    )
    higher: bool | None = setting(
        None, "Whether higher scores are better (none: by the name).", kind=bool
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
        """Return a metric for each of the set's scores that matches the name, or for the file."""
        if self.is_loaded or self.of_table or (self.file is not None and evalset is None):
            return (self,)
        if self.file is not None and evalset is not None:
            path = self.file.replace(SET, evalset.name)
            return (self.with_scores(read_scores(path, self.column)),)
        offered: Offered = {} if evalset is None else evalset.offered
        pattern = self.metric or "*"
        chosen = [pattern] if pattern in offered else []
        if any(c in pattern for c in "*?["):
            chosen = [name for name in offered if fnmatchcase(name, pattern)]
        if not offered:
            raise InputError(f"{self} has no scores here: {_SOURCES_HINT}")
        if not chosen:
            has = f"it offers {short(', '.join(offered))}"
            raise InputError(
                f"{self}: the set has no scores of {quoted(pattern)}{nearest(pattern, offered)} "
                f"({has}); {_SOURCES_HINT}"
            )
        settings = {f.name: getattr(self, f.name) for f in self.settings()}
        return [type(self)(**{**settings, "metric": n}).with_scores(offered[n]()) for n in chosen]

    @cached_property
    def _word(self) -> str:
        words = [word for word in re.split(r"[^a-z0-9]+", self.label.lower()) if word]
        return words[0] if words else ""

    @property
    def sign(self) -> int:
        """1 if higher is better: by the setting, the file, or the name of the metric."""
        if self.higher is not None:
            return 1 if self.higher else -1
        if self.is_loaded and self.scores_by_system.lower_is_better:
            return -1
        turned = self.is_loaded and (
            self.scores_by_system.oriented or self.scores_by_system.negated
        )
        return -1 if self._word in LOWER and not turned else 1

    def remarks(self) -> tuple[str, ...]:
        """Return notes on the assumed direction and on system scores."""
        scores = self.scores_by_system if self.is_loaded else None
        notes = []
        if self.higher is None and not (scores and (scores.oriented or scores.lower_is_better)):
            if self.sign < 0:
                notes.append("lower is better, by its name; higher=yes says otherwise")
            elif self._word in LOWER:
                reason = "since scores are below 0, none above"
                notes.append(f"higher is better, {reason}; higher=no says otherwise")
            elif self._word not in HIGHER:
                notes.append("higher is taken to be better; higher=no says otherwise")
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
        return InputError(f"{self} is a column of a table, and no table is scored: {_SOURCES_HINT}")

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
