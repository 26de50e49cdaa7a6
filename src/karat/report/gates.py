"""The report of `gate`: the verdict, the metrics, the guards, the items that lost most."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from karat.errors import visible
from karat.gating.decisions import (
    FAIL,
    GATE_COLUMNS,
    GUARD_COLUMNS,
    PASS,
    SIGNED_DELTA,
    UNDECIDED,
    GuardChange,
)
from karat.gating.gates import GateResult
from karat.gating.items import ItemMeasure
from karat.metrics.differing import differing_words
from karat.report.charts.models import ChartRow, RowChart
from karat.report.documents.gains import gain_sentences, gain_tables
from karat.report.model import (
    Block,
    Document,
    ExampleCase,
    Examples,
    Figure,
    Gallery,
    Table,
    TextPassage,
    data_table,
    score_digits,
    text_column,
)
from karat.report.render.renderers import render
from karat.results import Column, number, program_columns
from karat.scoring import metric_digits


def gate_document(result: GateResult) -> Document:
    """Return the verdict on each metric and guard, with its reason, and the tables."""
    title = f"Gate: {result.verdict}"
    blocks: list[Block] = [_difference_figures(result)]
    if result.changes:
        metric = next(row.metric for row in result.rows if str(row.metric) == result.changes_by)
        digits, scores = metric_digits(metric), {"delta", "baseline", "score"}
        columns = [replace(c, digits=digits) if c.key in scores else c for c in _CHANGES]
        if not any(map(_has_texts, result.changes)):  # scores of outputs without texts
            columns = [column for column in columns if column.key != "text"]
        name = f"Items that lost most by {metric.of_segments()}"
        cases = tuple(_change_case(change, metric) for change in result.changes)
        blocks.append(Examples(name, cases, Table("changes", name, columns, result.changes)))
    blocks.append(Table("rows", title, GATE_COLUMNS, result.rows, open=True))
    if result.guards:
        blocks.append(Table("guards", "Guards", GUARD_COLUMNS, result.guards, open=True))
    blocks.append(data_table("answer", ["verdict"], [result]))
    reasons = zip(result.verdicts, result.sentences, strict=True)
    answer = tuple(f"{verdict.capitalize()}: {sentence}." for verdict, sentence in reasons)
    blocks += gain_tables(result.gains)
    return Document(title, blocks, answer=(*answer, *gain_sentences(result.gains)))


def _change_case(change: GuardChange, metric: ItemMeasure) -> ExampleCase:
    digits = score_digits(metric)
    facts = f"{metric.of_segments()} {change.baseline:.{digits}f} → {change.score:.{digits}f}"
    passages = tuple(_item_passages(change)) if _has_texts(change) else ()
    return ExampleCase(f"Item {change.item}", facts, passages, {})


def _has_texts(change: GuardChange) -> bool:
    return bool(change.reference or change.output or change.baseline_output)


def _item_passages(change: GuardChange) -> Iterator[TextPassage]:
    """Yield the texts of an item; answers about nuggets have a question and no references."""
    count = len(change.references)
    if change.reference:
        label = f"reference 1 of {count}" if count > 1 else "reference" if count else "question"
        yield TextPassage(label, change.reference)
    if change.baseline_output is not None:
        yield TextPassage("baseline", change.baseline_output)
    marks = differing_words(change.output, [*filter(None, change.references)])
    yield TextPassage("output", change.output or "(empty)", marks)


_CHANGES = (
    Column("item", "Item", help="The number of the segment, from 1, or its id."),
    number("delta", "Delta", help=SIGNED_DELTA, signed=True),
    text_column(_item_passages, "The texts of the item."),
    number("baseline", "Baseline", help="The baseline's score there."),
    number("score", "Score", help="The run's score there."),
    *program_columns("reference", "output", "baseline_output"),
)


def _difference_figures(result: GateResult) -> Figure | Gallery:
    figures = []
    for metric in dict.fromkeys(row.metric for row in result.rows):
        rows = [row for row in result.rows if row.metric == metric]
        items = [ChartRow(result.system, row.delta, row.low, row.high) for row in rows]
        title, axis = f"Difference from the baseline by {metric}", f"difference in {metric}"
        chart = RowChart(title, axis, items, baseline=-rows[0].max_drop, narrow=True)
        figures.append(Figure(title, chart, "Dashed line: the tolerated drop."))
    one_metric = len(figures) == 1
    return figures[0] if one_metric else Gallery("Differences from the baseline", tuple(figures))


MAX_SUMMARY_BYTES = 1 << 20
"""GitHub drops larger summaries."""
MAX_SUMMARY_TEXT = 2000  # of a text in the summary


def gate_annotations(result: GateResult, undecided_fails: bool = False) -> list[str]:
    """Return `::error` and `::warning` commands for all that did not pass."""
    annotations = []
    for verdict, sentence in zip(result.verdicts, result.sentences, strict=True):
        if verdict != PASS:
            level = "error" if verdict == FAIL or undecided_fails else "warning"
            title = _escape_data(f"karat gate: {verdict}").replace(":", "%3A").replace(",", "%2C")
            annotations.append(f"::{level} title={title}::{_escape_data(sentence)}")
    return annotations


def gate_summary(result: GateResult, command: str = "") -> str:
    """Return the summary in Markdown, with long texts cut to GitHub's limit."""
    changes = [
        change._replace(
            reference=_cut_text(change.reference),
            output=_cut_text(change.output),
            baseline_output=change.baseline_output and _cut_text(change.baseline_output),
        )
        for change in result.changes
    ]
    short = replace(result, changes=tuple(changes))
    text = render(short.document(command), "md")
    if len(text.encode("utf-8")) < MAX_SUMMARY_BYTES:
        return text
    bare = replace(short, changes=(), guards=tuple(row._replace(lost="") for row in result.guards))
    text = render(bare.document(""), "md")
    return text.encode("utf-8")[: MAX_SUMMARY_BYTES - 1].decode("utf-8", "ignore")


def _cut_text(text: str) -> str:
    many = f"… ({len(text):,} characters)" * (len(text) > MAX_SUMMARY_TEXT)
    return text[:MAX_SUMMARY_TEXT] + many


def _escape_data(text: str) -> str:
    escaped = visible(text).replace("%", "%25")
    return escaped.replace("\r", "%0D").replace("\n", "%0A")


def junit_xml(result: GateResult, undecided_fails: bool = False) -> str:
    """Return the test suite; undecided metrics are skipped, or fail if `undecided_fails`."""
    names = [str(row.metric) for row in result.rows]
    names += [f"{row.guard} {row.metric or ''}".strip() for row in result.guards]
    failing = {FAIL, UNDECIDED} if undecided_fails else {FAIL}
    suite = Element("testsuite", name=visible(f"karat gate {result.system}"), tests=str(len(names)))
    suite.set("failures", str(sum(verdict in failing for verdict in result.verdicts)))
    suite.set("errors", "0")
    skipped = sum(verdict == UNDECIDED and verdict not in failing for verdict in result.verdicts)
    suite.set("skipped", str(skipped))
    for name, verdict, sentence in zip(names, result.verdicts, result.sentences, strict=True):
        case = SubElement(suite, "testcase", classname="karat.gate", name=visible(name), time="0")
        message = visible(f"{verdict}: {sentence}")
        if verdict in failing:
            SubElement(case, "failure", message=message, type=verdict).text = message
        elif verdict == UNDECIDED:
            SubElement(case, "skipped", message=message)
        else:
            SubElement(case, "system-out").text = message
    suites = Element("testsuites")
    suites.append(suite)
    indent(suites)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(suites, encoding="unicode")}\n'
