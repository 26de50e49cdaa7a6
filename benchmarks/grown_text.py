"""English text of any size, sampled from real text: `python grown_text.py --words N -o FILE`.

A walk through the real text of KARAT_DATA: from a word to the one that follows it, then, with
probability `JUMP`, to another occurrence of the same word. So its bigrams all occur in the text,
and most longer n-grams are new. Some words are replaced by invented ones, whose number grows with
the root of the size, as a vocabulary does. The same size and seed give the same text.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from corpus import DATA
from numpy.typing import NDArray

JUMP = 0.6  # the chance to go on from another place: 1 is a bigram model
NEW = 0.02  # the chance of an invented word
GROWTH = 40  # invented words after n words: GROWTH times the root of n
LONGEST = 200  # words of a sentence
_WALKS = 1 << 15  # sentences made at a time
_SYLLABLES = [c + v for c in "bdfgklmnprstvz" for v in "aeiou"]
_TOKEN = re.compile(r"\w+|[^\w\s]")

Ids = NDArray[np.int64]


class Source(NamedTuple):
    """The real text as one row of words, and the positions of each word, from word 0."""

    words: list[str]
    """Word 0 is the end of a sentence."""
    text: Ids
    places: Ids
    starts: Ids


def real_sentences() -> Iterator[str]:
    """Yield the English sentences of KARAT_DATA, each once."""
    distinct: set[str] = set()
    for line in _lines():
        sentence = " ".join(_TOKEN.findall(line))
        if sentence and sentence not in distinct:
            distinct.add(sentence)
            yield sentence


def sentences(words: int, seed: int = 1) -> Iterator[list[str]]:
    """Yield batches of sentences with at least the given total of words."""
    source, rng, n_words = _source(), np.random.default_rng(seed), 0
    names = np.array(source.words, dtype=object)
    while n_words < words:
        ids, lengths = _walk(source, rng)
        new = np.flatnonzero(rng.random(len(ids)) < NEW)
        vocabulary_size = GROWTH * np.sqrt(n_words + new + 1)
        drawn_words = names[ids]
        drawn_words[new] = [
            _invented(i) for i in (vocabulary_size * rng.random(len(new)) ** 2).astype(int)
        ]
        ends = np.cumsum(lengths)
        last = int(np.searchsorted(ends, words - n_words)) + 1
        listed, pairs = drawn_words.tolist(), zip(ends - lengths, ends, strict=True)
        yield [" ".join(listed[start:end]) for start, end in list(pairs)[:last]]
        n_words += int(ends[min(last, len(ends)) - 1])


def _walk(source: Source, rng: np.random.Generator) -> tuple[Ids, Ids]:
    """Return the words of many sentences, concatenated, and the length of each."""
    who = np.arange(_WALKS)  # the walks that go on
    at = source.places[rng.integers(source.starts[1], size=_WALKS)]
    steps: list[tuple[Ids, Ids]] = []
    while len(who) and len(steps) < LONGEST:
        at = at + 1
        word = source.text[at]
        going = word != 0
        who, at, word = who[going], at[going], word[going]
        steps.append((who, word))
        jumps = rng.random(len(who)) < JUMP
        start, end = source.starts[word], source.starts[word + 1]
        targets = start + (rng.random(len(who)) * (end - start)).astype(np.int64)
        at = np.where(jumps, source.places[targets], at)
    owner = np.concatenate([walks for walks, _ in steps])
    order = np.argsort(owner, kind="stable")
    lengths = np.bincount(owner, minlength=_WALKS)
    return np.concatenate([words for _, words in steps])[order], lengths[lengths > 0]


def _source() -> Source:
    numbers: dict[str, int] = {"\n": 0}
    text = [0]
    for sentence in real_sentences():
        text += [numbers.setdefault(word, len(numbers)) for word in sentence.split()]
        text.append(0)
    if len(text) == 1:
        raise SystemExit(f"{DATA} has no English text: let KARAT_DATA name the data")
    ids = np.array(text)
    usable = ids[:-1]  # something follows
    starts = np.concatenate(([0], np.cumsum(np.bincount(usable, minlength=len(numbers)))))
    return Source(list(numbers), ids, np.argsort(usable, kind="stable"), starts)


def _invented(number: int) -> str:
    word = "x"  # no English word: the rest is consonant, vowel, consonant, vowel
    while True:
        number, syllable = divmod(number, len(_SYLLABLES))
        word += _SYLLABLES[syllable]
        if not number:
            return word


def _lines() -> Iterator[str]:
    for path in sorted(DATA.glob("parallel-*/*.gz")):
        if path.name.endswith(".en.gz") or path.name.startswith("en-"):
            with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
                yield from (line.partition("\t")[0] for line in file)
    for path in sorted(DATA.glob("treebank-ewt/*.conllu")):
        lines = path.read_text(encoding="utf-8").splitlines()
        yield from (line[9:] for line in lines if line.startswith("# text = "))
    for path in sorted(DATA.glob("summ-summeval/*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            yield from re.findall(r'"([^"\\\\]+ [^"\\\\]+)"', line)
    for path in sorted(DATA.glob("nlg-e2e/testset_w_refs.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            yield from (row[-1] for row in csv.reader(file) if row)


def main() -> None:
    """Write the requested text, or the real text with --words 0."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--words", type=int, required=True, help="0: the real text")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-o", "--output", type=Path, required=True)
    options, start = parser.parse_args(), time.process_time()
    batches = sentences(options.words, options.seed) if options.words else [list(real_sentences())]
    with options.output.open("w", encoding="utf-8", newline="\n") as file:
        for batch in batches:
            file.write("\n".join(batch) + "\n")
    print(f"{options.output}: {time.process_time() - start:.1f} s of the processor")


if __name__ == "__main__":
    main()
