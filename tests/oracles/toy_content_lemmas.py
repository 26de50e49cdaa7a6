"""A small language of content lemmas whose forms depend on inserted words, and the other way round.

`not` is `n't` after `does`, and `not` after `will`; an article is `a` or `an`, `le` or `l'`; `du`
stands for `de le`; names have capitals within.
"""

from __future__ import annotations

import random
from typing import NamedTuple

NOUNS = ("cat", "owl", "dog", "eel")
NAMES = ("McDonald", "DeVito", "Leeds", "York")
PLACES = ("arbre", "jardin", "école", "lac")
VERBS = ("see", "need")
PRESENT = "Mood=Ind|Tense=Pres|VerbForm=Fin"
ARTICLE = "Definite={}|PronType=Art"


class ToySentence(NamedTuple):
    """CoNLL-U of all words, the tree of its content lemmas in brackets, and its text."""

    conllu: str
    content: str
    text: str


class _Word(NamedTuple):
    form: str
    lemma: str
    upos: str
    xpos: str
    features: str
    head: str
    relation: str
    glued: bool = False


def toy_sentences(n: int, seed: int) -> list[ToySentence]:
    """Return sentences like `An owl doesn't see McDonald du lac.`"""
    rng = random.Random(seed)
    return [_sentence(rng) for _ in range(n)]


def _sentence(rng: random.Random) -> ToySentence:
    noun, name, place = rng.choice(NOUNS), rng.choice(NAMES), rng.choice(PLACES)
    verb, aux = rng.choice(VERBS), rng.choice(("", "does", "will"))
    definite, negated = rng.random() < 0.5, bool(aux) and rng.random() < 0.6
    negated |= aux == "does"
    article = "the" if definite else "an" if noun[0] in "aeiou" else "a"
    vowel = place[0] in "aé"
    of_noun = ARTICLE.format("Def" if definite else "Ind")
    of_verb = "VerbForm=Inf" if aux else PRESENT
    words = [
        _Word(article, "the" if definite else "a", "DET", "DT", of_noun, noun, "det"),
        _Word(noun, noun, "NOUN", "NN", "Number=Sing", verb, "nsubj"),
    ]
    if aux:
        aux_features = PRESENT if aux == "does" else "VerbForm=Fin"
        lemma = "do" if aux == "does" else aux
        xpos = "VBZ" if aux == "does" else "MD"
        words.append(_Word(aux, lemma, "AUX", xpos, aux_features, verb, "aux", aux == "does"))
    if negated:
        form = "n't" if aux == "does" else "not"
        words.append(_Word(form, "not", "PART", "RB", "Polarity=Neg", verb, "advmod"))
    words += [
        _Word(
            verb if aux else f"{verb}s", verb, "VERB", "VB" if aux else "VBZ", of_verb, "", "root"
        ),
        _Word(name, name, "PROPN", "NNP", "Number=Sing", verb, "obj"),
        _Word("de", "de", "ADP", "IN", "_", place, "case"),
        _Word(
            "l'" if vowel else "le", "le", "DET", "DT", ARTICLE.format("Def"), place, "det", vowel
        ),
        _Word(place, place, "NOUN", "NN", "Number=Sing", verb, "obl", True),
        _Word(".", ".", "PUNCT", ".", "_", verb, "punct"),
    ]
    words[0] = words[0]._replace(form=article.capitalize())
    of = "|Tense[aux]=" + {"does": "Pres", "will": "Fut"}[aux] if aux else ""
    content = (
        f"({verb} root VERB {'VB' if aux else 'VBZ'} {of_verb}{of}\n"
        f"  ({noun} nsubj NOUN NN Definite={'Def' if definite else 'Ind'}|Number=Sing)\n"
        f"  {'(not advmod PART RB Polarity=Neg)' if negated else ''}\n"
        f"  ({name} obj PROPN NNP Number=Sing)\n"
        f"  ({place} obl NOUN NN Definite=Def|Number=Sing))\n"
    )
    return ToySentence(_conllu(words, vowel), content, _text(words))


def _conllu(words: list[_Word], vowel: bool) -> str:
    place = {word.lemma: i for i, word in enumerate(words, 1)}
    rows = []
    for i, word in enumerate(words, 1):
        if word.form == "de" and not vowel:
            rows.append(f"{i}-{i + 1}\tdu" + "\t_" * 8)
        misc = "SpaceAfter=No" if word.glued else "_"
        head = place[word.head] if word.head else 0
        rows.append("\t".join((str(i), *word[:5], str(head), word.relation, "_", misc)))
    return "\n".join(rows) + "\n\n"


def _text(words: list[_Word]) -> str:
    text = "".join(word.form + ("" if word.glued else " ") for word in words)
    return text.strip().replace("de le ", "du ")
