"""Alignment of real text: as good as it was measured to be, on links that people made.

The small text, which is aligned at once; `make bench` measures the larger one too.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from karat.paraphrase.align.aligner import Aligner
from karat.paraphrase.align.alignment import align_words
from karat.text.tokens import tokenize


def error(folder: Path, aligner: Aligner) -> float:
    """The alignment error rate; all gold links there are sure."""
    rows = [line.lower().split("|||") for line in lines(folder / "roen.src-tgt")]
    source, pivot = (tokenize([row[side] for row in rows], tok="none") for side in (0, 1))
    gold = {
        (s, int(i) - 1, int(j) - 1)
        for s, line in enumerate(lines(folder / "roen.gold"))
        for i, j in re.findall(r"(\d+)-(\d+)", line)
    }
    links = align_words(source, pivot, aligner).links
    all_links = {(s, i, j) for s in range(len(links)) for i, j in links[s]}
    assert len(gold) > 6000
    return 1 - 2 * len(all_links & gold) / (len(all_links) + len(gold))


def lines(path: Path) -> list[str]:
    return path.read_text("utf-8").split("\n")[:-1]


@pytest.mark.parametrize(
    ("aligner", "worst"),
    [
        (Aligner(), 0.305),
        (Aligner(model="hmm"), 0.425),
        (Aligner(model="hmm", agreement="product"), 0.47),
    ],
    ids=str,
)
def test_romanian_english_links(karat_data: Path, aligner: Aligner, worst: float) -> None:
    assert error(karat_data / "align-gold", aligner) < worst


def test_word_order_helps(karat_data: Path) -> None:
    folder = karat_data / "align-gold"
    only_model1 = error(folder, Aligner(hmm=0))
    assert error(folder, Aligner()) < only_model1 - 0.05
