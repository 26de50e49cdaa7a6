"""The tables of `karat realize`: models trained, sentences, supertags, realisers side by side."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from karat.realize.report.answers import evaluation_answer, named_inputs, sentences_answer
from karat.realize.report.trees import tree_figure
from karat.report.charts.models import Interval, intervals_figure
from karat.report.model import Column, Document, Figure, Row, Table, several

if TYPE_CHECKING:
    from karat.realize.evaluation import RealizerEvaluation, RealizerScores
    from karat.realize.explanation import SupertagList
    from karat.realize.generation import RealizedSentences
    from karat.realize.model import RealizerTraining

number = partial(Column, align="right")
"""A column of numbers."""

_COUNT = number("sentences", "Sentences")
_TRAINED = (
    Column("output", "File"),
    Column("models", "Models", wrap=True),
    _COUNT,
    number("seconds", "Seconds", 0, help="Of processor time."),
    number("megabytes", "MB", 1),
)
_SENTENCES = (
    number("tree", "Tree"),
    number("rank", "Rank"),
    number("score", "Score", 2, help="Higher is better, among the sentences of one tree."),
    Column("sentence", "Sentence", wrap=True),
)
_EVALUATED = (
    Column("model", "Model"),
    Column("heading", "Input", readers="people"),
    Column("inputs", "Input", readers="programs"),
    number("simple", "Simple", 3, detail=True, help="1 - insertions, deletions and others / words"),
    number("generation", "Gen.", 3, help="Generation accuracy."),
    number("simple_tree", "Simple tree", 3, detail=True, help="Simple accuracy by treelet."),
    number("generation_tree", "Gen. tree", 3, detail=True, help="Gen. accuracy by treelet."),
    number("bleu", "BLEU", 1),
    number("gtm", "GTM F", 3, detail=True, help="e = 2"),
    number("exact", "Exact", 3, help="Share of sentences exactly as in the file."),
    number("speed", "Sent./s", 0, detail=True, help="Sentences a second of processor time."),
)
_SLOTS = (
    Column("heading", "Taken out", readers="people"),
    Column("inputs", "Input", readers="programs"),
    Column("complete", "Taken out", readers="programs"),
    Column("slot", "Slot", readers="programs"),
    Column("class", "Words", readers="people"),
    number("precision", "Precision", 3, help="Share of inserted words that are right."),
    number("recall", "Recall", 3, help="Share of the file's words that were inserted."),
    number("f", "F", 3, help="Harmonic mean of precision and recall."),
    number("words", "In the file", help="Words of this kind that were taken out."),
)
_FORMS = number("forms", "Forms", 3, help="Share of lemmas whose form is right.")
_PAPER = _EVALUATED[:1] + _EVALUATED[3:7]
_SEEN = (_COUNT, number("seen", "Seen in training"), number("share", "Share", 3))
_LEADS = (
    Column("inputs", "Input"),
    Column("first", "Highest BLEU"),
    Column("second", "Second"),
    Column("verdict", "Verdict"),
)
_SUPERTAGS = (
    Column("tag", "Category"),
    Column("relation", "Relation"),
    Column("kind", "Kind"),
    Column("frame", "Frame", help="* is the head, the rest are the slots of arguments."),
    number("times", "Times"),
    number("left", "Left", 2, help="Share that stood left of the mother's head."),
)


def as_rows(found: Iterable[Any]) -> list[Row]:
    """Return NamedTuples as rows of a table."""
    return [one._asdict() for one in found]


def training_document(found: RealizerTraining, command: str) -> Document:
    """Return the model that was trained, in a row."""
    title = f"Trained on {found.name}"
    return Document(title, (Table("rows", title, _TRAINED, as_rows(found.rows)),), command, {})


def sentences_document(found: RealizedSentences, command: str) -> Document:
    """Return all sentences of all trees."""
    title = f"Sentences for {found.name}"
    table = Table("rows", title, _SENTENCES, as_rows(found.rows), notes=found.notes, open=True)
    return Document(title, (table,), command, {}, answer=sentences_answer(found))


def evaluation_document(found: RealizerEvaluation, command: str) -> Document:
    """Return realisers side by side, and the paper's table beside them."""
    from karat.realize.evaluation import MOSTLY, PAPER

    names = [column.key for column in _PAPER]
    paper: list[Row] = [dict(zip(names, (name, *values), strict=True)) for name, values in PAPER]
    title = f"{found.name}: {several(found.training.sentences, 'tree')}"
    title += ", training data" if found.training.share >= MOSTLY else ""
    rows: list[Row] = [
        {**row._asdict(), "heading": f"from {named_inputs(row.inputs)}"} for row in found.rows
    ]
    columns: tuple[Column, ...] = _EVALUATED
    if any(row["forms"] is not None for row in rows):
        columns = (*_EVALUATED[:3], _FORMS, *_EVALUATED[3:])
    blocks: tuple[Table, ...] = (
        Table("rows", title, columns, rows, group="heading", notes=found.notes, open=True),
        Table("paper", "The paper's Table 1: 100 sentences of newspaper text", _PAPER, paper),
        Table("leads", "The first two by BLEU", _LEADS, _leads(found), readers="programs"),
        Table("training", "Seen in training", _SEEN, as_rows([found.training]), readers="programs"),
    )
    if found.slots:
        blocks = (*blocks[:1], _slots_table(found), *blocks[1:])
    told, chart = evaluation_answer(found), _bleu_figure(found)
    return Document("Realisers", (chart, *blocks), command, found.signatures, answer=told)


def _leads(found: RealizerEvaluation) -> list[Row]:
    """Return the first two realizers of each kind of input, by name."""
    return [
        {**lead._asdict(), "first": lead.first.model, "second": lead.second.model}
        for lead in found.leads
    ]


def _bleu_figure(found: RealizerEvaluation) -> Figure:
    """Return a dot for the BLEU of each realiser."""
    dots = (Interval(_label(row), round(row.bleu, 1)) for row in found.rows)
    figure = intervals_figure("BLEU by realiser", "BLEU", dots)
    inserts = "Names with add: these words were taken out of the trees and inserted again. "
    caption = f"{inserts if found.slots else ''}In brackets: the input."
    return replace(figure, caption=caption)


def _label(row: RealizerScores) -> str:
    """Return the name of a realiser with its input, short enough for a chart."""
    name = row.model.replace("function words and punctuation", "both")
    inputs = row.inputs.removesuffix(", content words")
    return f"{name.replace('completion: ', 'add ')} ({inputs})"


def _slots_table(found: RealizerEvaluation) -> Table:
    """Return precision, recall and F of every class of words that were inserted."""
    from karat.realize.completion.scores import CLASS_NAMES

    rows: list[Row] = [
        {
            **one._asdict(),
            "class": CLASS_NAMES[one.slot],
            "heading": f"{one.complete} ({one.inputs})",
        }
        for one in found.slots
    ]
    notes = (
        "A word is right if the file has it in the same slot of the same content word.",
        "Input `all` is words, tags, relations and FEATS; heads keep Definite of their articles "
        "and the tense or mood of their auxiliaries. Input `relations` is words and relations. "
        "Input `lemmas` is as `all`, but for lemmas instead of words.",
        "The paper's system also inserts function words and punctuation, but has no figures.",
    )
    return Table("slots", "Words inserted", _SLOTS, rows, group="heading", notes=notes)


def supertags_document(found: SupertagList, command: str) -> Document:
    """Return supertags by frequency, some of them drawn."""
    table = Table("rows", "Supertags", _SUPERTAGS, as_rows(found.rows), notes=found.notes)
    return Document(f"Grammar of {found.name}", (table, tree_figure(found.drawn)), command, {})
