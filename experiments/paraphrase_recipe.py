"""Which combination of PEM's features agrees with people on judgements that it has not seen?

    KARAT_DATA=… python experiments/paraphrase_recipe.py FOLDER CACHE [PART]...

FOLDER has all-MiniLM-L6-v2 as an ONNX file (`benchmarks/encoder.py` writes one). CACHE keeps the
six pivots of `paraphrase.py` and the features of each set for another run.

PART is `within`: the regression on the headlines, cross-validated in five folds by original, with
each group of features and with all of them; `scale`: the calibrated mean in the same folds;
`transfer`: every ordered pair of judged sets; `others`: every set after training on all others.
Without one, all are done. The sets are headlines (`paraphrase-twitter`), the adequacy of
translations (`believability`, see `paraphrase_transfer.py`), TED (refB as the original; the other
reference and the outputs of systems as paraphrases; 5 minus the MQM penalty, at least 1), and the
bundled judgements, whose judges are invented and reward other words.

The rule, fixed before the first run: the features of adequacy are the mean pivot F1, ROUGE-1,
chrF++, the cosine, P, R and F of BERTScore, and numbers, negation and names that agree. Settings
are searched by leaving out originals of the training set. `chosen` is the combination with the
highest correlation in that search. After training on several sets, `chosen` is the one whose worst
shortfall from the best single feature is least when each of the training sets is left out. Nothing
is chosen on the set that is tested on. Two rows were added after the first run: `--combine mean` of
one feature of each kind on the scale of controls of lines of the pivots' texts, which learns
nothing from the training set (so it cannot be chosen), and the same of the bundled parallel text.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.resources import files
from itertools import permutations
from pathlib import Path

import numpy as np
from paraphrase import DATA, SET, odd_rows, pivots
from paraphrase_transfer import believability
from scipy.optimize import nnls

import karat as kt
from karat.paraphrase.align.parallel_text import read_parallel
from karat.paraphrase.pem.combination import (
    GRID,
    SvrSetting,
    cross_predict,
    fit_svr,
    group_folds,
    search_setting,
)
from karat.paraphrase.pem.evaluation import paired_gain
from karat.paraphrase.pem.features import PairFeatures, as_features
from karat.paraphrase.pem.judged_pairs import JudgedPairs, judged_rows
from karat.paraphrase.pem.model import PEM
from karat.paraphrase.pem.training import sample_lines, train_pem
from karat.stats.correlation import pearson, spearman

STRINGS = ("rouge1", "chrf++:case=lower")
STRONG = tuple(SvrSetting(C, 0.2, g) for C in (0.001, 0.003, 0.01, 0.03) for g in (0.02, 0.05, 0.1))
"""Settings of the strongly regularised regression."""
SHRINKAGES = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0)
TARGET = 0.02  # largest shortfall from the best single feature
FOLDS = 5


@dataclass(frozen=True, eq=False)
class Data:
    """A judged set with all features and the features of adequacy, more of which is better."""

    name: str
    judged: JudgedPairs
    features: PairFeatures
    adequacy: np.ndarray
    adequacy_names: tuple[str, ...]
    means: dict[str, np.ndarray]
    """PEM of the models `MEANS`."""

    @property
    def human(self) -> np.ndarray:
        return self.judged.human

    @property
    def originals(self) -> Sequence[str]:
        return [f"{self.name}: {text}" for text in self.judged.originals]

    @property
    def best(self) -> tuple[float, str]:
        """The single feature of adequacy that agrees best."""
        columns = zip(self.adequacy.T, self.adequacy_names, strict=True)
        return max((pearson(self.human, column), name) for column, name in columns)


def ted() -> JudgedPairs:
    """Translations of TED as paraphrases of refB."""
    evalset = kt.load_evalset("ted-zhen", leave_out=())
    originals = tuple(texts[0] for texts in evalset.references or ())
    judged = judged_rows(replace(evalset, sources=originals), "mqm")
    return replace(judged, human=np.maximum(5 + judged.human, 1.0))


SETS: dict[str, Callable[[], JudgedPairs]] = {
    "headlines": lambda: judged_rows(kt.load_evalset(SET)),
    "believability": believability,
    "TED": ted,
    "bundled": lambda: judged_rows(kt.load_evalset("demo-paraphrases")),
}


def load(folder: str, cache: Path) -> dict[str, Data]:
    """The features of all sets."""
    kinds = [*STRINGS, f"cosine:model={folder}", f"bertscore:model={folder}"]
    model = cache / "six.npz"
    if not model.exists():
        train_pem(pivots(), form="rich", generate=False).save(model)
    pem = replace(PEM.open(model), metrics=as_features([*kinds, "facts"]))
    sets, means = {}, {}
    for name, read in SETS.items():
        judged, path = read(), cache / f"{name}.npz"
        if not path.exists():
            means = means or mean_models(pem, kinds)
            texts = judged.originals, judged.paraphrases, judged.outputs
            pairs = pem.features(*texts)
            scores = np.column_stack([mean.score(*texts).pem for mean in means.values()])
            np.savez(path, matrix=pairs.matrix, is_copy=pairs.is_copy, scores=scores)
        stored = np.load(path)
        pairs = pem.feature_counter.name_columns(stored["matrix"], stored["is_copy"])
        scores = dict(zip(MEANS, stored["scores"].T, strict=True))
        sets[name] = Data(
            name, judged, pairs, pairs.adequacy, adequacy_names(pairs, folder), scores
        )
    return sets


MEANS = ("--combine mean", "its small model")


def mean_models(pem: PEM, metrics: Sequence[str]) -> dict[str, PEM]:
    """`--combine mean` of the pivots of a model, and of the bundled parallel text."""
    texts = [text.source for pivot in pivots().values() for text in pivot.corpora]
    small = read_parallel(files("karat") / "data" / "paraphrase" / "en-fr.tsv")  # type: ignore[arg-type]
    features = as_features(metrics, in_parts=False)
    models = (replace(pem, metrics=features), texts), (PEM.open(), [small.source])
    return {
        name: replace(model, metrics=features).train_on_controls(sample_lines(lines))
        for name, (model, lines) in zip(MEANS, models, strict=True)
    }


def adequacy_names(pairs: PairFeatures, folder: str) -> tuple[str, ...]:
    names = (name.replace(f"model={folder}", "").rstrip(":,") for name in pairs.metric_names)
    return ("pivot F1", *names)


# ------------------------------------------------------------------------------ combinations

Predictor = Callable[[Data], np.ndarray]
Fit = Callable[[Data], Predictor]


def standardised(training: Data) -> Callable[[Data], np.ndarray]:
    mean, scale = training.adequacy.mean(axis=0), training.adequacy.std(axis=0)
    return lambda data: (data.adequacy - mean) / np.where(scale > 0, scale, 1.0)


def svr(grid: Sequence[SvrSetting], training: Data) -> Predictor:
    matrix = training.features.matrix
    setting = search_setting(matrix, training.human, training.originals, grid)
    regression = fit_svr(matrix, training.human, setting)
    return lambda data: regression.predict(data.features.matrix)


def equal(training: Data, selected: Sequence[bool] | None = None) -> Predictor:
    """The mean of standardised features."""
    scaled = standardised(training)
    columns = np.ones(len(training.adequacy_names), bool) if selected is None else selected
    return lambda data: scaled(data)[:, columns].mean(axis=1)


def is_graded(name: str) -> bool:
    """False for facts, which are flags."""
    return not name.startswith("facts")


def graded(training: Data) -> Predictor:
    """The mean of standardised features without facts."""
    return equal(training, [is_graded(name) for name in training.adequacy_names])


def kinds(training: Data) -> Predictor:
    """The mean of one feature of each kind: pivot F1, two string metrics, cosine, BERTScore's F."""
    wanted = [is_graded(n) and "part=" not in n for n in training.adequacy_names]
    return equal(training, wanted)


def monotone(training: Data) -> Predictor:
    """Least squares of standardised features with weights that are not negative."""
    scaled = standardised(training)
    weights, _ = nnls(scaled(training), training.human - training.human.mean())
    return lambda data: scaled(data) @ weights


def shrunk(training: Data) -> Predictor:
    """Ridge regression towards equal weights; the shrinkage is searched by original."""
    n_folds = min(5, len(set(training.originals)))
    fold = group_folds(training.originals, n_folds)

    def fit(rows: np.ndarray, shrinkage: float) -> Predictor:
        scaled = standardised(training)
        x, y = scaled(training)[rows], training.human[rows] - training.human[rows].mean()
        mean = x.mean(axis=1)
        prior = np.full(x.shape[1], max(float(mean @ y / (mean @ mean)), 0.0) / x.shape[1])
        penalty = shrinkage * len(x) * np.eye(x.shape[1])
        weights = prior + np.linalg.solve(x.T @ x + penalty, x.T @ (y - x @ prior))
        return lambda data: scaled(data) @ weights

    def left_out(shrinkage: float) -> float:
        predicted = np.empty(len(fold))
        for k in range(n_folds):
            predicted[fold == k] = fit(fold != k, shrinkage)(training)[fold == k]
        return pearson(training.human, predicted)

    best = max(SHRINKAGES, key=left_out)
    return fit(np.ones(len(fold), bool), best)


def single(training: Data) -> Predictor:
    """The feature that agrees best on the training set."""
    at = training.adequacy_names.index(training.best[1])
    return lambda data: data.adequacy[:, at]


COMBINATIONS: dict[str, Fit] = {
    "SVR": partial(svr, GRID),
    "SVR, strong": partial(svr, STRONG),
    "mean": equal,
    "mean, no facts": graded,
    "mean of kinds": kinds,
    "monotone": monotone,
    "shrunk": shrunk,
    "best alone": single,
}


# ------------------------------------------------------------------------------------ transfer


def select(data: Data, rows: np.ndarray) -> Data:
    features = data.features.select(rows)
    judged = data.judged.select(rows)
    return replace(data, judged=judged, features=features, adequacy=data.adequacy[rows], means={})


def joined(sets: Sequence[Data]) -> Data:
    """Several sets as one, human scores standardised within each."""
    first = sets[0]
    columns = {
        name: [text for data in sets for text in getattr(data.judged, name)]
        for name in ("paraphrases", "systems", "segments")
    }
    human = np.concatenate([3 + (d.human - d.human.mean()) / d.human.std() for d in sets])
    originals = [text for data in sets for text in data.originals]
    matrix = np.concatenate([data.features.matrix for data in sets])
    is_copy = np.concatenate([data.features.is_copy for data in sets])
    return replace(
        first,
        name=" + ".join(data.name for data in sets),
        judged=replace(first.judged, originals=originals, human=human, **columns),
        features=replace(first.features, matrix=matrix, is_copy=is_copy),
        adequacy=np.concatenate([data.adequacy for data in sets]),
        means={},
    )


def cross_validated(fit: Fit, training: Data) -> float:
    """Pearson's r of a combination in the training set, by original."""
    n_folds = min(3, len(set(training.originals)))
    fold = group_folds(training.originals, n_folds)
    predicted = np.empty(len(fold))
    for k in range(n_folds):
        predicted[fold == k] = fit(select(training, fold != k))(select(training, fold == k))
    return pearson(training.human, predicted)


def show(target: Data, predictions: dict[str, np.ndarray], chosen: str) -> None:
    best, feature = target.best
    predictions = {**predictions, **target.means}
    print(f"  best single feature {best:.3f} ({feature})")
    for name, predicted in predictions.items():
        r = pearson(target.human, predicted)
        mark = " <- chosen" if name == chosen else ""
        reached = "" if r >= best - TARGET else "  MISS"
        print(f"  {name:16} {r:6.3f}  {r - best:+.3f}{reached}{mark}", flush=True)


def pairs(sets: dict[str, Data]) -> None:
    """Every ordered pair of sets."""
    agreement = {
        name: {label: cross_validated(fit, data) for label, fit in COMBINATIONS.items()}
        for name, data in sets.items()
    }
    fitted = {
        name: {label: fit(data) for label, fit in COMBINATIONS.items()}
        for name, data in sets.items()
    }
    for first, second in permutations(sets, 2):
        print(f"\nlearned from {first}, tested on {second}")
        target = sets[second]
        predictions = {label: predict(target) for label, predict in fitted[first].items()}
        show(target, predictions, max(agreement[first], key=agreement[first].__getitem__))


def others(sets: dict[str, Data]) -> None:
    """Every set after training on all others; the combination is chosen by leaving sets out."""
    for name, target in sets.items():
        training = [data for other, data in sets.items() if other != name]
        worst = {
            label: min(
                pearson(held.human, fit(joined([d for d in training if d is not held]))(held))
                - held.best[0]
                for held in training
            )
            for label, fit in COMBINATIONS.items()
        }
        print(f"\nlearned from all but {name}, tested on it; worst shortfall in training:")
        print("  " + ", ".join(f"{label} {value:+.3f}" for label, value in worst.items()))
        whole = joined(training)
        predictions = {label: fit(whole)(target) for label, fit in COMBINATIONS.items()}
        show(target, predictions, max(worst, key=worst.__getitem__))


# -------------------------------------------------------------------------------------- within

GROUPS: dict[str, Callable[[str], bool]] = {
    "pivots": lambda name: name.startswith("pivot"),
    "strings": lambda name: name.startswith(("rouge1", "chrf")),
    "cosine": lambda name: name.startswith("cosine"),
    "bertscore": lambda name: name.startswith("bertscore"),
    "facts": lambda name: name.startswith("facts"),
}
STEPS = (
    "",
    "strings",
    "bertscore",
    "facts",
    "strings bertscore",
    "strings bertscore facts",
    "strings bertscore facts cosine",
    "pivots strings bertscore",
    "pivots strings bertscore facts",
    "pivots strings cosine",
    "pivots strings cosine bertscore facts",
)


def cross_line(mean: np.ndarray, judged: JudgedPairs) -> np.ndarray:
    """The calibrated mean in the same folds: least squares of a line in the training part."""
    fold, predicted = group_folds(judged.originals, FOLDS), np.empty(len(mean))
    for k in range(FOLDS):
        slope, intercept = np.polyfit(mean[fold != k], judged.human[fold != k], 1)
        predicted[fold == k] = intercept + slope * mean[fold == k]
    return predicted


def within(data: Data) -> None:
    """The regression on the headlines with groups of features, cross-validated by original."""
    odd, judged = odd_rows(data.judged), data.judged
    predicted = {}
    for groups in STEPS:
        chosen = [
            all(group in groups.split() for group, has in GROUPS.items() if has(name))
            for name in data.features.names
        ]
        matrix = data.features.matrix[:, chosen]
        predicted[groups] = cross_predict(matrix, judged.human, judged.originals, folds=FOLDS)
        r, rho = (f(judged.human, predicted[groups]) for f in (pearson, spearman))
        of_odd = pearson(judged.human[odd], predicted[groups][odd])
        print(f"{groups or 'none of them':40} {r:.3f} / {rho:.3f}  odd {of_odd:.3f}", flush=True)
    last = (STEPS[-1], predicted[STEPS[-1]])
    for groups in STEPS[:-1]:
        gain = paired_gain(judged, last, (groups or "none", predicted[groups]))
        ends = f"[{gain.low:+.3f}, {gain.high:+.3f}]"
        print(f"all - {gain.second}: {gain.difference:+.3f} {ends}", flush=True)


def scale(data: Data) -> None:
    """The mean, the calibrated mean and the regression on people's scale, in the same folds."""
    judged, mean = data.judged, data.means[MEANS[0]]
    matrix = data.features.matrix
    columns = {
        "regression": cross_predict(matrix, judged.human, judged.originals, folds=FOLDS),
        "mean": mean,
        "calibrated mean": cross_line(mean, judged),
    }
    for name, column in columns.items():
        error = np.abs(np.clip(column, 1, 5) - judged.human).mean()
        print(f"{name:16} {pearson(judged.human, column):.3f}, mean absolute error {error:.3f}")


def main() -> None:
    if not (DATA / SET).exists():
        sys.exit(f"KARAT_DATA must name the folder that holds {SET}")
    folder, cache, *parts = sys.argv[1:]
    os.makedirs(cache, exist_ok=True)
    sets = load(folder, Path(cache))
    if not parts or "within" in parts:
        within(sets["headlines"])
    if not parts or "scale" in parts:
        scale(sets["headlines"])
    if not parts or "transfer" in parts:
        pairs(sets)
    if not parts or "others" in parts:
        others(sets)


if __name__ == "__main__":
    main()
