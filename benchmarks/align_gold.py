"""Texts with word links made by hand (KARAT_DATA), and the alignment error rate on them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from corpus import DATA

Link = tuple[int, int]
FOLDER = DATA / "align-gold"


class Gold(NamedTuple):
    """Two texts, of which the last sentences have sure and possible links; the rest is training."""

    source: list[str]
    pivot: list[str]
    sure: list[set[Link]]
    possible: list[set[Link]]


def english_spanish() -> Gold:
    """5,262 pairs to learn from and 200 with links, all of them sure; words are lower-cased."""
    texts = [
        [line for part in ("train.full", "dev") for line in _lines(f"enes/{part}.{language}")]
        for language in ("en", "es")
    ]
    links: list[set[Link]] = [set() for _ in _lines("enes/dev.en")]
    for line in _lines("enes/dev.key"):
        sentence, i, j = (int(number) - 1 for number in line.split())
        links[sentence].add((i, j))
    return Gold(texts[0], texts[1], links, links)


def romanian_english() -> Gold:
    """248 pairs with links and nothing else to learn from; `i-j` is sure, `ipj` possible."""
    rows = [line.lower().split("|||") for line in _lines("roen.src-tgt")]
    sure: list[set[Link]] = []
    possible: list[set[Link]] = []
    for line in _lines("roen.gold"):
        matches = [re.fullmatch(r"(\d+)([-p])(\d+)", word) for word in line.split()]
        links = [(int(m[1]) - 1, int(m[3]) - 1, m[2]) for m in matches if m]
        sure.append({(i, j) for i, j, kind in links if kind == "-"})
        possible.append({(i, j) for i, j, _ in links})
    return Gold([a.strip() for a, _ in rows], [b.strip() for _, b in rows], sure, possible)


TEXTS = {"en-es": english_spanish, "ro-en": romanian_english}


def _lines(name: str) -> list[str]:
    return (FOLDER / name).read_text(encoding="utf-8").split("\n")[:-1]


def error_rate(gold: Gold, links: Sequence[Sequence[Link]]) -> float:
    """AER = 1 - (|A and S| + |A and P|) / (|A| + |S|), after Och & Ney (2003)."""
    predicted = [set(row) for row in links[len(links) - len(gold.sure) :]]
    sure = sum(len(a & s) for a, s in zip(predicted, gold.sure, strict=True))
    possible = sum(len(a & p) for a, p in zip(predicted, gold.possible, strict=True))
    return 1 - (sure + possible) / (sum(map(len, predicted)) + sum(map(len, gold.sure)))
