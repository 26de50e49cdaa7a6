"""The report of `karat realize explain`: what the realisers made of one tree, and why."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

from karat.realize.report.drawings import (
    NOTHING,
    alternatives_figure,
    lattice_figure,
    optional_figure,
    orders_figure,
    unpruned_figure,
)
from karat.realize.report.tables import as_rows, explanation_answer, is_alternative, number
from karat.report.model import Column, Document, Figure, Row, Table, several

if TYPE_CHECKING:
    from karat.realize import explanation
    from karat.realize.choices import CompletionExplained, WordForm
    from karat.realize.input_trees import InputTrees

Blocks = list[Table | Figure]

_RANK = number("rank", "Rank")
_SCORE = number("score", "Score", 2)
_SENTENCE = Column("sentence", "Sentence", wrap=True)
_RESULTS = (
    Column("model", "Model"),
    Column("exact", "Exact", help="Whether it is the sentence of the file."),
    _SENTENCE,
)
_OUTLINE = (
    Column("outline", "Word", readers="people", help="Below its mother, a dot deeper."),
    Column("node", "Node", readers="programs"),
    Column("word", "Word", readers="programs"),
    Column("mother", "Mother", readers="programs"),
)
_NODES = (
    *_OUTLINE,
    Column("tag", "Category"),
    Column("relation", "Relation"),
    Column("attached", "Attached"),
    Column("frame", "Frame", help="* is the head, the rest are the slots of arguments."),
)
_ASSIGNMENTS = (
    _RANK,
    number("score", "Log p", 2),
    Column("changes", "Differs from the best in", wrap=True),
    _SENTENCE,
)
_ASSIGNED = (_RANK, *_NODES[1:], Column("differs", "Differs"))
_TREELETS = (
    Column("head", "Head"),
    number("states", "States"),
    number("arcs", "Arcs"),
    number("paths", "Orders", 0),
    Column("pruned", "Pruned"),
)
_ARCS = (
    number("head", "Head"),
    number("start", "From"),
    number("end", "To"),
    number("node", "Node"),
    Column("word", "Word"),
    number("score", "Score"),
)
_PATHS = (
    _RANK,
    _SCORE,
    number("table", "Adjunction table", 2),
    number("lm", "Language model", 2),
    _SENTENCE,
)
_LABELS = (
    *_OUTLINE,
    Column("tag", "Category"),
    Column("fine", "Tag", help="Of the treebank's own."),
    Column("relation", "Relation"),
)
_ORDERS = (
    _RANK,
    _SCORE,
    number("features", "Features", 2, help="The sum over all treelets."),
    number("lm", "Language model", 2, help="The rest of the score."),
    _SENTENCE,
)
_ITEMS = Column("treelet", "Treelet", wrap=True, help="In the order chosen; the head in brackets.")
_GROUPS = (
    number("side", "Side", 2, help="Daughters before or after the head."),
    number("pair", "Pair", 2, help="Which of two daughters comes first."),
    number("neighbour", "Neighbours", 2, help="Two in a row."),
    number("triple", "Triples", 2, help="Three in a row."),
    number("across", "Across", 2, help="One before the head, one after it."),
    number("order", "Order", 2, help="All items as they stand."),
)
_SUM = number("sum", "Sum", 2)
_OTHER = (Column("heading", "Order", readers="people"), Column("rank", "Rank", readers="programs"))
_LESS = number("less", "Than the best", 2, signed=True, help="Sum minus the best's.")

_FORMS = (
    Column("heading", "Word", readers="people"),
    Column("place", "Place", readers="programs"),
    Column("lemma", "Lemma", readers="programs"),
    Column("form", "Form"),
    number("probability", "P", 3, help="Given the neighbours of the sentence."),
    Column("chosen", "Chosen", readers="programs"),
    Column("source", "Found by", wrap=True, help="Table of forms, or rule for the lemma's end."),
    number("times", "Times", help="Times seen; for a rule, lemmas that speak for the form."),
    number("counts", "Counts", 2, help="What the counts add to the score."),
    number("tree", "Tree", 2, help="What the mother, sisters and daughters add."),
    number("before", "Before", 2, help="What the word before adds."),
    number("after", "After", 2, help="What the word after adds."),
)
_FILLINGS = (
    Column("heading", "Slot", readers="people"),
    Column("word", "Of", readers="programs"),
    Column("slot", "Slot", readers="programs"),
    Column("said", "Filling", readers="people"),
    Column("filling", "Filling", readers="programs", help="Empty if the slot is."),
    number("probability", "P", 3, help="By the classifier of the slot, before ordering."),
    Column("chosen", "Chosen", help="In the sentence."),
    number("log_p", "log P", 2, signed=True, help="log P minus the best filling's."),
    number(
        "language_model", "LM", 2, signed=True, help="What the language model of words adds to it."
    ),
    number("class_model", "Classes", 2, signed=True, help="What the class model adds to it."),
    number("bonus", "Bonus", 2, signed=True, help="For each word of the filling."),
    number("total", "Sum", 2, signed=True, help="The filling with the highest sum is chosen."),
)
_GUESSED = {
    "words": "All were guessed.",
    "relations": "Relations were given, categories and tags guessed.",
    "all": "Categories and relations were given, tags guessed.",
    "lemmas": "All were given.",
}
"""Kind of input -> which labels of the ordering model were given."""


def explain_document(found: explanation.RealizedTree, command: str) -> Document:
    """Return the sentences, then how each realiser came to its own."""
    rows = as_rows(found.rows)
    blocks: Blocks = [Table("results", "Sentences", _RESULTS, rows, notes=found.notes)]
    if found.supertags is not None:
        blocks += _supertags(found.supertags)
    if found.ordering is not None:
        is_tagged = found.settings["inputs"] != "relations"  # else completion guessed the tags
        inputs = found.tree.inputs if is_tagged else "relations"
        blocks += _ordering(found.tree, found.ordering, inputs)
    if found.completion is not None:
        blocks[1:1] = _completion(found.completion)
    if found.inflection:
        blocks[1:1] = _inflection(found.inflection)
    figures = [block for block in blocks if isinstance(block, Figure)]
    tables = [block for block in blocks if isinstance(block, Table)]
    title, told = f"Tree {found.number} of {PurePath(found.name).name}", explanation_answer(found)
    return Document(title, (*figures, *tables), command, {}, answer=told)


def _completion(found: CompletionExplained) -> Blocks:
    """Return what was put into slots, and the sentence with what else was possible."""
    rows: list[Row] = [
        {**one._asdict(), "heading": f"{one.word}: {one.slot}", "said": one.filling or NOTHING}
        for one in found.fillings
    ]
    notes = [
        "Slots that almost certainly stay empty are not shown.",
        "Sum = log P + LM + Classes + Bonus, as differences from the filling with the highest sum, "
        "which is chosen. LM and Classes are what the sentence gains with the filling, by the two "
        "language models and their weights; Bonus is for each word.",
        "–: not compared, because it is improbable or its words have other relations.",
    ]
    if any(one.chosen and (one.total or 0.0) < 0 for one in found.fillings):
        notes.append("Forms of a word, such as a and an, are chosen last, by their neighbours.")
    table = Table("slots", "Words inserted", _FILLINGS, rows, group="heading", notes=tuple(notes))
    return [optional_figure(found.optional), table]


def _inflection(forms: Sequence[WordForm]) -> Blocks:
    """Return the forms that each word might have, and the sentence with the other ones."""
    rows: list[Row] = [{**one._asdict(), "heading": f"{one.place}. {one.lemma}"} for one in forms]
    others: dict[int, list[tuple[str, float]]] = {}
    for one in forms:
        mine = others.setdefault(one.place, [])
        mine += [(one.form, one.probability)] if is_alternative(one) else []
    note = "The first form of each word is chosen."
    table = Table("forms", "Forms", _FORMS, rows, group="heading", notes=(note,))
    if not any(others.values()):
        return [table]
    words = [(one.form, one.probability, others[one.place]) for one in forms if one.chosen]
    caption = (
        "The sentence is marked. Where a form was in doubt, the other forms are below it, all "
        "with their probabilities."
    )
    return [alternatives_figure("Other forms", caption, words), table]


def _supertags(found: explanation.SupertagsExplained) -> Blocks:
    lattice, words = found.lattice, found.lattice.words
    size = (
        f"{lattice.states:,} states, {len(lattice.arcs):,} arcs, {lattice.sequences:,.0f} word "
        f"sequences{', pruned' if lattice.pruned else ''}."
    )
    chosen = f"Log probability of the supertags: {found.assignments[0].score:.2f}."
    nodes = _outlined(one for one in found.assigned if one.rank == 1)
    treelets: list[Row] = [
        {**one._asdict(), "head": words[one.head], "pruned": "yes" if one.pruned else "no"}
        for one in lattice.treelets
    ]
    arcs: list[Row] = [{**arc._asdict(), "word": words[arc.node]} for arc in lattice.arcs]
    best = as_rows(found.assignments)
    every = [] if found.every is None else [unpruned_figure(found.every)]
    return [
        Table("nodes", "Tree Chooser: supertags", _NODES, nodes, notes=(chosen,)),
        Table("assignments", "Tree Chooser: the best assignments", _ASSIGNMENTS, best),
        Table("assigned", "Assignments", _ASSIGNED, as_rows(found.assigned), readers="programs"),
        Table("treelets", "Unraveler: treelets", _TREELETS, treelets, notes=(size,)),
        Table("arcs", "Unraveler: arcs", _ARCS, arcs, readers="programs"),
        lattice_figure(lattice, found.best.nodes),
        *every,
        Table("paths", "LP Chooser: the best paths", _PATHS, as_rows(found.paths)),
    ]


def _outlined(nodes: Iterable[explanation.NodeSupertag | explanation.NodeLabel]) -> list[Row]:
    """Return nodes as rows, with a dot before the word for each step down; mothers come first."""
    depth: dict[int | None, int] = {None: -1}
    rows: list[Row] = []
    for one in nodes:
        depth[one.node] = depth[one.mother] + 1
        rows.append({**one._asdict(), "outline": "· " * depth[one.node] + one.word})
    return rows


def _ordering(tree: InputTrees, found: explanation.OrderingExplained, inputs: str) -> Blocks:
    """Return the model's labels, its best orders, and the features' say in every treelet."""
    best = as_rows(found.treelets[0])
    parts = (_ITEMS, *(_GROUPS if best else ()), _SUM)  # one word has no treelet
    told = (_GUESSED[inputs],)
    blocks: Blocks = [
        Table("labels", "Ordering model: labels", _LABELS, _outlined(found.labels), notes=told),
        Table("orders", "Ordering model: the best orders", _ORDERS, as_rows(found.orders)),
        orders_figure(tree, found.best),
        Table("ordered", "Ordering model: what features add", parts, best),
    ]
    rows: list[Row] = []
    for rank, changed in found.changed():
        heading = f"Order {rank}: {several(len(changed), 'treelet')} other than in the best"
        for one, less in changed:
            rows.append({"heading": heading, "rank": rank, "less": less, **one._asdict()})
    if rows:
        title = "Ordering model: treelets of other orders"
        columns = (*_OTHER, *parts, _LESS)
        blocks.append(Table("other_treelets", title, columns, rows, group="heading"))
    return blocks
