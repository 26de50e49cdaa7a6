"""The text that is measured: real English lines and noisy copies of them, the same on every run.

References are unique lines of 60 to 260 characters from parallel-debian (KARAT_DATA, default
../shared/data); where that is absent, pseudo-English with a Zipf distribution takes its place.
Candidates are copies with words dropped, replaced and swapped.
"""

from __future__ import annotations

import gzip
import os
import random
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
WORK = ROOT / "benchmarks" / "work"
DATA = Path(os.environ.get("KARAT_DATA", ROOT.parent / "shared" / "data"))
SEED = 20
_VERSION = 1  # of how texts are made; part of the folder's name
_SYSTEM_LINES = 2000
_SYSTEMS = "abcde"


class Noise(NamedTuple):
    """The chance of each change to a word."""

    drop: float = 0.1
    replace: float = 0.2
    swap: float = 0.05


CANDIDATE = Noise()
PARAPHRASE = Noise(0.05, 0.1, 0.05)


@dataclass(frozen=True)
class Corpus:
    """The paths of the texts, their number of lines and their origin."""

    folder: Path
    lines: int
    source: str

    @property
    def candidates(self) -> Path:
        """The candidates, one a line."""
        return self.folder / "candidates.txt"

    @property
    def references(self) -> Path:
        """One reference for each candidate."""
        return self.folder / "references.txt"

    @property
    def four_references(self) -> Path:
        """Four references a line, tab-separated, for the first tenth of the candidates."""
        return self.folder / "four-references.tsv"

    @property
    def chinese(self) -> tuple[Path, Path]:
        """Chinese candidates and references."""
        return self.folder / "zh-candidates.txt", self.folder / "zh-references.txt"

    @property
    def systems(self) -> list[Path]:
        """Five outputs of 2000 lines, each worse than the one before."""
        return [self.folder / f"{name}.txt" for name in _SYSTEMS]

    @property
    def systems_table(self) -> Path:
        """The same five, tab-separated."""
        return self.folder / "systems.tsv"

    @property
    def systems_reference(self) -> Path:
        """The reference of the five."""
        return self.folder / "systems-reference.txt"


def make(lines: int) -> Corpus:
    """The corpus of that many pairs, made unless it is there already."""
    base, source = _base_lines()
    folder = WORK / f"{lines}-{source.split()[0]}-v{_VERSION}"
    corpus = Corpus(folder, lines, source)
    if not (folder / "complete").exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        _write_all(corpus, base)
        (folder / "complete").touch()
    return corpus


def read(path: Path) -> list[str]:
    """The lines of a text."""
    return path.read_text(encoding="utf-8").removesuffix("\n").split("\n")


def _write_all(corpus: Corpus, base: list[str]) -> None:
    rng = random.Random(SEED)
    vocabulary = [word for line in base for word in line.split()]
    references = list(islice(_laps(base, vocabulary, rng), corpus.lines))
    _write(corpus.references, references)
    _write(corpus.candidates, (noisy(r, CANDIDATE, vocabulary, rng) for r in references))
    tenth = references[: corpus.lines // 10]
    paraphrases = ([noisy(r, PARAPHRASE, vocabulary, rng) for _ in range(3)] for r in tenth)
    table = ("\t".join([r, *rest]) for r, rest in zip(tenth, paraphrases, strict=True))
    _write(corpus.four_references, table)
    _write_systems(corpus, references[:_SYSTEM_LINES], vocabulary, rng)
    _write_chinese(corpus, rng)


def _laps(base: list[str], vocabulary: Sequence[str], rng: random.Random) -> Iterator[str]:
    """The lines, shuffled; once they are used up, slightly changed, so that none comes twice."""
    rng.shuffle(base)
    yield from base
    while True:
        for line in base:
            yield noisy(line, PARAPHRASE, vocabulary, rng)


def _write_systems(
    corpus: Corpus, references: list[str], vocabulary: Sequence[str], rng: random.Random
) -> None:
    outputs = []
    for i, path in enumerate(corpus.systems):
        noise = Noise(0.08 + 0.01 * i, 0.16 + 0.02 * i, 0.05)
        outputs.append([noisy(r, noise, vocabulary, rng) for r in references])
        _write(path, outputs[-1])
    _write(corpus.systems_reference, references)
    _write(corpus.systems_table, ("\t".join(row) for row in zip(*outputs, strict=True)))


def noisy(line: str, noise: Noise, vocabulary: Sequence[str], rng: random.Random) -> str:
    """A copy of a line with some words dropped, replaced or swapped with the next."""
    words: list[str] = []
    replace_limit, swap_limit = noise.drop + noise.replace, noise.drop + noise.replace + noise.swap
    for word in line.split():
        chance = rng.random()
        if chance >= swap_limit:
            words.append(word)
        elif chance >= replace_limit:
            words.insert(-1 if words else 0, word)
        elif chance >= noise.drop:
            words.append(vocabulary[int(rng.random() * len(vocabulary))])
    return " ".join(words) or line


def _write(path: Path, lines: Iterator[str] | Sequence[str]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line}\n" for line in lines)


# ---------------------------------------------------------------------- where lines come from


def _base_lines() -> tuple[list[str], str]:
    folder = DATA / "parallel-debian"
    files = [folder / f"en-{language}.tsv.gz" for language in ("it", "fr", "de")]
    if not all(file.exists() for file in files):
        return list(_pseudo_english(50_000)), "zipf (pseudo-English: KARAT_DATA has no such files)"
    unique: dict[str, None] = {}
    for file in files:
        with gzip.open(file, "rt", encoding="utf-8", newline="\n") as rows:
            for row in rows:
                text = " ".join(row.partition("\t")[0].split())
                if 60 <= len(text) <= 260:
                    unique[text] = None
    return list(unique), "debian (English package descriptions, parallel-debian)"


def _pseudo_english(lines: int) -> Iterator[str]:
    """Sentences of invented words, the word of rank r with a weight of 1/r."""
    rng = random.Random(SEED)
    syllables = [c + v + e for c in "bcdfglmnprst" for v in "aeiou" for e in ("", "n", "r", "s")]
    words = list(dict.fromkeys(_word(syllables, rng) for _ in range(60_000)))
    weights = list(accumulate(1 / rank for rank in range(1, len(words) + 1)))
    for _ in range(lines):
        chosen = rng.choices(words, cum_weights=weights, k=rng.randint(10, 32))
        at = rng.randrange(len(chosen) - 1)
        chosen[at] += ","
        yield " ".join(chosen).capitalize() + "."


def _word(syllables: Sequence[str], rng: random.Random) -> str:
    return "".join(rng.choices(syllables, k=rng.choice((1, 1, 2, 2, 3, 4))))


def _write_chinese(corpus: Corpus, rng: random.Random) -> None:
    lines = _chinese_lines() or list(_pseudo_chinese(20_000, rng))
    lines = lines[: corpus.lines]
    characters = "".join(lines)

    def changed(line: str) -> str:
        chances = ((c, rng.random()) for c in line)
        return "".join(c if x > 0.2 else rng.choice(characters) for c, x in chances if x > 0.1)

    candidates, references = corpus.chinese
    _write(references, lines)
    _write(candidates, (changed(line) or line for line in lines))


def _chinese_lines() -> list[str]:
    """Sentences of Tatoeba, three to a line."""
    sentences: list[str] = []
    file = DATA / "parallel-tatoeba-enzh" / "en-zh.tsv.gz"
    if file.exists():
        with gzip.open(file, "rt", encoding="utf-8", newline="\n") as rows:
            sentences = [row.rstrip("\n").split("\t")[-1] for row in rows]
    return ["".join(sentences[i : i + 3]) for i in range(len(sentences) - 2)]


def _pseudo_chinese(lines: int, rng: random.Random) -> Iterator[str]:
    for _ in range(lines):
        length = rng.randint(15, 45)
        yield "".join(chr(0x4E00 + min(int(rng.paretovariate(0.3)), 5000)) for _ in range(length))
