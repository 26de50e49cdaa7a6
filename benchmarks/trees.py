"""Tree accuracy against a plain Python transcription, on EWT's dev part (KARAT_DATA).

Candidates are the sentences with words dropped, replaced and swapped, and now and then two halves
exchanged. The transcription (tests/oracles/treelet_walks.py) tries every way to tie repeated words
to nodes; so do we where there are at most 1,000, and only such sentences take part.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Sequence
from math import comb, prod

from corpus import DATA, PARAPHRASE, ROOT, SEED, Corpus, noisy
from plan import Plan
from table import Row, duration
from timing import take_turns

import karat as kt

sys.path.insert(0, str(ROOT / "tests"))  # where the transcription is

MAX_TIES = 1000
STEP = 10  # the transcription takes every tenth sentence


def measure(corpus: Corpus, plan: Plan) -> Iterator[Row]:
    """Karat on all sentences; Python on a part of them, its time scaled."""
    path = DATA / "treebank-ewt" / "en_ewt-ud-dev.conllu"
    if not path.exists():
        print("trees: no treebank-ewt in KARAT_DATA, left out", file=sys.stderr)
        return
    pairs = _pairs([tree for (tree,) in kt.read_conllu(path)])
    candidates, trees = [" ".join(words) for words, _ in pairs], kt.Trees([t for _, t in pairs])
    metric = kt.metric("generation_tree_accuracy")

    def karat() -> list[tuple[int, int]]:
        rows = metric.stats(candidates, trees, threads=1)
        return list(zip(rows[:, :3].sum(axis=1).tolist(), rows[:, 3].tolist(), strict=True))

    part = pairs[::STEP]
    rows: list[tuple[int, int]] = []
    karat_time = take_turns({"karat": karat}, plan.rounds)["karat"]
    peer_time = take_turns({"peer": lambda: rows.extend(_plain(*pair) for pair in part)}, 1)["peer"]
    if karat()[::STEP] != rows:
        raise RuntimeError("plain Python and karat disagree")
    peer_time *= sum(len(t) for _, t in pairs) / sum(len(t) for _, t in part)
    yield Row(
        f"generation_tree_accuracy, EWT dev, {len(pairs):,} sentences, 1 thread",
        duration(karat_time),
        f"Python {duration(peer_time)}",
        peer_time / karat_time,
        "x faster",
        note=f"Python timed on {len(part):,} sentences and scaled by their words; only sentences "
        f"with at most {MAX_TIES:,} ways to tie repeated words",
    )


def _pairs(trees: Sequence[kt.Tree]) -> list[tuple[list[str], kt.Tree]]:
    """Candidates, as words, and their trees."""
    rng = random.Random(SEED)
    vocabulary = [word for tree in trees for word in tree.words if not _has_space(word)]
    edited = [(_edited(tree, vocabulary, rng), tree) for tree in trees]
    return [
        (words, tree)
        for words, tree in edited
        if not any(map(_has_space, tree.words)) and _count_ties(tree.words, words) <= MAX_TIES
    ]


def _has_space(word: str) -> bool:
    return len(word.split()) != 1


def _edited(tree: kt.Tree, vocabulary: Sequence[str], rng: random.Random) -> list[str]:
    words = noisy(str(tree), PARAPHRASE, vocabulary, rng).split()
    cut = rng.randrange(len(words)) if rng.random() < 0.3 else 0
    return words[cut:] + words[:cut]


def _count_ties(words: Sequence[str], result: Sequence[str]) -> int:
    """The number of ways to tie the words: for each word, n choose k, in any order."""
    counts = [sorted((words.count(w), result.count(w))) for w in set(words)]
    return prod(comb(larger, smaller) * prod(range(1, smaller + 1)) for smaller, larger in counts)


def _plain(result: Sequence[str], tree: kt.Tree) -> tuple[int, int]:
    """Errors, and moves among them, of the way to tie with the fewest errors, then most moves."""
    from oracles.treelet_walks import all_ties, errors

    candidates = (
        errors(tree.words, tree.heads, result, ties) for ties in all_ties(tree.words, result)
    )
    best = min(candidates, key=lambda e: (sum(e[:3]), -e.moves))
    return sum(best[:3]), best.moves
