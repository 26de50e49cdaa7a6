"""Explanations of how a tree was realised, as data.

For the paper's realiser: the k best supertag assignments, the lattice of the best one, and its best
paths. For the ordering model: the predicted labels and the best orders, with the contribution of
each group of features to every treelet. For a grammar: its supertags by frequency.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, NamedTuple

from karat.errors import InputError, quoted
from karat.progress import Progress, silent
from karat.realize.choices import CompletionExplained, WordForm, explain_completion, explain_forms
from karat.realize.completion import RealizedContent
from karat.realize.fergus import Fergus
from karat.realize.generation import ContentRealizer, RealizationRequest, note_unseen_labels
from karat.realize.grammar import Supertag, extract_grammar, frame_text, gold_frames
from karat.realize.inflection import OrderedForms
from karat.realize.input_trees import (
    InputTrees,
    WordOrder,
    check_best,
    check_labels,
    input_trees,
    to_inputs,
    with_lemmas,
)
from karat.realize.lattice import TreeLattice, check_small, unravel
from karat.realize.model import RealizerModel, RealizerResult, open_realizer, train_realizer
from karat.realize.ordering import OrderingModel, TreeletScores
from karat.realize.symbols import symbols
from karat.realize.treebank import (
    Treebank,
    bundled_treebank,
    check_forms,
    read_treebank,
)
from karat.settings import check_count
from karat.storage.output import FilePath, as_path
from karat.storage.store import is_store

IN_FILE = "the file"
"""Row of the sentence in the file."""
AS_TEXT = "text (--detokenise)"
"""Row of the detokenised sentence."""
MODEL = "completion"
"""Name of completion in reports."""
N_DRAWN = 12
"""Number of elementary trees to draw."""


class RealizerSentence(NamedTuple):
    """A sentence of one realiser, and whether it equals that of the file.

    `exact` is None for the sentence of the file itself, and if the file has none: its trees have no
    word order, or lemmas only.
    """

    model: str
    exact: bool | None
    sentence: str


class NodeSupertag(NamedTuple):
    """The supertag of a node in an assignment; `differs` from that in the best assignment."""

    rank: int
    node: int
    word: str
    mother: int | None
    tag: str
    relation: str
    attached: str
    frame: str
    differs: bool = False

    def describe_difference(self, best: NodeSupertag) -> str:
        """Describe how this differs from the supertag in the best assignment; "" if it does not."""
        pairs = zip(self._parts, best._parts, strict=True)
        differing = [(part, best_part) for part, best_part in pairs if part != best_part]
        if not differing:
            return ""
        parts, best_parts = (", ".join(side) for side in zip(*differing, strict=True))
        return f"{self.word}: {parts} instead of {best_parts}"

    @property
    def _parts(self) -> tuple[str, ...]:
        return self.tag, self.relation, self.attached, f"[{self.frame}]"


class Assignment(NamedTuple):
    """A supertag for every node: log probability, differences from the best, sentence."""

    rank: int
    score: float
    changes: str
    sentence: str


class ScoredSentence(NamedTuple):
    """A sentence and the parts of its score: those of its structure and of the language model.

    The structure is scored by the adjunction table, or by the features of the ordering model.
    """

    rank: int
    score: float
    structure: float
    lm: float
    sentence: str


class SupertagsExplained(NamedTuple):
    """The steps of Tree Chooser, Unraveler and LP Chooser; `best` is the chosen order.

    `unpruned` is the lattice of all orders that the supertags allow, if it was requested.
    """

    assigned: tuple[NodeSupertag, ...]
    assignments: tuple[Assignment, ...]
    lattice: TreeLattice
    paths: tuple[ScoredSentence, ...]
    best: WordOrder
    unpruned: TreeLattice | None = None


class NodeLabel(NamedTuple):
    """Labels of a node in the ordering model; `fine` is the treebank-specific tag."""

    node: int
    word: str
    mother: int | None
    tag: str
    fine: str
    relation: str


class OrderingExplained(NamedTuple):
    """The steps of the ordering model; `treelets` are those of each order, the best first."""

    labels: tuple[NodeLabel, ...]
    orders: tuple[ScoredSentence, ...]
    treelets: tuple[tuple[TreeletScores, ...], ...]
    best: tuple[WordOrder, ...]

    def changed(self) -> Iterator[tuple[int, list[tuple[TreeletScores, float]]]]:
        """Yield the rank of each other order, and its treelets that differ from the best order.

        Each treelet comes with its sum minus that of the best; both have the same order of heads.
        """
        for rank, treelets in enumerate(self.treelets[1:], 2):
            pairs = zip(treelets, self.treelets[0], strict=True)
            yield rank, [(other, other.sum - best.sum) for other, best in pairs if other != best]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RealizedTree(RealizerResult):
    """One tree: the sentence of each realiser, and its explanation."""

    rows: tuple[RealizerSentence, ...]
    number: int
    tree: InputTrees
    supertags: SupertagsExplained | None
    ordering: OrderingExplained | None
    completion: CompletionExplained | None = None
    inflection: tuple[WordForm, ...] = ()
    """Forms of the words of the best order, if the input has lemmas."""


def explain_tree(
    model: RealizerModel,
    trees: InputTrees | Treebank,
    tree: int,
    k: int = 5,
    *,
    inputs: str = "words",
    realizer: str | None = None,
    complete: Sequence[str] = (),
    keep: Sequence[str] = (),
    unpruned: bool = False,
    progress: Progress = silent,
) -> RealizedTree:
    """Explain how the realisers of a model order one tree, and which words they insert.

    Args:
        model: as `open_realizer` returns it.
        trees: as `read_trees` or `read_input` returns them; only the latter can be completed.
        tree: number of the tree, from 0.
        k: number of supertag assignments, paths and orders.
        realizer: `fergus` or `ordering`; by default all that the model has for these inputs, and
            with `complete` the one that writes the sentence.
        inputs, complete, keep: as for `realize_trees`.
        unpruned: add the lattice of all orders, without costs, if the tree is small (Figure 3 of
            the paper).
        progress: function that is called with the progress.
    """
    request = RealizationRequest.checked(model, trees, inputs, complete, keep, realizer)
    inputs, slots = request.inputs, request.slots
    check_best("k", k)
    if request.complete and unpruned:
        raise InputError("--unpruned is for the supertags, which --complete does not use")
    if slots is None:
        if request.complete and inputs == "words":
            raise InputError(
                "inputs='words': insertion of punctuation is explained from relations: give "
                "--inputs all, relations or lemmas"
            )
        if request.complete:
            model.completer(inputs)  # raises: the model does not insert words from these inputs
        model.best(inputs, realizer)  # raises if there is none for these inputs
        if isinstance(trees, Treebank):
            trees = input_trees(to_inputs(trees, inputs), inputs)
    if isinstance(trees, Treebank):
        check_labels(trees, inputs)
    check_tree(trees, tree)
    settings: dict[str, object] = {"inputs": inputs, "tree": tree + 1, "n_best": k}
    settings |= {"realizer": realizer} if realizer else {}
    settings |= request.completion_settings
    common = {"name": trees.name, "settings": settings, "number": tree + 1}
    if isinstance(trees, Treebank):
        single = trees.select([tree])
        if inputs == "lemmas":
            single = with_lemmas(single)
        else:
            check_forms(single)
        content_realizer = ContentRealizer(model, inputs, slots or (), realizer)
        return _explain_content(content_realizer, single, k, common, progress)
    single_tree = trees.select([tree])
    if inputs == "lemmas":
        if unpruned:
            raise InputError("inputs=lemmas: the supertags order words: leave unpruned out")
        return _explain_lemmas(model, single_tree, k, common, progress)
    return _explain_words(model, single_tree, k, realizer, unpruned, common, progress)


def _explain_words(
    model: RealizerModel,
    tree: InputTrees,
    k: int,
    realizer: str | None,
    unpruned: bool,
    common: dict[str, Any],
    progress: Progress,
) -> RealizedTree:
    """Explain the order of one tree of words, by all realizers or the given one."""
    fergus = None if realizer == "ordering" else model.fergus
    ordering = None if realizer == "fergus" else model.ordering.get(tree.inputs)
    if unpruned and fergus is None:
        lacking = "the model has no supertags" if model.fergus is None else "realizer=ordering"
        raise InputError(f"{lacking}, so no lattice: leave unpruned out")
    supertags, every_order = None, None
    if fergus is not None:
        if unpruned:
            check_small(tree)
            best = fergus.chooser.choose_best(tree, 0, 1)[0]
            every_order = unravel(fergus.chooser, tree, best, fergus.weights.unlimited())
        supertags = explain_supertags(fergus, tree, k, progress)._replace(unpruned=every_order)
    orders = None if ordering is None else explain_ordering(ordering, tree, k, progress)
    sentences = {"supertags": supertags.paths[0].sentence} if supertags else {}
    sentences |= {"ordering model": orders.orders[0].sentence} if orders else {}
    reference = tree.sentence(0, tree.reference(0)) if tree.has_word_order else None
    rows = [
        RealizerSentence(name, None if reference is None else text == reference, text)
        for name, text in sentences.items()
    ]
    if reference is not None:
        rows.append(RealizerSentence(IN_FILE, None, reference))
    options = f" --realizer {realizer}" if realizer else ""
    notes = [f"karat realize generate{options} writes the sentence of the {[*sentences][-1]}."]
    notes += model.fallback_notes(tree.inputs, realizer)
    if tree.has_word_order and model.count_seen(tree):
        notes.append("The model was trained on this sentence.")
    return RealizedTree(
        **common,
        rows=tuple(rows),
        notes=(*notes, *note_unseen_labels(model, tree, tree.inputs)),
        tree=tree,
        supertags=supertags,
        ordering=orders,
    )


def _explain_lemmas(
    model: RealizerModel, tree: InputTrees, k: int, common: dict[str, Any], progress: Progress
) -> RealizedTree:
    """Explain the forms of one tree of lemmas, and their order."""
    realizer = model.lemma_realizer()
    ordering = explain_ordering(realizer.ordering, realizer.inflected(tree), k, progress)
    forms = realizer.inflection.forms(tree, [list(ordering.best)])
    return RealizedTree(
        **common,
        rows=_rows_from_lemmas(realizer.name, forms),
        notes=note_unseen_labels(model, tree, tree.inputs),
        tree=replace(tree, words=[forms.best[node] for node in range(len(tree.words))]),
        supertags=None,
        ordering=_replace_sentences(ordering, forms),
        inflection=tuple(explain_forms(forms)),
    )


def _explain_content(
    realizer: ContentRealizer,
    treebank: Treebank,
    k: int,
    common: dict[str, Any],
    progress: Progress,
) -> RealizedTree:
    """Explain the insertions into the only tree of a treebank, and its order."""
    model, realized = realizer.model, realizer.realize(treebank, k)
    tree = realized.inserted.trees
    supertags, ordering = None, None
    if model.realizer_name("all", realizer.realizer) == "fergus":
        supertags = explain_supertags(model.require_fergus(), tree, k, progress)
    else:
        ordering = explain_ordering(model.ordering["all"], tree, k, progress)
    rows: tuple[RealizerSentence, ...]
    rows = (RealizerSentence(MODEL, None, realized.texts()[0]),)  # the file has fewer words
    inflection: list[WordForm] = []
    if realized.forms is not None:
        rows = _rows_from_lemmas(MODEL, realized.forms)
        inflection = explain_forms(realized.forms)
        ordering = ordering and _replace_sentences(ordering, realized.forms)
        realized = _with_words(realized, realized.forms.best)
    fallback = model.fallback_notes("all", realizer.realizer, completed=True)
    return RealizedTree(
        **common,
        rows=rows,
        notes=(*fallback, *note_unseen_labels(model, treebank, realizer.inputs)),
        tree=realized.inserted.trees,
        supertags=supertags,
        ordering=ordering,
        completion=explain_completion(realized, realized.content.words),
        inflection=tuple(inflection),
    )


def _with_words(realized: RealizedContent, forms: Mapping[int, str]) -> RealizedContent:
    """Return the only tree with the forms of its best order."""
    inserted, words = realized.inserted, list(realized.content.words)
    for node, place in enumerate(inserted.places):
        if place is None:
            words[inserted.trees.places[node]] = forms[node]
    trees = replace(inserted.trees, words=[forms[node] for node in range(len(forms))])
    final = realized.final_fillings()
    fillings = {slot: list(column) for slot, column in realized.fillings.items()}
    for j, slot, likely in realized.choices:
        if final[slot][j] in dict(likely):  # otherwise only its form differs
            fillings[slot][j] = final[slot][j]
    return replace(
        realized,
        content=replace(realized.content, words=words),
        inserted=replace(inserted, trees=trees),
        fillings=fillings,
    )


def check_tree(trees: InputTrees | Treebank, tree: int) -> None:
    """Raise if there is no tree with this number."""
    if isinstance(tree, bool) or not isinstance(tree, Integral):
        raise InputError(f"tree={quoted(tree)}: expected a whole number, from 0")
    if not 0 <= tree < len(trees):
        last = f"the last is tree {len(trees):,}"
        raise InputError(f"{trees.name}: there is no tree {tree + 1}; {last}")


def _replace_sentences(ordering: OrderingExplained, forms: OrderedForms) -> OrderingExplained:
    """Return the orders of the only tree, with inflected sentences."""
    pairs = zip(ordering.orders, forms.sentences(forms.forms), strict=True)
    orders = tuple(row._replace(sentence=sentence) for row, sentence in pairs)
    return ordering._replace(orders=orders)


def _rows_from_lemmas(model: str, forms: OrderedForms) -> tuple[RealizerSentence, ...]:
    """Return the first sentence, tokenised and detokenised."""
    return (
        RealizerSentence(model, None, forms.texts()[0]),
        RealizerSentence(AS_TEXT, None, forms.texts(detokenise=True)[0]),
    )


def explain_demo(*, progress: Progress = silent) -> RealizedTree:
    """Explain the paper's example sentence; models are trained on the other bundled sentences."""
    treebank = bundled_treebank()
    model = train_realizer(treebank.select(range(1, len(treebank))), progress=progress)
    explained = explain_tree(model, input_trees(treebank, "words"), 0, progress=progress)
    note = (
        f"Trained on the other {len(treebank) - 1} sentences of the bundled treebank; this one was "
        f"left out."
    )
    return replace(explained, notes=(*explained.notes, note))


def explain_supertags(
    fergus: Fergus, tree: InputTrees, k: int, progress: Progress
) -> SupertagsExplained:
    """Explain the k best assignments and paths of the only tree."""
    progress(0, k + 2, "choosing supertags")
    taggings = fergus.chooser.choose_best(tree, 0, k)
    lattice = unravel(fergus.chooser, tree, taggings[0], fergus.weights.wider(k))
    progress(1, len(taggings) + 2, "choosing paths")
    (orders,), lms = fergus.linearize(tree, taggings[0], k)
    paths = [
        ScoredSentence(rank, order.score, order.score - lm, lm, tree.sentence(0, order.nodes))
        for rank, (order, lm) in enumerate(zip(orders, lms.tolist(), strict=True), 1)
    ]
    assigned: list[NodeSupertag] = []
    assignments, grammar = [], fergus.chooser.grammar
    for rank, supertags in enumerate(taggings, 1):
        progress(rank + 1, len(taggings) + 2, "realising supertags")
        nodes = []
        columns = supertags.labels.tolist(), supertags.slots.tolist(), supertags.frames.tolist()
        for node, (label, slot, frame) in enumerate(zip(*columns, strict=True)):
            word, mother = tree.words[node], tree.mother(node)
            attached = f"slot {slot + 1}" if slot >= 0 else "adjoined" if mother is not None else ""
            labels = *grammar.label(label), attached
            name = frame_text(grammar.frames[frame]) if frame >= 0 else "free"
            nodes.append(NodeSupertag(rank, node, word, mother, *labels, name))
        differences = [
            supertag.describe_difference(best)
            for supertag, best in zip(nodes, assigned or nodes, strict=False)
        ]
        assigned += [
            supertag._replace(differs=bool(difference))
            for supertag, difference in zip(nodes, differences, strict=True)
        ]
        ((order, *_),), _ = fergus.linearize(tree, supertags)
        sentence = tree.sentence(0, order.nodes)
        changes = "; ".join(filter(None, differences))
        assignments.append(Assignment(rank, float(supertags.scores[0]), changes, sentence))
    return SupertagsExplained(tuple(assigned), tuple(assignments), lattice, tuple(paths), orders[0])


def explain_ordering(
    model: OrderingModel, tree: InputTrees, k: int, progress: Progress
) -> OrderingExplained:
    """Explain the k best orders of the only tree."""
    best = model.realize(tree, k)[0]
    orders, treelets = [], []
    for rank, order in enumerate(best, 1):
        progress(rank - 1, len(best), "explaining orders")
        treelets.append(tuple(model.explain(tree, 0, order)))
        features = sum(treelet.sum for treelet in treelets[-1])
        parts = order.score, features, order.score - features
        orders.append(ScoredSentence(rank, *parts, tree.sentence(0, order.nodes)))
    # Labels, given or predicted, as the features see them.
    if tree.inputs == "lemmas":  # all are given
        columns: tuple[list[str], ...] = (tree.tags, tree.fine, tree.relations)
    else:
        labelled = model.labelled_columns(tree)
        names = {name for entry in model.labeller.about() for name in entry["names"]}
        names_list = sorted(names.union(tree.tags, tree.relations))
        name_of_symbol = dict(zip(symbols(names_list).tolist(), names_list, strict=True))
        numbers = labelled.tags, labelled.fine, labelled.relations
        columns = tuple([name_of_symbol.get(n, "") for n in c.tolist()] for c in numbers)
    labels = (
        NodeLabel(node, tree.words[node], tree.mother(node), *node_labels)
        for node, node_labels in enumerate(zip(*columns, strict=True))
    )
    return OrderingExplained(tuple(labels), tuple(orders), tuple(treelets), tuple(best))


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SupertagList(RealizerResult):
    """Supertags, the most frequent first; `pictured` are drawn, half of them with slots."""

    rows: tuple[Supertag, ...]
    pictured: tuple[Supertag, ...]


def list_supertags(source: FilePath, most: int = 30) -> SupertagList:
    """List the supertags of a model or a treebank.

    Args:
        source: path of a model or a treebank.
        most: number of supertags, the most frequent first.
    """
    as_path("source", source)
    check_count("most", most, 1)
    if is_store(source):
        grammar = open_realizer(source).require_fergus().chooser.grammar
    else:
        trees = input_trees(read_treebank(source), "all")
        grammar = extract_grammar(trees, gold_frames(trees))
    supertags = grammar.supertags()
    total = sum(supertag.times for supertag in supertags)
    covered = sum(supertag.times for supertag in supertags[:most]) / max(total, 1)
    note = (
        f"{len(supertags):,} supertags with {len(grammar.frames):,} frames; those listed cover "
        f"{covered:.1%} of {total:,} words."
    )
    with_slots = [supertag for supertag in supertags if supertag.frame != "*"][: N_DRAWN // 2]
    pictured = dict.fromkeys([*supertags[: N_DRAWN - len(with_slots)], *with_slots])
    return SupertagList(
        name=str(source),
        rows=tuple(supertags[:most]),
        settings={"most": most},
        notes=(note,),
        pictured=tuple(pictured),
    )
