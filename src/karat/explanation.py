"""Explanations of segment scores, by metrics that support them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from karat.errors import InputError, quoted, short
from karat.metrics.names import metric
from karat.progress import Progress, silent
from karat.results import Result
from karat.text.references import GivenReferences, References, as_references
from karat.text.segments import Segments, Texts, as_segments
from karat.text.trees import TextWithTrees, Trees

if TYPE_CHECKING:
    from karat.evalset.loading import SetSource
    from karat.metrics.base import Metric
    from karat.metrics.facts import FactsExplanation
    from karat.metrics.gtm import Explanation
    from karat.metrics.tree import TreeExplanation


class ExplainedSegment(NamedTuple):
    """A segment with its grid, its treelets or its facts."""

    segment: int | str
    """Number of the segment, from 1, or its name."""
    explanation: Explanation | TreeExplanation | FactsExplanation


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
        by: `gtm` or `facts` with any of their settings, or a tree accuracy.
        segments: numbers of the segments, from 1; by default the first.
        worst: number of segments with the worst scores, instead of `segments`.
        system: system of a set with several; or the name of texts in reports.
        progress: function that is called with the progress.
    """
    if segments and worst:
        raise InputError("segments are chosen by number and as the worst: leave one out")
    if worst is not None and (not isinstance(worst, int) or worst < 1):
        raise InputError(f"worst={quoted(worst)}: expected a number of segments, from 1 on")
    from karat.metrics.facts import FactAgreement
    from karat.metrics.gtm import GTM
    from karat.metrics.tree import TreeAccuracy

    (explainer,) = metric(by).for_evalset(None)
    if not isinstance(explainer, GTM | TreeAccuracy | FactAgreement):
        raise InputError(
            f"{explainer} cannot explain segments: expected gtm, such as gtm:e=2, facts, or a tree "
            "accuracy, such as generation_tree_accuracy"
        )
    texts, refs, title, remarks = _open_system(candidates, references, system, progress)
    explainer.check_claims(refs.number, {})
    for number in segments:
        if not isinstance(number, int) or number < 1:
            raise InputError(f"segment {quoted(number)}: expected a number from 1 on")
        if number > len(texts):
            last = f"the last segment of {texts.name} is {len(texts):,}"
            raise InputError(f"segment {number}: {last}")
    places = [number - 1 for number in dict.fromkeys(segments or (1,))]
    if worst:
        values = explainer.sign * explainer.segments(texts, refs, progress=progress)
        places = values.argsort(kind="stable")[:worst].tolist()
    rows = [ExplainedSegment(at + 1, _explain_segment(explainer, texts, refs, at)) for at in places]
    return SegmentExplanations(title, explainer, tuple(rows), remarks)


def _open_system(
    candidates: Texts | SetSource,
    references: GivenReferences | None,
    system: str | None,
    progress: Progress,
) -> tuple[Segments, References, str, tuple[str, ...]]:
    """Return the texts of one system, their references, its name and the remarks of its set."""
    if references is not None:
        unchecked: Any = candidates
        texts = as_segments(unchecked, "candidates")
        return texts, as_references(references, len(texts), texts.name), system or "candidate", ()
    from karat.evalset.loading import as_evalset

    evalset = as_evalset(candidates, progress)
    names = list(evalset.systems)
    if system is None and len(names) > 1:
        raise InputError(
            f"{evalset.name} has {len(names):,} systems ({short(', '.join(names))}): choose one "
            f"with --system, in Python system={quoted(names[0])}"
        )
    title = names[0] if system is None else system
    evalset = evalset.select(systems=[title])
    refs = as_references(evalset.given_references(), len(evalset))
    texts = as_segments(evalset.outputs()[title], f"system {title}")
    return texts, refs, title, evalset.remarks


def _explain_segment(
    by: Any, texts: Segments, refs: References, place: int
) -> Explanation | TreeExplanation | FactsExplanation:
    from karat.metrics.facts import FactAgreement
    from karat.metrics.gtm import GTM

    if isinstance(by, GTM | FactAgreement):
        against: Any = refs.strings([place])[0]
    elif isinstance(refs, Trees | TextWithTrees):
        against = refs[place]
    else:
        needs = f"{by.name} needs dependency trees as references, a .conllu file"
        raise InputError(f"{refs.name} has no trees: {needs}")
    try:
        explanation: Explanation | TreeExplanation | FactsExplanation = by.explain(
            texts.strings([place])[0], against
        )
    except InputError as error:
        raise InputError(f"segment {place + 1:,}: {error}") from None
    return explanation
