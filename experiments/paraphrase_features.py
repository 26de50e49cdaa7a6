"""Pivots, string metrics and an embedding as features of PEM, on judged Twitter headlines.

    KARAT_DATA=… python experiments/paraphrase_features.py [FILE] [transfer]

The rich form with six pivots (see `paraphrase.py`), ROUGE-1 and chrF++ of lower-cased text, and the
cosine of wordllama's embeddings: what each adds to the others. Five folds by original, settings of
the regression searched inside the training part, paired bootstrap over originals. FILE keeps the
trained pivots for another run. `odd` are the originals of odd number: the features of the rich form
were decided on the others. With `transfer`, regressions learn from all headlines and are tested on
the adequacy of the translations of believability, as in `paraphrase_transfer.py`.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
from paraphrase import SET, line, odd_rows, pivots
from paraphrase_transfer import believability

import karat as kt
from karat.paraphrase.pem.combination import cross_predict
from karat.paraphrase.pem.evaluation import paired_gain, rival_scores
from karat.paraphrase.pem.features import as_features
from karat.paraphrase.pem.judged_pairs import JudgedPairs, judged_rows
from karat.paraphrase.pem.model import PEM
from karat.paraphrase.pem.training import train_pem

STRINGS = ("rouge1", "chrf++:case=lower")
COSINE = ("cosine:model=wordllama,case=lower",)
FOLDS = 5
GROUPS = ("pivots", "strings", "cosine")
COMPARED = (
    ("pivots", ""),
    ("strings", ""),
    ("cosine", ""),
    ("pivots strings", "strings"),
    ("pivots strings", "pivots"),
    ("pivots cosine", "pivots"),
    ("strings cosine", "strings"),
    ("pivots cosine", "cosine"),
    ("pivots strings cosine", "pivots strings"),
    ("pivots strings cosine", "pivots cosine"),
    ("pivots strings cosine", "strings cosine"),
)
"""Groups of features, and the groups that they are compared with."""


def model(path: str | None) -> PEM:
    if path and Path(path).exists():
        return PEM.open(path)
    pem = train_pem(pivots(), form="rich", generate=False)
    if path:
        pem.save(path)
    return pem


def matrices(judged: JudgedPairs, pem: PEM) -> dict[str, np.ndarray]:
    """Features of each combination of groups; fluency, target F1 and lengths are in all."""
    features = pem.features(judged.originals, judged.paraphrases)
    pivot = [name.startswith("pivot") for name in features.names]
    scores = rival_scores(judged, {name: (name,) for name in (*STRINGS, *COSINE)})
    groups = {
        "pivots": [features.matrix[:, pivot]],
        "strings": [scores[name] for name in STRINGS],
        "cosine": [scores[name] for name in COSINE],
    }
    for name, column in scores.items():
        line(f"{name} alone", judged, column)
    by_groups = {}
    for size in range(len(GROUPS) + 1):
        for chosen in combinations(GROUPS, size):
            parts = [column for group in chosen for column in groups[group]]
            by_groups[" ".join(chosen)] = np.column_stack([features.without_pivots(), *parts])
    return by_groups


def transfer(judged: JudgedPairs, pem: PEM) -> None:
    """Learn from the headlines, test on translations: without metrics and with them."""
    tested, columns = believability(), {}
    for name, metrics in {
        "pivots": (),
        "pivots strings": STRINGS,
        "pivots cosine": COSINE,
        "pivots strings cosine": (*STRINGS, *COSINE),
    }.items():
        trained = replace(pem, metrics=as_features(metrics)).train(judged, copies="bad")
        scores = trained.score(tested.originals, tested.paraphrases, tested.outputs)
        columns[name] = scores.pem
        line(name, tested, scores.pem)
    columns["pivot F1"] = scores.pivot_f1
    line("pivot F1", tested, scores.pivot_f1)
    for name, column in rival_scores(tested, {n: (n,) for n in (*STRINGS, *COSINE)}).items():
        line(f"{name} alone", tested, column)
    for pair in columns.items():
        gain = paired_gain(tested, pair, ("pivots", columns["pivots"]))
        ends = f"[{gain.low:+.3f}, {gain.high:+.3f}]"
        print(f"{gain.first} - pivots: {gain.difference:+.3f} {ends}", flush=True)


def main() -> None:
    judged = judged_rows(kt.load_evalset(SET))
    paths = [word for word in sys.argv[1:] if word != "transfer"]
    pem, odd = model(paths[0] if paths else None), odd_rows(judged)
    if "transfer" in sys.argv[1:]:
        transfer(judged, pem)
        return
    half = judged.select(odd)
    predicted = {}
    for name, matrix in matrices(judged, pem).items():
        predicted[name] = cross_predict(matrix, judged.human, judged.originals, folds=FOLDS)
        line(name or "none of them", judged, predicted[name])
        line("  odd", judged, predicted[name], odd)
    for first, second in COMPARED:
        for label, rows, subset in (
            ("all", np.ones(len(judged), bool), judged),
            ("odd", odd, half),
        ):
            pair = (first, predicted[first][rows]), (second or "none", predicted[second][rows])
            gain = paired_gain(subset, *pair)
            print(
                f"{label}: {first} - {gain.second}: {gain.difference:+.3f} "
                f"[{gain.low:+.3f}, {gain.high:+.3f}] p {gain.p:.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
