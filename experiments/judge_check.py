"""The alternative annotator test: how often judges pass, and when the test cannot tell.

    python experiments/judge_check.py [--draws 2000] [--shuffles 40] [--tables labels,ratings,size]
        [--prevalences 0.5,0.9]
    KARAT_DATA=... python experiments/judge_check.py --tables real

`labels`: 100 items have a true label, 1 with the given prevalence. Three annotators each give it
with probability .9. Judges: `equal` gives it with probability .9, like a person; `worse` with .8;
`chance` gives 1 with the prevalence, whatever the item. For each judge, the table has the share of
draws in which its own test passes, and the share of the verdicts "passes" and "cannot tell"; then
the share in which the best constant judge passes, and the mean share of shuffled judges that pass.

`ratings`: 100 items of quality N(3, .8^2); people add N(0, .6^2) noise, round and clip to 1 to 5;
`equal` has the same noise, `worse` N(0, 1.2^2), `chance` rates other items. `top` has qualities
N(4.7, .8^2), so that most ratings are 5.

`size`: a single test where the judge is worse than the annotator by exactly epsilon = .2, so that
it should reject in 5% of draws. Items are in documents; `rho` is the correlation of items of a
document. Rejections by document, and by item as if all were independent; with fewer than 30
documents, also by Wilcoxon's test alone, which the paper takes below 30.

`real`: every annotator of a set in turn is the judge of the others. Annotators who rated enough
with three others are counted: all, those who pass the test itself, and by verdict.

Standard errors are in brackets. Numbers come from numpy's default generator with seed 2026.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from math import sqrt

import numpy as np
from numpy.typing import NDArray

import karat as kt
from karat.stats.alternative_annotator import (
    CANNOT_TELL,
    LABELS,
    MAX_SHUFFLED_PASSES,
    NUMBERS,
    PASSES,
    PASSING_RATE,
    AnnotatorPanel,
    judge_verdict,
    noninferiority_p,
    signed_rank_p,
)

Floats = NDArray[np.float64]
SEED = 2026
ITEMS, PEOPLE = 100, 3
EPSILONS = 0.1, 0.2
Draw = Callable[[np.random.Generator], tuple[Floats, dict[str, Floats]]]
"""Draws the ratings of people (people x items), and those of judges by name."""


def labels(prevalence: float, rng: np.random.Generator) -> tuple[Floats, dict[str, Floats]]:
    """Return labels of people and of judges."""
    truth = rng.random(ITEMS) < prevalence

    def rater(accuracy: float) -> Floats:
        is_right = rng.random(ITEMS) < accuracy
        return np.where(is_right, truth, ~truth).astype(np.float64)

    people = np.stack([rater(0.9) for _ in range(PEOPLE)])
    chance = (rng.random(ITEMS) < prevalence).astype(np.float64)
    return people, {"equal": rater(0.9), "worse": rater(0.8), "chance": chance}


def ratings(mean: float, rng: np.random.Generator) -> tuple[Floats, dict[str, Floats]]:
    """Return ratings from 1 to 5 of people and of judges."""
    quality = rng.normal(mean, 0.8, ITEMS)

    def rater(noise: float, qualities: Floats = quality) -> Floats:
        return np.clip(np.round(qualities + rng.normal(0, noise, ITEMS)), 1, 5)

    people = np.stack([rater(0.6) for _ in range(PEOPLE)])
    chance = rater(0.6, rng.permutation(quality))
    return people, {"equal": rater(0.6), "worse": rater(1.2), "chance": chance}


def share(outcomes: list[bool]) -> str:
    """Return a share with its standard error."""
    mean = sum(outcomes) / len(outcomes)
    return f"{mean:.3f} ({sqrt(mean * (1 - mean) / len(outcomes)):.3f})"


def rows(draw: Draw, epsilon: float, similarity: str, n_draws: int, shuffles: int) -> Iterator[str]:
    """Yield a row of the table for each judge."""
    rng = np.random.default_rng(SEED)
    annotator = np.repeat(np.arange(PEOPLE), ITEMS)
    item = np.tile(np.arange(ITEMS), PEOPLE)
    outcomes: dict[str, list[tuple[bool, str, bool, float]]] = {}
    for k in range(n_draws):
        people, judges = draw(rng)
        for name, values in judges.items():
            panel = AnnotatorPanel.from_ratings(
                annotator, item, people.ravel(), values, np.arange(ITEMS)
            )
            tests = panel.test(values[None], epsilon, similarity)
            passed = bool(tests.passed[0])
            controls = panel.controls(epsilon, similarity, shuffles, SEED + k)
            outcome = (
                passed,
                judge_verdict(passed, controls),
                controls.constant_passed,
                controls.shuffled_passes,
            )
            outcomes.setdefault(name, []).append(outcome)
    for name, found in outcomes.items():
        own, verdicts, constant, shuffled = zip(*found, strict=True)
        cells = (
            share(list(own)),
            share([verdict == PASSES for verdict in verdicts]),
            share([verdict == CANNOT_TELL for verdict in verdicts]),
            share(list(constant)),
            f"{np.mean(shuffled):.3f}",
        )
        yield f"{name} | {' | '.join(cells)}"


SIZE_HEADER = "documents | items each | rho | judge wins | by document | by item | Wilcoxon alone"
REAL_HEADER = (
    "set | epsilon | annotators | own test passes | passes | cannot tell | constant passes | "
    "shuffled pass"
)
HEADER = "own test passes | verdict: passes | cannot tell | constant passes | shuffled passes"


def size_rows(n_draws: int) -> Iterator[str]:
    """Yield the rejections of a single test at the boundary of its null hypothesis."""
    rng = np.random.default_rng(SEED)
    epsilon = 0.2
    for documents, per_document in (
        (10, 1),
        (20, 1),
        (29, 1),
        (20, 5),
        (100, 1),
        (40, 5),
        (100, 5),
    ):
        for rho in (0.0, 0.3) if per_document > 1 else (0.0,):
            for judge_wins in (0.0, 0.05, 0.2):
                by_document, by_item, by_ranks = [], [], []
                for _ in range(n_draws):
                    d = boundary(documents, per_document, rho, judge_wins, epsilon, rng)
                    sizes = np.full(documents, per_document)
                    by_document.append(rejects(d.sum(axis=1), sizes, epsilon))
                    single = np.ones(d.size, np.int64)
                    by_item.append(rejects(d.ravel(), single, epsilon))
                    by_ranks.append(signed_rank_p(d.mean(axis=1) - epsilon) <= 0.05)
                cells = f"{rho} | {judge_wins} | {share(by_document)} | {share(by_item)}"
                ranks = share(by_ranks) if documents < 30 else ""
                yield f"{documents} | {per_document} | {cells} | {ranks}"


def rejects(sums: NDArray[np.int64], sizes: NDArray[np.int64], epsilon: float) -> bool:
    """Return whether a single test is significant."""
    return bool(noninferiority_p(sums[None], sizes, epsilon)[0] <= 0.05)


def boundary(
    documents: int,
    per_document: int,
    rho: float,
    judge_wins: float,
    epsilon: float,
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """Return d of documents x items: -1 with probability a, 1 with a + epsilon, else 0.

    An item has the value of its document with probability sqrt(rho), else a value of its own.
    """
    probabilities = [judge_wins, 1 - 2 * judge_wins - epsilon, judge_wins + epsilon]
    shared = rng.choice([-1, 0, 1], (documents, 1), p=probabilities)
    single = rng.choice([-1, 0, 1], (documents, per_document), p=probabilities)
    is_shared = rng.random((documents, per_document)) < sqrt(rho)
    return np.where(is_shared, shared, single).astype(np.int64)


REAL = (
    *(("believability", name) for name in ("adequacy", "fluency", "believability")),
    *(("e2e", name) for name in ("naturalness", "quality")),
)


def real_rows(shuffles: int) -> Iterator[str]:
    """Yield the verdicts on the annotators of real sets, each as the judge of the others."""
    for name, dimension in REAL:
        evalset = kt.load_evalset(name)
        for epsilon in EPSILONS:
            outcomes = []
            for judge in evalset.judgements.select_dimension(dimension).judges:
                try:
                    check = kt.check_judge(
                        evalset, [dimension], [judge], epsilon=epsilon, shuffles=shuffles
                    )
                except kt.InputError:
                    continue
                outcomes.append(check.rows[0])
            counts = (
                len(outcomes),
                sum(row.winning_rate >= PASSING_RATE for row in outcomes),
                sum(row.verdict == PASSES for row in outcomes),
                sum(row.verdict == CANNOT_TELL for row in outcomes),
                sum(row.constant_rate >= PASSING_RATE for row in outcomes),
                sum(row.shuffled_passes > MAX_SHUFFLED_PASSES for row in outcomes),
            )
            yield f"{name}, {dimension} | {epsilon} | {' | '.join(map(str, counts))}"


def label_rows(prevalences: list[float], n_draws: int, shuffles: int) -> Iterator[str]:
    """Yield the rows of labels, by prevalence and epsilon."""
    for prevalence, epsilon in product(prevalences, EPSILONS):
        for row in rows(partial(labels, prevalence), epsilon, LABELS, n_draws, shuffles):
            yield f"{prevalence} | {epsilon} | {row}"


def rating_rows(n_draws: int, shuffles: int) -> Iterator[str]:
    """Yield the rows of ratings from 1 to 5, by their mean and epsilon."""
    for (name, mean), epsilon in product((("middle", 3.0), ("top", 4.7)), EPSILONS):
        for row in rows(partial(ratings, mean), epsilon, NUMBERS, n_draws, shuffles):
            yield f"{name} | {epsilon} | {row}"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--shuffles", type=int, default=40)
    parser.add_argument("--tables", default="size,labels,ratings")
    parser.add_argument("--prevalences", default="0.5,0.6,0.7,0.8,0.85,0.9,0.95")
    arguments = parser.parse_args()
    prevalences = [float(text) for text in arguments.prevalences.split(",")]
    n, shuffles = arguments.draws, arguments.shuffles
    tables = {
        "size": (SIZE_HEADER, lambda: size_rows(n)),
        "real": (REAL_HEADER, lambda: real_rows(shuffles)),
        "labels": (
            f"prevalence | epsilon | judge | {HEADER}",
            lambda: label_rows(prevalences, n, shuffles),
        ),
        "ratings": (f"ratings | epsilon | judge | {HEADER}", lambda: rating_rows(n, shuffles)),
    }
    for name in arguments.tables.split(","):
        header, make_rows = tables[name]
        print(header)
        for row in make_rows():
            print(row, flush=True)


if __name__ == "__main__":
    main()
