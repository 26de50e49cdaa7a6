"""The design of the PEM paper (sections 5 and 6) imitated on translations with human judgements.

    KARAT_DATA=… python experiments/paraphrase_paper.py

The paper's data are not free. Here one reference of WMT21 TED Chinese-English (refB) is the
original; the other (ref) and 13 MT systems are its paraphrases. Of 529 segments the first 300 are
taken; the regression is trained on the first 200 originals and tested on the other 100, controls
among both. MQM gives the criteria, each 5 minus the penalty and at least 1: adequacy from Accuracy
errors, fluency from Fluency errors, overall quality from all errors. Dissimilarity was not judged:
it is computed as 1 + 4 (1 - target F1), and overall quality does not reward it as in the paper's
instructions to judges. An item has one rater, so the table of judges uses believability, whose
outputs have several judges, with its English reference as the original.

The model has the paper's form, and was trained on Tatoeba English-Chinese: Chinese characters as
pivot words, Katz's back-off over the English side. All settings were fixed before the first run.
METEOR is NLTK's, exact matches and stems alone: its third stage needs WordNet's data.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from nltk.stem.porter import PorterStemmer
from nltk.translate.meteor_score import single_meteor_score

import karat as kt
from karat.evalset.draft import make_evalset
from karat.evalset.judgements import Dimension
from karat.evalset.sets import EvalSet
from karat.paraphrase.align.parallel_text import read_parallel
from karat.paraphrase.pem.evaluation import RIVALS, Correlation, ParaphraseEvaluation
from karat.paraphrase.pem.features import pooled_f1, target_statistics
from karat.paraphrase.pem.model import PEM
from karat.paraphrase.pem.training import Pivot, train_pem

DATA = Path(os.environ.get("KARAT_DATA", ""))
ORIGINALS, TRAINED = 300, 200
CRITERIA = {"adequacy": "accuracy", "fluency": "fluency", "overall": "mqm"}
COMMON = 100  # paraphrases that two judges must share to be correlated
WORDS = kt.Recipe("13a", "lower")


class _NoWordNet:
    """Stands in for WordNet: no word has synonyms."""

    def synsets(self, _word: str) -> Iterable[Any]:
        return ()


@dataclass(frozen=True)
class Meteor(kt.Metric):
    """METEOR without its third stage, by NLTK: exact matches, then stems."""

    name = "meteor_stems"

    def columns(self) -> tuple[str, ...]:
        return ("score", "segments")

    def rows(self, pairs: Any) -> np.ndarray:
        sides = [_sentences(side) for side in (pairs.references, pairs.candidates)]
        stemmer, wordnet = PorterStemmer(), _NoWordNet()
        values = [
            single_meteor_score(*pair, stemmer=stemmer, wordnet=wordnet)
            for pair in zip(*sides, strict=True)
        ]
        return np.column_stack([values, np.ones(len(values))])

    def measure(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        return {"value": rows[:, 0] / np.maximum(rows[:, 1], 1)}


def _sentences(passage: Any) -> list[list[str]]:
    tokens, vocab = passage.tokens(WORDS), passage.vocab(WORDS)
    words = vocab.words(0, len(vocab))
    cuts = zip(tokens.offsets[:-1].tolist(), tokens.offsets[1:].tolist(), strict=True)
    return [[words[i] for i in tokens.ids[a:b].tolist()] for a, b in cuts]


def five(penalty: float) -> float:
    """A penalty on the scale of 1 to 5."""
    return max(1.0, 5.0 - penalty)


def translations() -> EvalSet:
    """The first translations as paraphrases of refB, with four criteria from 1 to 5."""
    evalset = kt.load_evalset("ted-zhen", leave_out=())
    originals = [texts[0] for texts in evalset.references or ()][:ORIGINALS]
    systems = {name: list(texts[:ORIGINALS]) for name, texts in evalset.systems.items()}
    judgements = []
    for dimension, source in CRITERIA.items():
        penalties = -evalset.human(source)  # human() negates dimensions where lower is better
        for s, name in enumerate(systems):
            judgements += [
                (name, str(i + 1), "MQM", dimension, five(penalties[s, i]))
                for i in range(ORIGINALS)
                if not np.isnan(penalties[s, i])
            ]
    for name, texts in systems.items():
        shared = pooled_f1(target_statistics(originals, [text or "" for text in texts]))
        judgements += [
            (name, str(i + 1), "machine", "dissimilarity", 5 - 4 * float(value))
            for i, value in enumerate(shared)
        ]
    dimensions = [Dimension(name, low=1.0, high=5.0) for name in (*CRITERIA, "dissimilarity")]
    more = {"references": originals, "sources": originals}
    return make_evalset("ted", systems, judgements=judgements, dimensions=dimensions, **more)


def believability() -> EvalSet:
    """Translations as paraphrases of their reference."""
    evalset = kt.load_evalset("believability")
    originals = [texts[0].lower() for texts in evalset.references or ()]
    return replace(evalset, sources=tuple(originals))


def model() -> PEM:
    """The paper's form, with Chinese characters for a pivot language."""
    text = read_parallel(DATA / "parallel-tatoeba-enzh" / "en-zh.tsv.gz")
    pivot = Pivot([text], kt.Recipe("zh", "lower"))
    return train_pem({"zh": pivot}, form="paper", generate=False)


def show(title: str, rows: Iterable[Correlation]) -> None:
    print(f"\n{title}: Pearson of paraphrases, of systems")
    for correlation in rows:
        systems = f"{correlation.pearson_systems:7.4f} ({correlation.systems})"
        print(
            f"  {correlation.first:42} {correlation.second:28} {correlation.rows:6,} "
            f"{correlation.pearson:7.4f} {systems}"
        )


def report(evaluation: ParaphraseEvaluation) -> None:
    show("Table 2, criteria with overall quality", evaluation.criteria)
    show("Table 3, PEM and rivals of the same regression", evaluation.rows)
    show("Parts of PEM alone", evaluation.parts)
    show("Metrics alone", evaluation.alone)
    print("\nPEM minus rivals, 95% by a paired bootstrap over originals")
    for gain in evaluation.gains:
        ends = f"[{gain.low:+.4f}, {gain.high:+.4f}]"
        print(f"  {gain.second:42} {gain.pairs:12} {gain.difference:+.4f} {ends}")


def judges(evaluation: ParaphraseEvaluation) -> None:
    """Pairs of judges with enough in common, and PEM with each judge."""
    pairs = [
        correlation.pearson for correlation in evaluation.inter_judge if correlation.rows >= COMMON
    ]
    single = [
        correlation.pearson
        for correlation in evaluation.rows
        if correlation.second.startswith("judge ")
    ]
    for name, values in (("two judges", pairs), ("PEM and a judge", single)):
        low, middle, high = np.quantile(values, (0.25, 0.5, 0.75))
        print(f"  {name:42} {len(values):5,} pairs: median {middle:.3f} [{low:.3f}, {high:.3f}]")


def main() -> None:
    if not (DATA / "mt-ted-zhen").exists():
        sys.exit("KARAT_DATA must name the folder that holds mt-ted-zhen")
    kt.register(Meteor)
    started = time.process_time()
    pem, rivals = model(), {**RIVALS, "METEOR, exact and stems": ("meteor_stems",)}
    print(f"{pem}\n{pem.description}")
    ted = translations()
    for controls in (True, False):
        print(f"\n== TED, {ORIGINALS} originals, {'with' if controls else 'without'} controls")
        split: dict[str, Any] = {"controls": controls, "train_first": TRAINED}
        report(kt.evaluate_paraphrases(ted, pem, compare_with=rivals, **split))
    print("\n== believability: adequacy, ten folds by original, no controls")
    bleu_only = {"BLEU": ("bleu",)}
    evaluation = kt.evaluate_paraphrases(
        believability(), pem, compare_with=bleu_only, dimension="adequacy"
    )
    show(
        "Against human judgement",
        [correlation for correlation in evaluation.rows if "judge " not in correlation.second],
    )
    show("Parts of PEM and BLEU alone", (*evaluation.parts, *evaluation.alone))
    judges(evaluation)
    print(f"\n{time.process_time() - started:.0f} s of processor time")


if __name__ == "__main__":
    main()
