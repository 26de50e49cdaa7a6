"""Calibrate the confidence of generated paraphrases on judged proposals.

    KARAT_DATA=… python experiments/paraphrase_confidence.py make FOLDER
    python experiments/paraphrase_confidence.py fit [--write]

`make` trains the model of `paraphrase_judged.py` without its sentences and those of
`paraphrase_confidence_sentences.txt`. This model (six pivot languages) and the bundled one (one)
propose paraphrases of the latter. A sample of them that is not in
`paraphrase_confidence_judged.tsv` goes to `judge.tsv` (item, original, paraphrase), in random order
and without scores, and what is behind the items to `key.tsv`.

`paraphrase_confidence_judged.tsv` has a line for each judged proposal of a model: the number of its
original, the judgement (y or n for the meaning, then for the grammar), a second one of some
proposals, the confidence before the calibration, and the features of each rewrite.

`fit` fits the calibration to the proposals of originals with odd numbers, and prints, on those of
the others, its reliability and that of the confidence before. With --write, the calibration goes to
the data of the package.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from paraphrase_judged import DATA, SEED, trained
from paraphrase_judged import SENTENCES as EARLIER_SENTENCES
from scipy.optimize import minimize

from karat.paraphrase.generate import CONFIDENCE
from karat.paraphrase.generate.generator import FEATURES, Calibration, read_calibration
from karat.paraphrase.generate.paraphraser import find_wordings, require_generator
from karat.paraphrase.pem.model import PEM

HERE = Path(__file__).parent
SENTENCES = HERE / "paraphrase_confidence_sentences.txt"
JUDGED = HERE / "paraphrase_confidence_judged.tsv"
CALIBRATION = HERE.parent / "src" / "karat" / "data" / "paraphrase" / "confidence.json"
LOWEST = 0.05
"""Proposals below this confidence are not sampled."""
RIDGE = 1.0
"""Weight of the sum of squared weights of standardized features."""
FOLDS, RESAMPLES = 10, 1000
BINS = (0.0, 0.1, 0.2, 0.4, 0.6, 0.8, 0.9, 1.0)
THRESHOLDS = tuple(k / 20 for k in range(6, 18))


class Proposal(NamedTuple):
    """A judged proposal; its features have a row for each rewrite."""

    model: str
    sentence: int
    paraphrase: str
    judgement: str
    again: str
    before: float
    features: np.ndarray

    @property
    def accepted(self) -> bool:
        return self.judgement == "yy"


def make(folder: Path) -> None:
    if not (DATA / "parallel-multi30k").exists():
        sys.exit("KARAT_DATA must name the folder that holds parallel-multi30k")
    folder.mkdir(parents=True, exist_ok=True)
    sentences = SENTENCES.read_text("utf-8").splitlines()
    earlier = EARLIER_SENTENCES.read_text("utf-8").splitlines()
    models = {"one": PEM.open(), "six": trained(folder, [*earlier, *sentences])}
    judged = {(x.model, x.sentence, x.paraphrase) for x in read_judged()}
    chance, key = random.Random(SEED), []
    for name, pem in models.items():
        generator = require_generator(pem).trusting()
        for number, line in enumerate(sentences, 1):
            (wordings,) = find_wordings(generator, [line], 128, LOWEST)
            new = [x for x in wordings if (name, number, x.text) not in judged]
            single = [x for x in new if len(x.features) == 1]
            several = [x for x in new if len(x.features) > 1]
            others = chance.sample(single[2:], min(1, len(single[2:])))
            for x in (*single[:2], *others, *chance.sample(several, min(1, len(several)))):
                rows = ";".join(" ".join(f"{value:.4g}" for value in row) for row in x.features)
                key.append((line, x.text, name, str(number), f"{x.confidence:.3f}", rows))
    items = sorted({row[:2] for row in key})
    chance.shuffle(items)
    numbers = {item: str(i) for i, item in enumerate(items, 1)}
    write_table(folder / "judge.tsv", ((numbers[item], *item) for item in items))
    write_table(folder / "key.tsv", ((numbers[row[0], row[1]], *row[2:]) for row in key))
    print(f"{len(key)} proposals, {len(items)} items")


def write_table(path: Path, rows: Iterable[Sequence[str]]) -> None:
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")


def read_judged() -> list[Proposal]:
    proposals = []
    for line in JUDGED.read_text("utf-8").splitlines()[1:]:
        model, sentence, paraphrase, judgement, again, before, features = line.split("\t")
        rows = np.array([row.split() for row in features.split(";")], dtype=float)
        proposals.append(
            Proposal(model, int(sentence), paraphrase, judgement, again, float(before), rows)
        )
    return proposals


def accepted(proposals: Sequence[Proposal]) -> np.ndarray:
    return np.array([x.accepted for x in proposals], dtype=float)


def train(proposals: Sequence[Proposal]) -> Calibration:
    """Maximize the likelihood; the probability of a wording is the product of its rewrites'."""
    features = np.concatenate([x.features for x in proposals])
    first = np.cumsum([0, *(len(x.features) for x in proposals)])[:-1]
    mean, deviation = features.mean(axis=0), features.std(axis=0)
    standard = np.column_stack((np.ones(len(features)), (features - mean) / deviation))
    y = accepted(proposals)

    def loss(weights: np.ndarray) -> float:
        log_p = np.add.reduceat(-np.logaddexp(0, -standard @ weights), first)
        log_p = np.minimum(log_p, -1e-9)
        likelihood = (y * log_p + (1 - y) * np.log1p(-np.exp(log_p))).sum()
        return float(RIDGE * (weights[1:] ** 2).sum() - likelihood)

    weights = minimize(loss, np.zeros(standard.shape[1]), method="BFGS").x
    scaled = weights[1:] / deviation
    rounded = [round(float(w), 3) for w in (weights[0] - scaled @ mean, *scaled)]
    return Calibration(rounded[0], tuple(rounded[1:]))


def confidences(calibration: Calibration, proposals: Sequence[Proposal]) -> np.ndarray:
    return np.array(
        [np.prod([calibration.confidence(tuple(row)) for row in x.features]) for x in proposals]
    )


def cross_validated(proposals: Sequence[Proposal]) -> np.ndarray:
    p = np.zeros(len(proposals))
    numbers = sorted({x.sentence for x in proposals})
    for k in range(FOLDS):
        fold = set(numbers[k::FOLDS])
        test = [i for i, x in enumerate(proposals) if x.sentence in fold]
        calibration = train([x for x in proposals if x.sentence not in fold])
        p[test] = confidences(calibration, [proposals[i] for i in test])
    return p


def surest(proposals: Sequence[Proposal], p: np.ndarray, least: float) -> list[int]:
    """The surest proposal of each model for each original, if it reaches a confidence."""
    best: dict[tuple[str, int], int] = {}
    for i in np.argsort(-p, kind="stable"):
        if p[i] >= least:
            best.setdefault((proposals[i].model, proposals[i].sentence), int(i))
    return sorted(best.values())


def interval(
    proposals: Sequence[Proposal], statistic: Callable[[np.ndarray], float]
) -> tuple[float, float]:
    """The middle 95% of a statistic of the proposals of resampled originals."""
    random_numbers = np.random.default_rng(SEED)
    numbers = sorted({x.sentence for x in proposals})
    rows = [np.flatnonzero([x.sentence == n for x in proposals]) for n in numbers]
    values = []
    for _ in range(RESAMPLES):
        drawn = random_numbers.integers(len(rows), size=len(rows))
        values.append(statistic(np.concatenate([rows[k] for k in drawn])))
    low, high = np.nanquantile(values, (0.025, 0.975))
    return float(low), float(high)


def brier(p: np.ndarray, y: np.ndarray) -> float:
    return float(((p - y) ** 2).mean())


def auc(p: np.ndarray, y: np.ndarray) -> float:
    above, below = p[y == 1][:, None], p[y == 0][None]
    return float(((above > below) + 0.5 * (above == below)).mean())


def show_reliability(name: str, proposals: Sequence[Proposal], p: np.ndarray) -> None:
    y = accepted(proposals)
    low, high = interval(proposals, lambda rows: brier(p[rows], y[rows]))
    print(f"{name}: Brier {brier(p, y):.3f} [{low:.3f}, {high:.3f}], AUC {auc(p, y):.3f}")
    print("  confidence   proposals   mean confidence   accepted")
    gap = 0.0
    for a, b in pairwise(BINS):
        rows = (p >= a) & ((p < b) | (b == 1))
        if rows.any():
            mean, share = p[rows].mean(), y[rows].mean()
            print(f"  {a:.1f} to {b:.1f} {rows.sum():9} {mean:15.2f} {share:13.2f}")
            gap += rows.mean() * abs(mean - share)
    print(f"  mean difference of the two, weighted by proposals: {gap:.3f}")


def show_acceptance(proposals: Sequence[Proposal], p: np.ndarray, least: float) -> None:
    y = accepted(proposals)

    def share(rows: np.ndarray) -> float:
        return float(y[rows][p[rows] >= least].mean()) if (p[rows] >= least).any() else np.nan

    every = np.arange(len(y))
    low, high = interval(proposals, share)
    rows = surest(proposals, p, least)
    best = [proposals[i] for i in rows]
    by_model = {m: [x.accepted for x in best if x.model == m] for m in ("one", "six")}
    shares = ", ".join(f"{m} {sum(a)} of {len(a)}" for m, a in by_model.items() if a)
    print(
        f"  {least:.2f}: {(p >= least).sum()} proposals, accepted {share(every):.3f} "
        f"[{low:.3f}, {high:.3f}]; surest {np.mean([x.accepted for x in best]):.3f} ({shares})"
    )


def fit(write: bool) -> None:
    proposals = read_judged()
    both = {(x.sentence, x.paraphrase): x for x in proposals if x.again}.values()
    for k, name in enumerate(("meaning", "grammar")):
        same = sum(x.judgement[k] == x.again[k] for x in both)
        print(f"the reader agrees with himself on {name}: {same} of {len(both)}")
    texts = {(x.sentence, x.paraphrase): x.judgement for x in proposals}
    shares = ", ".join(
        f"{name} {sum(ok(j) for j in texts.values()) / len(texts):.2f}"
        for name, ok in (
            ("meaning kept", lambda j: j[0] == "y"),
            ("grammatical", lambda j: j[1] == "y"),
            ("both", lambda j: j == "yy"),
        )
    )
    print(f"{len(proposals)} proposals, {len(texts)} different texts: {shares}")
    odd, even = ([x for x in proposals if x.sentence % 2 == side] for side in (1, 0))
    calibration = train(odd)
    print(f"fitted to {len(odd)} proposals: {calibration}")
    print("cross-validation on these, by least confidence")
    p = cross_validated(odd)
    for least in THRESHOLDS:
        show_acceptance(odd, p, least)
    print(f"held out: {len(even)} proposals of {len({x.sentence for x in even})} originals")
    before, after = np.array([x.before for x in even]), confidences(calibration, even)
    y = accepted(even)

    def gain(rows: np.ndarray) -> float:
        return brier(after[rows], y[rows]) - brier(before[rows], y[rows])

    show_reliability("before", even, before)
    show_reliability("after", even, after)
    low, high = interval(even, gain)
    print(f"Brier, after less before: {gain(np.arange(len(y))):+.3f} [{low:+.3f}, {high:+.3f}]")
    for model in ("one", "six"):
        rows = [i for i, x in enumerate(even) if x.model == model]
        scores = (brier(p[rows], y[rows]) for p in (before, after))
        print("{}: Brier {:.3f} -> {:.3f}".format(model, *scores))
    print("before, at its default threshold")
    show_acceptance(even, before, 0.35)
    print("after, by least confidence")
    for least in (0.5, CONFIDENCE, 0.7, 0.8):
        show_acceptance(even, after, least)
    if write:
        weights = dict(zip(FEATURES, calibration.weights, strict=True))
        content = {"constant": calibration.constant, "weights": weights}
        CALIBRATION.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    elif calibration != read_calibration():
        print("the calibration of the package is another one")


if __name__ == "__main__":
    if sys.argv[1:2] == ["make"] and len(sys.argv) == 3:
        make(Path(sys.argv[2]))
    elif sys.argv[1:] in (["fit"], ["fit", "--write"]):
        fit(write="--write" in sys.argv)
    else:
        sys.exit(__doc__)
