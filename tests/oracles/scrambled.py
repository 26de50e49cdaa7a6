"""A treebank file with the words of every sentence in another order: the same trees."""

from __future__ import annotations

import random


def scrambled(text: str, seed: int, *, with_original_ids: bool = False) -> str:
    """CoNLL-U text whose sentences have their words shuffled and renumbered.

    With `with_original_ids`, MISC says where each word was, as in the Surface Realization tasks.
    """
    rng = random.Random(seed)
    parts = (_sentence(part, rng, with_original_ids) for part in text.strip().split("\n\n"))
    return "\n\n".join(parts) + "\n\n"


def _sentence(part: str, rng: random.Random, with_original_ids: bool) -> str:
    lines = [line for line in part.split("\n") if not line.startswith("#")]
    words = [line.split("\t") for line in lines if line.split("\t")[0].isdigit()]
    order = list(range(len(words)))
    rng.shuffle(order)
    number = {"0": "0"} | {words[old][0]: str(new) for new, old in enumerate(order, 1)}
    rows = []
    for old in order:
        cells = list(words[old])
        cells[9] = f"original_id={cells[0]}" if with_original_ids else "_"
        cells[0], cells[6] = number[cells[0]], number[cells[6]]
        rows.append("\t".join(cells))
    return "\n".join(rows)
