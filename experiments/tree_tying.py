"""How far is tying words to nodes by distance from the fewest errors there could be?

Sentences of EWT's dev part are disturbed (subtrees reordered around their heads, some words then moved anywhere,
dropped or repeated); for each the errors under Karat's tying are compared with the least over all
ways to tie repeated words, wherever there are at most 2,000. python experiments/tree_tying.py
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
MOST_WAYS = 2000
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
    """How many ways there are to tie the words."""
    ways = 1
    for word in set(words) & set(result):
        few, many = sorted((words.count(word), result.count(word)))
        ways *= comb(many, few) * factorial(few)
    return ways


def errors_of_karat(tree: kt.Tree, result: list[str]) -> tuple[int, int]:
    """Simple and generation errors under Karat's tying."""
    vocab = _kernel.Vocab()
    words, mine = vocab.add(list(tree.words)), vocab.add(result)
    heads = np.array(tree.heads, np.int32)
    one = np.array([0, 1], np.int64)
    ends = (np.array([0, len(mine)], np.int64), np.array([0, len(words)], np.int64))
    s, i, d, m = _kernel.tree_edits(mine, ends[0], words, heads, ends[1], one, None)[0].tolist()
    return s + i + d, s + i + d - m


def main() -> None:
    """Print the table."""
    from oracles.treelet_walks import all_ties, errors

    rng = random.Random(3)
    trees = [tree for (tree,) in kt.read_conllu(DATA / "treebank-ewt" / "en_ewt-ud-dev.conllu")]
    cases = [(tree, disturbed(tree, rng)) for tree in trees if 2 < len(tree) <= LONGEST]
    repeated = [
        (tree, result)
        for tree, result in cases
        if 1 < number_of_ways(tree.words, result) <= MOST_WAYS
    ]
    more = [0, 0]
    surplus, total = [0, 0], [0, 0]
    for tree, result in repeated:
        found = errors_of_karat(tree, result)
        ways = [errors(tree.words, tree.heads, result, way) for way in all_ties(tree.words, result)]
        least = min(sum(w[:3]) for w in ways), min(sum(w[:3]) - w[3] for w in ways)
        for k in range(2):
            more[k] += found[k] > least[k]
            surplus[k] += found[k] - least[k]
            total[k] += least[k]
    print(f"{len(cases)} sentences, {len(repeated)} with words to choose between")
    for k, name in enumerate(("simple tree accuracy", "generation tree accuracy")):
        print(
            f"{name}: above the least number of errors in {more[k]} ({more[k] / len(repeated):.1%}), "
            f"{surplus[k]} errors on top of {total[k]} ({surplus[k] / max(total[k], 1):.2%})"
        )


if __name__ == "__main__":
    main()
