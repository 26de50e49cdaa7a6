"""The tables of `karat realize`: models trained, sentences, supertags, realisers side by side."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from karat.realize.report.answers import evaluation_answer
from karat.realize.report.trees import tree_figure
from karat.report.model.cells import several
from karat.report.model.table import Column, Document, Row, Table

if TYPE_CHECKING:
    from karat.realize.evaluation import RealizerEvaluation
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
    number("score", "Score", 2, help="Log probability, weighted."),
    Column("sentence", "Sentence", wrap=True),
)
_EVALUATED = (
    Column("model", "Model"),
    Column("inputs", "Input", help="words: nothing else; all: with tags and relations"),
    number("simple", "Simple", 3),
    number("generation", "Gen.", 3, help="Generation accuracy."),
    number("simple_tree", "Simple tree", 3),
    number("generation_tree", "Gen. tree", 3),
    number("bleu", "BLEU", 1),
    number("gtm", "GTM F", 3, help="e = 2"),
    number("exact", "Exact", 3, help="Share of sentences exactly as in the file."),
    number("speed", "Sent./s", 0, help="Sentences a second of processor time."),
)
_PAPER = _EVALUATED[:1] + _EVALUATED[2:6]
_SEEN = (_COUNT, number("seen", "Seen in training"), number("share", "Share", 3))
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
    table = Table("rows", title, _SENTENCES, as_rows(found.rows), notes=found.notes)
    return Document(title, (table,), command, {})


def evaluation_document(found: RealizerEvaluation, command: str) -> Document:
    """Return realisers side by side, and the paper's table beside them."""
    from karat.realize.evaluation import MOSTLY, PAPER

    names = [column.key for column in _PAPER]
    paper: list[Row] = [dict(zip(names, (name, *values), strict=True)) for name, values in PAPER]
    title = f"{found.name}: {several(found.training.sentences, 'tree')}"
    title += ", training data" if found.training.share >= MOSTLY else ""
    blocks = (
        Table("rows", title, _EVALUATED, as_rows(found.rows), notes=found.notes, open=True),
        Table("paper", "The paper's Table 1: 100 sentences of newspaper text", _PAPER, paper),
        Table("training", "Seen in training", _SEEN, as_rows([found.training]), readers="programs"),
    )
    told = evaluation_answer(found)
    return Document("Realisers", blocks, command, found.signatures, answer=told)


def supertags_document(found: SupertagList, command: str) -> Document:
    """Return supertags by frequency, some of them drawn."""
    table = Table("rows", "Supertags", _SUPERTAGS, as_rows(found.rows), notes=found.notes)
    return Document(f"Grammar of {found.name}", (table, tree_figure(found.drawn)), command, {})
