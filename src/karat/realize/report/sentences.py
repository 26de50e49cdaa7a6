"""The reports of `karat realize`: sentences, grammars, and realisers side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from karat.realize.report.trees import tree_figure
from karat.report.model.cells import several
from karat.report.model.table import Cell, Column, Document, Row, Table

if TYPE_CHECKING:
    from karat.realize.evaluation import Evaluated, Evaluation
    from karat.realize.fergus.grammar import Grammar, Supertag
    from karat.realize.input_trees import InputTrees, Order

_SENTENCES = (
    Column("tree", "Tree", align="right"),
    Column("rank", "Rank", align="right"),
    Column("score", "Score", 2, align="right", help="Log probability, weighted."),
    Column("sentence", "Sentence", wrap=True),
)
_EVALUATED = (
    Column("model", "Model"),
    Column("inputs", "Input", help="words: nothing else; all: with tags and relations"),
    Column("simple", "Simple", 3, align="right"),
    Column("generation", "Gen.", 3, align="right", help="Generation accuracy."),
    Column("simple_tree", "Simple tree", 3, align="right"),
    Column("generation_tree", "Gen. tree", 3, align="right"),
    Column("bleu", "BLEU", 1, align="right"),
    Column("gtm", "GTM F", 3, align="right", help="e = 2"),
    Column("exact", "Exact", 3, align="right", help="Share of sentences exactly as in the file."),
    Column("speed", "Sent./s", 0, align="right", help="Sentences a second of processor time."),
)
_PAPER = _EVALUATED[:1] + _EVALUATED[2:6]
_SEEN = (
    Column("sentences", "Sentences", align="right"),
    Column("seen", "Seen in training", align="right"),
    Column("share", "Share", 3, align="right"),
)
_SUPERTAGS = (
    Column("tag", "Category"),
    Column("relation", "Relation"),
    Column("kind", "Kind"),
    Column("frame", "Frame", help="* is the head, the rest are the slots of arguments."),
    Column("times", "Times", align="right"),
    Column("left", "Left", 2, align="right", help="Share that stood left of the mother's head."),
)
DRAWN = 12
"""Elementary trees that are drawn."""
MOSTLY = 0.5
"""The share of known sentences from which on an evaluation is one of training data."""


def frame_text(frame: Sequence[tuple[str, int]]) -> str:
    """A frame as one reads it: slots in their order, the head between them."""
    left = [relation for relation, side in frame if not side]
    return " ".join([*left, "*", *(relation for relation, side in frame if side)])


def sentences_document(
    trees: InputTrees,
    orders: Sequence[Sequence[Order]],
    texts: Sequence[str],
    command: str,
    notes: tuple[str, ...] = (),
) -> Document:
    """All sentences of all trees; `texts` are they, one after the other."""
    rows: list[Row] = []
    for tree, found in enumerate(orders, 1):
        for rank, order in enumerate(found, 1):
            text = texts[len(rows)]
            rows.append({"tree": tree, "rank": rank, "score": order.score, "sentence": text})
    title = f"Sentences for {trees.name}"
    return Document(title, (Table("rows", title, _SENTENCES, rows, notes=notes),), command, {})


def evaluation_document(found: Evaluation, command: str) -> Document:
    """Realisers side by side, and the paper's table beside them."""
    from karat.metrics.names import metric
    from karat.realize.evaluation import METRICS, PAPER

    rows: list[Row] = [_evaluated(row) for row in found.rows]
    names = [column.key for column in _PAPER]
    paper: list[Row] = [dict(zip(names, (name, *values), strict=True)) for name, values in PAPER]
    share = found.seen / max(found.sentences, 1)
    seen: list[Row] = [{"sentences": found.sentences, "seen": found.seen, "share": share}]
    title = f"{found.name}: {several(found.sentences, 'tree')}"
    blocks = (
        Table(
            "rows",
            f"{title}, training data" if share >= MOSTLY else title,
            _EVALUATED,
            rows,
            notes=(_seen_note(found, share), *_lacking_notes(found)),
        ),
        Table("paper", "The paper's Table 1: 100 sentences of newspaper text", _PAPER, paper),
        Table("training", "Seen in training", _SEEN, seen, readers="programs"),
    )
    signatures = {key: metric(name).signature() for key, name in METRICS.items()}
    return Document("Realisers", blocks, command, signatures)


def _seen_note(found: Evaluation, share: float) -> str:
    """What the figures are worth: how many sentences the model knew."""
    many = f"{found.seen:,} of {several(found.sentences, 'sentence')} ({share:.1%})"
    if share >= MOSTLY:
        return f"The model was trained on {many}: these figures say nothing about other text."
    if found.seen:
        return f"{many} occur in what the model was trained on too."
    return "The model was trained on none of these sentences."


def _lacking_notes(found: Evaluation) -> list[str]:
    """How to have the rows that are not there."""
    if len(found.lacking) != 1:
        return []  # there is no ordering model at all, by choice; or nothing is lacking
    from karat.realize.model import INPUTS_SAID

    named = INPUTS_SAID[found.lacking[0]]
    return [f"The model has no ordering model for {named}: karat realize train --inputs both."]


def _evaluated(row: Evaluated) -> Row:
    cells: dict[str, Cell] = {"model": row.name, "inputs": row.inputs, **row.values}
    return cells | {"exact": row.exact, "speed": row.speed}


def grammar_document(name: str, grammar: Grammar, most: int, command: str) -> Document:
    """Supertags by frequency, the first of them drawn."""
    found = grammar.supertags()
    rows = [_supertag(supertag) for supertag in found[:most]]
    total = sum(supertag.times for supertag in found)
    covered = sum(supertag.times for supertag in found[:most])
    note = (
        f"{len(found):,} supertags with {len(grammar.frames):,} frames; those listed cover "
        f"{covered / max(total, 1):.1%} of {total:,} words."
    )
    table = Table("rows", "Supertags", _SUPERTAGS, rows, notes=(note,))
    with_slots = [supertag for supertag in found if supertag.frame][: DRAWN // 2]
    drawn = [*found[: DRAWN - len(with_slots)], *with_slots]
    figures = tree_figure(list(dict.fromkeys(drawn)))
    return Document(f"Grammar of {name}", (table, figures), command, {})


def _supertag(supertag: Supertag) -> Row:
    known = supertag.relation != "root"
    return {
        "tag": supertag.tag,
        "relation": supertag.relation,
        "kind": supertag.kind,
        "frame": frame_text(supertag.frame),
        "times": supertag.times,
        "left": supertag.left / supertag.times if known else None,
    }
