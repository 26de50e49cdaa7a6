"""Parallel text of any size, sampled from real text: `python grown_parallel.py --pairs N -o NAME`.

A walk through real English-French text with its word links: from a word to the one that follows it,
then, with probability `JUMP`, to another occurrence of the same word. Every occurrence adds the
French words that it is linked to, moved half as far. Some words are replaced by invented ones,
whose number grows with the text, and which have up to four translations. So there are always new
word pairs and new phrase pairs; `--compare` compares their number with real text of the same size.
The same size and seed give the same text, in NAME.en and NAME.fr.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from corpus import DATA
from numpy.typing import NDArray

from karat.paraphrase.align.alignment import align_words
from karat.paraphrase.align.parallel_text import Parallel, parallel_tokens, read_parallel
from karat.paraphrase.table.training import extract_phrases
from karat.text.segments import Strings
from karat.text.tokens import Recipe

JUMP = 0.5  # the chance to go on from another place: 1 is a bigram model
NEW = 0.04  # the chance of an invented word
GROWTH = 60  # invented words after n words: GROWTH times the root of n
LONGEST = 100  # words of a sentence
_WALKS = 1 << 15  # sentence pairs made at a time
_SYLLABLES = [c + v for c in "bdfgklmnprstvz" for v in "aeiou"]

Ids = NDArray[np.int64]


class ParallelSource(NamedTuple):
    """The English text as one row, word 0 between sentences; what French words each place has."""

    words: NDArray[np.object_]
    text: Ids
    places: Ids
    """The positions of word 0, then of word 1, …"""
    starts: Ids
    french: NDArray[np.object_]
    """The French words of all positions, concatenated."""
    moved: NDArray[np.float64]
    """Half as far as each is from where it would be in the same order: a jump moves words, too."""
    first: Ids
    """Where the French words of each place begin."""


def real_pairs() -> list[tuple[str, str]]:
    """Return the English-French sentence pairs of KARAT_DATA: captions and descriptions in turn."""
    captions = DATA / "parallel-multi30k"
    texts = [read_parallel(captions / "train.en.gz", captions / "train.fr.gz")]
    texts.append(read_parallel(DATA / "parallel-debian" / "en-fr.tsv.gz"))
    sentence_pairs = []
    for text in texts:
        sides = [side.views(0, len(text)).strings() for side in (text.source, text.pivot)]
        sentence_pairs += list(zip(*sides, strict=True))
    order = np.random.default_rng(1).permutation(len(sentence_pairs))
    return [sentence_pairs[i] for i in order]


def learned(pairs: list[tuple[str, str]]) -> ParallelSource:
    """Link the words of real text, and lay it out for walks."""
    words = Recipe("13a")
    source, pivot = parallel_tokens([_parallel(pairs)], words, words)
    links = align_words(source, pivot).links
    lengths = np.diff(source.offsets)  # type: ignore[union-attr]
    text = np.insert(source.ids.astype(np.int64) + 1, source.offsets[:-1], 0)  # type: ignore[union-attr]
    text = np.append(text, 0)
    places, french, moved = [], [], []
    for s in range(len(pairs)):
        n, m = int(lengths[s]), pivot.part(s, s + 1)
        owner = {j: i for i, j in reversed(links[s])}
        last = 0
        for j, word in enumerate(m.ids.tolist()):
            last = owner.get(j, last)  # a word without links stays with its predecessor
            if n:
                places.append(int(source.offsets[s]) + s + 1 + last)  # type: ignore[union-attr]
                french.append(word)
                moved.append(np.clip(j * n / len(m.ids) - last, -3, 3) / 2)
    order = np.argsort(places, kind="stable")
    first = np.concatenate(([0], np.cumsum(np.bincount(places, minlength=len(text)))))
    usable = text[:-1]  # something follows
    starts = np.concatenate(([0], np.cumsum(np.bincount(usable))))
    names = np.array(["\n", *source.vocab.words(0, len(source.vocab))], dtype=object)
    pivot_words = np.array(pivot.vocab.words(0, len(pivot.vocab)), dtype=object)
    return ParallelSource(
        names,
        text,
        np.argsort(usable, kind="stable"),
        starts,
        pivot_words[np.array(french)[order]],
        np.array(moved)[order],
        first,
    )


def _parallel(pairs: list[tuple[str, str]]) -> Parallel:
    return Parallel(*(Strings(list(side)) for side in zip(*pairs, strict=True)))


def grown_pairs(
    source: ParallelSource, pairs: int, seed: int = 1
) -> Iterator[list[tuple[str, str]]]:
    """Yield batches of sentence pairs up to the given total."""
    rng, n_pairs, n_words = np.random.default_rng(seed), 0, 0
    while n_pairs < pairs:
        at, lengths = _walk(source, rng)
        batch = _pairs(source, at, lengths, n_words, rng)[: pairs - n_pairs]
        yield batch
        n_pairs, n_words = n_pairs + len(batch), n_words + len(at)


def _walk(source: ParallelSource, rng: np.random.Generator) -> tuple[Ids, Ids]:
    """Return the positions of many sentences, concatenated, and the length of each."""
    who = np.arange(_WALKS)  # the walks that go on
    at = source.places[rng.integers(source.starts[1], size=_WALKS)]
    steps: list[tuple[Ids, Ids]] = []
    while len(who) and len(steps) < LONGEST:
        at = at + 1
        going = source.text[at] != 0
        who, at = who[going], at[going]
        steps.append((who, at))
        word = source.text[at]
        start, end = source.starts[word], source.starts[word + 1]
        targets = start + (rng.random(len(who)) * (end - start)).astype(np.int64)
        at = np.where(rng.random(len(who)) < JUMP, source.places[targets], at)
    owner = np.concatenate([walks for walks, _ in steps])
    order = np.argsort(owner, kind="stable")
    lengths = np.bincount(owner, minlength=_WALKS)
    return np.concatenate([places for _, places in steps])[order], lengths[lengths > 0]


def _pairs(
    source: ParallelSource, at: Ids, lengths: Ids, before: int, rng: np.random.Generator
) -> list[tuple[str, str]]:
    """Return the sentences at some places, and their translations."""
    english = source.words[source.text[at]]
    new = np.flatnonzero(rng.random(len(at)) < NEW)
    vocabulary_size = GROWTH * np.sqrt(before + new + 1)
    numbers = (vocabulary_size * rng.random(len(new)) ** 2).astype(int)
    english[new] = [_invented("x", n) for n in numbers.tolist()]
    size = source.first[at + 1] - source.first[at]
    size[new] = 1
    owner = np.repeat(np.arange(len(at)), size)
    within = np.arange(len(owner)) - np.repeat(np.cumsum(size) - size, size)
    french_places = np.minimum(source.first[at][owner] + within, len(source.french) - 1)
    french, moved = source.french[french_places], source.moved[french_places]
    translated = np.cumsum(size)[new] - 1
    variants = (4 * rng.random(len(new)) ** 3).astype(int)
    french[translated] = [_invented("y", n) for n in (4 * numbers + variants).tolist()]
    sentence = np.repeat(np.arange(len(lengths)), lengths)
    order = np.lexsort((owner + moved, sentence[owner]))
    counts = np.bincount(sentence[owner], minlength=len(lengths))
    sides = _sentences(english, lengths), _sentences(french[order], counts)
    return list(zip(*sides, strict=True))


def _sentences(words: NDArray[np.object_], lengths: Ids) -> list[str]:
    ends, listed = np.cumsum(lengths), words.tolist()
    bounds = zip((ends - lengths).tolist(), ends.tolist(), strict=True)
    return [" ".join(listed[start:end]) for start, end in bounds]


def _invented(begin: str, number: int) -> str:
    word = begin  # no word of either language: the rest is consonant, vowel, consonant, vowel
    while True:
        number, syllable = divmod(number, len(_SYLLABLES))
        word += _SYLLABLES[syllable]
        if not number:
            return word


def counted(pairs: list[tuple[str, str]]) -> str:
    """Count the words, word pairs and phrase pairs of some sentence pairs."""
    text = parallel_tokens(
        [_parallel(pairs)], Recipe("13a", "lower", "porter"), Recipe("13a", "lower")
    )
    alignment = align_words(*text)
    phrases = extract_phrases(*text, alignment.links)
    totals = [len(text[0].ids), alignment.pairs, len(phrases)]  # type: ignore[union-attr]
    averages = [f"{count / len(pairs):.1f}" for count in totals]
    return (
        f"{len(pairs):,} pairs; a pair: {averages[0]} English words, "
        f"{averages[1]} different word pairs, {averages[2]} different phrase pairs"
    )


def main() -> None:
    """Write the requested text; with --compare, compare its counts with real text."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--compare", action="store_true")
    parser.add_argument("-o", "--output")
    options, start = parser.parse_args(), time.process_time()
    real = real_pairs()
    source = learned(real)
    if options.compare:
        size = min(options.pairs, len(real))
        grown = [pair for batch in grown_pairs(source, size, options.seed) for pair in batch]
        print(f"real   {counted(real[:size])}")
        print(f"grown  {counted(grown)}")
    if options.output:
        with (
            Path(f"{options.output}.en").open("w", encoding="utf-8", newline="\n") as english,
            Path(f"{options.output}.fr").open("w", encoding="utf-8", newline="\n") as french,
        ):
            for batch in grown_pairs(source, options.pairs, options.seed):
                english.writelines(f"{line}\n" for line, _ in batch)
                french.writelines(f"{line}\n" for _, line in batch)
        print(f"{options.output}: {time.process_time() - start:.1f} s of the processor")


if __name__ == "__main__":
    main()
