"""The report of `karat realize explain`: the sentences of one tree, and their explanation."""

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
from karat.realize.report.tables import explanation_answer
from karat.report.model import Document, Figure, Table, format_count
from karat.results import Column, number, people_column

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
    number("states", "States"),
    number("arcs", "Arcs"),
    number("paths", "Orders", 0),
    Column("pruned", "Pruned", value=lambda treelet: "yes" if treelet.pruned else "no"),
)
_ARCS = (
    number("head", "Head"),
    number("start", "From"),
    number("end", "To"),
    number("node", "Node"),
    number("score", "Score"),
)
_PATHS = (
    _RANK,
    _SCORE,
    number("table", "Adjunction table", 2, field="structure"),
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
    number("features", "Features", 2, field="structure", help="The sum over all treelets."),
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
    people_column("heading", "Word", lambda form: f"{form.place}. {form.lemma}"),
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
    people_column("heading", "Slot", lambda filling: f"{filling.word}: {filling.slot}"),
    Column("word", "Of", readers="programs"),
    Column("slot", "Slot", readers="programs"),
    people_column("said", "Filling", lambda filling: filling.filling or NOTHING),
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
"""Kind of input -> note on the labels that were given."""


def explain_document(explained: explanation.RealizedTree) -> Document:
    """Return the sentences, followed by the explanation of each realiser."""
    notes = explained.notes
    blocks: Blocks = [Table("results", "Sentences", _RESULTS, explained.rows, notes=notes)]
    if explained.supertags is not None:
        blocks += _supertags(explained.supertags)
    if explained.ordering is not None:
        is_tagged = explained.settings["inputs"] != "relations"  # else tags were predicted
        inputs = explained.tree.inputs if is_tagged else "relations"
        blocks += _ordering(explained.tree, explained.ordering, inputs)
    if explained.completion is not None:
        blocks[1:1] = _completion(explained.completion)
    if explained.inflection:
        blocks[1:1] = _inflection(explained.inflection)
    figures = [block for block in blocks if isinstance(block, Figure)]
    tables = [block for block in blocks if isinstance(block, Table)]
    title, answer = (
        f"Tree {explained.number} of {PurePath(explained.name).name}",
        explanation_answer(explained),
    )
    return Document(title, (*figures, *tables), notes=(), answer=answer)


def _completion(completion: CompletionExplained) -> Blocks:
    """Return the fillings of slots, and the sentence with their alternatives."""
    rows = completion.fillings
    notes = [
        "Slots that almost certainly stay empty are not shown.",
        "Sum = log P + LM + Classes + Bonus, as differences from the filling with the highest sum, "
        "which is chosen. LM and Classes are what the sentence gains with the filling, by the two "
        "language models and their weights; Bonus is for each word.",
        "–: not compared, because it is improbable or its words have other relations.",
    ]
    if any(filling.chosen and (filling.total or 0.0) < 0 for filling in completion.fillings):
        notes.append("Forms of a word, such as a and an, are chosen last, by their neighbours.")
    table = Table("slots", "Words inserted", _FILLINGS, rows, group="heading", notes=tuple(notes))
    return [optional_figure(completion.optional), table]


def _inflection(forms: Sequence[WordForm]) -> Blocks:
    """Return the candidate forms of each word, and the sentence with the alternatives."""
    alternatives_of_word: dict[int, list[tuple[str, float]]] = {}
    for form in forms:
        alternatives = alternatives_of_word.setdefault(form.place, [])
        alternatives += [(form.form, form.probability)] if form.is_alternative else []
    note = "The first form of each word is chosen."
    table = Table("forms", "Forms", _FORMS, forms, group="heading", notes=(note,))
    if not any(alternatives_of_word.values()):
        return [table]
    words = [
        (form.form, form.probability, alternatives_of_word[form.place])
        for form in forms
        if form.chosen
    ]
    caption = (
        "The sentence is marked. Where a form was in doubt, the other forms are below it, all "
        "with their probabilities."
    )
    return [alternatives_figure("Other forms", caption, words), table]


def _supertags(explained: explanation.SupertagsExplained) -> Blocks:
    lattice, words = explained.lattice, explained.lattice.words
    size = (
        f"{lattice.states:,} states, {len(lattice.arcs):,} arcs, {lattice.sequences:,.0f} word "
        f"sequences{', pruned' if lattice.pruned else ''}."
    )
    chosen = f"Log probability of the supertags: {explained.assignments[0].score:.2f}."
    nodes = _outline_rows(row for row in explained.assigned if row.rank == 1)
    head = Column("head", "Head", value=lambda treelet: words[treelet.head])
    word = Column("word", "Word", value=lambda arc: words[arc.node])
    best = explained.assignments
    unpruned = [] if explained.unpruned is None else [unpruned_figure(explained.unpruned)]
    return [
        Table("nodes", "Tree Chooser: supertags", _NODES, nodes, notes=(chosen,)),
        Table("assignments", "Tree Chooser: the best assignments", _ASSIGNMENTS, best),
        Table("assigned", "Assignments", _ASSIGNED, explained.assigned, readers="programs"),
        Table(
            "treelets", "Unraveler: treelets", (head, *_TREELETS), lattice.treelets, notes=(size,)
        ),
        Table(
            "arcs",
            "Unraveler: arcs",
            (*_ARCS[:-1], word, _ARCS[-1]),
            lattice.arcs,
            readers="programs",
        ),
        lattice_figure(lattice, explained.best.nodes),
        *unpruned,
        Table("paths", "LP Chooser: the best paths", _PATHS, explained.paths),
    ]


def _outline_rows(
    nodes: Iterable[explanation.NodeSupertag | explanation.NodeLabel],
) -> list[dict[str, object]]:
    """Return nodes as rows, indented with a dot for each level; mothers come first."""
    depth: dict[int | None, int] = {None: -1}
    rows: list[dict[str, object]] = []
    for row in nodes:
        depth[row.node] = depth[row.mother] + 1
        rows.append({**row._asdict(), "outline": "· " * depth[row.node] + row.word})
    return rows


def _ordering(tree: InputTrees, explained: explanation.OrderingExplained, inputs: str) -> Blocks:
    """Return the labels, the best orders, and the contributions of features to each treelet."""
    best = explained.treelets[0]
    parts = (_ITEMS, *(_GROUPS if best else ()), _SUM)  # one word has no treelet
    notes = (_GUESSED[inputs],)
    blocks: Blocks = [
        Table(
            "labels",
            "Ordering model: labels",
            _LABELS,
            _outline_rows(explained.labels),
            notes=notes,
        ),
        Table("orders", "Ordering model: the best orders", _ORDERS, explained.orders),
        orders_figure(tree, explained.best),
        Table("ordered", "Ordering model: what features add", parts, best),
    ]
    rows = []
    for rank, changed in explained.changed():
        heading = f"Order {rank}: {format_count(len(changed), 'treelet')} other than in the best"
        for treelet, less in changed:
            rows.append({"heading": heading, "rank": rank, "less": less, **treelet._asdict()})
    if rows:
        title = "Ordering model: treelets of other orders"
        columns = (*_OTHER, *parts, _LESS)
        blocks.append(Table("other_treelets", title, columns, rows, group="heading"))
    return blocks
