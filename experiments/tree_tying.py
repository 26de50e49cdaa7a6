"""How far is tying words to nodes by distance from the minimum number of errors?

Sentences of EWT's dev part are disturbed (subtrees reordered around their heads, some words then
moved anywhere, dropped or repeated); for each the errors under Karat's tying, and under its start,
the tying by distance, are compared with the least over all ways to tie repeated words, wherever
there are at most 2,000. python experiments/tree_tying.py
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Sequence
from math import comb, factorial
from pathlib import Path

import numpy as np

import karat as kt
from karat import _kernel

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))
DATA = Path(os.environ.get("KARAT_DATA", ROOT.parent / "shared" / "data"))
MAX_WAYS = 2000
LONGEST = 40


def linearize(tree: kt.Tree, node: int, chance: float, rng: random.Random) -> list[int]:
    """The nodes of a subtree; with some chance the head and its daughters change places."""
    parts = [[node]]
    for daughter in range(len(tree)):
        if tree.heads[daughter] == node + 1:
            parts.append(linearize(tree, daughter, chance, rng))
    parts.sort(key=lambda part: node if part == [node] else max(part))
    if rng.random() < chance:
        rng.shuffle(parts)
    return [p for part in parts for p in part]


def disturbed(tree: kt.Tree, rng: random.Random) -> list[str]:
    """The words of a sentence in another order, a few of them moved, lost or doubled."""
    words = [tree.words[p] for p in linearize(tree, tree.heads.index(0), 0.3, rng)]
    for _ in range(rng.randrange(3)):
        words.insert(rng.randrange(len(words)), words.pop(rng.randrange(len(words))))
    if rng.random() < 0.3 and len(words) > 1:
        words.pop(rng.randrange(len(words)))
    if rng.random() < 0.3:
        words.insert(rng.randrange(len(words)), rng.choice(words))
    return words


def number_of_ways(words: Sequence[str], result: Sequence[str]) -> int:
    """The number of ways to tie the words."""
    total = 1
    for word in set(words) & set(result):
        smaller, larger = sorted((words.count(word), result.count(word)))
        total *= comb(larger, smaller) * factorial(smaller)
    return total


def tyings(tree: kt.Tree, result: list[str]) -> dict[str, int]:
    """The errors (I + D + S) under Karat's tying, by distance alone, and the least of all."""
    from oracles.treelet_walks import all_ties, errors

    vocab = _kernel.Vocab()
    words, result_ids = vocab.add(list(tree.words)), vocab.add(result)
    places = _kernel.tie_nodes(result_ids, words, np.array(tree.heads, np.int32)).tolist()
    by_distance = {p: q for p, q in enumerate(places) if q >= 0}

    def count(ties: dict[int, int]) -> int:
        return sum(errors(tree.words, tree.heads, result, ties)[:3])

    row = kt.metric("simple_tree_accuracy").stats([" ".join(result)], [tree])[0]
    return {
        "karat": int(row[:3].sum()),
        "distance": count(by_distance),
        "least": min(map(count, all_ties(tree.words, result))),
    }


def main() -> None:
    """Print the table."""
    rng = random.Random(3)
    trees = [tree for (tree,) in kt.read_conllu(DATA / "treebank-ewt" / "en_ewt-ud-dev.conllu")]
    cases = [(tree, disturbed(tree, rng)) for tree in trees if 2 < len(tree) <= LONGEST]
    rows = [
        tyings(tree, result)
        for tree, result in cases
        if 1 < number_of_ways(tree.words, result) <= MAX_WAYS
        and not any(" " in word for word in result)
    ]
    least = sum(row["least"] for row in rows)
    print(f"{len(cases)} sentences, {len(rows)} with words to choose between, {least} errors")
    for name in ("distance", "karat"):
        above = sum(row[name] > row["least"] for row in rows)
        more = sum(row[name] for row in rows) - least
        print(
            f"{name}: above the least in {above} sentences ({above / len(rows):.1%}), "
            f"by {more} errors ({more / least:.2%})"
        )


if __name__ == "__main__":
    main()
