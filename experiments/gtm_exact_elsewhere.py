"""The certainty and speed of GTM's exact search on text that was not used for tuning.

    python experiments/gtm_exact_elsewhere.py

The step sizes of the search were chosen on TED zh-en and SummEval. These texts were not used for
that: E2E NLG (21 systems, 630 inputs with 1 to 45 references), believability (three systems into
English, talks; also documents of 25 segments), Twitter paraphrases (candidate against reference)
and REALSumm (25 systems, 100 summaries, one reference). Every pair is one call from text; times are
processor times. The data is found through KARAT_DATA; the table is Markdown, for docs/lab/gtm.md.
"""

from __future__ import annotations

import argparse
import csv
import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import karat as kt

DATA = Path(os.environ.get("KARAT_DATA", Path(__file__).parents[2] / "shared" / "data"))
HEADINGS = ("texts", "e", "pairs", "proven", "median ms", "99% ms", "most ms", "gap, unproven")

Pair = tuple[str, list[str]]


@dataclass(frozen=True)
class Experiment:
    """The settings of one row of the table."""

    e: float = 2.0
    tok: str = "none"

    def row(self, name: str, pairs: list[Pair]) -> list[str]:
        """How many pairs are certain, and how long that takes."""
        exact = kt.GTM(e=self.e, tok=self.tok, search="exact")
        exact.stats(["a"], ["a"], threads=1)
        times, gaps = [], []
        for candidate, references in pairs:
            start = time.process_time()
            ((size, _, _, bound, _, proven),) = exact.stats([candidate], [references], threads=1)
            times.append((time.process_time() - start) * 1000)
            if not proven:
                gaps.append(1 - size / bound)
        times.sort()
        return [
            f"{name}, tok={self.tok}",
            f"{self.e:g}",
            f"{len(pairs):,}",
            f"{1 - len(gaps) / len(pairs):.2%}",
            f"{times[len(times) // 2]:.2f}",
            f"{times[len(times) * 99 // 100]:.2f}",
            f"{times[-1]:.1f}",
            f"at most {max(gaps):.2%} of the size" if gaps else "",
        ]


def e2e() -> Iterator[Pair]:
    """Every system's text for every input, with all references of that input."""
    folder = DATA / "nlg-e2e"
    references: dict[str, list[str]] = {}
    with (folder / "testset_w_refs.csv").open(encoding="utf-8-sig", newline="") as file:
        for row in csv.DictReader(file):
            references.setdefault(row["mr"], []).append(row["ref"])
    for path in sorted((folder / "primary").glob("*.tsv")):
        lines = path.read_text(encoding="utf-8-sig").splitlines()[1:]
        outputs = [line.split("\t")[-1].strip('"') for line in lines if line.strip()]
        if len(outputs) != len(references):
            raise SystemExit(f"{path}: {len(outputs)} texts, expected {len(references)}")
        yield from zip(outputs, references.values(), strict=True)


def believability(size: int = 1) -> Iterator[Pair]:
    """Three systems against the one English text, `size` segments in one."""
    folder = DATA / "mt-believability" / "text"
    good = _joined(_lines(folder / "test" / "ted_test1.tok.en"), size)
    for path in sorted((folder / "mt_output").glob("*.en")):
        yield from zip(_joined(_lines(path), size), [[text] for text in good], strict=True)


def twitter() -> Iterator[Pair]:
    """Candidates against their reference."""
    for line in _lines(DATA / "paraphrase-twitter" / "twitter.tsv")[1:]:
        _, reference, candidate, _ = line.split("\t")
        yield candidate, [reference]


def realsumm() -> Iterator[Pair]:
    """Summaries against the one that came with the article, sentence tags removed."""
    folder = DATA / "nuggets-realsumm"
    good = [re.sub("</?t>", " ", text) for text in _lines(folder / "references.txt")]
    for path in sorted((folder / "summaries").glob("*.summary")):
        yield from zip(_lines(path), [[text] for text in good], strict=True)


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").removesuffix("\n").split("\n")


def _joined(lines: list[str], size: int) -> list[str]:
    return [" ".join(lines[at : at + size]) for at in range(0, len(lines), size)]


TEXTS = {
    "E2E NLG, 1 to 45 references": e2e,
    "believability": believability,
    "believability, documents of 25": lambda: believability(25),
    "Twitter paraphrases": twitter,
    "REALSumm": realsumm,
}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--e", type=float, nargs="+", default=[2.0])
    parser.add_argument("--tok", nargs="+", default=["none", "13a"])
    options = parser.parse_args()
    print("| " + " | ".join(HEADINGS) + " |\n|" + "---|" * len(HEADINGS))
    for e in options.e:
        for tok in options.tok:
            for name, pairs in TEXTS.items():
                row = Experiment(e, tok).row(name, list(pairs()))
                print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
