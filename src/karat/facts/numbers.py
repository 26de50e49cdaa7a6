"""Numbers in texts: digits with their separators, number words, dates, times and units.

A number has several values if its form is ambiguous: `1.000` is a thousand in German and one in
English; `3 p.m.` is 3 and 15. Two numbers agree if they share a value. Numbers that words such as
`one` or `both` only may express are `WEAK`: they agree with other numbers, and are never changed,
missing or added themselves. Numbers within names (`COVID-19`, `mp3`) are `PAIRED`: they can be
changed, but not missing or added.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from karat.facts.rules import Rules, Unit, Value

WEAK, PAIRED, STRONG = range(3)

MAX_DIGITS = 40
"""Longer runs of digits are compared as text."""

_SPACES = "\u00a0\u202f\u2009"
LITERAL = (
    rf"\d{{1,3}}(?:[ {_SPACES}]\d{{3}})+(?!\d)(?:[.,٫]\d+)?|"
    rf"\d+(?:[.,:/’'٫٬]\d+)*"
)
"""The pattern of a number in digits, with its separators."""
TOKEN = re.compile(rf"{LITERAL}|(?:[^\W\d_]\.){{2,}}|[^\W\d_]+(?:['’][^\W\d_]+)*|['’]t\b|[^\w\s]")
"""Words, numbers and signs of a text."""

_GROUPED = re.compile(rf"\d{{1,3}}(?:([.,’'٬ {_SPACES}])\d{{3}})(?:\1\d{{3}})*(?:([.,٫])\d+)?")
_TIME = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}))?")
_SEPARATORS = re.compile(rf"[.,’'٫٬ {_SPACES}:/]")
_DAYS, _MONTHS = 31, 12


class Number(NamedTuple):
    """A number at a place of a text."""

    values: tuple[Value, ...]
    strength: int
    start: int
    end: int
    unit: Unit | None = None

    def agrees(self, number: Number) -> bool:
        """Return whether two numbers can be the same."""
        a, b = self.unit, number.unit
        if a is None or b is None or a.dimension != b.dimension or a == b:
            return any(value in number.values for value in self.values)
        return any(
            x * a.factor == y * b.factor
            for x in self.values
            for y in number.values
            if isinstance(x, int | Fraction) and isinstance(y, int | Fraction)
        )


class WordNumber(NamedTuple):
    """What a word can be in a number."""

    cardinal: int | None = None
    is_ordinal: bool = False
    magnitude: int | None = None
    support: tuple[Value, ...] = ()
    unit: Unit | None = None
    month: int | None = None
    weekday: int | None = None
    is_hour: bool = False

    @property
    def is_strong(self) -> bool:
        """True if the word can be a number, a month or a weekday by itself."""
        number = self.cardinal if self.magnitude is None else self.magnitude
        return number is not None or bool(self.month or self.weekday)


def _to_number(digits: str) -> Value:
    """Return the value of digits in any script, with or without a decimal point."""
    if len(digits) > MAX_DIGITS:
        return digits
    whole, _, decimals = digits.partition(".")
    if not decimals:
        return int(whole or "0")
    return _plain(Fraction(int(whole + decimals), 10 ** len(decimals)))


def _plain(value: Fraction) -> int | Fraction:
    """Return whole numbers as integers."""
    return value.numerator if value.denominator == 1 else value


@lru_cache(maxsize=1 << 16)
def literal_values(literal: str, decimal: str) -> tuple[tuple[Value, ...], ...]:
    """Return the values of each number in a literal: one, or the parts of a date or a time."""
    if literal.isdecimal():
        return ((_to_number(literal),),)
    if grouped := _GROUPED.fullmatch(literal):
        separator, point = grouped[1], grouped[2]
        digits = literal.replace(separator, "")
        if point is None or point != separator:
            joined = _to_number(digits.replace(point or ".", "."))
            is_ambiguous = separator in ".," and literal.count(separator) == 1 and not point
            if not is_ambiguous:
                return ((joined,),)
            fraction = _to_number(literal.replace(separator, "."))
            return ((joined, fraction),)
    if match := _TIME.fullmatch(literal):
        hour = int(match[1])
        parts: list[tuple[Value, ...]] = [_hour_values(hour)]
        parts += [(int(part),) for part in match.groups()[1:] if part and int(part)]
        return tuple(parts)
    parts_text = _SEPARATORS.split(literal)
    if len(parts_text) == 2:
        if "/" in literal:
            return _slash_values(*parts_text)
        if any(sign in literal for sign in ".,٫"):
            value = _to_number(".".join(parts_text))
            # Two numbers may be joined by a comma or by the point of times and dates.
            return ((value,),)
    numbers = [part for part in parts_text if part]
    if len(numbers) == 3 and all(len(part) <= 4 for part in numbers):
        return tuple(_date_values(part) for part in numbers)
    return tuple((_to_number(part),) for part in numbers)


def _hour_values(hour: int) -> tuple[Value, ...]:
    """Return the numbers that an hour can be called."""
    return tuple(dict.fromkeys((hour, hour % 12 or 12, hour % 12 + 12, hour % 24)))


def _slash_values(left: str, right: str) -> tuple[tuple[Value, ...], ...]:
    """Return a fraction such as 1/2, or the parts of a date such as 24/7."""
    a, b = _to_number(left), _to_number(right)
    if isinstance(a, int) and isinstance(b, int) and 0 < a < b <= 100 and b in _DENOMINATORS:
        return ((_plain(Fraction(a, b)),),)
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
    support: tuple[Value, ...] = tuple(map(_plain, rules.support.get(word, ())))
    if not support and len(word) == 1 and not word.isascii():
        numeric = unicodedata.numeric(word, 0)
        support = (_plain(Fraction(numeric).limit_denominator(10)),) if numeric else ()
    return WordNumber(
        cardinal,
        is_ordinal,
        magnitude,
        support,
        rules.units.get(word),
        rules.months.get(word),
        rules.weekdays.get(word),
        word in rules.hours,
    )


def _joins(current: int, value: int, vigesimal: bool) -> bool:
    """Return whether a smaller number word continues a number: `twenty` `five`."""
    tail = current % 100
    if not tail:
        return current > 0
    if vigesimal and tail in (60, 80):
        return value < 20
    return tail % 10 == 0 and tail >= 20 and value < 10


def _sequence(
    words: Sequence[WordNumber | None], tokens: Sequence[str], at: int, rules: Rules
) -> tuple[int, int, bool]:
    """Return the value of number words that begin at a token, the end, and whether it is vague.

    A lone magnitude (`hundred`, `million`) is vague.
    """
    total = current = 0
    end, n_words, is_lone = at, 0, True
    position = at
    while position < len(tokens):
        word = words[position]
        value = None if word is None else word.cardinal
        magnitude = None if word is None else word.magnitude
        if word is None or (value is None and magnitude is None):
            token = tokens[position]
            is_link = token in "-‐‑" or token.lower() in rules.connectors
            has_next = position + 1 < len(tokens) and words[position + 1] is not None
            if n_words and is_link and has_next and _is_smaller(words[position + 1], current):
                position += 1
                continue
            break
        if magnitude:
            if n_words and current == 0:
                break
            total, current = total + max(current, 1) * magnitude, 0
        elif value == 100:
            if current % 100 == 0 and n_words:
                break
            current = max(current, 1) * 100
        elif value is not None and value > 100:
            if current % 1000 or (n_words and current == 0 and total == 0):
                break
            current += value
        elif value is not None:
            is_twenties = rules.vigesimal and value == 20 and current % 100 == 4
            if is_twenties:
                current += 76
            elif n_words and not (current == 0 or _joins(current, value, rules.vigesimal)):
                break
            else:
                current += value
        is_lone = is_lone and (bool(magnitude) or value == 100)
        n_words += 1
        position += 1
        end = position
        if word.is_ordinal:
            break
    return total + current, end, is_lone


def _is_smaller(word: WordNumber | None, current: int) -> bool:
    """Return whether a word after a hyphen or `and` can continue a number."""
    if word is None:
        return False
    if word.magnitude:
        return current > 0
    return word.cardinal is not None and (current == 0 or word.cardinal < current)


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
            end = yield from _literal_number(tokens, spans, words, at, rules)
            at = end
            continue
        if word is None:
            at += 1
            continue
        if word.cardinal is not None or word.magnitude:
            value, end, is_lone = _sequence(words, tokens, at, rules)
            values: tuple[Value, ...] = (value, *word.support)
            if word.is_ordinal or (words[end - 1] or word).is_ordinal:
                values = (*values, *_century(tokens, end, value, rules))
            is_weak = is_lone or value in (0, 1) or (word.is_ordinal and value <= 2)
            is_weak = is_weak or (bool(word.support) and end == at + 1 and not word.is_ordinal)
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
        else:
            if word.support:
                yield Number(word.support, WEAK, *spans[at])
            at += 1


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


def _literal_number(
    tokens: Sequence[str],
    spans: Sequence[Span],
    words: Sequence[WordNumber | None],
    at: int,
    rules: Rules,
) -> Iterator[Number]:
    """Yield the numbers of a token in digits; return the token after them."""
    literal = tokens[at]
    parts = literal_values(literal, rules.decimal)
    end = at + 1
    usual = PAIRED if _is_in_name(tokens, spans, at) else STRONG
    if len(parts) > 1:
        for values in parts:
            yield Number(values, WEAK if values[0] in (0, 1) else usual, *spans[at])
        return end  # type: ignore[return-value]
    values, stop = parts[0], spans[at][1]
    follower = end + 1 if end < len(tokens) and tokens[end] in "-‐‑" else end
    next_word = words[follower] if follower < len(tokens) else None
    if next_word is not None and next_word.magnitude:
        scale = next_word.magnitude
        values = tuple(x * scale if isinstance(x, int | Fraction) else x for x in values)
        values = tuple(_plain(Fraction(x)) if isinstance(x, int | Fraction) else x for x in values)
        end, stop = follower + 1, spans[follower][1]
    elif end < len(tokens) and spans[end][0] == stop and tokens[end].lower() in _SUFFIXES:
        scale = _SUFFIXES[tokens[end].lower()]
        values += tuple(_plain(Fraction(x * scale)) for x in values if isinstance(x, int | Fraction))
    unit, after_unit = _unit_after(tokens, words, end, rules)
    if unit is None and at:
        before = words[at - 1]
        symbol = before.unit if before is not None else None
        unit = symbol if symbol is not None and symbol.dimension == "money" else None
    if after_unit > end:
        stop = spans[after_unit - 1][1]
    first = values[0]
    if isinstance(first, int):
        values = (*values, *_other_names(tokens, spans, words, at, end, first, rules))
    yield Number(values, WEAK if first == 1 else usual, spans[at][0], stop, unit)
    return end  # type: ignore[return-value]


def _is_in_name(tokens: Sequence[str], spans: Sequence[Span], at: int) -> bool:
    """Return whether digits are joined to the word before them: `mp3`, `COVID-19`."""
    start = spans[at][0]
    if at and tokens[at - 1] in "-‐‑_" and spans[at - 1][1] == start:
        at, start = at - 1, spans[at - 1][0]
    return at > 0 and spans[at - 1][1] == start and tokens[at - 1][-1].isalpha()


def _other_names(
    tokens: Sequence[str],
    spans: Sequence[Span],
    words: Sequence[WordNumber | None],
    at: int,
    end: int,
    value: int,
    rules: Rules,
) -> Iterator[Value]:
    """Yield what else a whole number in digits may be called: an hour, a decade, a century."""
    following = tokens[end].lower() if end < len(tokens) else ""
    next_word = words[end] if end < len(tokens) else None
    if value <= 24 and next_word is not None and next_word.is_hour:
        yield from _hour_values(value)[1:]
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
) -> tuple[Unit | None, int]:
    """Return the unit after a number, and the token after it."""
    if at < len(tokens) and tokens[at] in "-‐‑":
        at += 1
    word = words[at] if at < len(tokens) else None
    if word is None or word.unit is None:
        return None, at
    return word.unit, at + 1


# ----------------------------------------------------------------------- Chinese and Japanese

_DIGITS = dict(zip("〇零一二三四五六七八九", (0, 0, *range(1, 10)), strict=True))
_DIGITS.update({"两": 2, "兩": 2, "〡": 1, "壱": 1, "弐": 2, "参": 3})
_TENS = {"十": 10, "百": 100, "千": 1000}
_MYRIADS = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8, "兆": 10**12}
_NUMERALS = "".join((*_DIGITS, *_TENS, *_MYRIADS))


@lru_cache(maxsize=8)
def _han_pattern(rules: Rules) -> re.Pattern[str]:
    """Return the pattern of numbers in Chinese or Japanese: idioms, dates, numbers, words."""
    words = sorted({*rules.support, *rules.months, *rules.weekdays}, key=len, reverse=True)
    week = "|".join(rules.content.get("week_prefixes", "").split())
    units = sorted((u for u in rules.units if not u.isascii() or u == "%"), key=len, reverse=True)
    days = "一二三四五六日天"
    return re.compile(
        rf"(?P<long>{'|'.join(re.escape(word) for word in words if len(word) > 1)})"
        rf"|(?P<idiom>{rules.idioms})"
        rf"|(?:{week})(?P<weekday>[{days}1-6])"
        rf"|(?P<day>[月火水木金土日])曜"
        rf"|(?P<month>\d{{1,2}}|十[一二]?|[一二三四五六七八九])月"
        rf"|(?P<number>(?:{LITERAL}|[{_NUMERALS}])(?:[{_NUMERALS}]|(?<=[{_NUMERALS}])\d[\d.]*)*)"
        rf"(?P<unit>{'|'.join(map(re.escape, units))})?"
        rf"|(?P<word>{'|'.join(map(re.escape, words))})"
    )


def numbers_in_han(text: str, rules: Rules) -> Iterator[Number]:
    """Yield the numbers of a text in Chinese or Japanese."""
    for match in _han_pattern(rules).finditer(text):
        start, end = match.span()
        group = match.lastgroup
        if group == "number" or group == "unit":
            yield from _han_number(text, match, rules)
        elif group == "weekday":
            day = "一二三四五六日".find(match[group].replace("天", "日")) + 1
            yield Number((("weekday", day or int(match[group])),), STRONG, start, end)
        elif group == "day":
            day = "月火水木金土日".index(match[group]) + 1
            yield Number((("weekday", day),), STRONG, start, end)
        elif group == "month":
            value = _han_value(match[group])
            yield Number((value, ("month", value)), STRONG, start, end)
        elif group in ("word", "long"):
            word = match[group]
            values: tuple[Value, ...] = tuple(map(_plain, rules.support.get(word, ())))
            if word in rules.weekdays:
                yield Number((("weekday", rules.weekdays[word]), *values), WEAK, start, end)
            else:
                yield Number(values, WEAK, start, end)


def _han_number(text: str, match: re.Match[str], rules: Rules) -> Iterator[Number]:
    """Yield the number of a run of digits and numerals, or the parts of a date or time."""
    run, (start, end) = match["number"], match.span()
    unit = rules.units.get(match["unit"]) if match["unit"] else None
    literal = re.match(LITERAL, run)
    follower = text[end : end + 1]
    counts = bool(match["unit"]) or (bool(follower) and follower in rules.counters)
    if literal is not None and literal.end() == len(run):
        parts = literal_values(run, rules.decimal)
        for values in parts:
            first = values[0]
            if len(parts) == 1 and isinstance(first, int) and first <= 24 and follower in "时時点點":
                values = _hour_values(first)
            if len(parts) == 1 and isinstance(first, int) and follower in "年代":
                values = (*values, *((1900 + first, 2000 + first) if first < 100 else (first % 100,)))
            if text.startswith(("世纪", "世紀"), end):
                values = (*values, *((("century", v)) for v in values if isinstance(v, int)))
            yield Number(values, WEAK if values[0] in (0, 1) else STRONG, start, end, unit)
        return
    if literal is not None:
        base = literal_values(literal[0], rules.decimal)[0][0]
        value = base if isinstance(base, str | tuple) else _plain(
            Fraction(base) * _scale(run[literal.end() :])
        )
        yield Number((value,), STRONG, start, end, unit)
        return
    if len(run) > 1 and all(c in _DIGITS for c in run):
        if len(run) >= 3 or "〇" in run or "零" in run:
            value = int("".join(str(_DIGITS[c]) for c in run))
            yield Number((value, value % 100), STRONG, start, end, unit)
        else:  # two or three
            yield Number(tuple(_DIGITS[c] for c in run), WEAK, start, end, unit)
        return
    whole = _han_value(run)
    values = (whole,)
    if whole <= 24 and follower and follower in "时時点點":
        values = _hour_values(whole)
    if text.startswith(("世纪", "世紀"), end):
        values = (*values, ("century", whole))
    if text.startswith("年代", end) and whole < 100:
        values = (*values, 1900 + whole)
    is_strong = whole > 1 and (counts or len(run) > 2) and run not in _TENS and run not in _MYRIADS
    is_strong = is_strong or (run in _TENS and counts)
    yield Number(values, STRONG if is_strong else WEAK, start, end, unit)


def _scale(numerals: str) -> int:
    """Return the product of the magnitudes after digits: 2千万."""
    scale = 1
    for c in numerals:
        scale *= _TENS.get(c) or _MYRIADS.get(c) or 1
    return scale


def _han_value(run: str) -> int:
    """Return the value of a run of numerals, such as 二十五万."""
    if run.isdecimal():
        return int(run)
    total = section = digit = 0
    for c in run:
        if c in _DIGITS:
            digit = _DIGITS[c]
        elif c.isdecimal():
            digit = digit * 10 + int(c)
        elif c in _TENS:
            section, digit = section + max(digit, 1) * _TENS[c], 0
        elif c in _MYRIADS:
            total, section, digit = total + max(section + digit, 1) * _MYRIADS[c], 0, 0
    return total + section + digit
