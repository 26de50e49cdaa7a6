"""Generated paraphrases of sixty everyday sentences, for two readers who do not know the systems.

    KARAT_DATA=… python experiments/paraphrase_judged.py make FOLDER [NAME=FILE]...
    python experiments/paraphrase_judged.py score FOLDER READER.tsv READER.tsv

`make` trains a model on Multi30k (French, German), Tatoeba (Chinese), Tanaka (Japanese), the
English-Spanish text of the alignment gold and the bundled English-French text, without the sixty
sentences, and writes the best paraphrase of each sentence to `judge.tsv` (item, original,
paraphrase), in random order, and the systems behind the items to `key.tsv`. NAME=FILE adds the
output of another system: one line for each sentence, empty if it has none. Equal outputs are one
item. `score` reads what readers wrote, `item<TAB>yes|no`, and prints for each system how often it
speaks, the share of it that readers accept, and Cohen's kappa.
"""

from __future__ import annotations

import gzip
import html
import os
import random
import re
import sys
import time
from collections import defaultdict
from importlib import resources
from pathlib import Path

from karat.paraphrase.align.parallel_text import read_parallel
from karat.paraphrase.pem.model import PEM
from karat.paraphrase.pem.training import Pivot, train_pem
from karat.text.tokens import Recipe

DATA = Path(os.environ.get("KARAT_DATA", ""))
SENTENCES = Path(__file__).with_name("paraphrase_sentences.txt")
SEED = 12345
TEXTS = {
    "fr": ("parallel-multi30k/train.en.gz", "parallel-multi30k/train.fr.gz"),
    "de": ("parallel-multi30k/train.en.gz", "parallel-multi30k/train.de.gz"),
    "zh": ("parallel-tatoeba-enzh/en-zh.tsv.gz",),
    "ja": ("parallel-tanaka-enja/train.en.gz", "parallel-tanaka-enja/train.ja.gz"),
    "es": ("align-gold/enes/train.full.en", "align-gold/enes/train.full.es"),
}
RECIPES = {"zh": Recipe("zh", "lower"), "ja": Recipe("none", "lower")}
CLITIC = re.compile(r" '(?=(m|s|re|ve|ll|d|t)( |$))")


def lines_of(path: Path) -> list[str]:
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8")
    return html.unescape(text).removesuffix("\n").split("\n")


def pairs_of(name: str) -> list[tuple[str, str]]:
    """Sentence pairs; Tanaka's contractions are joined: `i 'm` is `i'm`."""
    if name == "demo":
        files = [Path(str(resources.files("karat") / "data/paraphrase/en-fr.tsv"))]
    else:
        files = [DATA / file for file in TEXTS[name]]
    if len(files) == 1:
        return [(pair[0], pair[1]) for pair in (line.split("\t") for line in lines_of(files[0]))]
    english, pivot = map(lines_of, files)
    both = zip(english, pivot, strict=True)
    return [(CLITIC.sub("'", a).replace("\t", " "), b.replace("\t", " ")) for a, b in both]


def letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.lower()))


def trained(folder: Path, sentences: list[str]) -> PEM:
    """A model of all texts without some sentences."""
    left_out = set(map(letters, sentences))
    pivots = {}
    for name in (*TEXTS, "demo"):
        pairs = [pair for pair in pairs_of(name) if letters(pair[0]) not in left_out]
        path = folder / f"{name}.tsv"
        path.write_text("".join(f"{a}\t{b}\n" for a, b in pairs), encoding="utf-8")
        pivots[name] = Pivot([read_parallel(path)], RECIPES.get(name, Recipe("13a", "lower")))
    model = folder / "model.npz"
    if not model.exists():
        train_pem(pivots, work=folder / "stages").save(model)
    return PEM.open(model)


def make(folder: Path, *others: str) -> None:
    if not (DATA / "parallel-multi30k").exists():
        sys.exit("KARAT_DATA must name the folder that holds parallel-multi30k")
    folder.mkdir(parents=True, exist_ok=True)
    sentences = SENTENCES.read_text("utf-8").splitlines()
    started = time.process_time()
    pem = trained(folder, sentences)
    print(f"trained in {time.process_time() - started:.0f} s of processor time")
    pem.generate(sentences[:1])  # warm-up: builds what later calls reuse
    started = time.process_time()
    generated = pem.generate(sentences, 1, threads=1)
    print(f"{len(sentences) / (time.process_time() - started):.1f} sentences a second")
    systems = {"new": [items[0].text if items else "" for items in generated]}
    for named_file in others:
        name, _, file = named_file.partition("=")
        systems[name] = Path(file).read_text("utf-8").splitlines()
    write_items(folder, sentences, systems)


def write_items(folder: Path, sentences: list[str], systems: dict[str, list[str]]) -> None:
    by_text: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for name, texts in systems.items():
        for original, text in zip(sentences, texts, strict=True):
            if text:
                by_text[original, text].append(name)
    items = sorted(by_text)
    random.Random(SEED).shuffle(items)
    judge, key = ["item\toriginal\tparaphrase"], ["item\tsystems"]
    for i, item in enumerate(items, 1):
        judge.append("\t".join((str(i), *item)))
        key.append(f"{i}\t{','.join(by_text[item])}")
    (folder / "judge.tsv").write_text("\n".join(judge) + "\n", encoding="utf-8")
    (folder / "key.tsv").write_text("\n".join(key) + "\n", encoding="utf-8")
    print(f"{len(items)} items, of {len(sentences)} sentences")


def rows(path: str) -> dict[str, str]:
    """Item -> its last column."""
    lines = Path(path).read_text("utf-8").splitlines()
    return {
        line.split("\t")[0]: line.split("\t")[-1].strip() for line in lines if line[:1].isdigit()
    }


def score(folder: str, *readers: str) -> None:
    items, systems = (rows(f"{folder}/{name}.tsv") for name in ("judge", "key"))
    marks = [
        {item: mark.lower() == "yes" for item, mark in rows(reader_marks).items()}
        for reader_marks in readers
    ]
    for reader_marks, path in zip(marks, readers, strict=True):
        if reader_marks.keys() != items.keys():
            sys.exit(
                f"{path}: has {len(reader_marks)} items, expected the {len(items)} of judge.tsv"
            )
    print("system, how often it speaks, accepted by each reader, by all and by any")
    sentences = len(SENTENCES.read_text("utf-8").splitlines())
    for name in sorted({name for counts in systems.values() for name in counts.split(",")}):
        own_items = [item for item in items if name in systems[item].split(",")]
        counts = [sum(reader_marks[item] for item in own_items) for reader_marks in marks]
        both = sum(all(reader_marks[item] for reader_marks in marks) for item in own_items)
        either = sum(any(reader_marks[item] for reader_marks in marks) for item in own_items)
        shares = "  ".join(
            f"{n}/{len(own_items)} {n / len(own_items):.2f}" for n in (*counts, both, either)
        )
        print(f"{name:12} {len(own_items)}/{sentences} {len(own_items) / sentences:.2f}  {shares}")
    if len(marks) == 2:
        print(f"kappa {kappa(*marks):.2f}")


def kappa(first: dict[str, bool], second: dict[str, bool]) -> float:
    """Cohen's."""
    n = len(first)
    agreed = sum(first[item] == second[item] for item in first) / n
    p, q = (sum(marks.values()) / n for marks in (first, second))
    chance = p * q + (1 - p) * (1 - q)
    return (agreed - chance) / (1 - chance)


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in ("make", "score"):
        sys.exit(__doc__)
    if sys.argv[1] == "make":
        make(Path(sys.argv[2]), *sys.argv[3:])
    else:
        score(*sys.argv[2:])
