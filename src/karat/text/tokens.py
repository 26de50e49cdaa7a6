"""Tokens: a whole text as ragged ids over one vocabulary."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from karat import _kernel
from karat.arrays import Ints, NDArray, np
from karat.progress import Progress, as_threads, in_order, silent
from karat.text.recipe import CASES, Lexicon, Passage, Ragged, Recipe, check_choice
from karat.text.segments import Texts, as_segments, batches
from karat.text.stemmers import stem_words, stemmers
from karat.text.tokenizers import TOKENIZERS

Vocab = _kernel.Vocab
"""Words to ids in order of first sight, and back; may be shared by several texts."""


@dataclass(frozen=True, eq=False)
class Tokens:
    """Token ids: segment i is `ids[offsets[i]:offsets[i + 1]]`; the words are in `vocab`."""

    ids: NDArray[np.int32]
    offsets: Ints
    vocab: Vocab

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, segment: int) -> list[str]:
        if not 0 <= segment < len(self):
            raise IndexError(f"segment {segment} of {len(self)}")
        ids = self.ids[self.offsets[segment] : self.offsets[segment + 1]]
        return [self.vocab.words(i, i + 1)[0] for i in ids.tolist()]

    def part(self, start: int, stop: int) -> Tokens:
        """Return some of the segments."""
        offsets = self.offsets[start : stop + 1]
        return Tokens(self.ids[offsets[0] : offsets[-1]], offsets - offsets[0], self.vocab)

    def map(self, function: Callable[[str], str]) -> Tokens:
        """Apply any function to the words: it is called once for each distinct one."""
        target = Vocab()
        mapped = target.add([function(word) for word in self.vocab.words(0, len(self.vocab))])
        return Tokens(mapped[self.ids], self.offsets, target)


def tokenize(
    texts: Texts,
    tok: str = "13a",
    case: str = "mixed",
    stem: str = "none",
    stop: str = "none",
    *,
    vocab: Vocab | None = None,
    threads: int | None = None,
    progress: Progress = silent,
) -> Tokens:
    """Tokenise texts as metrics do.

    Args:
        texts: strings, or the path of a file.
        tok, case, stem, stop: tokeniser, case, stemmer and stop list.
        vocab: vocabulary of another text, to share its ids. Ids are in the order of first
            occurrence.
        threads: number of threads; by default all processors.
        progress: function that is called with the progress.
    """
    vocab = Vocab() if vocab is None else vocab
    ids, offsets, held = [np.empty(0, np.int32)], [np.zeros(1, np.int64)], 0
    how = Recipe(tok, case, stem, stop)
    for part in token_parts(texts, how, vocab, threads=threads, progress=progress):
        ids.append(part.ids)
        offsets.append(part.offsets[1:] + held)
        held += len(part.ids)
    return Tokens(np.concatenate(ids), np.concatenate(offsets), vocab)


def token_parts(
    texts: Texts,
    recipe: Recipe,
    vocab: Vocab,
    *,
    threads: int | None = None,
    progress: Progress = silent,
) -> Iterator[Tokens]:
    """Yield the tokens of texts batch by batch; the vocabulary grows meanwhile."""
    tok, case, stem, stop = recipe.tok, recipe.case, recipe.stem, recipe.stop
    check_choice("tok", tok, TOKENIZERS)
    check_choice("case", case, CASES)
    check_choice("stem", stem, stemmers())
    segments = as_segments(texts, "texts")
    words_as_cut, done = Recipe(tok, case, stop=stop), 0

    def cut(bounds: tuple[int, int]) -> tuple[Ragged, Vocab]:
        lexicon = Lexicon()  # every batch has a vocabulary of its own
        tokens = Passage(segments.views(*bounds), lexicon).tokens(words_as_cut)
        return tokens, lexicon.vocab(tok, case)

    parts = in_order(cut, batches([segments], 1 << 14, 1 << 24), as_threads(threads))
    for kept, words in parts:
        target = vocab.merge(words) if stem == "none" else stem_words(stem, words, 0, vocab)
        done += len(kept.offsets) - 1
        yield Tokens(target[kept.ids], kept.offsets, vocab)
        progress(done, len(segments), "tokenising")
