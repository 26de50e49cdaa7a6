"""Small random treebanks, as CoNLL-U text."""

from __future__ import annotations

import random


def random_treebank(
    seed: int,
    sentences: int,
    words: str = "abc",
    tags: str = "XY",
    relations: tuple[str, ...] = ("nsubj", "obj", "det"),
    most: int = 5,
) -> str:
    """Sentences of random trees over few words, so that every word has many labels."""
    rng = random.Random(seed)
    parts = []
    for _ in range(sentences):
        n = rng.randint(1, most)
        order = rng.sample(range(1, n + 1), n)
        heads = {order[0]: 0} | {order[i]: order[rng.randrange(i)] for i in range(1, n)}
        lines = []
        for i in range(1, n + 1):
            relation = rng.choice(relations) if heads[i] else "root"
            word, tag = rng.choice(words), rng.choice(tags)
            lines.append(f"{i}\t{word}\t_\t{tag}\t_\t_\t{heads[i]}\t{relation}\t_\t_")
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n\n"
