"""PEM on sets that it was not trained on: the bundled model, controls, and pivots against overlap.

    KARAT_DATA=… python experiments/paraphrase_transfer.py

First the forms of PEM on the bundled judgements, cross-validated by original, tested on the
paraphrases without controls. Then transfer: from the bundled judgements to paraphrase-twitter
(tables of the bundled model), and from paraphrase-twitter to the bundled judgements and to the
adequacy of the translations of believability, whose lower-cased references serve as originals
(tables of Multi30k, French and German). Nothing is tuned on a set that is tested on. Pearson /
Spearman; differences of Pearson's r with 95% intervals by a paired bootstrap over originals.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
from paraphrase import rival_features

import karat as kt
from karat.metrics.names import metric as parse
from karat.paraphrase.align.parallel_text import read_parallel
from karat.paraphrase.pem.combination import cross_predict, fit_svr, search_setting
from karat.paraphrase.pem.evaluation import paired_gain
from karat.paraphrase.pem.features import FeatureCounter
from karat.paraphrase.pem.judged_pairs import JudgedPairs, add_controls, judged_rows
from karat.paraphrase.pem.model import PEM
from karat.paraphrase.pem.training import Pivot, train_pem
from karat.stats.correlation import pearson, spearman

DATA = Path(os.environ.get("KARAT_DATA", ""))
UNSEEN = "paraphrase-twitter"
Column = tuple[str, np.ndarray]


def both(name: str) -> tuple[JudgedPairs, JudgedPairs]:
    """The judgements of a set, without controls and with them."""
    plain = judged_rows(kt.load_evalset(name))
    return plain, judged_rows(add_controls(plain.evalset, plain.overall))


def left_out(pem: PEM, judged: JudgedPairs, form: str) -> np.ndarray:
    """Cross-validated predictions of the paraphrases without controls."""
    texts = judged.originals, judged.paraphrases
    counter = FeatureCounter(pem.pivots, pem.language, form)
    pair_features = counter.features(*texts)
    return cross_predict(pair_features.matrix, judged.human, judged.originals)[judged.real]


def overlap(judged: JudgedPairs) -> list[Column]:
    """ROUGE-1, chrF++ and their mean, of 0 to 1, against the original."""
    originals = [[text] for text in judged.originals]
    columns = [
        np.asarray(parse(name).segments(judged.paraphrases, originals))
        for name in ("rouge1", "chrf++:case=lower")
    ]
    rouge, chrf = (column / column.max() for column in columns)
    return [("ROUGE-1", rouge), ("chrF++", chrf), ("ROUGE-1 + chrF++", (rouge + chrf) / 2)]


def show(judged: JudgedPairs, columns: list[Column]) -> None:
    """Agreement of all columns with the judges, and the first compared with each other one."""
    for name, column in columns:
        r, rho = pearson(judged.human, column), spearman(judged.human, column)
        print(f"  {name:44} {r:6.3f} / {rho:6.3f}")
    for other in columns[1:]:
        gain = paired_gain(judged, columns[0], other)
        print(
            f"  {gain.first} - {gain.second}: {gain.difference:+.3f} "
            f"[{gain.low:+.3f}, {gain.high:+.3f}]"
        )


def forms(pem: PEM, plain: JudgedPairs, controls: JudgedPairs) -> None:
    print("Bundled judgements, cross-validated, controls left out of the test")
    columns = [
        (f"{form}, {name}", left_out(pem, judged, form))
        for form in ("unigram", "paper", "rich")
        for name, judged in (("no controls", plain), ("with controls", controls))
    ]
    pivot = pem.features(plain.originals, plain.paraphrases).pivot
    show(plain, [*columns, ("pivot F1", pivot)])


def transfer(pem: PEM, learned: tuple[JudgedPairs, JudgedPairs], tested: JudgedPairs) -> None:
    """Learn from one set, test on another: without controls, with them, and rivals."""
    print(f"{pem.form}: learned from {learned[0].evalset.name}, tested on {tested.evalset.name}")
    texts = tested.originals, tested.paraphrases
    columns = [
        (f"PEM, {name}", pem.train(judged, copies="bad").score(*texts).pem)
        for name, judged in zip(("no controls", "with controls"), learned, strict=True)
    ]
    test_features = pem.features(*texts)
    rivals = replaced(pem, learned[0], tested)
    show(tested, [*columns, *rivals, ("its pivot F1", test_features.pivot), *overlap(tested)])


def replaced(pem: PEM, learned: JudgedPairs, tested: JudgedPairs) -> list[Column]:
    """The same regression with other features in place of the pivots'."""
    learned_features, tested_features = (
        rival_features(judged, pem.features(judged.originals, judged.paraphrases))
        for judged in (learned, tested)
    )
    columns = []
    for name, matrix in learned_features.items():
        setting = search_setting(matrix, learned.human, learned.originals)
        predicted = fit_svr(matrix, learned.human, setting).predict(tested_features[name])
        columns.append((f"{name} in place of pivots", predicted))
    return columns


def believability() -> JudgedPairs:
    """Translations as paraphrases of their reference, judged for adequacy."""
    evalset = kt.load_evalset("believability")
    originals = [group[0].lower() for group in evalset.references or ()]
    return judged_rows(replace(evalset, sources=tuple(originals)), "adequacy")


def multi30k(form: str) -> PEM:
    folder = DATA / "parallel-multi30k"
    pivots = {
        name: Pivot([read_parallel(folder / "train.en.gz", folder / f"train.{name}.gz")])
        for name in ("fr", "de")
    }
    return train_pem(pivots, form=form, generate=False)


def main() -> None:
    if not (DATA / UNSEEN).exists():
        sys.exit(f"KARAT_DATA must name the folder that holds {UNSEEN}")
    pem = replace(PEM.open(), metrics=())
    bundled, headlines = both("demo-paraphrases"), both(UNSEEN)
    forms(pem, *bundled)
    transfer(pem, bundled, headlines[0])
    for form in ("unigram", "rich"):
        large = multi30k(form)
        for tested in (bundled[0], believability()):
            transfer(large, headlines, tested)


if __name__ == "__main__":
    main()
