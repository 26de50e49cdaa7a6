"""Stemmers: NLTK's Porter to the letter, and Snowball's on any text."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path

import pytest
import Stemmer
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.definers import porter
from oracles.strategies import hard_text

from karat.metrics.names import metric as parse
from karat.text.tokens import PORTER_NLTK, Vocab, stem_words, stemmers


def stems(stemmer: str, words: Sequence[str]) -> list[str]:
    """The stems of distinct words, in their order."""
    source, target = Vocab(), Vocab()
    source.add(list(words))
    ids = stem_words(stemmer, source, 0, target)
    actual = target.words(0, len(target))
    return [actual[i] for i in ids.tolist()]


def check(words: Sequence[str]) -> None:
    """Karat's stems are NLTK's."""
    distinct = list(dict.fromkeys(words))
    actual = stems(PORTER_NLTK, distinct)
    wrong = [(w, f, porter(w)) for w, f in zip(distinct, actual, strict=True) if f != porter(w)]
    assert not wrong, wrong[:10]


def test_nltk_on_the_words_of_ewt(karat_data: Path) -> None:
    words = []
    for path in sorted((karat_data / "treebank-ewt").glob("*.conllu")):
        for line in path.read_text("utf-8").splitlines():
            fields = line.split("\t")
            if len(fields) == 10:
                words += [fields[1], fields[2]]
    assert len(set(words)) > 20_000
    check(words)


STEMS = ["", "b", "by", "tr", "oat", "sky", "plast", "hop", "hopp", "fall", "hiss", "fizz", "geo"]
STEMS += ["theo", "gener", "conn", "feed", "agr", "yy", "yay", "controll", "roll", "vietnam"]
SUFFIXES = [
    *("", "s", "ss", "es", "ies", "sses", "ed", "eed", "ied", "ing", "at", "bl", "iz", "y", "ly"),
    *("ational", "tional", "enci", "anci", "izer", "bli", "alli", "entli", "eli", "ousli"),
    *("ization", "ation", "ator", "alism", "iveness", "fulness", "ousness", "aliti", "iviti"),
    *("biliti", "fulli", "logi", "icate", "ative", "alize", "iciti", "ical", "ful", "ness", "al"),
    *("ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "sion", "tion"),
    *("ion", "ou", "ism", "ate", "iti", "ous", "ive", "ize", "e", "ll", "l", "ally", "fully"),
    *("logy", "ency", "ancy", "ably", "ible"),
]


def test_nltk_on_chains_of_suffixes() -> None:
    check(["".join(parts) for parts in product(STEMS, SUFFIXES, SUFFIXES)])


def test_nltk_on_irregular_forms() -> None:
    forms = "sky skies dying lying tying news innings inning outings outing cannings canning howe"
    words = f"{forms} proceed exceed succeed died dies ties tied lie die spied".split()
    check([*words, *(word.upper() for word in words), *(word.title() for word in words)])


@given(
    words=st.lists(
        st.tuples(
            st.text("aeioybcdlstz", max_size=7),
            st.lists(st.sampled_from(SUFFIXES), max_size=3).map("".join),
        ).map("".join),
        max_size=30,
    )
)
@settings(max_examples=150)
def test_nltk_on_made_up_words(words: list[str]) -> None:
    check(words)


@given(words=st.lists(st.tuples(hard_text, st.sampled_from(SUFFIXES)).map("".join), max_size=5))
@settings(max_examples=150)
def test_nltk_on_any_text(words: list[str]) -> None:
    check(words)


@given(words=st.lists(st.text(max_size=12), unique=True, max_size=8))
def test_snowball_is_pystemmers(words: list[str]) -> None:
    words = [word.encode("utf-8", "ignore").decode() for word in words]
    distinct = list(dict.fromkeys(words))
    for name in ("porter", "english", "german", "russian"):
        assert stems(name, distinct) == Stemmer.Stemmer(name).stemWords(distinct)


@pytest.mark.parametrize("stemmer", ["porter", "english", "russian"])
def test_snowball_leaves_a_lone_surrogate_as_it_is(stemmer: str) -> None:
    assert stems(stemmer, ["\ud800", "runs"])[0] == "\ud800"
    assert parse(f"rs:n=1,stem={stemmer}").corpus(["\ud800"], ["\ud800"]).value == 1


def test_the_names_of_stemmers() -> None:
    names = tuple(stemmers())
    assert names[:2] == ("none", "porter-nltk")
    assert {"porter", "english", "german", "french"} < set(names)
    assert len(set(names)) == len(names)


def test_a_vocabulary_is_stemmed_from_where_it_was_left() -> None:
    source, target = Vocab(), Vocab()
    source.add(["cats", "dogs"])
    first = stem_words(PORTER_NLTK, source, 0, target).tolist()
    source.add(["dog", "running"])
    second = stem_words(PORTER_NLTK, source, 2, target).tolist()
    assert target.words(0, len(target)) == ["cat", "dog", "run"]
    assert (first, second) == ([0, 1], [1, 2])
