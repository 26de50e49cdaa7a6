"""Explanations of segment scores, by metrics that support them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from karat.arrays import np
from karat.errors import InputError, quoted, short
from karat.metrics.names import metric
from karat.metrics.pairs import SegmentNames
from karat.progress import Progress, silent
from karat.results import Result
from karat.scoring import Keep, TextInputs, compute_statistics, inputs_from_set
from karat.text.references import GivenReferences, References, as_references
from karat.text.segments import Segments, Texts, as_segments
from karat.text.trees import TextWithTrees, Trees

if TYPE_CHECKING:
    from karat.evalset.loading import SetSource
    from karat.metrics.base import Metric
    from karat.metrics.entailment import SupportExplanation
    from karat.metrics.facts import FactsExplanation
    from karat.metrics.gtm import Explanation
    from karat.metrics.tree import TreeExplanation

    SegmentExplanation: TypeAlias = (
        Explanation | TreeExplanation | FactsExplanation | SupportExplanation
    )


class ExplainedSegment(NamedTuple):
    """A segment with its grid, its treelets, its facts or its supported sentences."""

    segment: int | str
    """Number of the segment, from 1, or its name."""
    explanation: SegmentExplanation


@dataclass(frozen=True, eq=False, repr=False)
class SegmentExplanations(Result):
    """Some segments of one system, explained by one metric."""

    system: str
    metric: Metric
    rows: tuple[ExplainedSegment, ...]
    remarks: tuple[str, ...] = ()
    """Remarks of the set: how its table was read."""

    @property
    def settings(self) -> dict[str, object]:
        """The metric and the segments that were chosen."""
        return {"metric": str(self.metric), "segments": tuple(row.segment for row in self.rows)}

    @property
    def notes(self) -> tuple[str, ...]:
        """A note on shares if the score is computed from another accuracy."""
        regression = "Shares are of the simple tree accuracy, from which the score is computed."
        values = [
            (row.explanation.value, getattr(row.explanation, "accuracy", None)) for row in self.rows
        ]
        other = any(accuracy not in (None, value) for value, accuracy in values)
        return (*((regression,) if other else ()), *self.remarks)

    @property
    def signature(self) -> str:
        """The signature of the metric on these segments."""
        return self.rows[0].explanation.signature


def explain_segments(
    candidates: Texts | SetSource,
    references: GivenReferences | None = None,
    by: str | Metric = "gtm:e=2",
    *,
    segments: Sequence[int] = (),
    worst: int | None = None,
    system: str | None = None,
    progress: Progress = silent,
) -> SegmentExplanations:
    """Explain the scores of segments.

    Args:
        candidates, references: texts, as for `score`; or a set, its name or path, the path of a
            table, or a frame, which have their own references.
        by: `gtm`, `facts` or `support` with any of their settings, or a tree accuracy.
        segments: numbers of the segments, from 1; by default the first.
        worst: number of segments with the worst scores, instead of `segments`.
        system: system of a set with several; or the name of texts in reports.
        progress: function that is called with the progress.
    """
    if segments and worst:
        raise InputError("segments are chosen by number and as the worst: leave one out")
    if worst is not None and (not isinstance(worst, int) or worst < 1):
        raise InputError(f"worst={quoted(worst)}: expected a number of segments, from 1 on")
    from karat.metrics.entailment import Support
    from karat.metrics.facts import FactAgreement
    from karat.metrics.gtm import GTM
    from karat.metrics.tree import TreeAccuracy

    explainer = metric(by)
    if not isinstance(explainer, GTM | TreeAccuracy | FactAgreement | Support):
        raise InputError(
            f"{explainer} cannot explain segments: expected gtm, such as gtm:e=2, facts, support, "
            "or a tree accuracy, such as generation_tree_accuracy"
        )
    explained = _open_system(candidates, references, system, explainer, progress)
    for number in segments:
        if not isinstance(number, int) or number < 1:
            raise InputError(f"segment {quoted(number)}: expected a number from 1 on")
        if number > len(explained.texts):
            last = f"the last segment of {explained.texts.name} is {len(explained.texts):,}"
            raise InputError(f"segment {number}: {last}")
    places = [number - 1 for number in dict.fromkeys(segments or (1,))]
    if worst:
        places = explained.worst_places(worst, progress)
    rows = [ExplainedSegment(at + 1, explained.explain(at)) for at in places]
    return SegmentExplanations(explained.name, explained.by, tuple(rows), explained.remarks)


class _ExplainedSystem(NamedTuple):
    """The texts of one system, and the metric that explains them, with what it reads of a set."""

    by: Any
    texts: Segments
    references: References
    name: str
    ids: Sequence[str] | None = None
    remarks: tuple[str, ...] = ()
    """Remarks of the set."""

    @property
    def inputs(self) -> TextInputs:
        """The inputs of scoring."""
        names = SegmentNames(len(self.texts), self.ids)
        return TextInputs({self.name: self.texts}, self.references, [self.by], names)

    def check(self) -> None:
        """Raise if the metric cannot score the texts."""
        self.by.check_claims(self.references.number, {})
        self.by.check_outputs([self.name], self.inputs.segments)

    def worst_places(self, count: int, progress: Progress) -> list[int]:
        """Return the segments with the worst scores, the worst first."""
        stats = compute_statistics(self.inputs, Keep(segment_scores=True), None, progress)
        values = self.by.sign * np.asarray(stats[self.name, self.by].segment_scores)
        places: list[int] = values.argsort(kind="stable")[:count].tolist()
        return places

    def explain(self, place: int) -> SegmentExplanation:
        """Return the explanation of one segment."""
        from karat.metrics.gtm import GTM
        from karat.metrics.tree import TreeAccuracy

        candidate, references = self.texts.strings([place])[0], self.references
        arguments: tuple[Any, ...]
        if isinstance(self.by, GTM):
            arguments = candidate, references.strings([place])[0]
        elif not isinstance(self.by, TreeAccuracy):
            against = references.strings([place])[0]
            arguments = candidate, against, self.name, self.inputs.segments.listed()[place]
        elif isinstance(references, Trees | TextWithTrees):
            arguments = candidate, references[place]
        else:
            needs = f"{self.by.name} needs dependency trees as references, a .conllu file"
            raise InputError(f"{references.name} has no trees: {needs}")
        try:
            explanation: SegmentExplanation = self.by.explain(*arguments)
        except InputError as error:
            raise InputError(f"segment {place + 1:,}: {error}") from None
        return explanation


def _open_system(
    candidates: Texts | SetSource,
    references: GivenReferences | None,
    system: str | None,
    by: Metric,
    progress: Progress,
) -> _ExplainedSystem:
    """Return the texts of one system and the metric that explains them, checked."""
    if references is not None:
        unchecked: Any = candidates
        texts = as_segments(unchecked, "candidates")
        refs = as_references(references, len(texts), texts.name)
        (loaded,) = by.for_evalset(None)
        explained = _ExplainedSystem(loaded, texts, refs, system or "candidate")
    else:
        explained = _open_set_system(candidates, system, by, progress)
    explained.check()
    return explained


def _open_set_system(
    source: Any, system: str | None, by: Metric, progress: Progress
) -> _ExplainedSystem:
    from karat.evalset.loading import as_evalset

    evalset = as_evalset(source, progress)
    names = list(evalset.systems)
    if system is None and len(names) > 1:
        raise InputError(
            f"{evalset.name} has {len(names):,} systems ({short(', '.join(names))}): choose one "
            f"with --system, in Python system={quoted(names[0])}"
        )
    title = names[0] if system is None else system
    evalset = evalset.select(systems=[title])
    (loaded,) = by.for_evalset(evalset)
    texts = as_segments(evalset.outputs()[title], f"system {title}")
    refs = inputs_from_set(evalset, {title: texts}, [loaded]).references
    return _ExplainedSystem(loaded, texts, refs, title, evalset.segments, evalset.remarks)
