"""Rules of a language: number words, units, months, negation and capitals, as data.

The files `data/facts/LANG.toml` have these tables. Words are separated by spaces; `_` in a word
stands for a space.

    decimal      `point` or `comma`
    script       `latin` (words between spaces, any alphabet) or `han` (Chinese, Japanese)
    frequent     frequent words, by which a text in another language is noticed
    compound     true if number words are joined: `fünfundzwanzig`; `ordinal_endings` follow them
    vigesimal    true if 80 is four twenties
    connectors   words between the parts of a number: `and`
    minus        words before a negative number
    halves       phrases after a number that add a half: `and a half`; `clock_halves` also add half
                 an hour to a time: `et demie`; `half_endings` end compounds: `zweieinhalb`
    hours        words after the hour of a time
    centuries    words for a century
    counters, idioms, idiom_patterns, week_prefixes
                 of Chinese and Japanese: what follows a number, words with numerals that are none,
                 what comes before the number of a weekday
    cardinals    value -> words; a compound of them is a number too, if `compound` is true
    ordinals     value -> words
    magnitudes   value -> words that multiply the number before them
    support      value -> words that can stand for a number, but are often none: `both`, `half`
    units        unit of `units.toml` -> words after a number
    months, weekdays   number -> names
    negation     `markers`, words of which each counts as a negation; `concord`, words that count if
                 there is no marker nearby; `weak`, words that can stand for a negation; `across`,
                 words that can do so between languages; `neutral`, phrases that are no negation;
                 `either_patterns`, constructions whose markers are weak;
                 `auxiliaries`, words between a negation and what it negates; `negating`, words
                 that are no markers, but negate the words after them. `*` stands for letters; keys
                 with `_patterns` have regular expressions
    opposites    two groups of words with opposite meanings, with `;` between them
    names        `nouns`, true if all nouns have capitals; `common`, capitalised words that are no
                 names; `initial`, true if other words that begin a sentence may be names;
                 `aliases`, names of one thing, with `;` between groups
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from importlib import import_module, resources
from typing import Any, Generic, TypeAlias, TypeVar

from karat.errors import InputError, quoted

T = TypeVar("T")


class LazyProperty(Generic[T]):
    """A property that is computed once, without the lock of `functools` before Python 3.12."""

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute, self._name = compute, compute.__name__
        self.__doc__ = compute.__doc__

    def __get__(self, instance: Any, owner: type | None = None) -> T:
        value = instance.__dict__[self._name] = self._compute(instance)
        return value


LANGUAGES = {
    "en": "English",
    "de": "German",
    "fr": "French",
    "es": "Spanish",
    "it": "Italian",
    "pt": "Portuguese",
    "nl": "Dutch",
    "ru": "Russian",
    "zh": "Chinese",
    "ja": "Japanese",
    "other": "numbers in digits and acronyms only",
}
"""Language -> what it is."""

Value: TypeAlias = "int | Fraction | tuple[str, int] | str"
"""A number; a month, weekday or century with its number; digits that are too many for a number."""


_GROUPS = {"marker": "markers", "concord": "concord", "weak": "weak", "across": "across"}
"""Groups of the pattern of negations, and the keys of their words."""


def _parse_toml(name: str) -> dict[str, Any]:
    """Return the content of a file of rules; Python 3.10 has the parser tomli."""
    text = (resources.files("karat") / "data" / "facts" / f"{name}.toml").read_text("utf-8")
    try:
        parser = import_module("tomllib")
    except ImportError:
        parser = import_module("tomli")
    content: dict[str, Any] = parser.loads(text)
    return content


@dataclass(frozen=True)
class MeasureUnit:
    """A unit of measure: 1 km is 1,000 of its dimension, length."""

    name: str
    dimension: str
    factor: Fraction
    """0 if the unit cannot be converted: currencies, degrees."""

    @property
    def converts(self) -> bool:
        """True if values can be converted to other units of the dimension."""
        return self.factor > 0


@lru_cache(maxsize=1)
def _unit_table() -> tuple[dict[str, MeasureUnit], dict[str, MeasureUnit]]:
    """Return the units by name, and by symbols that are the same in all languages."""
    by_name, by_symbol = {}, {}
    for dimension, units in _parse_toml("units").items():
        for name, (factor, symbols) in units.items():
            unit = by_name[name] = MeasureUnit(name, dimension, Fraction(factor))
            by_symbol.update(dict.fromkeys(symbols.split(), unit))
    return by_name, by_symbol


@dataclass(frozen=True, eq=False)
class Rules:
    """The rules of one language."""

    lang: str
    content: Mapping[str, Any]

    @LazyProperty
    def is_han(self) -> bool:
        """True if words have no spaces between them."""
        return self.content.get("script") == "han"

    @property
    def decimal(self) -> str:
        """The decimal separator."""
        return "," if self.content.get("decimal") == "comma" else "."

    @property
    def compound(self) -> bool:
        """True if number words are joined: `fünfundzwanzig`."""
        return bool(self.content.get("compound", False))

    @LazyProperty
    def vigesimal(self) -> bool:
        """True if 80 is four twenties: `quatre-vingts`."""
        return bool(self.content.get("vigesimal", False))

    def _words(self, table: str) -> Iterator[tuple[str, str]]:
        """Yield the words of a table, with the key that they belong to."""
        for key, words in self.content.get(table, {}).items():
            for word in words.split():
                yield word.replace("_", " "), key

    def _numbers(self, table: str) -> dict[str, int]:
        return {word: int(key) for word, key in self._words(table)}

    @LazyProperty
    def cardinals(self) -> dict[str, int]:
        """Number words."""
        return self._numbers("cardinals")

    @LazyProperty
    def ordinals(self) -> dict[str, int]:
        """Ordinal words."""
        return self._numbers("ordinals")

    @LazyProperty
    def magnitudes(self) -> dict[str, int]:
        """Words that multiply the number before them."""
        return self._numbers("magnitudes")

    @LazyProperty
    def months(self) -> dict[str, int]:
        """Names of months."""
        return self._numbers("months")

    @LazyProperty
    def weekdays(self) -> dict[str, int]:
        """Names of weekdays; Monday is 1."""
        return self._numbers("weekdays")

    @LazyProperty
    def support(self) -> dict[str, tuple[Fraction, ...]]:
        """Words that can stand for numbers."""
        values: dict[str, tuple[Fraction, ...]] = {}
        for word, key in self._words("support"):
            values[word] = (*values.get(word, ()), Fraction(key))
        return values

    @LazyProperty
    def units(self) -> dict[str, MeasureUnit]:
        """Words and symbols of units."""
        by_name, by_symbol = _unit_table()
        return {**by_symbol, **{word: by_name[key] for word, key in self._words("units")}}

    @LazyProperty
    def connectors(self) -> frozenset[str]:
        """Words between the parts of a number: `and`."""
        return frozenset(self.content.get("connectors", "").split())

    @LazyProperty
    def hours(self) -> frozenset[str]:
        """Words after the hour of a time: `Uhr`, `p.m.`."""
        return frozenset(self.content.get("hours", "").split())

    @LazyProperty
    def minus(self) -> frozenset[str]:
        """Words before a negative number: `minus`."""
        return frozenset(self.content.get("minus", "").split())

    @LazyProperty
    def halves(self) -> dict[tuple[str, ...], bool]:
        """Phrases after a number that add a half, and whether they may be half an hour."""
        return {
            tuple(phrase.split("_")): key == "clock_halves"
            for key in ("halves", "clock_halves")
            for phrase in self.content.get(key, "").split()
        }

    @LazyProperty
    def half_endings(self) -> tuple[str, ...]:
        """Endings of a number word that add a half: `zweieinhalb`."""
        return tuple(self.content.get("half_endings", "").split())

    @LazyProperty
    def counters(self) -> str:
        """Characters after a number that show that it counts something, in Chinese and Japanese."""
        return "".join(self.content.get("counters", "").split())

    @LazyProperty
    def idioms(self) -> str:
        """The pattern of words with numerals that are no numbers, in Chinese and Japanese."""
        words = sorted(self.content.get("idioms", "").split(), key=len, reverse=True)
        return "|".join([*self.content.get("idiom_patterns", []), *map(re.escape, words)])

    def _negation(self, key: str) -> list[str]:
        words = self.content.get("negation", {}).get(key, "").split()
        return [word.replace("_", " ") for word in words]

    @LazyProperty
    def neutral(self) -> re.Pattern[str] | None:
        """Phrases that have a word of negation, but do not negate."""
        patterns = [_phrase_pattern(phrase, self.is_han) for phrase in self._negation("neutral")]
        patterns += self.content.get("negation", {}).get("neutral_patterns", [])
        return re.compile("|".join(patterns), re.IGNORECASE) if patterns else None

    @LazyProperty
    def either(self) -> re.Pattern[str] | None:
        """Constructions that negate or not: `not a bug but a feature`, `isn't it?`."""
        patterns = self.content.get("negation", {}).get("either_patterns", [])
        return re.compile("|".join(patterns), re.IGNORECASE) if patterns else None

    @LazyProperty
    def negations(self) -> re.Pattern[str] | None:
        """Words of negation, as groups `marker`, `concord` and `weak`."""
        groups = []
        for group, key in _GROUPS.items():
            phrases = sorted(self._negation(key), key=len, reverse=True)
            patterns = [_phrase_pattern(phrase, self.is_han) for phrase in phrases]
            patterns += self.content.get("negation", {}).get(f"{group}_patterns", [])
            if patterns:
                groups.append(f"(?P<{group}>{'|'.join(patterns)})")
        return re.compile("|".join(groups), re.IGNORECASE) if groups else None

    @LazyProperty
    def first_words(self) -> dict[str, list[str]]:
        """The first words of phrases of negation, with the groups of the phrases."""
        groups: dict[str, list[str]] = {}
        for group, key in _GROUPS.items():
            for phrase in self._negation(key):
                if len(words := re.split(r"[\s-]", phrase)) > 1:
                    groups.setdefault(words[0], []).append(group)
        return groups

    @LazyProperty
    def window(self) -> int:
        """Characters within which a word of concord belongs to a marker."""
        return int(self.content.get("negation", {}).get("window", 0))

    @LazyProperty
    def auxiliaries(self) -> frozenset[str]:
        """Words between a negation and what it negates: `been`, `have`."""
        return frozenset(self._negation("auxiliaries"))

    @LazyProperty
    def negating(self) -> frozenset[str]:
        """Words that are no markers, but negate the words after them: `fails`, `ruled out`."""
        return frozenset(self._negation("negating"))

    @LazyProperty
    def negation_cues(self) -> frozenset[str]:
        """The first words of markers and of `negating`, one of which is in every such negation.

        Markers that are the end of a word, such as `*n't`, are left out.
        """
        phrases = [x for key in ("markers", "concord", "negating") for x in self._negation(key)]
        return frozenset(phrase.split()[0] for phrase in phrases if phrase[0].isalnum())

    @LazyProperty
    def opposites(self) -> tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]:
        """Pairs of groups of words with opposite meanings, the second one the negative."""
        pairs = (text.split(";") for text in self.content.get("opposites", {}).values())
        return tuple((tuple(first.split()), tuple(second.split())) for first, second in pairs)

    @property
    def capital_nouns(self) -> bool:
        """True if all nouns have capitals, as in German."""
        return bool(self.content.get("names", {}).get("nouns", False))

    @property
    def initial_names(self) -> bool:
        """True if a single word that begins a sentence may be a name, unless it is common."""
        return bool(self.content.get("names", {}).get("initial", False))

    @LazyProperty
    def common(self) -> frozenset[str]:
        """Words in lower case that are no names, even with a capital."""
        return frozenset(self.content.get("names", {}).get("common", "").split())

    @LazyProperty
    def aliases(self) -> dict[str, frozenset[str]]:
        """Words that name the same: `US`, `American`."""
        groups = self.content.get("names", {}).get("aliases", "").split(";")
        return {word: frozenset(group.split()) for group in groups for word in group.split()}


def _phrase_pattern(phrase: str, is_han: bool) -> str:
    """Return the pattern of a phrase; `*` stands for letters, and apostrophes for each other."""
    pattern = re.escape(phrase).replace(r"\*", r"[^\W\d_]*").replace(r"\ ", r"\s+")
    pattern = pattern.replace("'", "['’]")
    if is_han:
        return pattern
    left = r"(?<![^\W_])" if phrase[0].isalnum() else ""
    right = r"(?![^\W_])" if phrase[-1].isalnum() else ""
    return f"{left}{pattern}{right}"


@lru_cache(maxsize=len(LANGUAGES))
def rules_for(lang: str) -> Rules:
    """Return the rules of a language."""
    if lang not in LANGUAGES:
        raise InputError(f"language {quoted(lang)}: expected one of {', '.join(LANGUAGES)}")
    return Rules(lang, {} if lang == "other" else _parse_toml(lang))
