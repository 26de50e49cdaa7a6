"""A threshold of the paper's classifier for sets without judgements: does it transfer?

    KARAT_DATA=… python experiments/nuggets_thresholds.py

Prints Markdown. For each setting, the threshold with the best F on one set is used on the other,
where nothing is learned: for raw scores, and for scores divided by the score of the description
itself (`normalised`), which have no scale. "own F" is the best in hindsight on the set. The last
table has the built-in threshold, 2^-n of normalised scores, on both sets: it was chosen after
seeing the other tables, so it is not a test.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from dataclasses import replace

from nugget_sets import SETS, pooled

from karat.nuggets.prediction.paper import Paper, ngram_scores
from karat.nuggets.prediction.pool import assessor_agreement
from karat.nuggets.prediction.thresholds import best_f_threshold
from karat.nuggets.results.tuning import settings

HEAD = "| setting | threshold | its F | F | tau_b | RMSE | own F |\n|---|---|---|---|---|---|---|"


def main() -> None:
    pools = {name: pooled(*SETS[name]()) for name in SETS}
    tried = [rule for rule in settings() if rule.stop == "none"]
    for normalised in (False, True):
        for source, target in (("realsumm", "rag24"), ("rag24", "realsumm")):
            form = "normalised" if normalised else "as they are"
            print(f"\n## {form}: chosen on {source}, used on {target}\n\n{HEAD}")
            for rule in (replace(setting, normalised=normalised) for setting in tried):
                scores = {name: ngram_scores(pool, rule) for name, (pool, _) in pools.items()}
                best = {name: best_f_threshold(scores[name], pools[name][1] > 0) for name in pools}
                f = {
                    name: assessor_agreement(pool, scores[name] > best[name], labels).f
                    for name, (pool, labels) in pools.items()
                }
                pool, labels = pools[target]
                got = assessor_agreement(pool, scores[target] > best[source], labels)
                numbers = best[source], f[source], got.f, got.tau_b, got.rmse, f[target]
                print(f"| {rule.summary} | " + " | ".join(f"{x:.3f}" for x in numbers) + " |")
    built_in(pools, tried)


def built_in(pools: dict, tried: list[Paper]) -> None:
    print("\n## 2^-n, normalised\n\n| setting | set | F | yes above | yes below |")
    print("|---|---|---|---|---|")
    for rule in (replace(setting, normalised=True) for setting in tried):
        for name, (pool, labels) in pools.items():
            carried, yes = ngram_scores(pool, rule) > 0.5**rule.n, labels > 0
            numbers = (
                assessor_agreement(pool, carried, labels).f,
                yes[carried].mean(),
                yes[~carried].mean(),
            )
            print(f"| {rule.summary} | {name} | " + " | ".join(f"{x:.3f}" for x in numbers) + " |")


if __name__ == "__main__":
    main()
