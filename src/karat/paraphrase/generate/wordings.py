"""Wordings of an original: all rewritings that the search finds and that are sure enough."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, pairwise
from math import prod
from typing import NamedTuple

from karat.arrays import np
from karat.errors import InputError
from karat.paraphrase.generate.confidence import Rewrite, confidences, fits, repeats, score
from karat.paraphrase.generate.generator import Generator
from karat.paraphrase.generate.rewriting import (
    Original,
    Replacement,
    RewrittenWords,
    common_ends,
)
from karat.text.tokens import Tokens, tokenize

SEARCHED = 4
"""Rewritings that the search gives for each wording wanted: many do not fit their context."""
MOST_REWRITES = 3
"""Rewrites of one wording, at most."""
MOST_WORDS = 1000
"""The longest original: time and memory grow with its length."""

_WORDS = 1 << 16  # of all rewritings of an original that are tried, unless it is very long

Steps = Sequence[Replacement]
Place = tuple[int, Replacement]  # where a rewrite begins in the original


class Wording(NamedTuple):
    """A possible text for an original, and the generator's confidence in it."""

    text: str
    confidence: float


def wordings(
    generator: Generator,
    lines: Sequence[str],
    most: int,
    confidence: float,
    name: str = "originals",
    start: int = 0,
    check: Callable[[], None] | None = None,
) -> list[list[Wording]]:
    """Return at most so many other wordings of each original, the surest first.

    The generator is one that trusts its rewrites (`Generator.trusting`).
    """
    recipe = generator.recipe
    tokens = tokenize(lines, recipe.tok, recipe.case, threads=1)
    lengths = np.diff(tokens.offsets)
    if (long := lengths > MOST_WORDS).any():
        at = int(long.argmax())
        raise InputError(
            f"{name}, line {start + at + 1}: {lengths[at]:,} words, expected at most "
            f"{MOST_WORDS:,}: put each sentence on a line of its own"
        )
    rewritings = _search(generator, tokens, SEARCHED * most, check)
    cased = tokenize(lines, recipe.tok, "mixed", threads=1)
    found = []
    for i, (line, each) in enumerate(zip(lines, rewritings, strict=True)):
        original = Original.of(line, tokens[i], cased[i])
        tried = max(most, _WORDS // max(len(original.words), 1))
        sure = _confident(generator, original, each[:tried], confidence)
        found.append(sorted(sure, key=lambda one: -one.confidence)[:most])
    return found


def _confident(
    generator: Generator, original: Original, ways: Sequence[Steps], least: float
) -> list[Wording]:
    """Return the wordings of an original that reach a confidence; of those alike the surest."""
    changes = [_changes(steps) for steps in ways]
    known = _single_confidences(generator, original, [one for each in changes for one in each])
    found: dict[str, float] = {}
    for steps, places in zip(ways, changes, strict=True):
        confidence = prod(known[place] for place in places)
        if len(places) > MOST_REWRITES or not confidence or confidence < least:
            continue
        written = original.words_of(steps, generator.article)
        if len(places) == 1 or _fits(generator, original, written):
            text = original.text(written)
            found[text] = max(confidence, found.get(text, 0.0))
    letters = "".join(original.line.lower().split())  # others than in case and spaces must differ
    return [Wording(*item) for item in found.items() if "".join(item[0].lower().split()) != letters]


def _changes(steps: Steps) -> list[Place]:
    """Return the rewrites of a rewriting, each with its place in the original."""
    ends = accumulate(step.length for step in steps)
    each = zip(ends, steps, strict=True)
    return [(end - step.length, step) for end, step in each if step.words is not None]


def _single_confidences(
    generator: Generator, original: Original, places: Sequence[Place]
) -> dict[Place, float]:
    """Return the confidence in each rewrite by itself."""
    fold = generator.fold
    different = list(dict.fromkeys(places))
    rewrites = [_rewrite(generator, original, *place) for place in different]
    own = list(map(fold, original.words))
    return dict(zip(different, confidences(generator.contexts, own, rewrites), strict=True))


def _rewrite(generator: Generator, original: Original, at: int, step: Replacement) -> Rewrite:
    """Return a rewrite in its sentence."""
    keep, size = Replacement(1, None), len(original.words)
    steps = [*[keep] * at, step, *[keep] * (size - at - step.length)]
    written = _folded(generator, original.words_of(steps, generator.article))
    old = tuple(map(generator.fold, original.words[at : at + step.length]))
    new = tuple(written.words[at : at + len(step.words or ())])
    begin, end = common_ends(old, new)
    cores = old[begin : len(old) - end], new[begin : len(new) - end]
    return Rewrite(written, *cores, at + begin, step.probability)


def _folded(generator: Generator, written: RewrittenWords) -> RewrittenWords:
    return written._replace(words=list(map(generator.fold, written.words)))


def _fits(generator: Generator, original: Original, written: RewrittenWords) -> bool:
    """Return whether the rewrites of a wording fit together."""
    own = list(map(generator.fold, original.words))
    folded = _folded(generator, written)
    (lengths,) = score(generator.language, [folded.words]).lengths
    return fits(folded, lengths, repeats(own, range(len(own))))


def _search(
    generator: Generator, tokens: Tokens, most: int, check: Callable[[], None] | None
) -> list[list[list[Replacement]]]:
    """Return the rewritings of each original, replacements from left to right."""
    maps = generator.rewrites.maps(tokens.vocab)
    model_words = generator.model_words(tokens.vocab)
    sentences, _, _, bounds, lengths, edges = generator.search.search(
        tokens.ids, tokens.offsets, *maps, model_words, most, check
    )
    pairs = list(zip(lengths.tolist(), edges.tolist(), strict=True))
    known = dict(_replacements(generator, set(pairs)))
    steps = [known[pair] for pair in pairs]
    each = [steps[a:b] for a, b in pairwise(bounds.tolist())]
    return [each[a:b] for a, b in pairwise(sentences.tolist())]


def _replacements(
    generator: Generator, pairs: set[tuple[int, int]]
) -> Iterator[tuple[tuple[int, int], Replacement]]:
    """Yield the replacement of so many words by the rewrite of a number; -1: they are kept."""
    arrays, written = generator.rewrites.arrays, generator.written
    offsets, ids = arrays["pivot_phrase_offsets"], arrays["pivot_phrase_ids"]
    for length, edge in pairs:
        if edge < 0:
            yield (length, edge), Replacement(length, None)
            continue
        phrase = int(arrays["edge_pivots"][edge])
        row = ids[offsets[phrase] : offsets[phrase + 1]].tolist()
        words = tuple(written[word] for word in row)
        p = float(arrays["edge_probabilities"][edge])
        yield (length, edge), Replacement(length, words, p)
