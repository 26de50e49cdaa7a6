"""Edit-based metrics against their peers, one thread: python benchmarks/edits.py.

TER against sacreBLEU, edit alignments with operations against rapidfuzz (both from raw strings),
and the CoNLL-U reader against the conllu package. Needs KARAT_DATA, sacrebleu, rapidfuzz, conllu.
"""

from __future__ import annotations

import csv
import os
import re
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

from corpus import DATA
from timing import take_turns

import karat as kt

ROUNDS = 7


def ted() -> tuple[dict[str, list[str]], list[str]]:
    """The 13 systems of TED zh-en and refB, segment by segment."""
    texts: dict[str, dict[int, str]] = defaultdict(dict)
    with (DATA / "mt-ted-zhen" / "mqm_ted_zhen.tsv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            texts[row["system"]][int(row["seg_id"])] = re.sub("</?v>", "", row["target"])
    order = sorted(texts["refB"])
    systems = {
        name: [found[i] for i in order]
        for name, found in texts.items()
        if not name.startswith("ref")
    }
    return systems, [texts["refB"][i] for i in order]


def show(work: str, ours: float, peer: str, theirs: float, at_least: float) -> None:
    """One line of the table."""
    ratio = theirs / ours
    verdict = "reached" if ratio >= at_least else "MISSED"
    print(
        f"{work:58} karat {ours * 1e3:9.2f} ms  {peer} {theirs * 1e3:10.2f} ms  "
        f"{ratio:7.1f}x  (to reach: {at_least:g}x, {verdict})",
        flush=True,
    )


def ter(systems: dict[str, list[str]], reference: list[str]) -> None:
    """TER of 13 systems; equal numbers are checked on the way."""
    from sacrebleu.metrics import TER

    metric = kt.metric("ter")
    scores: dict[str, list[float]] = {}

    def karat() -> None:
        found = [metric.corpus(texts, reference, threads=1).value for texts in systems.values()]
        scores["karat"] = found

    def sacrebleu() -> None:
        peer = TER(references=[reference])
        scores["peer"] = [peer.corpus_score(texts, None).score for texts in systems.values()]

    ours = take_turns({"karat": karat}, ROUNDS)["karat"]
    theirs = take_turns({"peer": sacrebleu}, 1)["peer"]
    far = max(abs(a - b) for a, b in zip(scores["karat"], scores["peer"], strict=True))
    show(f"TER, TED zh-en, 13 x 529 (differ by {far:.0e})", ours, "sacreBLEU", theirs, 100)


def alignments(systems: dict[str, list[str]], reference: list[str]) -> None:
    """Edit scripts of words, of characters, and of long texts."""
    from rapidfuzz.distance import Levenshtein

    candidates = [text for texts in systems.values() for text in texts]
    references = reference * len(systems)
    long = [" ".join(texts) for texts in systems.values()]
    joined = [" ".join(reference)] * len(systems)

    def words(a: list[str], b: list[str]) -> list[object]:
        return [Levenshtein.editops(r.split(), c.split()) for c, r in zip(a, b, strict=True)]

    def characters(a: list[str], b: list[str]) -> list[object]:
        return [Levenshtein.editops(r, c) for c, r in zip(a, b, strict=True)]

    jobs: tuple[tuple[str, list[str], list[str], str, Callable[..., object]], ...] = (
        ("words, 13 x 529 segments", candidates, references, "none", words),
        ("characters, 13 x 529 segments", candidates, references, "char", characters),
        ("words, 13 documents of ~10,000", long, joined, "none", words),
    )
    for what, a, b, tok, peer in jobs:
        for costs in ("unit", "accuracy"):
            best = take_turns(
                {
                    "karat": lambda a=a, b=b, tok=tok, costs=costs: kt.alignments(  # type: ignore[misc]
                        a, b, costs=costs, tok=tok
                    ),
                    "peer": lambda a=a, b=b, peer=peer: peer(a, b),  # type: ignore[misc]
                },
                ROUNDS if len(a) > 100 else 2,
            )
            show(f"edit scripts ({costs}), {what}", best["karat"], "rapidfuzz", best["peer"], 1)


def treebank() -> None:
    """Reading EWT's training part."""
    import conllu

    path = Path(DATA) / "treebank-ewt" / "en_ewt-ud-train.conllu"

    def peer() -> None:
        with path.open(encoding="utf-8") as file:
            sum(1 for _ in conllu.parse_incr(file))

    def objects() -> None:
        sum(1 for _ in kt.read_conllu(path))

    theirs = take_turns({"peer": peer}, 1)["peer"]
    ours = take_turns({"read": lambda: kt.read_conllu(path), "objects": objects}, ROUNDS)
    show("CoNLL-U, EWT train", ours["read"], "conllu", theirs, 20)
    show("CoNLL-U, EWT train, every tree as an object", ours["objects"], "conllu", theirs, 20)


if __name__ == "__main__":
    print(f"KARAT_DATA={os.environ.get('KARAT_DATA', DATA)}")
    systems, reference = ted()
    alignments(systems, reference)
    treebank()
    ter(systems, reference)
