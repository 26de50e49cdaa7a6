"""Numbers in texts: digits with their separators, number words, dates, times and units.

A number has several values if its form is ambiguous: `1.000` is a thousand in German and one in
English; `3 p.m.` is 3 and 15. Two numbers agree if they share a value. Numbers that words such as
`one` or `both` only may express are `WEAK`: they agree with other numbers, and are never changed,
missing or added themselves. Numbers within names (`COVID-19`, `mp3`) and Roman numerals are
`PAIRED`: they can be changed, but not missing or added.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from karat.facts.rules import MeasureUnit, Rules, Value

WEAK, PAIRED, STRONG = range(3)

HYPHENS = frozenset("-‐‑")
MAX_DIGITS = 40
"""Longer runs of digits are compared as text."""

_SPACES = "\u00a0\u202f\u2009"
LITERAL = (
    rf"\d{{4}}-\d{{1,2}}-\d{{1,2}}(?!\d)|"
    rf"\d{{1,3}}(?:[ {_SPACES}]\d{{3}}){{1,6}}(?![ {_SPACES}]?\d)(?:[.,٫]\d+)?|"
    rf"\d+(?:[.,:/’'٫٬]\d+)*"
)
"""The pattern of a number in digits, with its separators."""
FRACTIONS = "¼½¾⅐-⅞"
TOKEN = re.compile(
    rf"{LITERAL}|[{FRACTIONS}]|(?:[^\W\d_]\.){{2,}}|[^\W\d_]+(?:['’][^\W\d_]+)*|['’]t\b|[^\w\s]"
)
"""Words, numbers and signs of a text."""

_GROUPED = re.compile(rf"\d{{1,3}}(?:([.,’'٬ {_SPACES}])\d{{3}})(?:\1\d{{3}})*(?:([.,٫])\d+)?")
_INDIAN = re.compile(r"\d{1,2}(?:,\d{2})+,\d{3}(?:\.\d+)?")
_TIME = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}))?")
_SEPARATORS = re.compile(rf"[.,’'٫٬ {_SPACES}:/-]")
_DAYS, _MONTHS = 31, 12


class Number(NamedTuple):
    """A number at a place of a text."""

    values: tuple[Value, ...]
    strength: int
    start: int
    end: int
    unit: MeasureUnit | None = None

    def agrees(self, number: Number) -> bool:
        """Return whether two numbers can be the same."""
        a, b = self.unit, number.unit
        if a is None or b is None or a.dimension != b.dimension or a == b:
            return any(value in number.values for value in self.values)
        return not {*self.measures()}.isdisjoint(number.measures())

    def measures(self) -> Iterator[tuple[str, Fraction]]:
        """Yield the dimension and the values in its base unit, if the unit can be converted."""
        unit = self.unit
        if unit is not None and unit.converts:
            numbers = (value for value in self.values if isinstance(value, int | Fraction))
            yield from ((unit.dimension, value * unit.factor) for value in numbers)


class WordNumber(NamedTuple):
    """The parts of a number that a word can be."""

    cardinal: int | None = None
    is_ordinal: bool = False
    magnitude: int | None = None
    support: tuple[Value, ...] = ()
    unit: MeasureUnit | None = None
    month: int | None = None
    weekday: int | None = None
    is_hour: bool = False
    fraction: Fraction | None = None
    """The value of a sign such as `½`, or of a word such as `zweieinhalb`."""
    roman: int | None = None

    @property
    def is_strong(self) -> bool:
        """True if the word can be a number, a month or a weekday by itself."""
        numbers = self.cardinal, self.magnitude, self.month, self.weekday, self.fraction, self.roman
        return any(number is not None for number in numbers)


def _to_number(digits: str) -> Value:
    """Return the value of digits in any script, with or without a decimal point."""
    if len(digits) > MAX_DIGITS:
        return digits
    integer, _, decimals = digits.partition(".")
    if not decimals:
        return int(integer or "0")
    return plain_value(Fraction(int(integer + decimals), 10 ** len(decimals)))


def plain_value(value: Fraction) -> int | Fraction:
    """Return whole numbers as integers."""
    return value.numerator if value.denominator == 1 else value


@lru_cache(maxsize=1 << 16)
def literal_values(literal: str, decimal: str) -> tuple[tuple[Value, ...], ...]:
    """Return the values of each number in a literal: one, or the parts of a date or a time."""
    if values := _grouped_values(literal, decimal):
        return (values,)
    parts = [part for part in _SEPARATORS.split(literal) if part]
    if _TIME.fullmatch(literal):
        minutes = tuple((int(part),) for part in parts[1:] if int(part))
        return (hour_values(int(parts[0])), *minutes)
    if len(parts) == 2 and "/" in literal:
        return _slash_values(*parts)
    if len(parts) == 2 and any(sign in literal for sign in ".,٫"):
        return ((_to_number(".".join(parts)),),)
    if len(parts) == 3 and all(len(part) <= 4 for part in parts):
        return tuple(_date_values(part) for part in parts)
    return tuple((_to_number(part),) for part in parts)


def _grouped_values(literal: str, decimal: str) -> tuple[Value, ...]:
    """Return the value of digits in groups of three, first as the language writes numbers.

    A single group after a point or comma may also be decimals.
    """
    if _INDIAN.fullmatch(literal):
        return (_to_number(literal.replace(",", "")),)
    grouped = _GROUPED.fullmatch(literal)
    if grouped is None or grouped[1] == grouped[2]:
        return ()
    separator, point = grouped[1], grouped[2] or "."
    joined = _to_number(literal.replace(separator, "").replace(point, "."))
    if separator not in ".," or grouped[2] or literal.count(separator) > 1:
        return (joined,)
    fraction = _to_number(literal.replace(separator, "."))
    return (fraction, joined) if separator == decimal else (joined, fraction)


def hour_values(hour: int) -> tuple[Value, ...]:
    """Return the numbers that an hour can be called."""
    return tuple(dict.fromkeys((hour, hour % 12 or 12, hour % 12 + 12, hour % 24)))


def _slash_values(left: str, right: str) -> tuple[tuple[Value, ...], ...]:
    """Return a fraction such as 1/2, or the parts of a date such as 24/7."""
    a, b = _to_number(left), _to_number(right)
    if isinstance(a, int) and isinstance(b, int) and 0 < a < b <= 100 and b in _DENOMINATORS:
        return ((plain_value(Fraction(a, b)),),)
    return _date_values(left), _date_values(right)


_DENOMINATORS = {2, 3, 4, 5, 6, 8, 10, 16, 100}


def _date_values(part: str) -> tuple[Value, ...]:
    """Return the values of a part of a date, which may be a month."""
    value = _to_number(part)
    if isinstance(value, int) and 1 <= value <= _MONTHS:
        return value, ("month", value)
    return (value,)


# ---------------------------------------------------------------------------- number words


@lru_cache(maxsize=64)
def _atoms(rules: Rules) -> tuple[tuple[str, int], ...]:
    """Return the parts of compound number words, the longest first."""
    parts = {**rules.cardinals, **{w: v for w, v in rules.magnitudes.items() if v == 1000}}
    parts.update(dict.fromkeys(rules.connectors, -1))
    return tuple(sorted(parts.items(), key=lambda item: -len(item[0])))


def compound_value(word: str, rules: Rules) -> int | None:
    """Return the value of a compound number word such as `fünfundzwanzig`, or None."""
    atoms, values, at = _atoms(rules), list[int](), 0
    while at < len(word):
        for text, value in atoms:
            if word.startswith(text, at):
                values += [value]
                at += len(text)
                break
        else:
            return None
    if not values or values[0] < 0 or values[-1] < 0:
        return None
    total = current = 0
    for value in values:
        if value < 0:
            continue
        if value >= 1000:
            total, current = total + max(current, 1) * value, 0
        elif value == 100:
            current = max(current, 1) * 100
        else:
            current += value
    return total + current


def word_number(word: str, rules: Rules) -> WordNumber:
    """Return what a word in lower case can be in a number."""
    cardinal, is_ordinal = rules.cardinals.get(word), False
    if cardinal is None and word in rules.ordinals:
        cardinal, is_ordinal = rules.ordinals[word], True
    magnitude = rules.magnitudes.get(word)
    if cardinal is None and magnitude is None and rules.compound and len(word) > 5:
        cardinal = compound_value(word, rules)
        for ending in () if cardinal is not None else rules.content["ordinal_endings"].split():
            if word.endswith(ending):
                cardinal = compound_value(word[: -len(ending)], rules)
                is_ordinal = cardinal is not None
                if is_ordinal:
                    break
    support: tuple[Value, ...] = tuple(map(plain_value, rules.support.get(word, ())))
    fraction = None
    for ending in rules.half_endings if cardinal is None else ():
        integer = rules.cardinals.get(word.removesuffix(ending)) if word.endswith(ending) else None
        fraction = fraction if integer is None else integer + Fraction(1, 2)
    if not support and len(word) == 1 and not word.isascii():
        value = Fraction(unicodedata.numeric(word, 0)).limit_denominator(10)
        fraction = value if re.match(f"[{FRACTIONS}]", word) else None
        support = (plain_value(value),) if value and fraction is None else ()
    return WordNumber(
        cardinal,
        is_ordinal,
        magnitude,
        support,
        rules.units.get(word),
        rules.months.get(word),
        rules.weekdays.get(word),
        word in rules.hours,
        fraction,
    )


_ROMAN = re.compile(r"(?=[IVX]{2})(X{0,3})(IX|IV|V?I{0,3})(?:er|e|ème)?")
_ROMAN_DIGITS = {"X": 10, "V": 5, "I": 1, "IX": 9, "IV": 4}


def roman_value(word: str) -> int | None:
    """Return the value of a Roman numeral from II to XXXIX, also as in `XXe`, or None."""
    match = _ROMAN.fullmatch(word)
    if match is None:
        return None
    tens, units = match.groups()
    return 10 * len(tens) + (_ROMAN_DIGITS.get(units) or sum(_ROMAN_DIGITS[c] for c in units))


@dataclass
class _Sequence:
    """Number words, one after the other, that make a number as long as `add` accepts them."""

    vigesimal: bool
    total: int = 0
    current: int = 0
    words: int = 0
    is_vague: bool = True
    """True for a lone magnitude: `hundred`, `million`."""

    def add(self, word: WordNumber) -> bool:
        """Add a word; return False, and change nothing, if it begins another number."""
        if word.magnitude:
            if self.words and not self.current:
                return False
            self.total += max(self.current, 1) * word.magnitude
            self.current = 0
        else:
            continued = self._continued(word.cardinal or 0)
            if continued is None:
                return False
            self.current = continued
        self.is_vague = self.is_vague and (bool(word.magnitude) or word.cardinal == 100)
        self.words += 1
        return True

    def _continued(self, value: int) -> int | None:
        """Return the part after the last magnitude with one more word, or None."""
        current = self.current
        if value == 100:
            begins = not self.words or (self.total and not current)
            return max(current, 1) * 100 if begins or current % 100 else None
        if value > 100:
            begins = not self.words or (self.total and not current)
            return value if begins else None
        if self.vigesimal and value == 20 and current % 100 == 4:
            return current + 76
        if not self.words or (self.total and not current) or self._joins(value):
            return current + value
        return None

    def _joins(self, value: int) -> bool:
        """Return whether a smaller word continues the number: `twenty` `five`."""
        tail = self.current % 100
        if not tail:
            return self.current > 0
        if self.vigesimal and tail in (10, 60, 80):
            return 7 <= value <= 9 if tail == 10 else value < 20
        return tail % 10 == 0 and tail >= 20 and value < 10

    def may_follow(self, word: WordNumber | None) -> bool:
        """Return whether a word after a hyphen or `and` can continue the number."""
        if word is None:
            return False
        if word.magnitude:
            return self.current > 0
        is_twenty = self.vigesimal and word.cardinal == 20 and self.current % 100 == 4
        return word.cardinal is not None and (
            is_twenty or not self.current or word.cardinal < self.current
        )


def _read_sequence(
    words: Sequence[WordNumber | None], tokens: Sequence[str], at: int, rules: Rules
) -> tuple[_Sequence, int]:
    """Return the number that number words from a token on make, and the token after them."""
    sequence, end, position = _Sequence(rules.vigesimal), at, at
    while position < len(tokens):
        word = words[position]
        if word is None or (word.cardinal is None and not word.magnitude):
            is_link = tokens[position] in HYPHENS or tokens[position].lower() in rules.connectors
            follower = words[position + 1] if position + 1 < len(tokens) else None
            if not (sequence.words and is_link and sequence.may_follow(follower)):
                break
        elif not sequence.add(word):
            break
        else:
            end = position + 1
            if word.is_ordinal:
                break
        position += 1
    return sequence, end


# --------------------------------------------------------------------------------- numbers

Span = tuple[int, int]


def numbers_in_words(
    tokens: Sequence[str], spans: Sequence[Span], words: Sequence[WordNumber | None], rules: Rules
) -> Iterator[Number]:
    """Yield the numbers of a text that has spaces between words.

    `words` has None for words that are in no number; digits are no words.
    """
    at, count = 0, len(tokens)
    while at < count:
        token, word = tokens[at], words[at]
        if token[0].isdecimal():
            literal_numbers, at = _literal_numbers(tokens, spans, words, at, rules)
            yield from literal_numbers
            continue
        if word is None:
            at += 1
            continue
        if word.cardinal is not None or word.magnitude:
            sequence, end = _read_sequence(words, tokens, at, rules)
            value = sequence.total + sequence.current
            values: tuple[Value, ...] = (value, *word.support)
            if word.is_ordinal or (words[end - 1] or word).is_ordinal:
                values = (*values, *_century(tokens, end, value, rules))
            is_weak = sequence.is_vague or value in (0, 1) or (word.is_ordinal and value <= 2)
            is_weak = is_weak or (bool(word.support) and end == at + 1 and not word.is_ordinal)
            values, end = _with_fraction(values, tokens, words, end, rules)
            unit, _ = _unit_after(tokens, words, end, rules)
            strength = WEAK if is_weak else STRONG
            yield Number(values, strength, spans[at][0], spans[end - 1][1], unit)
            at = end
        elif word.month or word.weekday:
            kind = "month" if word.month else "weekday"
            number = word.month or word.weekday or 0
            strength = STRONG if _is_certain_date(tokens, words, at, kind) else WEAK
            yield Number(((kind, number), *word.support), strength, *spans[at])
            at += 1
        elif word.fraction is not None:
            scale = words[at + 1] if at + 1 < count else None
            end = at + 2 if scale is not None and scale.magnitude else at + 1
            values = scaled_values((word.fraction,), scale.magnitude or 1 if scale else 1)
            unit, _ = _unit_after(tokens, words, end, rules)
            yield Number(values, STRONG, spans[at][0], spans[end - 1][1], unit)
            at = end
        else:
            if word.roman is not None:
                yield Number((word.roman, ("century", word.roman)), PAIRED, *spans[at])
            elif word.support:
                yield Number(word.support, WEAK, *spans[at])
            at += 1


def _with_fraction(
    values: tuple[Value, ...],
    tokens: Sequence[str],
    words: Sequence[WordNumber | None],
    end: int,
    rules: Rules,
) -> tuple[tuple[Value, ...], int]:
    """Return a number with the fraction after it, and the token after both.

    `2½` and `2 1/2` are 2.5; `two and a half` and `two hours and a half` are 2.5; `deux heures et
    demie` is 2.5 or, in a time, 2; `two-thirds` is 2 or 2/3.
    """
    integer = values[0]
    if not isinstance(integer, int) or end == len(tokens):
        return values, end
    word = words[end]
    fraction = _fraction_sign(tokens[end], word, rules)
    if fraction is not None:
        return (integer + fraction,), end + 1
    unit_end = end + (word is not None and (word.unit is not None or word.is_hour))
    for phrase, may_be_time in rules.halves.items():
        after = unit_end + len(phrase)
        if tuple(token.lower() for token in tokens[unit_end:after]) == phrase:
            half = plain_value(integer + Fraction(1, 2))
            last = words[after] if after < len(tokens) else None
            if last is not None and last.magnitude:
                return scaled_values((half,), last.magnitude), after + 1
            return ((*values, half), end) if may_be_time else ((half,), after)
    if tokens[end] in HYPHENS:
        word = words[end + 1] if end + 1 < len(tokens) else None
    if word is not None and word.cardinal is None:
        units = (x for x in word.support if isinstance(x, Fraction) and x.numerator == 1)
        values = (*values, *(plain_value(integer * x) for x in units))
    return values, end


def _fraction_sign(token: str, word: WordNumber | None, rules: Rules) -> Fraction | None:
    """Return the value of a token such as `½` or `1/2`, or None."""
    if token[0].isdecimal() and "/" in token:
        (values, *more) = literal_values(token, rules.decimal)
        return values[0] if not more and isinstance(values[0], Fraction) else None
    is_sign = word is not None and word.fraction is not None and len(token) == 1
    return word.fraction if word is not None and is_sign else None


def _is_certain_date(
    tokens: Sequence[str], words: Sequence[WordNumber | None], at: int, kind: str
) -> bool:
    """Return whether a name of a month or weekday is one: `May 5`, `Sunday`, but not `may`."""
    word = words[at]
    if word is not None and word.support:
        return False
    if kind == "weekday":
        return True
    near = (*tokens[max(at - 2, 0) : at], *tokens[at + 1 : at + 3])
    return any(token[0].isdecimal() for token in near)


_SUFFIXES = {"k": 1000, "m": 10**6, "bn": 10**9, "b": 10**9, "tn": 10**12}


def _literal_numbers(
    tokens: Sequence[str],
    spans: Sequence[Span],
    words: Sequence[WordNumber | None],
    at: int,
    rules: Rules,
) -> tuple[list[Number], int]:
    """Return the numbers of a token in digits, and the token after them."""
    literal, end = tokens[at], at + 1
    parts = literal_values(literal, rules.decimal)
    start, stop = spans[at]
    usual = PAIRED if _is_in_name(tokens, spans, at) else STRONG
    next_word = words[end] if end < len(tokens) else None
    if next_word is not None and next_word.is_hour and _POINT_TIME.fullmatch(literal):
        parts = literal_values(literal.replace(".", ":"), rules.decimal)
    if len(parts) > 1:
        return [Number(x, WEAK if x[0] in (0, 1) else usual, start, stop) for x in parts], end
    values, end = _with_fraction(parts[0], tokens, words, end, rules)
    stop = spans[end - 1][1]
    if (point := _point_before(tokens, spans, at)) is not None:
        values, start = (_to_number(f".{literal}"),), spans[point][0]
    follower = end + 1 if end < len(tokens) and tokens[end] in HYPHENS else end
    next_word = words[follower] if follower < len(tokens) else None
    if next_word is not None and next_word.magnitude:
        values = scaled_values(values, next_word.magnitude)
        end, stop = follower + 1, spans[follower][1]
    elif end < len(tokens) and spans[end][0] == stop and tokens[end].lower() in _SUFFIXES:
        values += scaled_values(values, _SUFFIXES[tokens[end].lower()])
    unit, after_unit = _unit_after(tokens, words, end, rules)
    if unit is not None:
        stop = spans[after_unit - 1][1]
    if (symbol := _currency_before(tokens, words, at)) is not None:
        unit, start = symbol, spans[at - 1][0]
    if isinstance(values[0], int):
        values = (*values, *_other_names(tokens, spans, words, end, values[0], rules))
    if (sign := _sign_before(tokens, spans, at, rules)) is not None:
        values, start = scaled_values(values, -1), spans[sign][0]
    return [Number(values, WEAK if values[0] == 1 else usual, start, stop, unit)], end


_POINT_TIME = re.compile(r"\d{1,2}\.\d{2}")


def _currency_before(
    tokens: Sequence[str], words: Sequence[WordNumber | None], at: int
) -> MeasureUnit | None:
    """Return the currency whose symbol or code is before a number: `$5`, `EUR 5`."""
    word = words[at - 1] if at and not tokens[at - 1].islower() else None
    unit = None if word is None else word.unit
    return unit if unit is not None and unit.dimension == "money" else None


def scaled_values(values: Sequence[Value], scale: int) -> tuple[Value, ...]:
    """Return numbers times a scale; digits that are too many for a number stay text."""
    return tuple(
        f"{scale} x {x}" if isinstance(x, str) else plain_value(Fraction(x * scale))
        for x in values
        if not isinstance(x, tuple)
    )


def _point_before(tokens: Sequence[str], spans: Sequence[Span], at: int) -> int | None:
    """Return the token of the decimal point of a number without an integer part: `.5`."""
    if not at or tokens[at - 1] != "." or not tokens[at].isdecimal():
        return None
    point = spans[at - 1]
    is_joined = point[1] == spans[at][0]
    has_space = at == 1 or spans[at - 2][1] < point[0] or tokens[at - 2] in "$€£-−("
    return at - 1 if is_joined and has_space else None


def _sign_before(tokens: Sequence[str], spans: Sequence[Span], at: int, rules: Rules) -> int | None:
    """Return the token of the minus of a number, if it has one: `-5` and `minus 5`, not `3-5`."""
    if not at:
        return None
    sign = at - 1
    if tokens[sign].lower() in rules.minus:
        is_sign = sign == 0 or not tokens[sign - 1][0].isdecimal()
    else:
        is_joined = spans[sign][1] == spans[at][0]
        has_space = sign == 0 or spans[sign - 1][1] < spans[sign][0]
        is_sign = tokens[sign] in ("-", "−") and is_joined and has_space
    return sign if is_sign else None


def _is_in_name(tokens: Sequence[str], spans: Sequence[Span], at: int) -> bool:
    """Return whether digits are joined to the word before them: `mp3`, `COVID-19`."""
    start = spans[at][0]
    if at and tokens[at - 1] in (*HYPHENS, "_") and spans[at - 1][1] == start:
        at, start = at - 1, spans[at - 1][0]
    return at > 0 and spans[at - 1][1] == start and tokens[at - 1][-1].isalpha()


def _other_names(
    tokens: Sequence[str],
    spans: Sequence[Span],
    words: Sequence[WordNumber | None],
    end: int,
    value: int,
    rules: Rules,
) -> Iterator[Value]:
    """Yield what else a whole number in digits may be called: an hour, a decade, a century."""
    following = tokens[end].lower() if end < len(tokens) else ""
    next_word = words[end] if end < len(tokens) else None
    if value <= 24 and next_word is not None and next_word.is_hour:
        yield from hour_values(value)[1:]
    is_joined = end < len(tokens) and spans[end][0] == spans[end - 1][1]
    if is_joined and following in ("s", "er") and 1000 <= value < 2100 and value % 10 == 0:
        if value % 100:
            yield value % 100
        else:
            yield "century", value // 100 + 1
    elif 20 <= value < 100 and value % 10 == 0 and is_joined and following in ("s", "er"):
        yield 1900 + value
    yield from _century(tokens, end, value, rules)


def _century(tokens: Sequence[str], end: int, value: int, rules: Rules) -> Iterator[Value]:
    """Yield the century that a number before the word `century` is."""
    names = rules.content.get("centuries", "").split()
    if any(token.lower() in names for token in tokens[end : end + 2]):
        yield "century", value


def _unit_after(
    tokens: Sequence[str], words: Sequence[WordNumber | None], at: int, rules: Rules
) -> tuple[MeasureUnit | None, int]:
    """Return the unit after a number, and the token after it."""
    place = at + 1 if at < len(tokens) and tokens[at] in HYPHENS else at
    word = words[place] if place < len(tokens) else None
    if word is None or word.unit is None:
        return None, at
    return word.unit, place + 1
