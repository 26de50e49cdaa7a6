"""A small language with function words, features and punctuation, as a treebank.

A sentence has a subject, a verb, perhaps a place, and ends in a mark. The features of the content
words tell everything: places that are towns have `at`, others `in`; the future has `will`.
"""

from __future__ import annotations

import random

NOUNS = ("cat", "dog", "owl", "eel", "man")
PLACES = {"house": "in", "garden": "in", "leeds": "at", "york": "at"}
VERBS = ("sleep", "sing", "wait")


def sentence(rng: random.Random) -> list[list[str]]:
    """Return the words of a sentence: form, lemma, tag, features, head, relation."""
    noun, verb, place = rng.choice(NOUNS), rng.choice(VERBS), rng.choice((*PLACES, ""))
    definite, future, question = (rng.random() < 0.5 for _ in range(3))
    article = "the" if definite else "an" if noun[0] in "aeiou" else "a"
    article_features = f"Definite={'Def' if definite else 'Ind'}|PronType=Art"
    words = [
        [article, "the" if definite else "a", "DET", article_features, noun, "det"],
        [noun, noun, "NOUN", "Number=Sing", verb, "nsubj"],
    ]
    if future:
        words.append(["will", "will", "AUX", "VerbForm=Fin", verb, "aux"])
    form = "Mood=Int" if question else "Mood=Ind"
    words.append([verb if future else f"{verb}s", verb, "VERB", form, "", "root"])
    if place:
        words.append([PLACES[place], PLACES[place], "ADP", "_", place, "case"])
        words.append([place, place, "PROPN", "Number=Sing", verb, "obl"])
    words.append(["?" if question else ".", ".", "PUNCT", "_", verb, "punct"])
    words[0][0] = words[0][0].capitalize()
    return words


def lines(words: list[list[str]], number: int) -> str:
    """Return a sentence in CoNLL-U."""
    place = {word[1]: i for i, word in enumerate(words, 1)}
    rows = [f"# sent_id = {number}"]
    for i, (form, lemma, tag, features, head, relation) in enumerate(words, 1):
        above = place[head] if head else 0
        rows.append(f"{i}\t{form}\t{lemma}\t{tag}\t{tag}\t{features}\t{above}\t{relation}\t_\t_")
    return "\n".join(rows) + "\n\n"


def toy_content(n: int, seed: int) -> str:
    """Return a treebank of n sentences."""
    rng = random.Random(seed)
    return "".join(lines(sentence(rng), i) for i in range(n))
