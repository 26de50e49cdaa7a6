"""Intervals and tests of scores and differences: which method holds its level, and what it costs.

    KARAT_DATA=... python experiments/significance.py [--nulls] [--real] [--systems] [--power]
                                                      [--unit] [--sizes] [--trials N]

Prints Markdown. Without options, all parts run. Every trial draws units; the seed is 2026. All
methods see the same jackknife influences of the units (`karat.stats.jackknife`); methods that draw
use 1,000 resamples or 1,999 random signs.

--nulls: two systems of equal expectation. `exchangeable`: systems are swapped unit by unit.
`variance`: one system varies more. `skew`: one system is slightly better on most units and much
worse on a few. Rows of BLEU and chrF come from synthetic text; ROUGE, 0/1 answers and ratings are
drawn. A further cell has log-normal differences of mean 0 (sigma 1).
--real: 20 or 40 units are drawn with replacement from judged sets; the truth is the full set.
--systems: 15 equal systems; how often any is called worse than the best, or than a baseline.
--power: differences that a sign-flip test on unit sums finds in about 80% of trials.
--unit: repeated answers, taken as units or added by question.
--sizes: power of the differences that `karat power` calls detectable with 80%.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
from collections.abc import Callable, Iterator
from functools import cache
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

import karat as kt
from karat.stats.jackknife import UnitEstimate
from karat.stats.power import detectable_difference
from karat.stats.simultaneous import JointEstimates

SEED, RESAMPLES, SIGNS = 2026, 1000, 1999
UNITS, ROWS = (10, 20, 40, 100, 400), (1, 3, 10)
POPULATION = 4000  # units of synthetic text, each with the largest number of rows
BATCH = 1000  # trials at a time
METHODS = (
    "Karat",
    "Student",
    "percentile",
    "BCa",
    "bootstrap-t",
    "symmetric t",
    "sign flip",
)
Floats = NDArray[np.float64]


# ------------------------------------------------------------------------------------ methods


@cache
def drawn_counts(units: int) -> Floats:
    """How often each unit is in each bootstrap resample."""
    rng = np.random.default_rng(SEED)
    indices = rng.integers(0, units, size=(RESAMPLES, units))
    counts = np.zeros((RESAMPLES, units))
    np.add.at(counts, (np.arange(RESAMPLES)[:, None], indices), 1)
    return counts


@cache
def drawn_signs(units: int) -> Floats:
    """Signs of a sign-flip test: all of them for few units."""
    if units <= 13:
        grids = np.meshgrid(*[[1.0, -1.0]] * units)
        return np.stack(grids).reshape(units, -1).T
    return np.random.default_rng(SEED).integers(2, size=(SIGNS, units)) * 2.0 - 1


def karat_p(values: Floats, influences: Floats, truth: float) -> Floats:
    """p of `karat.stats.jackknife`, for many trials at once: trials x units."""
    n = influences.shape[1]
    square = (influences**2).mean(axis=1)
    error = np.sqrt(square / (n - 1))
    with np.errstate(all="ignore"):
        t = (values - truth) / error
        a = (influences**3).mean(axis=1) / square**1.5 / (3 * sqrt(n))
        unskewed = t + a * t**2 + a**2 * t**3 / 3 + a / 2
        p = 2 * stats.t.sf(np.minimum(np.abs(t), np.abs(unskewed)), n - 1)
    constant = error <= 1e-12 * np.maximum(np.abs(values), 1e-300)
    same = np.abs(values - truth) <= 1e-12 * np.maximum(np.abs(values), 1e-300)
    return np.where(constant, np.where(same, 1.0, 2.0 ** (1 - n)), p)


def rejects(values: Floats, influences: Floats, truth: float) -> dict[str, NDArray[np.bool_]]:
    """By method, the trials in which the truth is rejected at the level .05."""
    n = influences.shape[1]
    error = np.sqrt((influences**2).sum(axis=1) / (n * (n - 1)))
    gaps = values - truth
    with np.errstate(all="ignore"):
        t = np.where(error > 0, gaps / error, np.sign(gaps) * np.inf)
    counts, signs = drawn_counts(n), drawn_signs(n)
    means = counts @ influences.T / n  # of resamples, minus the estimate: resamples x trials
    variances = (counts @ (influences**2).T / n - means**2) / (n - 1)
    variances[variances < 1e-9 * error**2] = 0
    with np.errstate(all="ignore"):
        drawn_t = np.where(variances > 0, means / np.sqrt(variances), np.sign(means) * np.inf)
    below, above = (means <= -gaps).sum(axis=0), (means >= -gaps).sum(axis=0)
    t_below, t_above = (drawn_t <= t).sum(axis=0), (drawn_t >= t).sum(axis=0)
    t_beyond = (np.abs(drawn_t) >= np.abs(t)).sum(axis=0)
    shifted = influences + gaps[:, None]
    flipped = np.abs(signs @ shifted.T) >= np.abs(shifted.sum(axis=1)) * (1 - 1e-12)
    exact = n <= 13
    p_flip = (flipped.sum(axis=0) + (not exact)) / (len(signs) + (not exact))
    low, high = bca_ends(means, influences)
    return {
        "Karat": karat_p(values, influences, truth) < 0.05,
        "Student": 2 * stats.t.sf(np.abs(t), n - 1) < 0.05,
        "percentile": 2 * (1 + np.minimum(below, above)) / (RESAMPLES + 1) < 0.05,
        "BCa": (gaps < -high) | (gaps > -low),
        "bootstrap-t": 2 * (1 + np.minimum(t_below, t_above)) / (RESAMPLES + 1) < 0.05,
        "symmetric t": (1 + t_beyond) / (RESAMPLES + 1) < 0.05,
        "sign flip": p_flip < 0.05,
    }


def bca_ends(means: Floats, influences: Floats) -> tuple[Floats, Floats]:
    """Ends of the BCa interval, minus the estimate."""
    trials = means.shape[1]
    with np.errstate(all="ignore"):
        acceleration = (influences**3).sum(axis=1) / (6 * (influences**2).sum(axis=1) ** 1.5)
    share = ((means < 0).sum(axis=0) + 0.5 * (means == 0).sum(axis=0)) / RESAMPLES
    bias = stats.norm.ppf(np.clip(share, 0.5 / RESAMPLES, 1 - 0.5 / RESAMPLES))
    ordered, ends = np.sort(means, axis=0), []
    for z in stats.norm.ppf([0.025, 0.975]):
        moved = bias + (bias + z) / (1 - np.nan_to_num(acceleration) * (bias + z))
        ranks = np.clip((stats.norm.cdf(moved) * RESAMPLES).astype(int), 0, RESAMPLES - 1)
        ends.append(ordered[ranks, np.arange(trials)])
    return ends[0], ends[1]


# ------------------------------------------------------------------------------------- trials


class Trials(NamedTuple):
    """Estimates of many trials with the influences of their units, and the truth."""

    values: Floats
    influences: Floats
    truth: float


Sampler = Callable[[int, int, np.random.Generator], tuple[Trials, Trials]]
"""From trials and units to the differences of two systems and the scores of the first."""


def jackknife_trials(measure: Callable[[Floats], Floats], rows: Floats) -> tuple[Floats, Floats]:
    """Scores and influences of trials x units x columns."""
    trials, n, columns = rows.shape
    total = rows.sum(axis=1)
    values = measure(total)
    left_out = measure((total[:, None] - rows).reshape(-1, columns)).reshape(trials, n)
    influences = (n - 1) * (values[:, None] - left_out)
    return values, influences - influences.mean(axis=1, keepdims=True)


@cache
def text_rows(kind: str, name: str) -> tuple[Floats, Floats]:
    """Rows of two systems by a metric: units x rows x columns, from synthetic text."""
    rng = np.random.default_rng([SEED, len(kind)])
    chances = 1 / np.arange(1, 3001) ** 1.05
    chances /= chances.sum()
    letters = list("abcdefghijklmnopqrstuvwxyz")
    words = ["".join(rng.choice(letters, size=rng.integers(1, 9))) for _ in chances]
    lengths = np.clip(rng.lognormal(2.8, 0.5, size=POPULATION * max(ROWS)), 4, 60).astype(int)
    stream = rng.choice(len(words), size=lengths.sum(), p=chances)
    references = np.split(stream, np.cumsum(lengths)[:-1])

    def corrupted(rates: Floats) -> list[str]:
        other_words, texts = iter(rng.choice(len(words), size=len(stream), p=chances)), []
        for at, reference in enumerate(references):
            rate, output = float(np.clip(rates[at // max(ROWS)], 0, 1)), []
            for word, x in zip(reference, rng.random(len(reference)), strict=True):
                if x >= rate or x >= 0.75 * rate:  # kept, or followed by another word
                    output.append(word)
                if x < 0.5 * rate or 0.75 * rate <= x < rate:
                    output.append(next(other_words))
            texts.append(" ".join(words[w] for w in output or reference[:1]))
        return texts

    difficulty = np.clip(rng.beta(4, 6, size=POPULATION), 0.02, 0.95)
    first = difficulty + rng.normal(0, 0.05, POPULATION)
    second = difficulty + rng.normal(0, 0.05 if kind != "variance" else 0.25, POPULATION)
    if kind == "skew":
        second = np.where(rng.random(POPULATION) < 0.06, 0.98, second - 0.04)
    metric = kt.metric(name)
    reference_texts = [" ".join(words[w] for w in reference) for reference in references]
    first_rows, second_rows = (
        metric.stats(corrupted(rates), reference_texts).reshape(POPULATION, max(ROWS), -1)
        for rates in (first, second)
    )
    return first_rows.astype(float), second_rows.astype(float)


def text_sampler(kind: str, name: str, n_rows: int) -> Sampler:
    """Draw units of synthetic text with replacement; the truth is that of the population."""
    first, second = (rows[:, :n_rows].sum(axis=1) for rows in text_rows(kind, name))
    metric = kt.metric(name)

    def measure(rows: Floats) -> Floats:
        return metric.measure(np.ascontiguousarray(rows))["value"]

    def score(rows: Floats) -> float:
        return float(measure(rows.sum(axis=0)[None])[0])

    def sample(trials: int, units: int, rng: np.random.Generator) -> tuple[Trials, Trials]:
        drawn = rng.integers(0, len(first), size=(trials, units))
        a, b = first[drawn], second[drawn]
        true_score, true_difference = score(first), score(first) - score(second)
        if kind == "exchangeable":
            swapped = rng.integers(2, size=(trials, units, 1)).astype(bool)
            a, b = np.where(swapped, b, a), np.where(swapped, a, b)
            true_score, true_difference = score((first + second) / 2), 0.0
        (value_a, influence_a), (value_b, influence_b) = (
            jackknife_trials(measure, rows) for rows in (a, b)
        )
        difference = Trials(value_a - value_b, influence_a - influence_b, true_difference)
        return difference, Trials(value_a, influence_a, true_score)

    return sample


def drawn_scores(
    kind: str, name: str, n_rows: int, trials: int, units: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Mean scores of units of two systems: ROUGE, 0/1 answers or ratings from 1 to 5."""
    shape = trials, units, 1
    first, second = rng.normal(0, 0.2, shape), rng.normal(0, 0.2, shape)
    if kind == "exchangeable":
        first, second = 3 * first, 3 * second
    elif kind == "variance":
        second *= 6
    else:
        second += np.where(rng.random(shape) < 0.06, -2.5, 0)
    difficulty = rng.normal(size=shape)
    latent = (
        difficulty + effect + rng.normal(0, 0.5, (trials, units, n_rows))
        for effect in (first, second)
    )
    scales: dict[str, Callable[[Floats], Floats]] = {
        "rougeL": lambda x: 1 / (1 + np.exp(0.5 - 0.8 * x)),
        "0/1": lambda x: (x > 0.2).astype(float),
        "rating": lambda x: np.clip(np.round(3.6 + x), 1, 5),
    }
    a, b = (scales[name](x).mean(axis=2) for x in latent)
    return a, b


@cache
def drawn_truth(kind: str, name: str, n_rows: int) -> tuple[float, float]:
    """Expected scores of both systems, from five million units."""
    rng = np.random.default_rng([SEED, 1])
    scores = [drawn_scores(kind, name, n_rows, 500, 1000, rng) for _ in range(10)]
    return tuple(float(np.mean([pair[k] for pair in scores])) for k in range(2))  # type: ignore[return-value]


def drawn_sampler(kind: str, name: str, n_rows: int) -> Sampler:
    """Draw scores of units."""

    def sample(trials: int, units: int, rng: np.random.Generator) -> tuple[Trials, Trials]:
        a, b = drawn_scores(kind, name, n_rows, trials, units, rng)
        first, second = drawn_truth(kind, name, n_rows)
        truth = 0.0 if kind == "exchangeable" else first - second
        return mean_trials(a - b, truth), mean_trials(a, first)

    return sample


def mean_trials(scores: Floats, truth: float) -> Trials:
    """Means of trials x units."""
    values = scores.mean(axis=1)
    return Trials(values, scores - values[:, None], truth)


def log_normal(trials: int, units: int, rng: np.random.Generator) -> tuple[Trials, Trials]:
    """Differences of mean 0 and skewness 6."""
    scores = np.exp(rng.normal(size=(trials, units)))
    drawn = mean_trials(scores - np.exp(0.5), 0.0)
    return drawn, mean_trials(scores, float(np.exp(0.5)))


def real_sampler(scores: Floats, metric: object = None) -> Iterator[Sampler]:
    """Draw units of a judged set with replacement, for each pair of systems.

    `scores` are systems x units, or with a metric systems x units x columns.
    """

    def measure(rows: Floats) -> Floats:
        if metric is None:
            return rows[:, 0] / rows[:, 1]
        return metric.measure(np.ascontiguousarray(rows))["value"]  # type: ignore[attr-defined]

    for i in range(len(scores)):
        for j in range(i + 1, len(scores)):

            def sample(
                trials: int, units: int, rng: np.random.Generator, i: int = i, j: int = j
            ) -> tuple[Trials, Trials]:
                drawn = rng.integers(0, scores.shape[1], size=(trials, units))
                true_values = [float(measure(scores[k].sum(axis=0)[None])[0]) for k in (i, j)]
                (value_a, influence_a), (value_b, influence_b) = (
                    jackknife_trials(measure, scores[k][drawn]) for k in (i, j)
                )
                return (
                    Trials(
                        value_a - value_b,
                        influence_a - influence_b,
                        true_values[0] - true_values[1],
                    ),
                    Trials(value_a, influence_a, true_values[0]),
                )

            yield sample


# ------------------------------------------------------------------------------------- tables


def print_row(cells: list[str]) -> None:
    print("| " + " | ".join(cells) + " |", flush=True)


def print_head(cells: list[str]) -> None:
    print_row(cells)
    print_row(["---", *["---:"] * (len(cells) - 1)])


def measure_cell(
    samplers: list[Sampler], units: int, trials: int, rng: np.random.Generator
) -> tuple[dict[str, float], dict[str, float], int]:
    """Shares of rejected true differences and of rejected true scores by method; trials used."""
    differences: dict[str, list[NDArray[np.bool_]]] = {method: [] for method in METHODS}
    scores: dict[str, list[NDArray[np.bool_]]] = {method: [] for method in METHODS}
    batch = max(1, min(BATCH, trials // len(samplers)))
    for start in range(0, trials, batch):
        difference, score = samplers[start // batch % len(samplers)](batch, units, rng)
        for method, rejected in rejects(*difference).items():
            differences[method].append(rejected)
        for method, rejected in rejects(*score).items():
            scores[method].append(rejected)
    shares = [
        {method: float(np.concatenate(parts).mean()) for method, parts in table.items()}
        for table in (differences, scores)
    ]
    return shares[0], shares[1], sum(map(len, differences["Karat"]))


def print_cells(cells: dict[str, list[Sampler]], units: tuple[int, ...], trials: int) -> None:
    """Print false positives of differences, and coverage of scores, by method."""
    rng = np.random.default_rng(SEED)
    tables: tuple[list[list[str]], list[list[str]]] = ([], [])
    for name, samplers in cells.items():
        for n in units:
            false_positives, missed, count = measure_cell(samplers, n, trials, rng)
            error = 100 * sqrt(max(false_positives["Karat"], 1e-4) / count)
            label = [f"{name}, {n} units", f"{error:.2f}"]
            tables[0].append([*label, *(f"{100 * false_positives[m]:.1f}" for m in METHODS)])
            tables[1].append([label[0], *(f"{100 * (1 - missed[m]):.1f}" for m in METHODS)])
    print("\nTrue differences rejected, % (se: standard error of the first figure)\n")
    print_head(["cell", "se", *METHODS])
    for row in tables[0]:
        print_row(row)
    print("\nCoverage of intervals of scores, %\n")
    print_head(["cell", *METHODS])
    for row in tables[1]:
        print_row(row)


def print_nulls(trials: int) -> None:
    cells: dict[str, list[Sampler]] = {}
    for kind in ("exchangeable", "variance", "skew"):
        for name in ("bleu", "chrf", "rougeL", "0/1", "rating"):
            make = text_sampler if name in ("bleu", "chrf") else drawn_sampler
            for n_rows in ROWS:
                rows = f"{n_rows} row{'s' * (n_rows > 1)}"
                cells[f"{kind}, {name}, {rows}"] = [make(kind, name, n_rows)]
    cells["log-normal"] = [log_normal]
    print_cells(cells, UNITS, trials)


def print_real(trials: int) -> None:
    """Judged sets; the truth is the full set."""
    cells: dict[str, list[Sampler]] = {}
    wmt = os.path.join(os.environ["KARAT_DATA"], "mt-wmt23-ende")
    for source, metrics in {"summeval": ("chrf", "rougeL"), wmt: ("bleu", "chrf")}.items():
        evalset, name = kt.load_evalset(source), os.path.basename(source)
        groups = np.unique(evalset.groups or evalset.segments, return_inverse=True)[1]
        for metric_name in metrics:
            metric = kt.metric(metric_name)
            tables = []
            for outputs in evalset.outputs().values():
                rows = metric.stats(outputs, evalset.given_references()).astype(float)
                sums = np.zeros((groups.max() + 1, rows.shape[1]))
                np.add.at(sums, groups, rows)
                tables.append(sums)
            label = f"{name}, {metric_name}, {groups.max() + 1} units"
            cells[label] = list(real_sampler(np.array(tables), metric))
    rag = kt.load_evalset("rag24")
    human = rag.human(next(iter(rag.dimensions)))
    complete = human[~np.isnan(human).any(axis=1)]
    values = np.stack([complete, np.ones_like(complete)], axis=-1)
    cells[f"rag24, nuggets, {human.shape[1]} units"] = list(real_sampler(values))
    print_cells(cells, (20, 40), trials)


def print_unit(trials: int) -> None:
    """Two equal systems with repeated answers: answers as units, and questions as units."""
    print("\nEqual systems called different, %, 40 questions\n")
    print_head(["answers to each", "unit: answer", "unit: question"])
    rng = np.random.default_rng(SEED)
    for n_rows in (1, 3, 10):
        difficulty = rng.normal(size=(trials, 40, 1))
        first, second = (
            difficulty
            + rng.normal(0, 0.6, (trials, 40, 1))
            + rng.normal(0, 0.5, (trials, 40, n_rows))
            for _ in range(2)
        )
        gaps = first - second
        shares = []
        for values in (gaps.reshape(trials, -1), gaps.mean(axis=2)):
            means = mean_trials(values, 0.0)
            shares.append(100 * (karat_p(means.values, means.influences, 0.0) < 0.05).mean())
        print_row([str(n_rows), *(f"{share:.1f}" for share in shares)])


def print_systems(trials: int) -> None:
    """Fifteen equal systems."""
    print(
        "\nFifteen equal systems: any called worse than the best, or different from a baseline, %\n"
    )
    print_head(
        [
            "units",
            "scores",
            "trials",
            "worse than the best",
            "than a baseline",
            "se",
            "contradictions",
        ]
    )
    rng = np.random.default_rng(SEED)
    pairs = [(i, j) for i in range(15) for j in range(i + 1, 15)]
    against_first = [(i, 0) for i in range(1, 15)]
    for n in (10, 20, 40, 100):
        for name in ("normal", "0/1", "log-normal"):
            worse = different = contradictions = 0
            for _ in range(trials):
                latent = rng.normal(size=(1, n)) + rng.normal(size=(15, n))
                scores = {
                    "normal": latent,
                    "0/1": (latent > 0) * 1.0,
                    "log-normal": np.exp(latent / 2),
                }
                drawn = scores[name]
                estimates = [UnitEstimate(float(x.mean()), x - x.mean(), n) for x in drawn]
                joint, best = JointEstimates(estimates), int(drawn.mean(axis=1).argmax())
                family = joint.family(pairs)
                worse += any(family.p(at) < 0.05 for at, pair in enumerate(pairs) if best in pair)
                family = joint.family(against_first)
                significant = [family.p(at) < 0.05 for at in range(14)]
                different += any(significant)
                for at in range(14):
                    low, high = family.interval(at)
                    contradictions += (low > 0 or high < 0) != significant[at]
            error = 100 * sqrt(0.05 * 0.95 / trials)
            shares = (f"{100 * x / trials:.1f}" for x in (worse, different))
            print_row([str(n), name, str(trials), *shares, f"{error:.1f}", str(contradictions)])


def print_power(trials: int) -> None:
    """Power where a sign-flip test has about 80%."""
    print("\nPower, %, where the sign-flip test has about 80%\n")
    print_head(["scores", "units", *METHODS])
    rng = np.random.default_rng(SEED)
    shapes: dict[str, Callable[[tuple[int, int]], Floats]] = {
        "normal": lambda size: rng.normal(size=size),
        "log-normal": lambda size: np.exp(rng.normal(size=size)) - np.exp(0.5),
        "five values": lambda size: np.clip(np.round(rng.normal(0, 1, size)), -2, 2),
        "wins and losses": lambda size: rng.choice([-1.0, 0, 0, 1.0], size=size),
    }
    for name, draw in shapes.items():
        for n in (10, 20, 40, 100):
            spread = float(draw((100, 10_000)).std())
            low, high = 0.0, 4.0 * spread
            for _ in range(12):  # the shift with 80% power of the sign flip
                shift = (low + high) / 2
                power = rejects(*mean_trials(draw((2000, n)) + shift, 0.0))["sign flip"].mean()
                low, high = (shift, high) if power < 0.8 else (low, shift)
            table: dict[str, list[NDArray[np.bool_]]] = {method: [] for method in METHODS}
            for _ in range(0, trials, BATCH):
                for method, hits in rejects(*mean_trials(draw((BATCH, n)) + shift, 0.0)).items():
                    table[method].append(hits)
            shares = (f"{100 * np.concatenate(table[method]).mean():.1f}" for method in METHODS)
            print_row([name, str(n), *shares])


def print_sizes(trials: int) -> None:
    """Power of detectable differences, without correction and for five tests (Bonferroni)."""
    print("\nPower, %, of differences that are detectable with 80%\n")
    print_head(["units", "tests", "difference / SD", "normal", "five values", "se"])
    rng = np.random.default_rng(SEED)
    for n in (10, 20, 40, 100, 400):
        for n_tests in (1, 5):
            difference = detectable_difference(1.0, n, 0.8, n_tests)
            cells = []
            for values in (rng.normal(size=(trials, n)), np.round(rng.normal(size=(trials, n)))):
                deviation = 1.0 if values[0, 0] % 1 else sqrt(1 + 1 / 12)
                drawn = mean_trials(values + difference * deviation, 0.0)
                p = karat_p(drawn.values, drawn.influences, 0.0)
                cells.append(f"{100 * (p < 0.05 / n_tests).mean():.1f}")
            error = 100 * sqrt(0.16 / trials)
            print_row([str(n), str(n_tests), f"{difference:.3f}", *cells, f"{error:.1f}"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parts = {
        "nulls": print_nulls,
        "real": print_real,
        "sizes": print_sizes,
        "systems": print_systems,
        "unit": print_unit,
        "power": print_power,
    }
    for name in parts:
        parser.add_argument(f"--{name}", action="store_true")
    parser.add_argument("--trials", type=int, default=10_000)
    arguments = parser.parse_args()
    chosen = [name for name in parts if getattr(arguments, name)] or list(parts)
    for name in chosen:
        parts[name](arguments.trials)


if __name__ == "__main__":
    main()
