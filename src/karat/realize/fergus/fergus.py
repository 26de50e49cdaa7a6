"""FERGUS (Bangalore, Rambow and Whittaker 2000): Tree Chooser, Unraveler, LP Chooser.

model = Fergus.train(read_treebank("treebank.conllu"))
model.realize(read_trees("trees.conllu"))[0][0]
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from karat import _kernel
from karat.arrays import Floats, NDArray
from karat.lm.model import LanguageModel
from karat.progress import Progress, silent
from karat.realize.fergus.grammar import extract_grammar, gold_frames, stored_grammar
from karat.realize.fergus.left_right import LeftRight, train_left_right
from karat.realize.fergus.lp_chooser import ORDER, Weights, as_orders, batched, lm_words, train_lm
from karat.realize.fergus.tree_chooser import Supertags, TreeChooser
from karat.realize.input_trees import InputTrees, Orders, input_trees
from karat.realize.treebank import Treebank
from karat.storage.schema import check_fields, integer, list_of, real, record, text
from karat.storage.store import ModelStore, damaged, with_prefix, without_prefix

DEFAULT = Weights()
WIDEST = 1_000_000
"""States and hypotheses that a stored model may ask for."""


@dataclass(frozen=True, eq=False)
class Fergus:
    """The realiser of the paper, with its two baselines."""

    name: ClassVar[str] = "supertags"
    """Name in reports."""

    chooser: TreeChooser
    lm: LanguageModel
    baselines: tuple[LeftRight, ...]
    """LR counted in random trees, as in the paper, and in real ones."""
    weights: Weights = DEFAULT

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
        weights: Weights | None = None,
        progress: Progress = silent,
    ) -> Fergus:
        """Extract the grammar and count its treelets; train the n-gram model beside it."""
        trees = input_trees(treebank, "all")
        progress(0, 4, "extracting the grammar")
        frames = gold_frames(trees)
        grammar = extract_grammar(trees, frames)
        progress(1, 4, "counting treelets")
        chooser = TreeChooser.train(grammar, trees, frames)
        progress(2, 4, "training the language model")
        lm = train_lm(trees, order)
        progress(3, 4, "training the baselines")
        baselines = tuple(
            train_left_right(grammar, trees, lm, random_trees=random) for random in (True, False)
        )
        progress(4, 4, "trained")
        return cls(chooser, lm, baselines, weights or DEFAULT)

    def realize(self, trees: InputTrees, k: int = 1, *, progress: Progress = silent) -> Orders:
        """Return the k best orders of every tree, the best first."""

        def order(part: InputTrees) -> Orders:
            return self.linearize(part, self.chooser.choose(part), k)

        return batched(order, trees, k, progress)

    def linearize(self, trees: InputTrees, supertags: Supertags, k: int = 1) -> Orders:
        """Return the k best orders of trees whose supertags are chosen."""
        return self.linearize_with_parts(trees, supertags, k)[0]

    def linearize_with_parts(
        self, trees: InputTrees, supertags: Supertags, k: int
    ) -> tuple[Orders, Floats]:
        """Return the k best orders, and the language model's part of each order's score."""
        words, _, heads, ends, offsets = self.chooser.columns(trees)
        tagged = words, supertags.labels, heads, ends, offsets, supertags.frames, supertags.slots
        search = self.lm.kernel, lm_words(self.lm, trees), self.weights.wider(k).values(), k
        found = _kernel.linearize_tagged(self.chooser.kernel, *tagged, *search)
        nodes, scores, parts, starts = found
        return as_orders(trees, nodes, scores, starts), parts

    def about(self) -> dict[str, Any]:
        """Return the description of the model in a store."""
        said = {"grammar": self.chooser.grammar.about(), "weights": asdict(self.weights)}
        names = [baseline.name for baseline in self.baselines]
        return said | {"lm": self.lm.about, "left_right": names}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays of the model in a store."""
        found = dict(self.chooser.grammar.arrays)
        found |= {"tree_keys": self.chooser.keys, "tree_counts": self.chooser.counts}
        for i, baseline in enumerate(self.baselines):
            found |= {f"lr_{i}_keys": baseline.keys, f"lr_{i}_counts": baseline.counts}
        return found | with_prefix("lm_", self.lm.arrays)


_LIMITS = {"width": integer(1, WIDEST), "beam": integer(0, WIDEST)}
_WEIGHTS = dict.fromkeys(("side", "pair", "lm", "margin"), real(-1e6, 1e6))
_ABOUT = record({"weights": record(_LIMITS, **_WEIGHTS), "left_right": list_of(text, 1)})
"""The description of a model, beside those of its grammar and its language model."""


def stored_fergus(store: ModelStore) -> Fergus:
    """Return the model in a store that its `about` and `arrays` went into."""
    grammar = stored_grammar(store)
    try:
        keys, counts = store.array("tree_keys", "uint32"), store.array("tree_counts", "int32")
        chooser = TreeChooser(grammar, keys, counts)
        lm = LanguageModel(store.about["lm"], without_prefix("lm_", store.arrays), store.name)
        lm.check_finite(store.name)
        check_fields(store.about, _ABOUT)
        weights = Weights(**store.about["weights"])
        names = store.about["left_right"]
    except (KeyError, TypeError, ValueError) as error:
        raise damaged(store.name, str(error)) from error
    baselines = []
    for i, name in enumerate(names):
        keys, counts = store.array(f"lr_{i}_keys", "uint32"), store.array(f"lr_{i}_counts", "int32")
        if len(keys) != len(counts):
            raise damaged(store.name, f"{name}: {len(keys)} keys and {len(counts)} counts")
        baselines.append(LeftRight(name, grammar, lm, keys, counts))
    return Fergus(chooser, lm, tuple(baselines), weights)
