"""Alignment in a separate process: `python align_jobs.py ALIGNER TEXT`, links and cost as JSON.

Processor time covers the work in all threads and child processes, after the texts are read.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from align_gold import TEXTS, Link
from corpus import DATA
from jobs import peak_mb

Rows = list[list[Link]]


def karat(source: list[str], pivot: list[str], **settings: str) -> Rows:
    """Ours, one thread."""
    from karat.paraphrase.align.aligner import Aligner
    from karat.paraphrase.align.alignment import align_words
    from karat.text.tokens import tokenize

    texts = tokenize(source, tok="none"), tokenize(pivot, tok="none")
    return list(align_words(*texts, Aligner(**settings), threads=1).links)  # type: ignore[arg-type]


def karat_hmm(source: list[str], pivot: list[str]) -> Rows:
    """With the joint HMM."""
    return karat(source, pivot, model="hmm")


def karat_product(source: list[str], pivot: list[str]) -> Rows:
    """With the joint HMM and the agreement of its paper."""
    return karat(source, pivot, model="hmm", agreement="product")


def karat_grown(source: list[str], pivot: list[str]) -> Rows:
    """Joined as the peers' are."""
    return karat(source, pivot, decoding="grow-diag-final-and")


def eflomal(source: list[str], pivot: list[str]) -> Rows:
    """Both directions with its defaults, joined by grow-diag-final-and."""
    from eflomal import Aligner

    from karat.paraphrase.align.parallel_text import read_pharaoh, symmetrize
    from karat.text.tokens import tokenize

    with tempfile.TemporaryDirectory() as folder:
        files = [os.path.join(folder, name) for name in ("forward", "reverse")]
        Aligner().align(source, pivot, *files, quiet=True)
        both = [read_pharaoh(file) for file in files]
    texts = tokenize(source, tok="none"), tokenize(pivot, tok="none")
    return list(symmetrize(*texts, *both, "grow-diag-final-and"))


def fast_align(source: list[str], pivot: list[str]) -> Rows:
    """systran-align with the options that fast_align's own page recommends (-d -o -v)."""
    import systran_align

    with tempfile.TemporaryDirectory() as folder:
        text, forward, backward = (os.path.join(folder, name) for name in ("text", "f", "b"))
        pairs = zip(source, pivot, strict=True)
        Path(text).write_text("".join(f"{a} ||| {b}\n" for a, b in pairs), encoding="utf-8")
        systran_align.generate_alignment_probabilities(
            *(text, forward, backward),
            favor_diagonal=True,
            optimize_tension=True,
            variational_bayes=True,
        )
        aligner = systran_align.Aligner(forward, backward)
        alignments = aligner.align_batch([a.split() for a in source], [b.split() for b in pivot])
    return [[(i, j) for i, j in row["alignments"]] for row in alignments]


ALIGNERS: dict[str, Callable[[list[str], list[str]], Rows]] = {
    function.__name__: function
    for function in (karat, karat_hmm, karat_product, karat_grown, eflomal, fast_align)
}


def captions(model: str) -> dict[str, float]:
    """Multi30k English-French: words, links by a model, phrases of up to four words."""
    from karat.paraphrase.align.aligner import Aligner
    from karat.paraphrase.align.alignment import align_words
    from karat.paraphrase.align.parallel_text import parallel_tokens, read_parallel
    from karat.paraphrase.table.training import extract_phrases
    from karat.text.tokens import Recipe

    folder = DATA / "parallel-multi30k"
    before = seconds()
    text = read_parallel(folder / "train.en.gz", folder / "train.fr.gz")
    recipes = Recipe("13a", "lower", "porter"), Recipe("13a", "lower")
    source, pivot = parallel_tokens([text], *recipes)
    links = align_words(source, pivot, Aligner(model=model)).links
    aligned = seconds()
    phrases = extract_phrases(source, pivot, links)
    done = {"align": aligned - before, "extract": seconds() - aligned, "peak_mb": peak_mb()}
    return done | {"pairs": len(text), "links": links.size, "phrases": len(phrases)}


def seconds() -> float:
    """Processor time of this process and of those it has waited for."""
    return sum(os.times()[:4])


def main() -> None:
    """Align one text and print what came of it."""
    aligner, name = sys.argv[1:]
    if name == "captions":
        print(json.dumps(captions("hmm" if aligner == "karat_hmm" else "fertility")))
        return
    gold = TEXTS[name]()
    before = seconds()
    links = ALIGNERS[aligner](gold.source, gold.pivot)
    print(json.dumps({"seconds": seconds() - before, "links": links}))


if __name__ == "__main__":
    main()
