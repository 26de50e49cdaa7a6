"""FERGUS (Bangalore, Rambow and Whittaker 2000): Tree Chooser, LP Chooser, baselines."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import asdict, astuple, dataclass, replace
from typing import Any, ClassVar

from karat import _kernel
from karat.arrays import Floats, Ints, NDArray, np
from karat.lm.model import LanguageModel
from karat.progress import Progress, silent
from karat.realize.grammar import (
    MAX_RARE_COUNT,
    Grammar,
    Int32s,
    Slots,
    extract_grammar,
    frame_numbers,
    gold_frames,
    stored_grammar,
    suffixes,
)
from karat.realize.input_trees import InputTrees, Orders, WordOrder, input_trees
from karat.realize.treebank import Treebank
from karat.storage.schema import check_fields, integer, list_of, real, record, text
from karat.storage.store import ModelStore, damaged, with_prefix, without_prefix


@dataclass(frozen=True, eq=False)
class Supertags:
    """Label, frame and filled slot (-1: none) of every node, and a score for each tree."""

    labels: Int32s
    frames: Int32s
    slots: Int32s
    scores: Floats


class TreeChooser:
    """The Tree Chooser: a supertag for every node of a tree, by the stochastic tree model.

    The model has the paper's parameters (l_d, s_d | l_m, s_m): a daughter's lexeme and supertag
    given her mother's, with interpolated back-off to labels and categories
    (csrc/realize/fergus/tree_model.hpp). The best supertags of a tree are found exactly, by dynamic
    programming, under the attachment constraint: every slot of a frame is filled by one daughter
    with its relation. Unknown words are classified by suffix and shape; a treelet that fits no
    frame gets the free frame.
    """

    def __init__(self, grammar: Grammar, keys: NDArray[np.uint32], counts: Int32s) -> None:
        self.grammar = grammar
        self.keys, self.counts = keys, counts
        self.kernel = _kernel.TreeModel(grammar.kernel, keys, counts, grammar.arrays["open"])

    @classmethod
    def train(cls, grammar: Grammar, trees: InputTrees, frames: list[Slots]) -> TreeChooser:
        """Count the treelets of trees with tags and relations."""
        words = grammar.find(trees.words)
        rare = np.bincount(words)[words] <= MAX_RARE_COUNT
        labels = grammar.labels(trees.tags, trees.relations)
        columns = words, labels, trees.heads, suffixes(trees.words), trees.offsets
        numbers = frame_numbers(grammar, frames), rare.astype(np.int32)
        treelet_counts = _kernel.count_trees(grammar.kernel, *columns, *numbers, trees.places)
        return cls(grammar, *treelet_counts)

    def columns(
        self, trees: InputTrees
    ) -> tuple[Int32s, Int32s, Int32s, Int32s, NDArray[np.int64]]:
        """Return words, labels (-1 if not given), heads, suffixes and offsets."""
        words = self.grammar.find(trees.words)
        labels = np.full_like(words, -1)
        if trees.inputs == "all":
            labels = self.grammar.labels(trees.tags, trees.relations)
        return words, labels, trees.heads, suffixes(trees.words), trees.offsets

    def choose(self, trees: InputTrees) -> Supertags:
        """Return the best supertags of every tree."""
        return Supertags(*_kernel.choose_trees(self.kernel, *self.columns(trees), 1)[:4])

    def choose_best(self, trees: InputTrees, tree: int, k: int) -> list[Supertags]:
        """Return the k best supertaggings of one tree, the best first."""
        columns = self.columns(trees.select([tree]))
        labels, frames, slots, scores, _ = _kernel.choose_trees(self.kernel, *columns, k)
        flat = labels, frames, slots, scores
        by_rank = zip(*(np.split(column, len(scores)) for column in flat), strict=True)
        return [Supertags(*supertags) for supertags in by_rank]


ORDER = 3
"""Order of the paper's language model."""
BATCH = 256
"""Trees realised together; divided by the number of orders of each."""


@dataclass(frozen=True)
class LpWeights:
    """Weights of the LP Chooser, which chooses the likeliest path through the lattice.

        score = side * log p(sides) + pair * log p(orders) + lm * log p(words)

    The first two terms come from the adjunction table and are on the arcs of the lattice; the third
    comes from an n-gram model. A lattice keeps `width` states per level, and arcs whose best path
    is at most `margin` worse than the best; the composition keeps `beam` hypotheses per state (0:
    all). Weights and limits were tuned on held-out training documents.
    """

    side: float = 1.6
    pair: float = 1.5
    lm: float = 1.0
    width: int = 64
    margin: float = 8.0
    beam: int = 10

    def wider(self, k: int) -> LpWeights:
        """Return wider limits for k sentences instead of one."""
        if k == 1:
            return self
        return replace(self, margin=2 * self.margin, beam=max(self.beam, 4 * k) if self.beam else 0)

    def unlimited(self) -> LpWeights:
        """Return the weights without limits: nothing is pruned from a lattice."""
        return replace(self, width=1 << 20, margin=1e300, beam=0)

    def values(self) -> list[float]:
        """Return the weights in the kernel's form."""
        return [float(value) for value in astuple(self)]


def train_lm(trees: InputTrees, order: int = ORDER) -> LanguageModel:
    """Train a language model on the sentences of trees, with the treebank's tokens."""
    return LanguageModel.train(trees.without_spaces().reference_sentences(), order, tok="none")


def lm_words(model: LanguageModel, trees: InputTrees) -> NDArray[np.int32]:
    """Return the language model's ids of the nodes' words."""
    return model.word_ids(trees.without_spaces().words)


def order_in_batches(
    order_batch: Callable[[InputTrees], Orders],
    trees: InputTrees,
    batch_size: int,
    progress: Progress,
) -> Orders:
    """Order all trees by calling `order_batch` with `batch_size` trees at a time."""
    orders: Orders = []
    for start in range(0, len(trees), batch_size):
        progress(start, len(trees), "ordering")
        orders += order_batch(trees.select(range(start, min(start + batch_size, len(trees)))))
    progress(len(trees), len(trees), "ordering")
    return orders


def to_orders(trees: InputTrees, nodes: NDArray[np.int32], scores: Floats, starts: Ints) -> Orders:
    """Return the kernel's flat result by tree; the orders of tree i begin at `starts[i]`."""
    all_orders, start = [], 0
    sizes, node_list, score_list = np.diff(trees.offsets).tolist(), nodes.tolist(), scores.tolist()
    for tree, size in enumerate(sizes):
        orders = []
        for i in range(int(starts[tree]), int(starts[tree + 1])):
            orders.append(WordOrder(tuple(node_list[start : start + size]), score_list[i]))
            start += size
        all_orders.append(orders)
    return all_orders


WEIGHTS = LpWeights(margin=1000.0)
"""Weights of the baselines: no order within a side is pruned; the language model ranks them."""


@dataclass(frozen=True, eq=False)
class LeftRight:
    """The baseline LR of section 3.3: a tree model of sides only.

        p(l_d left of l_m), which backs off to p(l_d left of any mother), then to p(left)

    The rest of the pipeline is that of FERGUS: each daughter goes to her likelier side, the lattice
    has every order within a side, and the LP Chooser chooses the best path by its language model.
    `name` tells whether the counts are from random or real trees.
    """

    name: str
    grammar: Grammar
    lm: LanguageModel
    keys: NDArray[np.uint32]
    counts: Int32s

    def realize(self, trees: InputTrees, k: int = 1, *, progress: Progress = silent) -> Orders:
        """Return the k best orders of every tree."""

        def order(batch: InputTrees) -> Orders:
            words = self.grammar.find(batch.words)
            tables = self.keys, self.counts, words, batch.heads, batch.offsets
            search = self.lm.kernel, lm_words(self.lm, batch), WEIGHTS.wider(k).values(), k
            nodes, scores, _, starts = _kernel.linearize_left_right(*tables, *search)
            return to_orders(batch, nodes, scores, starts)

        return order_in_batches(order, trees, max(BATCH // k, 1), progress)


def train_left_right(
    grammar: Grammar, trees: InputTrees, lm: LanguageModel, *, random_trees: bool
) -> LeftRight:
    """Count the sides of lexemes relative to their mothers, in real or random trees.

    The paper counts sides in a *random* tree of each training sentence: words in random order, each
    attached to an earlier one. The authors' later paper uses the real trees.
    """
    mothers = trees.mothers()
    if random_trees:
        rng = random.Random(0)
        for i, start in enumerate(trees.offsets[:-1].tolist()):
            order = [start + node for node in trees.reference(i)]
            rng.shuffle(order)
            mothers[order[0]] = -1
            for at in range(1, len(order)):
                mothers[order[at]] = order[rng.randrange(at)]
    nodes = np.flatnonzero(mothers >= 0)
    words, above = grammar.find(trees.words), mothers[nodes]
    left = trees.places[nodes] < trees.places[above]
    side_counts = _kernel.count_sides(words[nodes], words[above], left.astype(np.int32))
    name = "LR, random trees" if random_trees else "LR, real trees"
    return LeftRight(name, grammar, lm, *side_counts)


DEFAULT_WEIGHTS = LpWeights()
MAX_WIDTH = 1_000_000
"""Maximal width and beam of a stored model."""


@dataclass(frozen=True, eq=False)
class Fergus:
    """The realiser of the paper, with its two baselines."""

    name: ClassVar[str] = "supertags"
    """Name in reports."""

    chooser: TreeChooser
    lm: LanguageModel
    baselines: tuple[LeftRight, ...]
    """LR with counts from random trees, as in the paper, and from real trees."""
    weights: LpWeights = DEFAULT_WEIGHTS

    @property
    def language_model(self) -> LanguageModel:
        """The LP Chooser's language model."""
        return self.lm

    @classmethod
    def train(
        cls,
        treebank: Treebank,
        *,
        order: int = ORDER,
        weights: LpWeights | None = None,
        progress: Progress = silent,
    ) -> Fergus:
        """Train all parts: grammar, counts of treelets, language model, baselines."""
        trees = input_trees(treebank, "all")
        progress(0, 4, "extracting the grammar")
        frames = gold_frames(trees)
        grammar = extract_grammar(trees, frames)
        progress(1, 4, "counting treelets")
        chooser = TreeChooser.train(grammar, trees, frames)
        progress(2, 4, "training the language model")
        lm = train_lm(trees, order)
        progress(3, 4, "training the baselines")
        kinds = (True, False)  # of random trees, and of real ones
        baselines = tuple(train_left_right(grammar, trees, lm, random_trees=r) for r in kinds)
        progress(4, 4, "trained")
        return cls(chooser, lm, baselines, weights or DEFAULT_WEIGHTS)

    def realize(self, trees: InputTrees, k: int = 1, *, progress: Progress = silent) -> Orders:
        """Return the k best orders of every tree, the best first."""

        def order(batch: InputTrees) -> Orders:
            return self.linearize(batch, self.chooser.choose(batch), k)[0]

        return order_in_batches(order, trees, max(BATCH // k, 1), progress)

    def linearize(
        self, trees: InputTrees, supertags: Supertags, k: int = 1
    ) -> tuple[Orders, Floats]:
        """Return the k best orders of supertagged trees, and the language model's part of each."""
        words, _, heads, ends, offsets = self.chooser.columns(trees)
        tagged = words, supertags.labels, heads, ends, offsets, supertags.frames, supertags.slots
        search = self.lm.kernel, lm_words(self.lm, trees), self.weights.wider(k).values(), k
        nodes, scores, parts, starts = _kernel.linearize_tagged(
            self.chooser.kernel, *tagged, *search
        )
        return to_orders(trees, nodes, scores, starts), parts

    def parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the stored model: its description and its arrays."""
        about = {
            "grammar": self.chooser.grammar.about(),
            "weights": asdict(self.weights),
            "lm": self.lm.about,
            "left_right": [model.name for model in self.baselines],
        }
        arrays = dict(self.chooser.grammar.arrays)
        arrays |= {"tree_keys": self.chooser.keys, "tree_counts": self.chooser.counts}
        for i, baseline in enumerate(self.baselines):
            arrays |= {f"lr_{i}_keys": baseline.keys, f"lr_{i}_counts": baseline.counts}
        return about, arrays | with_prefix("lm_", self.lm.arrays)

    @classmethod
    def from_store(cls, store: ModelStore) -> Fergus:
        """Return the model of a store."""
        grammar = stored_grammar(store)
        try:
            keys, counts = store.array("tree_keys", "uint32"), store.array("tree_counts", "int32")
            chooser = TreeChooser(grammar, keys, counts)
            lm = LanguageModel(store.about["lm"], without_prefix("lm_", store.arrays), store.name)
            lm.check_finite(store.name)
            check_fields(store.about, _ABOUT)
            weights = LpWeights(**store.about["weights"])
        except (KeyError, TypeError, ValueError) as error:
            raise damaged(store.name, str(error)) from error
        baselines = []
        for i, name in enumerate(store.about["left_right"]):
            keys = store.array(f"lr_{i}_keys", "uint32")
            counts = store.array(f"lr_{i}_counts", "int32")
            if len(keys) != len(counts):
                raise damaged(store.name, f"{name}: {len(keys)} keys and {len(counts)} counts")
            baselines.append(LeftRight(name, grammar, lm, keys, counts))
        return cls(chooser, lm, tuple(baselines), weights)


_LIMITS = {"width": integer(1, MAX_WIDTH), "beam": integer(0, MAX_WIDTH)}
_WEIGHTS = dict.fromkeys(("side", "pair", "lm", "margin"), real(-1e6, 1e6))
_ABOUT = record({"weights": record(_LIMITS, **_WEIGHTS), "left_right": list_of(text, 1)})
"""Schema of a model's description, without its grammar and language model."""
