"""No paraphrase changes a number, a name or a negation of its sentence."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from importlib import resources
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.small_tables import table

from karat import fact_changes
from karat.errors import InputError
from karat.evalset.loading import load_evalset
from karat.lm.model import LanguageModel
from karat.meta.planting import language_rules, languages
from karat.paraphrase.generate.generator import Generator
from karat.paraphrase.generate.paraphraser import find_wordings, generate_lines
from karat.paraphrase.generate.rewrites import keeps_facts
from karat.paraphrase.pem.model import PEM

LOWER = {"tok": "none", "case": "lower", "stem": "none"}

# ------------------------------------------------------------------------------- many sentences


@cache
def originals() -> list[str]:
    text = (resources.files("karat") / "data/paraphrase/en-fr.tsv").read_text("utf-8")
    parallel = [line.split("\t")[0] for line in text.splitlines()]
    return [*dict.fromkeys((*(load_evalset("demo-paraphrases").sources or ()), *parallel[::5]))]


@cache
def pairs() -> list[tuple[str, str]]:
    """The originals, and all that the bundled model writes for them, however unsure."""
    generated = PEM.open().generate(originals(), 128, confidence=0)
    return [
        (original, paraphrase.text)
        for original, paraphrases in zip(originals(), generated, strict=True)
        for paraphrase in paraphrases
    ]


_NUMBERS = """
    two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty hundred
    thousand million second third twice january february april june july august september october
    november december monday tuesday wednesday thursday friday saturday sunday
"""
_NEGATIONS = "no not never none nobody nothing nowhere neither nor cannot without unable"
NUMBERS, NEGATIONS = set(_NUMBERS.split()), set(_NEGATIONS.split())


def facts(text: str) -> tuple[Counter[str], int, list[str]]:
    """Numbers, how many negations, and names: without Karat's rules, and for English only."""
    words = re.findall(r"[a-z]+(?:n['’]t)?|\d+", text.lower())
    numbers = Counter(word for word in words if word in NUMBERS or word.isdigit())
    negations = sum(word in NEGATIONS or word.endswith(("n't", "n’t")) for word in words)
    return numbers, negations, re.findall(r"(?<=[a-z,] )(?!I\b)[A-Z]\w+", text)


def test_many_paraphrases_keep_the_facts() -> None:
    assert len(pairs()) > 1000
    for original, paraphrase in pairs():
        assert not fact_changes(paraphrase, [original]), (original, paraphrase)
        expected, written = facts(original), facts(paraphrase)
        assert written[1:] == expected[1:], (original, paraphrase)
        assert written[0] == expected[0] or not written[0] or not expected[0]


def test_many_of_these_have_facts() -> None:
    """Otherwise the test above could not fail."""
    having = [facts(original) for original, _ in pairs()]
    assert sum(bool(numbers) for numbers, _, _ in having) > 50
    assert sum(bool(negations) for _, negations, _ in having) > 50
    assert sum(bool(names) for _, _, names in having) > 20


# ------------------------------------------------------------------- rewrites of small models

CHANGES = [
    ("en", "we met three friends", "three", "four"),
    ("en", "we met two friends", "two", "some"),
    ("en", "he came in january again", "january", "february"),
    ("en", "he called once again", "once", "twice"),
    ("en", "i can hardly hear it", "can hardly", "can clearly"),
    ("en", "it left at three o'clock", "three o'clock", "three hours"),
    ("en", "we were unable to come", "were unable to", "were happy to"),
    ("de", "wir sahen drei freunde", "drei", "vier"),
    ("de", "wir haben keine zeit", "haben keine", "haben viel"),
    ("de", "er kam am Montag an", "Montag", "Dienstag"),
    ("fr", "nous avons trois amis", "trois", "quatre"),
    ("fr", "elle ne mange jamais ici", "ne mange jamais", "mange toujours"),
    ("es", "tenemos cinco amigos", "cinco", "seis"),
    ("es", "ella nunca come aquí", "nunca", "siempre"),
    ("it", "abbiamo sette amici", "sette", "otto"),
    ("pt", "ele não trabalha aqui", "não trabalha", "trabalha bem"),
    ("nl", "hij heeft geen tijd", "geen", "veel"),
    ("ru", "мы видели трёх друзей", "трёх", "пять"),
    ("ru", "он никогда не приходит", "никогда не", "всегда здесь"),
    ("zh", "我 有 三 个 朋友", "三 个", "四 个"),
    ("zh", "他 没有 时间", "没有", "有 些"),
    ("ja", "彼 は 三 人 の 友達 が いる", "三 人", "五 人"),
]
"""Language, original, and a rewrite that changes a fact."""


def rewritten(lang: str, line: str, old: str, new: str) -> list[str]:
    """What a model of a single rewrite writes; its language model has seen both sentences."""
    rewrites = table({old.lower(): {new.lower(): 1}}, LOWER)
    seen = [line.lower(), line.replace(old, new).lower()]
    language = LanguageModel.train(seen, 3, tok="none", case="lower")
    casing = {new.lower(): new} if new[0].isupper() else {}
    generator = Generator(rewrites, language, casing).trusting(lang)
    return [wording.text for wording in find_wordings(generator, [line], 9, 0.0, lang)[0]]


@pytest.mark.parametrize(("lang", "line", "old", "new"), CHANGES)
def test_rewrites_that_change_a_fact_are_never_proposed(
    lang: str, line: str, old: str, new: str
) -> None:
    assert rewritten(lang, line, old, new) == []


@pytest.mark.parametrize(
    ("lang", "line", "old", "new"),
    [change for change in CHANGES if change[2][0].islower() and change[1].isascii()],
)
def test_without_the_rules_of_the_language_some_would_be(
    lang: str, line: str, old: str, new: str
) -> None:
    assert rewritten("other", line, old, new) == [line.replace(old, new)]


@pytest.mark.parametrize(
    ("lang", "line", "old", "new"),
    [
        ("en", "we met three good friends", "good", "old"),
        ("en", "it has no end", "has no end", "is without end"),
        ("en", "we waited half an hour", "half an hour", "thirty minutes"),
        ("de", "wir haben keine zeit mehr", "haben keine zeit", "besitzen keine zeit"),
        ("fr", "elle ne mange jamais ici", "mange", "dîne"),
        ("zh", "我 有 三 个 朋友", "朋友", "伙伴"),
    ],
)
def test_rewrites_that_keep_the_facts_are_proposed(
    lang: str, line: str, old: str, new: str
) -> None:
    assert rewritten(lang, line, old, new) == [line.replace(old, new)]


# ------------------------------------------------------------------------------------ the rule

NAMES = [
    ("en", "He met Tom in Paris.", "He met Tom in London."),
    ("en", "We saw the Rhine yesterday.", "We saw the river yesterday."),
    ("fr", "Il habite à Lyon depuis longtemps.", "Il habite à Nice depuis longtemps."),
    ("es", "Ella vive en Madrid ahora.", "Ella vive en Sevilla ahora."),
    ("it", "Lei vive a Torino adesso.", "Lei vive a Napoli adesso."),
    ("ru", "Он живёт в Москве давно.", "Он живёт в Казани давно."),
]


@pytest.mark.parametrize(("lang", "original", "text"), NAMES)
def test_names_are_kept(lang: str, original: str, text: str) -> None:
    assert keeps_facts(original, original, lang)
    assert not keeps_facts(text, original, lang)
    assert not keeps_facts(original, text, lang)


SAME_NUMBER = {("dois", "duas"), ("два", "две")}
WORD_WITHIN = {("同意", "不同意")}
"""`不同` (different) is no negation to the rules, which find it in `不同意` (disagree)."""


@pytest.mark.parametrize("lang", languages())
def test_other_numbers_and_negations_in_ten_languages(lang: str) -> None:
    """The words are those of planted errors, which were not chosen for these rules."""
    rules = language_rules(lang)
    space = " " if rules.spaces else ""
    for a, b in permutations(rules.numbers, 2):
        if not {(a, b), (b, a)} & SAME_NUMBER:
            follower = "" if rules.spaces else "个" if lang == "zh" else "人"
            original, text = (f"xx{space}{word}{follower}{space}yy." for word in (a, b))
            assert not keeps_facts(text, original, lang), (original, text)
    for phrase, negation in {*rules.negations, *rules.removals} - WORD_WITHIN:
        original, text = (f"xx{space}{words}{space}yy." for words in (phrase, negation))
        assert not keeps_facts(text, original, lang), (original, text)
        assert not keeps_facts(original, text, lang), (text, original)


@given(st.sampled_from(originals()), st.integers(2, 10**6), st.integers(2, 10**6))
def test_the_rule_is_symmetric_and_sees_digits(text: str, a: int, b: int) -> None:
    assert keeps_facts(text, text)
    first, second = (f"{text} It costs {number:,} euros." for number in (a, b))
    assert keeps_facts(second, first) == keeps_facts(first, second) == (a == b)
    assert not keeps_facts(text, first)


@given(st.sampled_from(originals()))
def test_an_added_negation_is_seen(text: str) -> None:
    assert not keeps_facts(f"{text} That is not true.", f"{text} That is quite true.")


def test_an_unknown_language_is_refused() -> None:
    with pytest.raises(InputError, match="lang=xx: expected one of en, de"):
        list(generate_lines(PEM.open(), ["A dog."], lang="xx"))
