"""Token matching beside chrF and cosine on three judged sets: agreement with people.

    KARAT_DATA=… python experiments/bertscore.py FOLDER

FOLDER has all-MiniLM-L6-v2 as ONNX file (`benchmarks/encoder.py` writes one). For each set and
metric: Pearson over all outputs, and the mean of tau-b over segments (of headlines: over originals)
with at least two different human scores; 95% bootstrap intervals of the differences from chrF
of lower-cased text, segments drawn.
"""

from __future__ import annotations

import sys

import numpy as np

import karat as kt
from karat.stats.correlation import tau_b

SETS = {"paraphrase-twitter": "similarity", "summeval": "relevance", "ted-zhen": "mqm"}
RESAMPLES, SEED = 1000, 12345


def outputs_of(name: str, dimension: str) -> tuple[list[str], list[list[str]], np.ndarray, list]:
    """Outputs, their references, human scores and groups, flat."""
    evalset = kt.load_evalset(name)
    human = evalset.human(dimension)
    texts, references, scores, groups = [], [], [], []
    for row, outputs in zip(human, evalset.outputs().values(), strict=True):
        for i, (text, value) in enumerate(zip(outputs, row, strict=True)):
            if np.isfinite(value):
                texts.append(text)
                references.append([*evalset.references[i]])
                scores.append(value)
                groups.append(evalset.references[i][0] if len(human) == 1 else i)
    return texts, references, np.array(scores), groups


def metric_scores(
    folder: str, texts: list[str], references: list[list[str]]
) -> dict[str, np.ndarray]:
    """The segment scores of each metric."""
    columns = {
        name: kt.metric(name).segments(texts, references) for name in ("chrf:case=lower", "chrf")
    }
    columns["cosine"] = kt.metric(f"cosine:model={folder}").segments(texts, references)
    for name, settings in (("", ""), (", idf", ",idf=references")):
        stats = kt.metric(f"bertscore:model={folder}{settings}").stats(texts, references)
        for column, part in enumerate("PRF"):
            if not name or part != "P":
                columns[f"{part}{name}"] = stats[:, column]
    first = kt.metric(f"bertscore:model={folder}")
    counts = [len(group) for group in references]
    if max(counts) > 1:
        flat = [text for text, n in zip(texts, counts, strict=True) for _ in range(n)]
        every = first.stats(flat, [[text] for group in references for text in group])
        starts = np.cumsum([0, *counts[:-1]])
        means = np.add.reduceat(every[:, :3], starts) / np.array(counts)[:, None]
        columns["R, mean of references"], columns["F, mean of references"] = (
            means[:, 1],
            means[:, 2],
        )
    return columns


def agreement(x: np.ndarray, human: np.ndarray, members: list[np.ndarray]) -> tuple:
    """Sums of each group for Pearson's r, and its tau-b; NaN where people see no difference."""
    x = x - x.mean()
    y = human - human.mean()
    products = np.column_stack([np.ones(len(x)), x, y, x * x, y * y, x * y])
    sums = np.array([products[rows].sum(axis=0) for rows in members])
    taus = []
    for rows in members:
        is_ranked = len(rows) > 1 and np.ptp(human[rows]) > 0 and np.ptp(x[rows]) > 0
        taus.append(float(tau_b(human[rows], x[rows])) if is_ranked else np.nan)
    return sums, np.array(taus)


def pearson(sums: np.ndarray) -> np.ndarray:
    """Pearson's r from sums, of several rows."""
    n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    covariance = xy - x * y / n
    return covariance / np.sqrt((xx - x * x / n) * (yy - y * y / n))


def main() -> None:
    """Print a table for each set."""
    folder = sys.argv[1]
    for name, dimension in SETS.items():
        texts, references, human, groups = outputs_of(name, dimension)
        order: dict[object, list[int]] = {}
        for i, group in enumerate(groups):
            order.setdefault(group, []).append(i)
        members = [np.array(rows) for rows in order.values()]
        draws = np.random.default_rng(SEED).integers(len(members), size=(RESAMPLES, len(members)))
        print(f"\n{name}, {dimension}: {len(texts):,} outputs, {len(members):,} segments")
        base: tuple[np.ndarray, np.ndarray] | None = None
        for label, scores in metric_scores(folder, texts, references).items():
            sums, taus = agreement(scores, human, members)
            r = float(pearson(sums.sum(axis=0)))
            tau = float(np.nanmean(taus))
            drawn = (
                pearson(np.array([sums[draw].sum(axis=0) for draw in draws])),
                np.array([np.nanmean(taus[draw]) for draw in draws]),
            )
            base = drawn if base is None else base
            ends = [np.percentile(a - b, [2.5, 97.5]) for a, b in zip(drawn, base, strict=True)]
            spans = " ".join(f"[{low:+.3f}, {high:+.3f}]" for low, high in ends)
            print(f"{label:24} r {r:.3f} tau {tau:.3f}  - chrf:case=lower: {spans}", flush=True)


if __name__ == "__main__":
    main()
