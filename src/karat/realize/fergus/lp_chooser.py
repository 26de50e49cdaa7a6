"""The LP Chooser: the likeliest path through the lattice, by a language model and its weights.

    score = side * log p(sides) + pair * log p(orders) + lm * log p(words)

The first two are the adjunction table's, which the lattice's arcs carry; the third is that of an
n-gram model. Weights and limits were chosen on training documents that were held out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import astuple, dataclass, replace

from karat import _kernel
from karat.arrays import Floats, Ints, NDArray, np
from karat.lm.model import LanguageModel
from karat.progress import Progress
from karat.realize.input_trees import InputTrees, Order, Orders

ORDER = 3
"""The paper's language model is of trigrams."""
BATCH = 256
"""Trees that are realised at a time; of k orders each, 1 / k of them."""


@dataclass(frozen=True)
class Weights:
    """Weights of the parts of the score, and limits of the search.

    A lattice keeps `width` states a level, and arcs whose best path is at most `margin` worse than
    the best; the composition keeps `beam` hypotheses a state, 0 means all.
    """

    side: float = 1.6
    pair: float = 1.5
    lm: float = 1.0
    width: int = 64
    margin: float = 8.0
    beam: int = 10

    def wider(self, k: int) -> Weights:
        """Return the limits for k sentences instead of one: worse arcs, and more hypotheses."""
        if k == 1:
            return self
        return replace(self, margin=2 * self.margin, beam=max(self.beam, 4 * k) if self.beam else 0)

    def unlimited(self) -> Weights:
        """Return the weights with limits that leave nothing out of a lattice."""
        return replace(self, width=1 << 20, margin=1e300, beam=0)

    def values(self) -> list[float]:
        """Return the weights as the kernel takes them."""
        return [float(value) for value in astuple(self)]


def train_lm(trees: InputTrees, order: int = ORDER) -> LanguageModel:
    """Train a model of the sentences of a treebank, cut into words as it has them."""
    whole = trees.without_spaces()
    sentences = [whole.sentence(i, whole.reference(i)) for i in range(len(whole))]
    return LanguageModel.train(sentences, order, tok="none")


def lm_words(model: LanguageModel, trees: InputTrees) -> NDArray[np.int32]:
    """Return the nodes' words as the language model numbers them."""
    vocab = _kernel.Vocab()
    ids = vocab.add(trees.without_spaces().words)
    return model.find(vocab)[ids]


def batched(
    order: Callable[[InputTrees], Orders], trees: InputTrees, k: int, progress: Progress
) -> Orders:
    """Return what `order` makes of all trees, of which it is given few at a time."""
    found: Orders = []
    for part in small_batches(trees, max(BATCH // k, 1)):
        found += order(part)
        progress(len(found), len(trees), "realising")
    return found


def small_batches(trees: InputTrees, size: int) -> Iterator[InputTrees]:
    """Yield the trees, few at a time: between two there is a look at the clock and keyboard."""
    for start in range(0, len(trees), size):
        yield trees.choose(range(start, min(start + size, len(trees))))


def as_orders(trees: InputTrees, nodes: NDArray[np.int32], scores: Floats, starts: Ints) -> Orders:
    """Return the kernel's flat answer tree by tree; those of tree i begin at `starts[i]`."""
    found, at = [], 0
    sizes, listed, said = np.diff(trees.offsets).tolist(), nodes.tolist(), scores.tolist()
    for tree, size in enumerate(sizes):
        orders = []
        for i in range(int(starts[tree]), int(starts[tree + 1])):
            orders.append(Order(tuple(listed[at : at + size]), said[i]))
            at += size
        found.append(orders)
    return found
