"""The paraphraser: paraphrase(R) = argmax_P PEM(P, R).

Candidates P come from the original R by rewriting its phrases (`generator`, and the kernel's
search); those of little confidence are left out (`confidence`), and PEM ranks the others. An
original may have none.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from karat.arrays import np
from karat.errors import InputError
from karat.paraphrase.align.batches import by_batches
from karat.paraphrase.align.parallel_text import each_line
from karat.paraphrase.generate.confidence import CONFIDENCE, adequacy, confidences
from karat.paraphrase.generate.generator import Generator
from karat.paraphrase.generate.rewriting import Original, Replacement
from karat.paraphrase.pem.model import BUNDLED, PEM, as_pem
from karat.progress import Progress, Stop, silent
from karat.results import Result
from karat.text.segments import STRIDE, Texts, as_segments
from karat.text.tokens import Tokens, tokenize

CANDIDATES = 128
"""Confident wordings of each original, at most, among which PEM chooses.

PEM was not trained on broken sentences: what maximises it over all rewritings would be one that it
misjudges.
"""
SEARCHED = 4
"""Rewritings that the search gives for each candidate wanted: many do not fit their context."""
MOST_WORDS = 1000
"""The longest original: time and memory grow with its length."""

_LINES = 32  # of one batch
_WORDS = 1 << 16  # of all rewritings of an original that are tried, unless it is very long


class Paraphrase(NamedTuple):
    """A wording of an original, with its PEM and the three parts of it."""

    text: str
    pem: float
    pivot_f1: float
    fluency: float
    target_f1: float
    confidence: float
    """0 to 1 (see `karat.paraphrase.generate.confidence`)."""


class Generated(NamedTuple):
    """The paraphrases of an original, the best first; without any, the reason."""

    paraphrases: list[Paraphrase]
    reason: str | None = None


class GeneratedRow(NamedTuple):
    """A paraphrase of a line, or the reason why there is none."""

    segment: int
    original: str
    reason: str | None = None
    rank: int | None = None
    paraphrase: str | None = None
    pem: float | None = None
    pivot_f1: float | None = None
    fluency: float | None = None
    target_f1: float | None = None
    confidence: float | None = None


@dataclass(frozen=True, eq=False, repr=False)
class GeneratedParaphrases(Result):
    """The best paraphrases of each original."""

    rows: tuple[GeneratedRow, ...]
    settings: Mapping[str, object]
    notes: tuple[str, ...]
    signature: str


class Wording(NamedTuple):
    """A possible text for an original, and the generator's confidence in it."""

    text: str
    confidence: float


def generate_paraphrases(
    originals: Texts,
    model: PEM | str | os.PathLike[str] = BUNDLED,
    n: int = 3,
    *,
    confidence: float = CONFIDENCE,
    threads: int | None = None,
    progress: Progress = silent,
) -> GeneratedParaphrases:
    """Generate paraphrases of sentences.

    Args:
        originals: sentences.
        model: a model or its file; by default the bundled one.
        n: number of paraphrases of each sentence, the best by PEM.
        confidence: lowest confidence of a paraphrase, 0 to 1.
        threads: number of threads; by default all processors.
        progress: function that is called with the progress.
    """
    pem, texts = as_pem(model), as_segments(originals, "originals")
    found = paraphrases(pem, texts, n, confidence=confidence, threads=threads, progress=progress)
    rows: list[GeneratedRow] = []
    without = 0
    for i, (line, one) in enumerate(zip(each_line(texts), found, strict=True), 1):
        if one.reason is not None:
            without += 1
            rows.append(GeneratedRow(i, line, reason=one.reason))
        for rank, best in enumerate(one.paraphrases, 1):
            rows.append(GeneratedRow(i, line, None, rank, *best))
    settings = {"model": pem.name, "n": n, "confidence": confidence}
    notes = tuple(generated_notes(without, confidence, pem))
    return GeneratedParaphrases(tuple(rows), settings, notes, pem.signature)


def generated_notes(without: int, confidence: float, pem: PEM) -> Iterator[str]:
    """Yield notes on lines without a paraphrase, and on the model."""
    if without:
        lines = "1 line has" if without == 1 else f"{without:,} lines have"
        yield (
            f"{lines} no paraphrase of confidence {confidence:g} or more: a lower --confidence "
            "gives more paraphrases, and more bad ones."
        )
    if pem.regression is None:
        yield "The model was trained without judgements: there is no PEM to rank by."
    yield from pem.cautions


def paraphrases(
    pem: PEM,
    originals: Texts,
    n: int = 5,
    *,
    confidence: float = CONFIDENCE,
    candidates: int = CANDIDATES,
    threads: int | None = None,
    progress: Progress = silent,
) -> Iterator[Generated]:
    """Yield for each original its `n` best paraphrases of at least a confidence.

    Without a regression there is no PEM: then they come in the order of the search.
    """
    if n < 1 or candidates < n:
        raise InputError(f"n={n}, candidates={candidates}: expected 1 <= n <= candidates")
    if not 0 <= confidence <= 1:
        raise InputError(f"confidence={confidence:g}: expected 0 to 1")
    generator = generator_of(pem).trusting(confidence)
    texts = as_segments(originals, "originals")
    stop = Stop()

    def work(start: int, end: int) -> list[Generated]:
        first = start - start % STRIDE
        views = texts.views(first, min(first + STRIDE, len(texts)))
        lines = views.strings()[start - first : end - first]
        place = (texts.name, start, stop.check)
        found = wordings(generator, lines, candidates, confidence, *place)
        return list(_ranked(pem, lines, found, n, confidence))

    cuts = [(at, min(at + _LINES, len(texts))) for at in range(0, len(texts), _LINES)]
    for batch in by_batches(work, cuts, threads, progress, "paraphrasing", stop):
        yield from batch


def generator_of(pem: PEM) -> Generator:
    """Return the generator of a model; refuse a model that was trained without one."""
    if pem.generator is None:
        raise InputError(
            "the model was trained without what paraphrases are written with: "
            "train it with karat paraphrase train --generate"
        )
    return pem.generator


def wordings(
    generator: Generator,
    lines: Sequence[str],
    most: int,
    confidence: float = CONFIDENCE,
    name: str = "originals",
    start: int = 0,
    check: Callable[[], None] | None = None,
) -> list[list[Wording]]:
    """Return at most so many other wordings of each original, in the order of the search.

    Confidence is that of rewrites and words here, without pivot F1. The generator is one that
    trusts its rewrites with that confidence (`Generator.trusting`).
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
        found.append(_confident(generator, original, each[:tried], confidence)[:most])
    return found


def _confident(
    generator: Generator, original: Original, ways: Sequence[Sequence[Replacement]], least: float
) -> list[Wording]:
    """Return the wordings of an original that reach a confidence; of those alike the surest."""
    fold = generator.fold
    written = [original.words_of(steps, generator.article) for steps in ways]
    folded = [one._replace(words=list(map(fold, one.words))) for one in written]
    own = list(map(fold, original.words))
    probable = [min(step.probability for step in steps) for steps in ways]
    sure = confidences(generator.language, own, folded, probable)
    found: dict[str, float] = {}
    for one, confidence in zip(written, sure, strict=True):
        if confidence and confidence >= least:
            text = original.text(one)
            found[text] = max(confidence, found.get(text, 0.0))
    letters = "".join(original.line.lower().split())  # others than in case and spaces must differ
    return [Wording(*item) for item in found.items() if "".join(item[0].lower().split()) != letters]


def _search(
    generator: Generator, tokens: Tokens, most: int, check: Callable[[], None] | None
) -> list[list[list[Replacement]]]:
    """Return the rewritings of each original, replacements from left to right."""
    maps = generator.rewrites.maps(tokens.vocab)
    model_words = generator.model_words(tokens.vocab)
    sentences, _, _, bounds, lengths, edges = generator.search.search(
        tokens.ids, tokens.offsets, *maps, model_words, most, check
    )
    arrays, written = generator.rewrites.arrays, generator.written
    offsets, ids = arrays["pivot_phrase_offsets"], arrays["pivot_phrase_ids"]
    known: dict[tuple[int, int], Replacement] = {(1, -1): Replacement(1, None)}
    pairs = list(zip(lengths.tolist(), edges.tolist(), strict=True))
    for length, edge in set(pairs) - known.keys():
        phrase = int(arrays["edge_pivots"][edge])
        row = ids[offsets[phrase] : offsets[phrase + 1]].tolist()
        words = tuple(written[word] for word in row)
        p = float(arrays["edge_probabilities"][edge])
        known[length, edge] = Replacement(length, words, p)
    steps = [known[pair] for pair in pairs]
    each = [steps[a:b] for a, b in pairwise(bounds.tolist())]
    return [each[a:b] for a, b in pairwise(sentences.tolist())]


def _both(lines: Sequence[str], found: Sequence[Sequence[Wording]]) -> tuple[list[str], list[str]]:
    """Return the originals and the texts of all wordings."""
    originals = [line for line, each in zip(lines, found, strict=True) for _ in each]
    return originals, [one.text for each in found for one in each]


def _ranked(
    pem: PEM, lines: Sequence[str], found: Sequence[Sequence[Wording]], n: int, least: float
) -> Iterator[Generated]:
    """Yield the best by PEM of those whose confidence, multiplied by pivot F1, is enough.

    Of equals the first that was found.
    """
    originals, texts = _both(lines, found)
    rest = iter(adequacy(pem.pivots, originals, texts).tolist() if texts else ())
    sure = [[Wording(one.text, one.confidence * next(rest)) for one in each] for each in found]
    found = [[one for one in each if one.confidence >= least] for each in sure]
    originals, texts = _both(lines, found)
    scores = pem.score(originals, texts, threads=1) if texts else ()
    rows: Iterator[Any] = zip(*(column.tolist() for column in scores), strict=True)
    for line, each in zip(lines, found, strict=True):
        every = [Paraphrase(*(one.text, *next(rows), one.confidence)) for one in each]
        order = np.argsort([-one.pem for one in every], kind="stable")[:n].tolist()
        empty = not line.strip()
        reason = "the line is empty" if empty else f"no rewriting reaches confidence {least:g}"
        yield Generated([every[i] for i in order], None if every else reason)
