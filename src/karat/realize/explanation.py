"""Explanations: why a tree was realised as it was, as data.

For the paper's realiser the k best supertaggings, the lattice of the best, and its best paths; for
the ordering model its guesses of labels and its best orders, with what each group of features adds
to every treelet. Of a grammar: its supertags by frequency.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from importlib import resources
from numbers import Integral
from typing import NamedTuple

from karat.arrays import np
from karat.errors import InputError, quoted
from karat.progress import Progress, silent
from karat.realize.choices import CompletionExplained, WordForm, explain_completion, explain_forms
from karat.realize.completion import RealizedContent
from karat.realize.content import check_completion_classes, name_classes
from karat.realize.fergus import Fergus, Supertags
from karat.realize.generation import (
    ContentLemmas,
    ContentRealizer,
    ContentSentences,
    check_completion,
    labels_of_content,
    labels_of_trees,
    note_unseen_labels,
)
from karat.realize.grammar import Grammar, Supertag, extract_grammar, frame_text, gold_frames
from karat.realize.inflection import Inflection, LemmaRealizer, OrderedForms, nodes_of
from karat.realize.input_trees import (
    InputTrees,
    WordOrder,
    check_best,
    check_labels,
    check_type,
    input_trees,
    to_names,
    with_lemmas,
)
from karat.realize.lattice import TreeLattice, check_small, unravel
from karat.realize.model import RealizerModel, RealizerResult, open_realizer, train_realizer
from karat.realize.ordering import OrderingModel, TreeletScores
from karat.realize.symbols import symbols, to_columns
from karat.realize.treebank import Treebank, check_forms, read_treebank, slice_sentences
from karat.settings import check_count
from karat.storage.output import FilePath, as_path
from karat.storage.store import is_store

IN_FILE = "the file"
"""Model of the sentence that the file has."""
AS_TEXT = "text (--detokenise)"
"""Model of the sentence that has spaces as text does."""
N_DRAWN = 12
"""Number of elementary trees that are drawn."""


class RealizerSentence(NamedTuple):
    """A sentence of one realiser, and whether it is that of the file.

    None: it is the file's own, or the file has none: its trees have no word order, or lemmas.
    """

    model: str
    exact: bool | None
    sentence: str


class NodeSupertag(NamedTuple):
    """The supertag of a node in the assignment of a rank; `differs` from the best assignment's."""

    rank: int
    node: int
    word: str
    mother: int | None
    tag: str
    relation: str
    attached: str
    frame: str
    differs: bool = False

    def changes(self, best: NodeSupertag) -> str:
        """Return the differences from the best assignment's supertag; empty if there are none."""
        pairs = [(a, b) for a, b in zip(self[4:7], best[4:7], strict=True) if a != b]
        pairs += [(f"[{self.frame}]", f"[{best.frame}]")] if self.frame != best.frame else []
        new, old = (", ".join(str(pair[i]) for pair in pairs) for i in (0, 1))
        return f"{self.word}: {new} instead of {old}" if pairs else ""


class Assignment(NamedTuple):
    """A supertag for every node: log probability, differences from the best, sentence."""

    rank: int
    score: float
    changes: str
    sentence: str


class PathScore(NamedTuple):
    """A path of the lattice, and the parts of its score."""

    rank: int
    score: float
    table: float
    lm: float
    sentence: str


class SupertagsExplained(NamedTuple):
    """A tree through Tree Chooser, Unraveler and LP Chooser; `best` is the order chosen.

    `every` is the lattice that is not pruned, if it was asked for: all that the supertags allow.
    """

    assigned: tuple[NodeSupertag, ...]
    assignments: tuple[Assignment, ...]
    lattice: TreeLattice
    paths: tuple[PathScore, ...]
    best: WordOrder
    unpruned: TreeLattice | None = None


class NodeLabel(NamedTuple):
    """Labels of a node in the ordering model; `fine` is a tag of the treebank's own."""

    node: int
    word: str
    mother: int | None
    tag: str
    fine: str
    relation: str


class OrderScore(NamedTuple):
    """An order of the ordering model: its features' sum, and the language model's part."""

    rank: int
    score: float
    features: float
    lm: float
    sentence: str


class OrderingExplained(NamedTuple):
    """A tree through the ordering model; `treelets` has those of every order, by its rank - 1."""

    labels: tuple[NodeLabel, ...]
    orders: tuple[OrderScore, ...]
    treelets: tuple[tuple[TreeletScores, ...], ...]
    best: tuple[WordOrder, ...]

    def changed(self) -> Iterator[tuple[int, list[tuple[TreeletScores, float]]]]:
        """Yield the rank of each other order, and its treelets that are not as in the best order.

        Beside each treelet is its sum minus the best's; heads come in the same order in both.
        """
        for rank, treelets in enumerate(self.treelets[1:], 2):
            pairs = zip(treelets, self.treelets[0], strict=True)
            yield (
                rank,
                [
                    (treelet, treelet.sum - best_treelet.sum)
                    for treelet, best_treelet in pairs
                    if treelet != best_treelet
                ],
            )


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
    """Forms of the best order's words, in that order, if the input has lemmas."""


def explain_tree(
    model: RealizerModel,
    trees: InputTrees,
    tree: int,
    k: int = 5,
    *,
    realizer: str | None = None,
    unpruned: bool = False,
    progress: Progress = silent,
) -> RealizedTree:
    """Explain how the realisers of a model order one tree.

    Args:
        model, trees: as `open_realizer` and `read_trees` return them.
        tree: number of the tree, from 0.
        k: number of supertag assignments, paths and orders.
        realizer: `fergus` or `ordering`; by default all that the model has for these inputs.
        unpruned: add the lattice of all orders, without costs, if the tree is small (Figure 3 of
            the paper).
        progress: function that is called with the progress.
    """
    check_type("model", model, RealizerModel)
    check_type("trees", trees, InputTrees)
    check_best("k", k)
    model.best(trees.inputs, realizer)  # an error if there is none for these inputs
    check_tree(trees, tree)
    single_tree = trees.choose([tree])
    if trees.inputs == "lemmas":
        if unpruned:
            raise InputError("inputs=lemmas: the supertags order words: leave unpruned out")
        explained = _explain_lemmas(model.lemma_realizer(), single_tree, tree, k, progress)
        return replace(explained, notes=note_unseen_labels(model, labels_of_trees(single_tree)))
    fergus = None if realizer == "ordering" else model.fergus
    ordering = None if realizer == "fergus" else model.ordering.get(trees.inputs)
    if unpruned and fergus is None:
        lacking = "the model has no supertags" if model.fergus is None else "realizer=ordering"
        raise InputError(f"{lacking}, so no lattice: leave unpruned out")
    supertags = None
    if fergus is not None:
        full_lattice = _unpruned(fergus, single_tree) if unpruned else None
        supertags = explain_supertags(fergus, single_tree, k, progress)._replace(
            unpruned=full_lattice
        )
    orders = None if ordering is None else explain_ordering(ordering, single_tree, k, progress)
    written = [("supertags", supertags.paths[0].sentence)] if supertags else []
    written += [("ordering model", orders.orders[0].sentence)] if orders else []
    options = f" --realizer {realizer}" if realizer else ""
    notes = [f"karat realize generate{options} writes the sentence of the {written[-1][0]}."]
    notes += filter(None, [model.fallback(trees.inputs, realizer)])
    if single_tree.has_word_order and model.has_seen(single_tree):
        notes.append("The model was trained on this sentence.")
    settings: dict[str, object] = {"inputs": trees.inputs, "tree": tree + 1, "n_best": k}
    return RealizedTree(
        name=trees.name,
        rows=_compare_with_file(written, single_tree),
        settings=settings | ({"realizer": realizer} if realizer else {}),
        notes=(*notes, *note_unseen_labels(model, labels_of_trees(single_tree))),
        number=tree + 1,
        tree=single_tree,
        supertags=supertags,
        ordering=orders,
    )


def _compare_with_file(
    written: list[tuple[str, str]], tree: InputTrees
) -> tuple[RealizerSentence, ...]:
    """Return the sentences of realizers, and that of the file if its words have an order."""
    if not tree.has_word_order:
        return tuple(RealizerSentence(name, None, text) for name, text in written)
    reference = tree.sentence(0, tree.reference(0))
    rows = [RealizerSentence(name, text == reference, text) for name, text in written]
    return (*rows, RealizerSentence(IN_FILE, None, reference))


def check_tree(trees: InputTrees | Treebank, tree: int) -> None:
    """Refuse the number of a tree that is not there."""
    if isinstance(tree, bool) or not isinstance(tree, Integral):
        raise InputError(f"tree={quoted(tree)}: expected a whole number, from 0")
    if not 0 <= tree < len(trees):
        raise InputError(
            f"{trees.name}: there is no tree {tree + 1}; the last is tree {len(trees):,}"
        )


def _explain_lemmas(
    realizer: LemmaRealizer, single_tree: InputTrees, tree: int, k: int, progress: Progress
) -> RealizedTree:
    """Explain the forms of one tree of lemmas, and their order."""
    ordering = explain_ordering(realizer.ordering, realizer.inflected(single_tree), k, progress)
    ordered = realizer.forms(single_tree, [list(ordering.best)])
    best = np.array(ordering.best[0].nodes, dtype=np.int64)
    forms = explain_forms(realizer.inflection.inflector, nodes_of(single_tree), best)
    in_order = dict(zip(best.tolist(), ordered.forms, strict=False))
    return RealizedTree(
        name=single_tree.name,
        rows=rows_from_lemmas(realizer.name, realizer.inflection, ordered),
        settings={"inputs": single_tree.inputs, "tree": tree + 1, "n_best": k},
        number=tree + 1,
        tree=replace(single_tree, words=[in_order[node] for node in range(len(in_order))]),
        supertags=None,
        ordering=replace_sentences(ordering, ordered),
        inflection=tuple(forms),
    )


def replace_sentences(ordering: OrderingExplained, ordered: OrderedForms) -> OrderingExplained:
    """Return orders of the only tree with sentences of the forms that were made for each."""
    pairs = zip(ordering.orders, ordered.sentences(ordered.forms), strict=True)
    orders = tuple(row._replace(sentence=sentence) for row, sentence in pairs)
    return ordering._replace(orders=orders)


def rows_from_lemmas(
    model: str, inflection: Inflection, ordered: OrderedForms
) -> tuple[RealizerSentence, ...]:
    """Return the first sentence with its capitals, and as text."""
    words = inflection.capitalise(ordered)
    sentence, text = ordered.sentences(words)[0], inflection.texts(ordered, words)[0]
    return (
        RealizerSentence(model, None, sentence),
        RealizerSentence(AS_TEXT, None, text),
    )


def _unpruned(fergus: Fergus, tree: InputTrees) -> TreeLattice:
    """Return all orders that the best supertags of the only tree allow."""
    check_small(tree)
    best = fergus.chooser.choose_best(tree, 0, 1)[0]
    return unravel(fergus.chooser, tree, best, fergus.weights.unlimited())


def explain_demo(*, progress: Progress = silent) -> RealizedTree:
    """Explain the paper's example sentence, by models of the rest of the bundled treebank."""
    place = resources.files("karat") / "data" / "treebank" / "demo.conllu"
    with resources.as_file(place) as path:
        treebank = read_treebank(path)
    model = train_realizer(slice_sentences(treebank, 1, len(treebank)), progress=progress)
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
    (orders,), lms = fergus.linearize_with_parts(tree, taggings[0], k)
    paths = [
        PathScore(rank, order.score, order.score - lm, lm, tree.sentence(0, order.nodes))
        for rank, (order, lm) in enumerate(zip(orders, lms.tolist(), strict=True), 1)
    ]
    assigned: list[NodeSupertag] = []
    assignments = []
    for rank, supertags in enumerate(taggings, 1):
        progress(rank + 1, len(taggings) + 2, "realising supertags")
        nodes = list(_node_supertags(fergus.chooser.grammar, tree, supertags, rank))
        changes = [a.changes(b) for a, b in zip(nodes, assigned or nodes, strict=False)]
        assigned += [a._replace(differs=bool(c)) for a, c in zip(nodes, changes, strict=True)]
        sentence = tree.sentence(0, fergus.linearize(tree, supertags)[0][0].nodes)
        difference = "; ".join(filter(None, changes))
        assignments.append(Assignment(rank, float(supertags.scores[0]), difference, sentence))
    return SupertagsExplained(tuple(assigned), tuple(assignments), lattice, tuple(paths), orders[0])


def _node_supertags(
    grammar: Grammar, tree: InputTrees, supertags: Supertags, rank: int
) -> Iterator[NodeSupertag]:
    columns = (supertags.labels.tolist(), supertags.slots.tolist(), supertags.frames.tolist())
    for node, (label, slot, frame) in enumerate(zip(*columns, strict=True)):
        word, mother = tree.words[node], _mother(tree, node)
        attached = f"slot {slot + 1}" if slot >= 0 else "adjoined" if mother is not None else ""
        frame_name = frame_text(grammar.frames[frame]) if frame >= 0 else "free"
        yield NodeSupertag(rank, node, word, mother, *grammar.label(label), attached, frame_name)


def _mother(tree: InputTrees, node: int) -> int | None:
    return int(tree.heads[node]) if tree.heads[node] >= 0 else None


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
        orders.append(OrderScore(rank, *parts, tree.sentence(0, order.nodes)))
    return OrderingExplained(
        tuple(_node_labels(model, tree)), tuple(orders), tuple(treelets), tuple(best)
    )


def _node_labels(model: OrderingModel, tree: InputTrees) -> Iterator[NodeLabel]:
    """Yield the labels, given or guessed, as the features see them."""
    if tree.inputs == "lemmas":  # all are given
        columns = tree.words, tree.tags, tree.fine, tree.relations
        for node, (word, *given_labels) in enumerate(zip(*columns, strict=True)):
            yield NodeLabel(node, word, _mother(tree, node), *given_labels)
        return
    symbols_of_tree = to_columns(tree)
    labelled = model.labeller.label(
        symbols_of_tree if model.inputs == "all" else symbols_of_tree.blank()
    )
    known_names = {name for description in model.labeller.about() for name in description["names"]}
    names = sorted(known_names | set(tree.tags) | set(tree.relations))
    name_of_symbol = dict(zip(symbols(names).tolist(), names, strict=True))
    numbered = labelled.tags.tolist(), labelled.fine.tolist(), labelled.relations.tolist()
    for node, numbers in enumerate(zip(*numbered, strict=True)):
        labels = (name_of_symbol.get(number, "") for number in numbers)
        yield NodeLabel(node, tree.words[node], _mother(tree, node), *labels)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SupertagList(RealizerResult):
    """Supertags, the most frequent first; `drawn` has some of them, half with slots."""

    rows: tuple[Supertag, ...]
    drawn: tuple[Supertag, ...]


def list_supertags(source: FilePath, most: int = 30) -> SupertagList:
    """List the supertags of a model or a treebank.

    Args:
        source: path of a model or a treebank.
        most: number of supertags, the most frequent first.
    """
    as_path("source", source)
    check_count("most", most, 1)
    if is_store(source):
        grammar = open_realizer(source).the_fergus().chooser.grammar
    else:
        trees = input_trees(read_treebank(source), "all")
        grammar = extract_grammar(trees, gold_frames(trees))
    supertags = grammar.supertags()
    total, covered = (
        sum(counted.times for counted in group) for group in (supertags, supertags[:most])
    )
    note = (
        f"{len(supertags):,} supertags with {len(grammar.frames):,} frames; those listed cover "
        f"{covered / max(total, 1):.1%} of {total:,} words."
    )
    with_slots = [supertag for supertag in supertags if supertag.frame != "*"][: N_DRAWN // 2]
    to_draw = dict.fromkeys([*supertags[: N_DRAWN - len(with_slots)], *with_slots])
    return SupertagList(
        name=str(source),
        rows=tuple(supertags[:most]),
        settings={"most": most},
        notes=(note,),
        drawn=tuple(to_draw),
    )


MODEL = "completion"
"""Name in reports."""


def explain_content_words(
    model: RealizerModel,
    treebank: Treebank,
    tree: int,
    k: int = 5,
    *,
    inputs: str = "all",
    realizer: str | None = None,
    complete: tuple[str, ...] = ("function-words", "punctuation"),
    keep: tuple[str, ...] = (),
    progress: Progress = silent,
) -> RealizedTree:
    """Explain what is inserted into one tree of content words, and how it is ordered then.

    Args:
        model, treebank: as `open_realizer` and `read_input` return them.
        tree: number of the tree, from 0.
        k: number of orders.
        inputs: `all`, `relations` or `lemmas`.
        realizer, complete, keep: as for `generate_sentences`.
        progress: function that is called with the progress.
    """
    check_type("model", model, RealizerModel)
    check_type("treebank", treebank, Treebank)
    check_best("k", k)
    complete, keep = to_names("complete", complete), to_names("keep", keep)
    slots = check_completion_classes(complete, keep)
    _check_completer(model, inputs, slots, realizer)
    treebank_of_tree = _select_tree(treebank, tree, inputs)
    realized = ContentRealizer(model, inputs, slots, realizer).realize(treebank_of_tree, k)
    completed_tree = realized.realized.inserted.trees
    by_fergus = model.chosen("all", realizer) == "fergus"
    supertags = (
        explain_supertags(model.the_fergus(), completed_tree, k, progress) if by_fergus else None
    )
    ordering = (
        None if by_fergus else explain_ordering(model.ordering["all"], completed_tree, k, progress)
    )
    rows: tuple[RealizerSentence, ...]
    rows = (RealizerSentence(MODEL, None, realized.texts()[0]),)  # the file has fewer words
    forms: list[WordForm] = []
    if realized.lemmas is not None:
        rows = rows_from_lemmas(MODEL, realized.lemmas.inflection, realized.lemmas.forms)
        forms = _forms(realized.lemmas, realized.realized)
        ordering = ordering and replace_sentences(ordering, realized.lemmas.forms)
        realized = _with_words(realized, realized.lemmas.best)
    settings: dict[str, object] = {"inputs": inputs, "tree": tree + 1, "n_best": k}
    settings |= {"realizer": realizer} if realizer else {}
    settings |= {"complete": ",".join(complete)} | ({"keep": ",".join(keep)} if keep else {})
    fallback = filter(None, [model.content_fallback(realizer)])
    return RealizedTree(
        name=treebank.name,
        rows=rows,
        settings=settings,
        notes=(*fallback, *note_unseen_labels(model, labels_of_content(treebank_of_tree, inputs))),
        number=tree + 1,
        tree=realized.realized.inserted.trees,
        supertags=supertags,
        ordering=ordering,
        completion=explain_completion(realized.realized, realized.content.words),
        inflection=tuple(forms),
    )


def _check_completer(
    model: RealizerModel, inputs: str, slots: tuple[str, ...], realizer: str | None
) -> None:
    """Refuse inputs from which the model does not insert words."""
    if inputs == "words":
        subject = f"insertion of {name_classes(slots)} is explained from relations"
        raise InputError(f"inputs='words': {subject}: give --inputs all, relations or lemmas")
    check_completion(model, inputs, slots, realizer)


def _select_tree(treebank: Treebank, tree: int, inputs: str) -> Treebank:
    """Return one tree of a treebank; refuse it if it lacks what the inputs have."""
    check_labels(treebank, inputs)
    check_tree(treebank, tree)
    single = slice_sentences(treebank, tree, tree + 1)
    if inputs == "lemmas":
        return with_lemmas(single)
    check_forms(single)
    return single


def _forms(lemmas: ContentLemmas, realized: RealizedContent) -> list[WordForm]:
    """Return the forms that the words of the best order might have, inserted words too."""
    best = np.array(realized.orders[0][0].nodes, dtype=np.int64)
    return explain_forms(lemmas.inflection.inflector, lemmas.completed.nodes, best)


def _with_words(realized: ContentSentences, forms: Mapping[int, str]) -> ContentSentences:
    """Return the only tree with the forms of its best order."""
    inserted, words = realized.realized.inserted, list(realized.content.words)
    for node, place in enumerate(inserted.places):
        if place is None:
            words[inserted.trees.places[node]] = forms[node]
    tree_with_forms = replace(inserted.trees, words=[forms[node] for node in range(len(forms))])
    fillings, final = dict(realized.realized.fillings), realized.fillings()
    for j, slot, choice_fillings in realized.realized.choices:
        if final[slot][j] in (
            filling for filling, _ in choice_fillings
        ):  # else only its form is another
            fillings[slot] = [*fillings[slot][:j], final[slot][j], *fillings[slot][j + 1 :]]
    content_realized = replace(
        realized.realized, inserted=replace(inserted, trees=tree_with_forms), fillings=fillings
    )
    return replace(
        realized, content=replace(realized.content, words=words), realized=content_realized
    )
