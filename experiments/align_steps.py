"""Word alignment: what each part of the fertility model brings, on links made by hand.

    KARAT_DATA=… python experiments/align_steps.py

Alignment error rate and processor time of one thread. The first rows add one part after the other;
the last ones change one setting of the default.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

from align_gold import TEXTS, error_rate

from karat.paraphrase.align import aligner
from karat.paraphrase.align.aligner import Aligner
from karat.paraphrase.align.alignment import align_words
from karat.text.tokens import tokenize

SHARED, FIXED = 1e12, 1e12  # jumps of all words; the null word's distribution
PLAIN = {"JUMPS": SHARED, "SPREAD": FIXED, "IDENTICAL": 0.0, "_WITH_FERTILITY": 0}
DEFAULTS = {"JUMPS": 20.0, "SPREAD": 0.2, "IDENTICAL": 1.0, "_WITH_FERTILITY": 2}

STEPS: list[tuple[str, dict[str, Any], dict[str, float]]] = [
    ("joint HMM", {"model": "hmm"}, {}),
    ("first four characters of words", {"model": "hmm", "prefix": 4}, {}),
    ("leave-one-out, null word p0 = .2, threshold .4", {"agreement": "root"}, PLAIN),
    ("jumps by word", {"agreement": "root"}, PLAIN | {"JUMPS": 20.0}),
    (
        "equal words count once more",
        {"agreement": "root"},
        PLAIN | {"JUMPS": 20.0, "IDENTICAL": 1.0},
    ),
    ("fertilities", {"agreement": "root"}, DEFAULTS | {"SPREAD": FIXED}),
    ("agreement min", {}, DEFAULTS | {"SPREAD": FIXED}),
    ("learned null word (default)", {}, DEFAULTS),
    ("default, whole words", {"prefix": 0}, DEFAULTS),
    ("default, three characters", {"prefix": 3}, DEFAULTS),
    ("default, five characters", {"prefix": 5}, DEFAULTS),
    ("default, without fertilities", {}, DEFAULTS | {"_WITH_FERTILITY": 0}),
    ("default, threshold .5", {"threshold": 0.5}, DEFAULTS),
    ("default, product", {"agreement": "product"}, DEFAULTS),
]


def set_all(settings: Mapping[str, float]) -> None:
    """Set the constants of the model, which have no option."""
    for name, value in settings.items():
        setattr(aligner, name, value)


def main() -> None:
    golds = {name: text() for name, text in TEXTS.items()}
    texts = {
        name: (tokenize(gold.source, tok="none"), tokenize(gold.pivot, tok="none"))
        for name, gold in golds.items()
    }
    for title, settings, constants in STEPS:
        set_all(constants)
        cells = []
        for name, gold in golds.items():
            before = time.process_time()
            links = align_words(*texts[name], Aligner(**settings), threads=1).links
            took = time.process_time() - before
            cells.append(f"{name} {error_rate(gold, list(links)):.4f} {took:5.2f} s")
        print(f"{title:48}", *cells, flush=True)


if __name__ == "__main__":
    main()
