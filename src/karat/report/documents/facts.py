"""Changed, missing and added facts in reports: lines of evidence, explanations, counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from karat.comparison import COMPONENT_COLUMNS, Comparison
from karat.metrics.base import Metric
from karat.metrics.differing import differing_words
from karat.metrics.facts import FactAgreement, FactsExplanation, describe_changes
from karat.report.documents.scores import SEGMENT
from karat.report.model import (
    Document,
    ExampleCase,
    Examples,
    Table,
    TextPassage,
    format_count,
    reference_passages,
    text_column,
)
from karat.results import Cell, Column, number

AGREES = "no number, negation or name differs"


def evidence_passages(
    metrics: Iterable[Metric],
    candidate: str,
    references: Sequence[str],
    system: str,
    segment: int | str,
) -> Iterator[TextPassage]:
    """Yield the lines of evidence that metrics have for an output, such as facts that differ."""
    lines = (m.evidence(candidate, references, system, str(segment)) for m in metrics)
    yield from (TextPassage(*line) for line in dict.fromkeys(chain.from_iterable(lines)))


def _columns(against: str) -> tuple[Column, ...]:
    """Return the columns of facts; `against` is what the output is compared with."""
    return (
        SEGMENT,
        number("score", "Score", 0, "1 if no fact differs, else 0."),
        Column("check", "Check", help="The kind of fact: numbers, negation or names."),
        Column("kind", "Kind", help="changed, missing or added."),
        Column("reference", against.capitalize(), help=f"Words of the {against}.", wrap=True),
        Column("output", "Output", help="Words of the output.", wrap=True),
    )


def facts_document(
    title: str, metric: Metric, explained: Sequence[tuple[int | str, FactsExplanation]]
) -> Document:
    """Return the texts of some segments of one candidate, with the facts that differ below."""
    against = metric.against_text if isinstance(metric, FactAgreement) else "reference"
    marks = f"Marked: words that no {against.removesuffix('s')} contains as often."
    cases, rows, texts = [], list[dict[str, Cell]](), []
    for segment, explanation in explained:
        candidate, references, changes = (
            explanation.candidate,
            explanation.references,
            explanation.changes,
        )
        marked = TextPassage("candidate", candidate, differing_words(candidate, references))
        evidence = [TextPassage(*line) for line in describe_changes(changes, against)]
        compared = (
            [TextPassage(against, text) for text in references]
            if metric.reads_set
            else reference_passages(references)
        )
        passages = (*compared, marked, *evidence)
        place: dict[str, Cell] = {"segment": segment, "score": explanation.value}
        rows += [{**place, **change._asdict()} for change in changes] or [place]
        summary = format_count(len(changes), "difference") if changes else AGREES
        cases.append(ExampleCase(f"Segment {segment}", summary, passages, {}))
        texts.append({"segment": segment, "passages": passages})
    passages_column = text_column(lambda row: row["passages"], "References, candidate, evidence.")
    table = Table("texts", "Texts", (SEGMENT, passages_column), texts, readers="people")
    blocks = (
        Examples("Texts", tuple(cases), table, marked=marks),
        Table("rows", "Facts", _columns(against), rows),
    )
    signature = explained[0][1].signature
    return Document(title, blocks, signatures={str(metric): signature})


def component_tables(comparison: Comparison) -> list[Table]:
    """Return the segments with changed facts by system and kind; nothing without such metrics."""
    if not comparison.components:
        return []
    title = f"Segments with changed facts, and the difference from {comparison.baseline}"
    return [Table("components", title, COMPONENT_COLUMNS, comparison.components, group="component")]
