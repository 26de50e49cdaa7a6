"""How often GTM's greedy search misses the maximum, and by how much.

    python experiments/gtm_greedy_vs_exact.py

TED zh-en (WMT21, 13 systems x 529 segments against `refB`, with `ref` as the second reference; also
documents of 25 segments in the order of the talks) and SummEval (100 documents x 16 systems with 1,
2 and 11 references). The data is found through KARAT_DATA; the table is Markdown, for
docs/lab/gtm.md.
"""

from __future__ import annotations

import argparse
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import karat as kt

DATA = Path(os.environ.get("KARAT_DATA", Path(__file__).parents[2] / "shared" / "data"))
HEADINGS = (
    *("texts", "e", "segments", "proven", "greedy below", "size lower by, mean", "most"),
    *("F greedy", "F exact"),
)


@dataclass(frozen=True)
class Texts:
    """Return the candidates of all systems, concatenated, and the references of each."""

    name: str
    candidates: list[str]
    references: list[list[str]]


@dataclass(frozen=True)
class Experiment:
    """The settings of one row of the table."""

    e: float = 2.0
    tok: str = "none"

    def row(self, texts: Texts) -> list[str]:
        """Greedy and exact on the same texts."""
        greedy, exact = (kt.GTM(e=self.e, tok=self.tok, search=s) for s in ("greedy", "exact"))
        best = exact.stats(texts.candidates, texts.references, threads=1)
        plain = greedy.stats(texts.candidates, texts.references, threads=1)
        below = plain[:, 0] < best[:, 0] * (1 - 1e-9)
        lost = 1 - plain[below, 0] / best[below, 0]
        scores = (m.score(rows.sum(axis=0)).value for m, rows in ((greedy, plain), (exact, best)))
        return [
            f"{texts.name}, tok={self.tok}",
            f"{self.e:g}",
            f"{len(best):,}",
            f"{best[:, 5].mean():.2%}",
            f"{below.mean():.2%}",
            f"{lost.mean() if len(lost) else 0:.2%}",
            f"{lost.max(initial=0):.2%}",
            *(f"{score:.5f}" for score in scores),
        ]


def ted() -> tuple[dict[str, list[str]], list[str], list[str]]:
    """The systems' outputs by name, `refB` and `ref`, all in the order of the talks."""
    texts_by_system: dict[str, dict[tuple[str, int], str]] = {}
    with (DATA / "mt-ted-zhen" / "mqm_ted_zhen.tsv").open(encoding="utf-8", newline="\n") as file:
        next(file)
        for line in file:
            system, document, _, number, _, _, target, *_ = line.rstrip("\n").split("\t")
            text = re.sub("</?v>", "", target)
            texts_by_system.setdefault(system, {})[document, int(number)] = text
    order = sorted(texts_by_system["refB"])
    outputs = {
        name: [texts[key] for key in order] for name, texts in sorted(texts_by_system.items())
    }
    return outputs, outputs.pop("refB"), outputs.pop("ref")


def documents(lines: list[str], size: int = 25) -> list[str]:
    """Join every `size` lines to one text; the last text has the remaining lines."""
    return [" ".join(lines[at : at + size]) for at in range(0, len(lines), size)]


def all_texts() -> Iterator[Texts]:
    """What the table is about."""
    outputs, good, other = ted()
    candidates = [line for lines in outputs.values() for line in lines]
    single, double = [[g] for g in good], [list(pair) for pair in zip(good, other, strict=True)]
    yield Texts("TED, 1 reference", candidates, single * len(outputs))
    yield Texts("TED, 2 references", candidates, double * len(outputs))
    joined = [text for lines in outputs.values() for text in documents(lines)]
    single = [[text] for text in documents(good)]
    double = [list(pair) for pair in zip(documents(good), documents(other), strict=True)]
    yield Texts("TED documents of 25, 1 reference", joined, single * len(outputs))
    yield Texts("TED documents of 25, 2 references", joined, double * len(outputs))
    with (DATA / "summ-summeval" / "summeval.jsonl").open(encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    summaries = [system["summary"] for r in records for system in r["systems"].values()]
    for number in (1, 2, 11):
        groups = [r["references"][:number] for r in records for _ in r["systems"]]
        yield Texts(f"SummEval, {number} reference{'s' * (number > 1)}", summaries, groups)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--e", type=float, nargs="+", default=[2.0])
    parser.add_argument("--tok", nargs="+", default=["none", "13a"])
    options = parser.parse_args()
    print("| " + " | ".join(HEADINGS) + " |\n|" + "---|" * len(HEADINGS))
    for tok in options.tok:
        for e in options.e:
            for texts in all_texts():
                row = Experiment(e, tok).row(texts)
                print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
