"""Words as Pourpre and idf count them: lower-cased, without punctuation, stemmed if asked.

And letters, for what is about characters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from karat import _kernel
from karat.arrays import Ints, NDArray, np
from karat.text.segments import Texts
from karat.text.tokens import Ragged, Vocab, stem_words, tokenize

TOKENIZER, CASE = "intl", "lower"


@dataclass(frozen=True)
class RaggedWords:
    """Text i has the words `ids[offsets[i]:offsets[i + 1]]`; words of one stem are one class."""

    ids: NDArray[np.int32]
    offsets: Ints
    words: list[str]
    """Each word by its id."""
    classes: NDArray[np.int32]
    """The class of each word by its id."""

    def row(self, i: int) -> NDArray[np.int32]:
        """The words of a text."""
        return self.ids[self.offsets[i] : self.offsets[i + 1]]


def cut_words(texts: Texts, stem: str = "none", stop: str = "none") -> RaggedWords:
    """Texts as words, stop words left out."""
    found = tokenize(texts, TOKENIZER, CASE, stop=stop, threads=1)
    words = found.vocab.words(0, len(found.vocab))
    keep = np.array([any(map(str.isalnum, word)) for word in words], dtype=np.bool_)[found.ids]
    kept = np.concatenate(([0], np.cumsum(keep, dtype=np.int64)))[found.offsets]
    classes = np.arange(len(words), dtype=np.int32)
    if stem != "none":
        classes = stem_words(stem, found.vocab, 0, Vocab())
    return RaggedWords(found.ids[keep], kept, words, classes)


def stems_of(words: Sequence[str], stem: str) -> list[str]:
    """Each word's stem."""
    if stem == "none":
        return list(words)
    vocab, target = Vocab(), Vocab()
    ids = vocab.add(list(words))
    stems = stem_words(stem, vocab, 0, target)
    names = target.words(0, len(target))
    return [names[k] for k in stems[ids].tolist()]


def code_points(texts: Sequence[str]) -> Ragged:
    """The characters of texts in lower case, white space and all."""
    views = _kernel.Views.from_strings(list(texts), 0, len(texts))
    return Ragged(*_kernel.codepoints(views.lower(), True))
