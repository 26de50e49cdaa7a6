"""Forms in order: the words of sentences before they get capitals and spaces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from karat.arrays import Ints, np


class OrderedForms(NamedTuple):
    """Sentences one after the other: sentence i has the words `starts[i]` to `starts[i + 1]`.

    Forms are in lower case, lemmas as they are written; `tags` are UPOS and XPOS. `nodes` are
    places in the columns of the trees, -1 for words that were added.
    """

    nodes: Ints
    starts: Ints
    forms: list[str]
    lemmas: list[str]
    tags: list[str]

    def sentences(self, words: Sequence[str]) -> list[str]:
        """Return words, one for each form, as sentences with spaces between them."""
        return [" ".join(words[a:b]) for a, b in self._spans()]

    def _spans(self) -> list[tuple[int, int]]:
        return list(zip(self.starts[:-1].tolist(), self.starts[1:].tolist(), strict=True))

    def with_marks(
        self, punctuate: Callable[[list[str]], list[str]], tag: Callable[[str], str]
    ) -> OrderedForms:
        """Return the sentences with marks of punctuation added.

        Args:
            punctuate: returns the words of a sentence with marks among them.
            tag: returns the tags of a mark.
        """
        rows: list[tuple[int, str, str, str]] = []
        starts = [0]
        for first, end in self._spans():
            at = first
            for word in punctuate(self.forms[first:end]):
                if at < end and word == self.forms[at]:
                    rows.append((int(self.nodes[at]), word, self.lemmas[at], self.tags[at]))
                    at += 1
                else:
                    rows.append((-1, word, word, tag(word)))
            starts.append(len(rows))
        nodes, forms, lemmas, tags = (list(column) for column in zip(*rows, strict=True))
        return OrderedForms(np.array(nodes), np.array(starts), forms, lemmas, tags)
