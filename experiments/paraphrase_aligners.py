"""Does a better word alignment make a better PEM? Both aligners on judged Twitter headlines.

    KARAT_DATA=… python experiments/paraphrase_aligners.py

The same texts are linked by the aligners `hmm` and `fertility`; everything else is equal. The
features are the form `unigram` with one pivot (Multi30k French) and the rich form with the six
pivots of `paraphrase.py`. Predictions are cross-validated in ten folds by original, and differences
have 95% intervals of a paired bootstrap over originals.
"""

from __future__ import annotations

import sys

import numpy as np
from paraphrase import DATA, SET, left_out, line, pivots

import karat as kt
from karat.paraphrase.align.aligner import Aligner
from karat.paraphrase.pem.evaluation import paired_gain
from karat.paraphrase.pem.judged_pairs import JudgedPairs, judged_rows
from karat.paraphrase.pem.model import PEM
from karat.paraphrase.pem.training import train_language
from karat.paraphrase.table.phrase_table import ENGLISH, PhraseTable
from karat.paraphrase.table.training import train_pivot

ALIGNERS = ("hmm", "fertility")


def tables(aligner: str) -> dict[str, PhraseTable]:
    """The phrase tables of all pivots."""
    settings = Aligner(model=aligner)
    return {
        name: train_pivot(pivot.corpora, ENGLISH, pivot.recipe, aligner=settings)
        for name, pivot in pivots().items()
    }


def compare(judged: JudgedPairs, label: str, predicted: dict[str, np.ndarray]) -> None:
    """Print both correlations and their difference."""
    for name, column in predicted.items():
        line(f"{label}, {name}", judged, column)
    gain = paired_gain(judged, *((name, predicted[name]) for name in reversed(ALIGNERS)))
    print(f"  difference {gain.difference:+.4f} [{gain.low:+.4f}, {gain.high:+.4f}] p {gain.p:.3f}")


def main() -> None:
    if not (DATA / SET).exists():
        sys.exit("KARAT_DATA must name the folder that holds paraphrase-twitter")
    texts = [text.source for pivot in pivots().values() for text in pivot.corpora]
    language = train_language(texts)
    judged = judged_rows(kt.load_evalset(SET))
    both = {aligner: tables(aligner) for aligner in ALIGNERS}
    for form, names in (("unigram", ["fr"]), ("rich", list(both["hmm"]))):
        columns, alone = {}, {}
        for aligner, tables_by_pivot in both.items():
            pem = PEM.of({name: tables_by_pivot[name] for name in names}, language, form)
            features = pem.features(judged.originals, judged.paraphrases)
            columns[aligner] = left_out(judged, features.matrix)
            alone[aligner] = features.pivot
        compare(judged, f"pivot F1 alone, {form}, {len(names)} pivots", alone)
        compare(judged, f"PEM, {form}, {len(names)} pivots", columns)


if __name__ == "__main__":
    main()
