"""Inflection as a part of a model: forms, capitals, spaces; learned from one treebank."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from karat import __version__
from karat.arrays import NDArray, np
from karat.progress import Progress, silent
from karat.realize.inflection.capitals import Written, capitalised, train_capitals
from karat.realize.inflection.form_table import FormTable
from karat.realize.inflection.inflector import Inflector, train_inflector
from karat.realize.inflection.log_linear import LogLinear
from karat.realize.inflection.nodes import Nodes
from karat.realize.inflection.ordered_forms import OrderedForms
from karat.realize.inflection.spacing import Spacing, fused_lines, fused_of
from karat.realize.inflection.typography import plain
from karat.realize.treebank import Treebank
from karat.storage.schema import ModelLayout, check_arrays
from karat.storage.store import ModelStore, damaged

MOST = 60_000
"""Words that teach capitals and spaces."""


@dataclass(frozen=True, eq=False)
class Inflection:
    """All that turns ordered lemmas into text."""

    inflector: Inflector
    capitals: LogLinear
    spacing: Spacing

    @classmethod
    def train(cls, bank: Treebank, *, progress: Progress = silent) -> Inflection:
        """Learn from a treebank with lemmas."""
        progress(0, 2, "capitals and spaces")
        few = _few_sentences(bank)
        tags = tags_of(few.upos, few.xpos)
        words = [plain(word) for word in few.words]
        lowered = [word.lower() for word in words]
        lemmas = [plain(lemma) for lemma in few.lemmas]
        capitals = train_capitals(Written(lowered, lemmas, tags, few.offsets), words)
        spacing = Spacing.train(words, tags, few.surfaces, few.offsets)
        progress(1, 2, "inflection")
        # Rounded as it is stored, so that a model is the same before and after.
        made = cls(train_inflector(bank), capitals, spacing)
        return cls.stored(ModelStore(bank.name, *made.parts()))

    def with_forms(self, bank: Treebank) -> Treebank:
        """Return a treebank with forms guessed by its trees instead of its words."""
        return replace(bank, words=self.inflector.first_forms(Nodes.of_treebank(bank)))

    def capitalised(self, found: OrderedForms) -> list[str]:
        """Return ordered forms with their capitals."""
        lemmas = [plain(lemma) for lemma in found.lemmas]
        return capitalised(self.capitals, Written(found.forms, lemmas, found.tags, found.starts))

    def texts(self, found: OrderedForms, words: list[str]) -> list[str]:
        """Return ordered words as text, with spaces where the treebank has them."""
        return self.spacing.text(words, found.tags, found.starts)

    def parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the stored model: its description and its arrays."""
        arrays = {
            "table": _as_bytes(self.inflector.table.text()),
            "fused": _as_bytes(fused_lines(self.spacing.fused)),
            **self.inflector.by_tree.arrays("tree"),
            **self.inflector.by_neighbours.arrays("neighbours"),
            **self.capitals.arrays("capitals"),
            **self.spacing.model.arrays("spaces"),
        }
        return {"karat": __version__}, arrays

    @classmethod
    def stored(cls, store: ModelStore) -> Inflection:
        """Return the model in a store that has its parts."""
        arrays = store.arrays
        try:
            check_arrays(
                arrays, {n: ModelLayout("uint8", f"bytes of {n}") for n in ("table", "fused")}
            )
            table = FormTable.of_text(_as_text(arrays["table"]))
            by_tree, by_neighbours, capitals, spaces = (
                LogLinear.stored(name, arrays)
                for name in ("tree", "neighbours", "capitals", "spaces")
            )
            fused = fused_of(_as_text(arrays["fused"]))
        except (KeyError, TypeError, ValueError) as error:
            raise damaged(store.name, str(error)) from error
        return cls(Inflector(table, by_tree, by_neighbours), capitals, Spacing(fused, spaces))


def tags_of(upos: list[str], xpos: list[str]) -> list[str]:
    """Return both tags of every word as one."""
    return [f"{upper} {fine}" for upper, fine in zip(upos, xpos, strict=True)]


def _few_sentences(bank: Treebank) -> Treebank:
    """Return sentences from all over a treebank, of `MOST` words or somewhat more."""
    every = len(bank.words) // MOST + 1
    sentences = np.repeat(np.arange(len(bank)), np.diff(bank.offsets))
    kept = bank.keep(sentences % every == 0)
    return replace(kept, offsets=np.unique(kept.offsets))  # without sentences that have no words


def _as_bytes(text: str) -> NDArray[np.uint8]:
    return np.frombuffer(text.encode("utf-8"), dtype=np.uint8)


def _as_text(found: NDArray[Any]) -> str:
    return bytes(found).decode("utf-8")
