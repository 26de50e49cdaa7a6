"""The paraphraser: paraphrase(R) = argmax_P PEM(P, R).

Candidates P come from the original R by rewriting its phrases (`generator`, and the kernel's
search); PEM ranks them. An original for which there is no other wording stands as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from karat.errors import InputError
from karat.paraphrase.generator import Generator
from karat.paraphrase.runs import by_runs
from karat.progress import Progress, Stop, silent
from karat.text.joining import join_words, spaces_of
from karat.text.segments import STRIDE, Segments, Texts, as_segments
from karat.text.tokens import Tokens, tokenize

if TYPE_CHECKING:
    from karat.paraphrase.pem import PEM, PEMScores

CANDIDATES = 128
"""Of each original that the search gives; PEM chooses among those that are plausible."""
DEAREST = 0.5
"""What a changed word may cost, in log10: dearer rewritings are not shown to PEM.

PEM was not trained on broken sentences: what maximises it over all candidates would be one that it
misjudges.
"""
MOST_WORDS = 1000
"""Of an original: time and memory grow with its length."""

_LINES = 32  # of one run


class Paraphrase(NamedTuple):
    """A wording of an original, with its PEM and the three parts of it."""

    text: str
    pem: float
    pivot_f1: float
    fluency: float
    target_f1: float


class Step(NamedTuple):
    """So many words of the original, and what is written for them; None: they are kept."""

    length: int
    words: tuple[str, ...] | None


def paraphrases(
    pem: PEM,
    originals: Texts,
    n: int = 5,
    *,
    candidates: int = CANDIDATES,
    threads: int | None = None,
    progress: Progress = silent,
) -> Iterator[list[Paraphrase]]:
    """For each original its `n` best paraphrases, the best first; the original if there is none.

    Without a regression there is no PEM: then they come in the order of the search.
    """
    generator = generator_of(pem)
    if n < 1 or candidates < n:
        raise InputError(f"n={n}, candidates={candidates}: expected 1 <= n <= candidates")
    texts = as_segments(originals, "originals")
    stop = Stop()

    def work(start: int, end: int) -> list[list[Paraphrase]]:
        lines = _lines(texts, start, end)
        found = candidate_texts(generator, lines, candidates, texts.name, start, stop.check)
        return _ranked(pem, lines, found, n)

    cuts = [(at, min(at + _LINES, len(texts))) for at in range(0, len(texts), _LINES)]
    for run in by_runs(work, cuts, threads, progress, "paraphrasing", stop):
        yield from run


def generator_of(pem: PEM) -> Generator:
    """What a model writes with; refused if it was trained without."""
    if pem.generator is None:
        raise InputError(
            "the model was trained without what paraphrases are written with: "
            "train it with karat paraphrase train --generate"
        )
    return pem.generator


def _lines(texts: Segments, start: int, stop: int) -> list[str]:
    first = start - start % STRIDE
    return texts.views(first, min(first + STRIDE, len(texts))).strings()[
        start - first : stop - first
    ]


def candidate_texts(
    generator: Generator,
    lines: Sequence[str],
    most: int,
    name: str = "originals",
    start: int = 0,
    check: Callable[[], None] | None = None,
) -> list[list[str]]:
    """For each original other wordings of it, all different, in the order of the search."""
    recipe = generator.recipe
    tokens = tokenize(lines, recipe.tok, recipe.case, threads=1)
    _check_lengths(np.diff(tokens.offsets), name, start)
    rewritings = _search(generator, tokens, most, check)
    cased = tokenize(lines, recipe.tok, "mixed", threads=1)
    found = []
    for i, (line, each) in enumerate(zip(lines, rewritings, strict=True)):
        original = Original.of(line, tokens[i], cased[i])
        found.append([text for text in dict.fromkeys(map(original.write, each)) if text != line])
    return found


def _check_lengths(lengths: NDArray[np.int64], name: str, start: int) -> None:
    long = lengths > MOST_WORDS
    if long.any():
        at = int(long.argmax())
        raise InputError(
            f"{name}, line {start + at + 1}: {lengths[at]:,} words, expected at most "
            f"{MOST_WORDS:,}: put each sentence on a line of its own"
        )


def _search(
    generator: Generator, tokens: Tokens, most: int, check: Callable[[], None] | None
) -> list[list[list[Step]]]:
    """For each original its rewritings, as steps from left to right."""
    maps = generator.rewrites.maps(tokens.vocab)
    words = generator.model_words(tokens.vocab)
    sentences, scores, changes, offsets, lengths, edges = generator.search.search(
        tokens.ids, tokens.offsets, *maps, words, most, check
    )
    steps = _steps(generator, lengths, edges)
    each = [steps[a:b] for a, b in pairwise(offsets.tolist())]
    plausible = scores + DEAREST * changes
    least = _own_scores(generator, tokens)
    return [
        [each[k] for k in _plausible(plausible[a:b], least[i], a)]
        for i, (a, b) in enumerate(pairwise(sentences.tolist()))
    ]


def _own_scores(generator: Generator, tokens: Tokens) -> NDArray[np.float64]:
    """What the search would give the originals themselves: log10 Pr(R) / (length(R) + 1)."""
    ids = generator.language.find(tokens.vocab)[tokens.ids]
    events: NDArray[np.int64] = np.diff(tokens.offsets) + 1
    return generator.language.kernel.score(ids, tokens.offsets) / events


def _plausible(scores: NDArray[np.float64], least: float, start: int) -> list[int]:
    """The rewritings that are good enough; the best one if none is."""
    good = np.flatnonzero(scores >= least)
    chosen = good if len(good) else np.argsort(-scores, kind="stable")[:1]
    return [start + k for k in chosen.tolist()]


def _steps(
    generator: Generator, lengths: NDArray[np.int32], edges: NDArray[np.int32]
) -> list[Step]:
    arrays, written = generator.rewrites.arrays, generator.written
    offsets, ids = arrays["pivot_phrase_offsets"], arrays["pivot_phrase_ids"]
    said: dict[int, tuple[str, ...] | None] = {-1: None}
    for edge in np.unique(edges[edges >= 0]).tolist():
        phrase = int(arrays["edge_pivots"][edge])
        row = ids[offsets[phrase] : offsets[phrase + 1]].tolist()
        said[edge] = tuple(written[word] for word in row)
    pairs = zip(lengths.tolist(), edges.tolist(), strict=True)
    return [Step(length, said[edge]) for length, edge in pairs]


class Original(NamedTuple):
    """The words of an original as it has them, and its own spaces where they are known."""

    words: list[str]
    spaced: Sequence[bool | None]
    line: str

    @classmethod
    def of(cls, line: str, lowered: list[str], cased: list[str]) -> Original:
        """Words keep their case unless lower-casing changes how the line is cut."""
        words = cased if len(cased) == len(lowered) else lowered
        return cls(words, spaces_of(line, words) or [None] * len(words), line)

    def write(self, steps: Sequence[Step]) -> str:
        """The text of a rewriting; its first letter, or all, are capitals if the original's are."""
        words: list[str] = []
        spaced: list[bool | None] = []
        ends = list(accumulate(step.length for step in steps))
        followed = False  # whether the last word stands for the original's word before this one
        for end, step in zip(ends, steps, strict=True):
            at = end - step.length
            new = [self.words[at]] if step.words is None else list(step.words)
            alike = followed and _is_word(new[0]) == _is_word(self.words[at])
            words += new
            spaced += [self.spaced[at] if alike else None, *[None] * (len(new) - 1)]
            followed = _is_word(new[-1]) == _is_word(self.words[end - 1])
        text = join_words(words, spaced)
        if self.line.isupper():
            return text.upper()
        return _capital(text) if self.line.lstrip()[:1].isupper() else text


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _is_word(token: str) -> bool:
    return any(letter.isalnum() for letter in token)


def _ranked(
    pem: PEM, lines: Sequence[str], found: Sequence[Sequence[str]], n: int
) -> list[list[Paraphrase]]:
    """The best by PEM; of equals the first that was found."""
    listed = [texts or [line] for line, texts in zip(lines, found, strict=True)]
    originals = [line for line, texts in zip(lines, listed, strict=True) for _ in texts]
    scores = pem.score(originals, [text for texts in listed for text in texts], threads=1)
    ends = accumulate(map(len, listed))
    return [
        _best(texts, scores, end - len(texts), n) for texts, end in zip(listed, ends, strict=True)
    ]


def _best(texts: Sequence[str], scores: PEMScores, start: int, n: int) -> list[Paraphrase]:
    columns = [column[start : start + len(texts)] for column in scores]
    order = np.argsort(-columns[0], kind="stable")[:n].tolist()
    return [Paraphrase(texts[i], *(float(column[i]) for column in columns)) for i in order]
