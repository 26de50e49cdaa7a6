"""A small language with a fixed word order, as CoNLL-U text: what an ordering model must learn."""

from __future__ import annotations

import random

Row = tuple[str, str, str, int, str]  # form, tag, own tag, head (from 1), relation

SUBJECTS = ("cat", "dog", "bird")
NOUNS = ("tree", "house", "river")
VERBS = ("sees", "likes", "finds", "follows")
ADJECTIVES = ("small", "old", "green")
ADVERBS = ("often", "never")


def sentence(rng: random.Random) -> list[Row]:
    """the (small) cat (often) sees the tree (near the river) . — with what is in brackets or not.

    Subjects are never objects, so that words alone tell which is which.
    """
    rows: list[Row] = []
    _phrase(rows, rng, "nsubj")
    if rng.random() < 0.5:
        rows.append((rng.choice(ADVERBS), "ADV", "RB", -1, "advmod"))
    rows.append((rng.choice(VERBS), "VERB", "VBZ", 0, "root"))
    verb = len(rows)
    _phrase(rows, rng, "obj")
    if rng.random() < 0.5:
        _phrase(rows, rng, "obl", "near")
    rows.append((".", "PUNCT", ".", -1, "punct"))
    return [(w, t, x, verb if h == -1 else h, r) for w, t, x, h, r in rows]


def _phrase(rows: list[Row], rng: random.Random, relation: str, case: str = "") -> None:
    before: list[tuple[str, str, str, str]] = [(case, "ADP", "IN", "case")] if case else []
    before.append(("the", "DET", "DT", "det"))
    if rng.random() < 0.5:
        before.append((rng.choice(ADJECTIVES), "ADJ", "JJ", "amod"))
    noun = len(rows) + len(before) + 1
    rows += [(w, t, x, noun, r) for w, t, x, r in before]
    nouns = SUBJECTS if relation == "nsubj" else NOUNS
    rows.append((rng.choice(nouns), "NOUN", "NN", -1, relation))


def toy_treebank(sentences: int, seed: int) -> str:
    """CoNLL-U text, a document every four sentences."""
    rng = random.Random(seed)
    lines: list[str] = []
    for i in range(sentences):
        lines += [f"# newdoc id = d{i // 4}"] if i % 4 == 0 else []
        lines.append(f"# sent_id = s{i}")
        for n, (word, tag, fine_tag, head, relation) in enumerate(sentence(rng), 1):
            lines.append(f"{n}\t{word}\t{word}\t{tag}\t{fine_tag}\t_\t{head}\t{relation}\t_\t_")
        lines.append("")
    return "\n".join(lines) + "\n"
