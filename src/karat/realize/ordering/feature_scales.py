"""Scales of the ordering model's features, learned from trees that its weights have not seen.

    scale(feature) = 1 + a(template) + b(how often the treebank's orders have the feature)

Weights fit the trees they were trained on, so there some templates, and features that are seen
often, seem better than they are. A model of half of the treebank orders the other half; a and b,
and the scale of the language model, are those with which the treebank's orders win most probably
against the other best orders of whole sentences (csrc/realize/ordering/scales.hpp). A model of all
trees is then multiplied by them, so that it is as large and as fast as without.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from karat import _kernel
from karat.arrays import Ints, NDArray, np
from karat.lm.model import LanguageModel
from karat.realize.fergus.lp_chooser import lm_words
from karat.realize.input_trees import InputTrees
from karat.realize.ordering.symbols import NodeColumns

SCALE_BEST, SCALE_BEAM, SCALE_ALTERNATIVES = 8, 32, 4
"""Number of orders of a sentence that are compared, and limits of their search."""
SCALE_EPOCHS, SCALE_RATE, SCALE_DAMPING, SCALE_DECAY = 6, 0.1, 10.0, 0.001
SCALE_EVERY = 2  # of the trees that were not seen, one in so many, for time
SCALE_PARTS = 4  # of the trees, between two reports of progress


class Scales(NamedTuple):
    """A factor for each class of features (`_kernel.feature_classes`), and the language model's."""

    classes: NDArray[np.float32]
    language_model: float

    @classmethod
    def of(cls, found: NDArray[Any]) -> Scales:
        """Make scales of what the kernel adds to 1: by template, frequency, language model."""
        templates, frequencies = np.split(found[:-1], [_kernel.TEMPLATES])
        classes = 1 + templates[:, None] + frequencies[None, :]
        return cls(classes.astype(np.float32).ravel(), 1 + float(found[-1]))

    def scaled(
        self, weights: NDArray[np.float32], classes: NDArray[np.uint16]
    ) -> NDArray[np.float32]:
        """Return the weights, each times the scale of its class."""
        found: NDArray[np.float32] = weights * self.classes[classes]
        return found


def mean_scales(found: Sequence[NDArray[np.float32]]) -> Scales:
    """Return the mean scales of several models; without any, nothing changes."""
    none = np.zeros((1, _kernel.TEMPLATES + _kernel.FREQUENCIES + 1), dtype=np.float32)
    return Scales.of((np.stack(found) if found else none).mean(axis=0, dtype=np.float64))


def learn_scales(
    weights: NDArray[np.float32],
    columns: NodeColumns,
    trees: InputTrees,
    seen: Ints,
    unseen: Ints,
    model: LanguageModel,
    lm_weight: float,
    seed: int,
    step: Callable[[str], None],
) -> NDArray[np.float32]:
    """Return what is added to 1, for weights and a language model of the trees `seen`."""
    bits = len(weights).bit_length() - 1
    classes = _kernel.feature_classes(columns.kernel, trees.places, seen, bits)
    trainer, words = _kernel.ScaleTrainer(weights, classes), lm_words(model, trees)
    search = (
        SCALE_BEST,
        SCALE_BEAM,
        SCALE_ALTERNATIVES,
        model.kernel if lm_weight else None,
        words,
        lm_weight,
    )
    for part in np.array_split(unseen[::SCALE_EVERY], SCALE_PARTS):
        step("scales of features")
        trainer.see(columns.kernel, trees.places, np.ascontiguousarray(part), *search)
    return trainer.fit(SCALE_EPOCHS, SCALE_RATE, SCALE_DAMPING, SCALE_DECAY, seed)
