"""A small language with lemmas: plurals, a or an, a contraction, capitals, glued punctuation."""

from __future__ import annotations

import random

NOUNS = ("cat", "owl", "dog", "eel", "fox", "box", "ant", "city", "bay")
VERBS = ("see", "need", "miss", "try")
Row = tuple[str, str, str, str, str, int, str, str]


def plural(lemma: str) -> str:
    """cats, foxes, cities, bays"""
    if lemma.endswith(("s", "x")):
        return f"{lemma}es"
    if lemma.endswith("y") and lemma[-2] not in "ao":
        return f"{lemma[:-1]}ies"
    return f"{lemma}s"


def toy_lemmas(sentences: int, seed: int) -> str:
    """CoNLL-U text of sentences like `An owl doesn't see cats.`"""
    rng, lines = random.Random(seed), []
    for i in range(sentences):
        lines += [f"# newdoc id = d{i // 4}"] if i % 4 == 0 else []
        lines += [*_sentence(rng), ""]
    return "\n".join(lines) + "\n"


def _sentence(rng: random.Random) -> list[str]:
    subject, object_noun, verb = rng.choice(NOUNS), rng.choice(NOUNS), rng.choice(VERBS)
    article, negated = ("an" if subject[0] in "aeiou" else "a"), rng.random() < 0.5
    third = "Number=Sing|Person=3|Tense=Pres|VerbForm=Fin"
    form = "tries" if verb == "try" else "misses" if verb == "miss" else f"{verb}s"
    middle = [(form, verb, "VERB", "VBZ", third)]
    if negated:
        middle = [
            ("does", "do", "AUX", "VBZ", third),
            ("n't", "not", "PART", "RB", "Polarity=Neg"),
            (verb, verb, "VERB", "VB", "VerbForm=Inf"),
        ]
    at = 2 + len(middle)
    rows = [
        (article.capitalize(), "a", "DET", "DT", "Definite=Ind", 2, "det", "_"),
        (subject, subject, "NOUN", "NN", "Number=Sing", at, "nsubj", "_"),
    ]
    for n, (word, lemma, upos, xpos, feats) in enumerate(middle, 3):
        relation = {"AUX": "aux", "PART": "advmod", "VERB": "root"}[upos]
        glue = "SpaceAfter=No" if upos == "AUX" else "_"
        rows.append((word, lemma, upos, xpos, feats, 0 if n == at else at, relation, glue))
    rows.append(
        (plural(object_noun), object_noun, "NOUN", "NNS", "Number=Plur", at, "obj", "SpaceAfter=No")
    )
    rows.append((".", ".", "PUNCT", ".", "_", at, "punct", "_"))
    return [
        f"{n}\t{word}\t{lemma}\t{upos}\t{xpos}\t{feats}\t{head}\t{relation}\t_\t{misc}"
        for n, (word, lemma, upos, xpos, feats, head, relation, misc) in enumerate(rows, 1)
    ]
