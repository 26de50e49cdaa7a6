"""The facts of a text: its numbers, negations and names.

A text is split into tokens once. What a token can be - a number word, a unit, a capitalised word -
is looked up in a vocabulary that grows with the texts, so that most texts cost one look-up per
token. Places in the text are computed only for texts that have facts.
"""

from __future__ import annotations

import math
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from karat.facts.han_numbers import numbers_in_han
from karat.facts.numbers import (
    HYPHENS,
    PAIRED,
    STRONG,
    TOKEN,
    WEAK,
    Number,
    Span,
    WordNumber,
    numbers_in_words,
    roman_value,
    word_number,
)
from karat.facts.rules import LazyProperty, Rules, Value, rules_for

MAX_VOCABULARY = 1 << 18
"""Tokens whose properties are stored."""

_TITLE = 0.6
"""Share of capitalised words from which a text is a title, whose capitals say nothing.

Where all nouns have capitals, only words with several capitals count.
"""
_STRENGTHS = {"marker": STRONG, "concord": STRONG, "weak": PAIRED, "across": WEAK}
_SCOPE = 60
"""Characters after a negation in which its predicate is looked for."""
_MAX_ACRONYM = 6
_MAX_LIKE = 100
"""Words with one first letter up to which a name is compared with all of them."""
_WORD = re.compile(r"[^\W\d_]+")

_HAN = "\u2e80-\u9fff\uf900-\ufaff\uff01-\uff9f"
_APOSTROPHE = re.compile(r"(?<=[^\W\d_])[ʼ`´＇′](?=[^\W\d_])")
_HAN_SPACE = re.compile(rf"(?<=[{_HAN}、。，0-9])[ \u3000]+(?=[{_HAN}、。，0-9])")


class Negation(NamedTuple):
    """A word of negation at a place of a text: `not`; or one that can stand for it."""

    strength: int
    """`STRONG`, `PAIRED` for words such as `refuse`, `WEAK` for ones such as `too`, which stand for
    a negation only between languages."""
    start: int
    end: int


class Name(NamedTuple):
    """A name in a text: a run of capitalised words, an acronym, a word like `GitHub`.

    It is weak if its capital may have another reason, such as the beginning of a sentence; or
    `PAIRED`, if the language has a list of common words that begin sentences.
    """

    words: tuple[str, ...]
    """Its words in lower case, without words such as `of`."""
    strength: int
    start: int
    """Its first token."""
    end: int
    """Its last token."""


class _Token(NamedTuple):
    """The facts that a token can be part of."""

    number: WordNumber | None = None
    is_strong: bool = False
    """Whether it is digits, or a word that is a number, a month or a weekday."""
    capital: int = 0  # 1 a first capital, 2 an acronym or a capital within the word
    is_common: bool = False
    negates: int = -1
    """The strength of a word or phrase of negation that may begin with it; -1 for none."""


_PLAIN = _Token()


class _Vocabulary(dict[str, _Token]):
    """Tokens with their properties, looked up when they first occur."""

    def __init__(self, rules: Rules) -> None:
        super().__init__()
        self._rules = rules

    def __missing__(self, token: str) -> _Token:
        if len(self) >= MAX_VOCABULARY:
            self.clear()
        self[token] = properties = self._properties(token)
        return properties

    def _properties(self, token: str) -> _Token:
        if token[0].isdecimal():
            return _Token(is_strong=True)
        lower, rules = token.lower(), self._rules
        number: WordNumber | None = word_number(lower.rstrip("."), rules)
        exact = rules.units.get(token)
        if exact is not None and number is not None and number.unit is None:
            number = number._replace(unit=exact)
        if (roman := roman_value(token)) is not None:
            number = (number or WordNumber())._replace(roman=roman)
        if number == WordNumber():
            number = None
        capital = 0
        if token[0].isupper():
            letters = token.replace(".", "")
            inner = any(c.isupper() for c in re.split("['’]", letters)[0][1:])
            capital = 2 if inner else 1
        elif any(c.isupper() for c in token[1:]) and "'" not in token and "’" not in token:
            capital = 2
        stem = re.split("['’]", lower)[0]
        is_number_word = number is not None and number.cardinal is not None
        is_common = is_number_word or lower in rules.common or stem in rules.common
        is_strong = number is not None and number.is_strong
        match = rules.negations.match(token) if rules.negations else None
        strengths = [_STRENGTHS[match.lastgroup or ""]] if match else []
        strengths += [_STRENGTHS[group] for group in rules.first_words.get(lower, ())]
        negates = max(strengths, default=-1)
        properties = _Token(number, is_strong, capital, is_common, negates)
        return _PLAIN if properties == _PLAIN else properties


_VOCABULARIES: dict[str, _Vocabulary] = {}


def _vocabulary(rules: Rules) -> _Vocabulary:
    """Return the vocabulary of a language."""
    if rules.lang not in _VOCABULARIES:
        _VOCABULARIES[rules.lang] = _Vocabulary(rules)
    return _VOCABULARIES[rules.lang]


@dataclass(frozen=True, eq=False)
class TextFacts:
    """The facts of one text, each kind found when it is first needed."""

    text: str
    rules: Rules

    @LazyProperty
    def _tokens(self) -> list[str]:
        return TOKEN.findall(self.text)

    @LazyProperty
    def _marks(self) -> list[tuple[int, _Token]]:
        """The places of tokens that can be part of a fact, and what they can be."""
        vocabulary = _vocabulary(self.rules)
        marks = map(vocabulary.__getitem__, self._tokens)
        return [pair for pair in enumerate(marks) if pair[1] is not _PLAIN]

    @LazyProperty
    def _spans(self) -> list[Span]:
        return [match.span() for match in TOKEN.finditer(self.text)]

    @LazyProperty
    def numbers(self) -> tuple[Number, ...]:
        """The numbers, dates and times."""
        if self.rules.is_han:
            return tuple(numbers_in_han(self.text, self.rules))
        words: list[WordNumber | None] = [None] * len(self._tokens)
        for i, mark in self._marks:
            words[i] = mark.number
        return tuple(numbers_in_words(self._tokens, self._spans, words, self.rules))

    @LazyProperty
    def has_numbers(self) -> bool:
        """Whether it has numbers that can be changed, missing or added."""
        if self.rules.is_han:
            return any(number.strength for number in self.numbers)
        return any(mark.is_strong for _, mark in self._marks)

    @LazyProperty
    def _number_index(self) -> dict[Value, list[Number]]:
        """The numbers by value, without duplicates."""
        index: dict[Value, list[Number]] = {}
        for number in {(n.values, n.unit): n for n in self.numbers}.values():
            for value in number.values:
                index.setdefault(value, []).append(number)
        return index

    @LazyProperty
    def _measure_index(self) -> dict[tuple[str, Fraction], Number]:
        """A number with a unit by its dimension and its value in the unit of the dimension."""
        return {measure: number for number in self.numbers for measure in number.measures()}

    def has_number(self, number: Number) -> bool:
        """Return whether it has a number that agrees with a number of another text."""
        index = self._number_index
        near = (n for value in number.values if value in index for n in index[value])
        if any(number.agrees(n) for n in near):
            return True
        return any(measure in self._measure_index for measure in number.measures())

    def _negation_matches(self, least: int) -> list[re.Match[str]]:
        """Return the matches of words of negation of some strength, which may overlap."""
        pattern, text = self.rules.negations, self.text
        if pattern is None:
            return []
        if self.rules.is_han:
            return list(pattern.finditer(text))
        places = [i for i, mark in self._marks if mark.negates >= least]
        starts = (self._spans[i][0] for i in places)
        return [match for start in starts if (match := pattern.match(text, start))]

    @LazyProperty
    def negations(self) -> tuple[Negation, ...]:
        """The words of negation, and those that can stand for it in the language."""
        return self._negations(PAIRED)

    @LazyProperty
    def all_negations(self) -> tuple[Negation, ...]:
        """All words of negation, also those that can stand for a negation in another language."""
        return self._negations(WEAK)

    def _negations(self, least: int) -> tuple[Negation, ...]:
        """Return words of negation; a word of concord near a marker is none of its own."""
        matches = self._negation_matches(least)
        if not matches:
            return ()
        either: list[tuple[int, int]] = []
        if any(match.lastgroup in ("marker", "concord") for match in matches):
            neutral, text = _spans_of(self.rules.neutral, self.text), self.text
            matches = [match for match in matches if not _is_within(match.start(), neutral)]
            if neutral and self.rules.neutral is not None:  # they are in no construction
                text = self.rules.neutral.sub(lambda match: " " * len(match[0]), text)
            either = _spans_of(self.rules.either, text)
        markers = [match.start() for match in matches if match.lastgroup == "marker"]
        window, negations = self.rules.window, list[Negation]()
        last = -window - 1
        stop = 0
        for match in matches:
            start, end = match.span()
            if start < stop:
                continue
            stop = end
            if match.lastgroup == "concord":
                at = bisect_left(markers, start - window)
                is_near = at < len(markers) and markers[at] <= start + window
                if is_near or start - last <= window:
                    continue
                last = start
            strength = _STRENGTHS[match.lastgroup or ""]
            if strength == STRONG and _is_within(start, either):
                strength = PAIRED
            negations.append(Negation(strength, start, end))
        return tuple(negations)

    @LazyProperty
    def negated(self) -> frozenset[str]:
        """The first content word after each negation, in lower case."""
        skipped, words = self.rules.auxiliaries, set()
        for negation in self.negations:
            if negation.strength < STRONG:
                continue
            for match in _WORD.finditer(self.text, negation.end, negation.end + _SCOPE):
                word = match[0].lower()
                if len(word) > 3 and word not in skipped:
                    words.add(word)
                    break
        return frozenset(words)

    @LazyProperty
    def words(self) -> frozenset[str]:
        """All words in lower case, without dots and `'s`."""
        return frozenset(filter(None, map(_bare, self._tokens)))

    @LazyProperty
    def _words_by_beginning(self) -> dict[str, list[str]]:
        """All words by their first letter, and by their first four."""
        by_beginning: dict[str, list[str]] = {}
        for word in self.words:
            for beginning in {word[0], word[:4]}:
                by_beginning.setdefault(beginning, []).append(word)
        return by_beginning

    def words_like(self, word: str) -> Sequence[str]:
        """Return the words with the same first letter; of many, those with the same first four."""
        words = self._words_by_beginning.get(word[0], ())
        return words if len(words) <= _MAX_LIKE else self._words_by_beginning.get(word[:4], ())

    @LazyProperty
    def acronyms(self) -> frozenset[str]:
        """The runs of first letters of its words that can be acronyms."""
        initials = (token[0].lower() for token in self._tokens if token[0].isalpha())
        return frozenset(acronyms_of("".join(initials)))

    @LazyProperty
    def names(self) -> tuple[Name, ...]:
        """The names, in languages with capitals."""
        capitals = {i: mark for i, mark in self._marks if mark.capital and not self._is_unit(i)}
        return tuple(self._runs(capitals)) if capitals else ()

    def _is_unit(self, at: int) -> bool:
        """Return whether a word with a capital is a unit at a number: `5 USD`, `EUR 5`, `US$5`."""
        tokens = self._tokens
        before, after = (tokens[at - 1] if at else ""), (*tokens[at + 1 : at + 2], "")[0]
        if after == "$":
            return True
        unit = self.rules.units.get(tokens[at])
        is_money = unit is not None and unit.dimension == "money"
        return unit is not None and (before[:1].isdecimal() or (is_money and after[:1].isdecimal()))

    def _runs(self, capitals: Mapping[int, _Token]) -> Iterator[Name]:
        """Yield the names that runs of capitalised words are."""
        tokens, run = self._tokens, list[int]()
        least = 2 if self.rules.capital_nouns else 1
        n_capitals = sum(mark.capital >= least for mark in capitals.values())
        is_title = n_capitals > max(len(tokens) * _TITLE, 3)
        for at in capitals:
            if run:
                distance = at - run[-1]
                if distance > 2 or (distance == 2 and tokens[at - 1] not in _LINKS):
                    yield from self._name(run, capitals, is_title)
                    run = []
            run.append(at)
        yield from self._name(run, capitals, is_title)

    def _name(
        self, run: Sequence[int], capitals: Mapping[int, _Token], is_title: bool
    ) -> Iterator[Name]:
        """Yield the name that a run of capitalised words is, without common words."""
        tokens = self._tokens
        proper = [i for i in run if capitals[i].capital == 2 or not capitals[i].is_common]
        words = tuple([word for i in proper if (word := _bare(tokens[i]))])
        if not words:
            return
        strength = STRONG
        if is_title or max(map(len, words)) < 2:
            strength = WEAK
        elif all(capitals[i].capital == 1 for i in proper):
            begins = _begins_sentence(tokens, run[0])
            is_initial = begins and len(proper) == 1 and proper[0] == run[0]
            if self.rules.capital_nouns and (begins or len(proper) == 1):
                strength = WEAK
            elif is_initial:
                strength = PAIRED if self.rules.initial_names else WEAK
        yield Name(words, strength, proper[0], proper[-1])

    def words_of(self, fact: Number | Negation | Name) -> str:
        """Return the part of the text that is a fact."""
        if isinstance(fact, Name):
            return self.text[self._spans[fact.start][0] : self._spans[fact.end][1]]
        return self.text[fact.start : fact.end]


def acronyms_of(initials: str) -> Iterator[str]:
    """Yield the runs of initials that are as long as acronyms."""
    for length in range(2, _MAX_ACRONYM + 1):
        yield from (initials[i : i + length] for i in range(len(initials) - length + 1))


def _spans_of(pattern: re.Pattern[str] | None, text: str) -> list[tuple[int, int]]:
    return [] if pattern is None else [match.span() for match in pattern.finditer(text)]


def _is_within(place: int, spans: Sequence[tuple[int, int]]) -> bool:
    """Return whether a place is in one of the spans, which are in order and do not overlap."""
    at = bisect_right(spans, (place, math.inf)) - 1
    return at >= 0 and place < spans[at][1]


_LINKS = HYPHENS | {"&"}
_CLOSERS = frozenset("\"'“”‘’«»„‚()[]{}-–—*•")
_ENDS = frozenset(".!?:;…。！？|")


def _begins_sentence(tokens: Sequence[str], at: int) -> bool:
    """Return whether a token begins a sentence or a quotation."""
    at -= 1
    while at >= 0 and tokens[at] in _CLOSERS:
        if tokens[at] in "\"“„«‘'":
            return True
        at -= 1
    return at < 0 or tokens[at] in _ENDS


@lru_cache(maxsize=1 << 16)
def _bare(token: str) -> str:
    """Return a word in lower case, without dots, accents and what follows an apostrophe."""
    lower = token.lower().replace(".", "")
    if not lower.isascii():
        letters = unicodedata.normalize("NFKD", lower)
        lower = "".join(c for c in letters if not unicodedata.combining(c))
    for sign in "'’":
        head, _, tail = lower.partition(sign)
        if tail in ("s", "") and head:
            lower = head
        elif tail:
            lower = tail if len(tail) > len(head) else lower
    return lower


@lru_cache(maxsize=1 << 15)
def text_facts(text: str, lang: str) -> TextFacts:
    """Return the facts of a text, from a cache of recent texts."""
    rules = rules_for(lang)
    if rules.is_han:
        text = _HAN_SPACE.sub("", text)
    elif not text.isascii() or "`" in text:
        text = _APOSTROPHE.sub("'", text)
    return TextFacts(text, rules)
