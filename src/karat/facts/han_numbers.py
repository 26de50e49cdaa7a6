"""Numbers in Chinese and Japanese, where numerals are letters and words have no spaces between.

Most numerals also occur in words that count nothing (`三明治`, `一番`), so a single numeral is a
number only before a counter or a unit; elsewhere it is weak.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache

from karat.facts.numbers import (
    LITERAL,
    STRONG,
    WEAK,
    Number,
    hour_values,
    literal_values,
    plain_value,
    scaled_values,
)
from karat.facts.rules import Rules, Value

_DIGITS = dict(zip("〇零一二三四五六七八九", (0, 0, *range(1, 10)), strict=True))
_DIGITS.update({"两": 2, "兩": 2, "壱": 1, "弐": 2, "参": 3})
_TENS = {"十": 10, "百": 100, "千": 1000}
_MYRIADS = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8, "兆": 10**12}
_NUMERALS = "".join((*_DIGITS, *_TENS, *_MYRIADS))
_CHINESE_DAYS, _JAPANESE_DAYS = "一二三四五六日", "月火水木金土日"
_HOURS, _YEARS, _CENTURIES = ("时", "時", "点", "點"), ("年", "代"), ("世纪", "世紀")
_MAX_RUN = 40
"""Longer runs of numerals are compared as text."""


@lru_cache(maxsize=8)
def _pattern(rules: Rules) -> re.Pattern[str]:
    """Return the pattern of words with numerals, dates and numbers."""
    words = sorted({*rules.support, *rules.months, *rules.weekdays}, key=len, reverse=True)
    week = "|".join(rules.content.get("week_prefixes", "").split())
    units = sorted((u for u in rules.units if not u.isascii() or u == "%"), key=len, reverse=True)
    return re.compile(
        rf"(?:{week})(?P<weekday>[{_CHINESE_DAYS}天1-6])"
        rf"|(?P<long>{'|'.join(re.escape(word) for word in words if len(word) > 1)})"
        rf"|(?P<idiom>{rules.idioms})"
        rf"|百分之(?P<percent>{LITERAL}|[{_NUMERALS}]+)"
        rf"|(?P<day>[{_JAPANESE_DAYS}])曜"
        rf"|(?P<month>\d{{1,2}}|十[一二]?|[一二三四五六七八九])月"
        rf"|(?P<number>(?:{LITERAL}|[{_NUMERALS}])(?:[{_NUMERALS}]|(?<=[{_NUMERALS}])\d[\d.]*)*)"
        rf"(?P<unit>{'|'.join(map(re.escape, units))})?"
        rf"|(?P<word>{'|'.join(map(re.escape, words))})"
    )


def numbers_in_han(text: str, rules: Rules) -> Iterator[Number]:
    """Yield the numbers of a text in Chinese or Japanese."""
    for match in _pattern(rules).finditer(text):
        start, end = match.span()
        group = match.lastgroup or ""
        if group in ("number", "unit"):
            yield from _numbers_of(text, match, rules)
        elif group == "weekday":
            day = _CHINESE_DAYS.find(match[group].replace("天", "日")) + 1
            yield Number((("weekday", day or int(match[group])),), STRONG, start, end)
        elif group == "day":
            day = _JAPANESE_DAYS.index(match[group]) + 1
            yield Number((("weekday", day),), STRONG, start, end)
        elif group == "month":
            month = _numeral_value(match[group])
            yield Number((month, ("month", month)), STRONG, start, end)
        elif group == "percent":
            part, percent = match[group], rules.units["%"]
            is_written = part[0] in _NUMERALS
            literal = () if is_written else literal_values(part, rules.decimal)[0]
            yield Number(literal or (_numeral_value(part),), STRONG, start, end, percent)
        elif group in ("word", "long"):
            yield Number(tuple(map(plain_value, rules.support[match[group]])), WEAK, start, end)


def _numbers_of(text: str, match: re.Match[str], rules: Rules) -> Iterator[Number]:
    """Yield the number of a run, negative after a word such as `零下` or a minus."""
    minus = [word for word in (*rules.minus, "-", "−") if text.endswith(word, 0, match.start())]
    place = match.start() - len(minus[0]) if minus else 0
    before = text[place - 1 : place] if place else ""
    if not minus or (minus[0] in "-−" and before.isascii() and before.isalnum()):
        yield from _unsigned(text, match, rules)
        return
    for x in _unsigned(text, match, rules):
        yield x._replace(values=scaled_values(x.values, -1), start=place)


def _unsigned(text: str, match: re.Match[str], rules: Rules) -> Iterator[Number]:
    """Yield the number of a run of digits and numerals, or the parts of a date or time."""
    run, (start, end) = match["number"], match.span()
    unit = rules.units.get(match["unit"]) if match["unit"] else None
    literal = re.match(LITERAL, run)
    if len(run) > _MAX_RUN:
        yield Number((run,), STRONG, start, end, unit)
    elif literal is not None and literal.end() == len(run):
        parts = literal_values(run, rules.decimal)
        for part in parts:
            values = (
                part if len(parts) > 1 else (*part, *_names_of(text, match.end("number"), part[0]))
            )
            yield Number(values, WEAK if part[0] in (0, 1) else STRONG, start, end, unit)
    elif literal is not None:
        base = literal_values(literal[0], rules.decimal)[0][0]
        if isinstance(base, int | Fraction):
            base = plain_value(Fraction(base) * _scale(run[literal.end() :]))
        yield Number((base,), STRONG, start, end, unit)
    elif len(run) > 1 and all(c in _DIGITS for c in run):
        digits = [_DIGITS[c] for c in run]
        if len(run) > 2 or 0 in digits:
            year = int("".join(map(str, digits)))
            yield Number((year, year % 100), STRONG, start, end, unit)
        else:  # two or three
            yield Number(tuple(digits), WEAK, start, end, unit)
    else:
        value = _numeral_value(run)
        counts = bool(match["unit"]) or text[end : end + 1] in {*rules.counters}
        is_vague = run in _MYRIADS or run in ("百", "千")
        is_strong = value > 1 and not is_vague and (counts or len(run) > 2)
        values = (value, *_names_of(text, match.end("number"), value))
        yield Number(values, STRONG if is_strong else WEAK, start, end, unit)


def _names_of(text: str, end: int, value: Value) -> Iterator[Value]:
    """Yield what else a number is called by the word after it: an hour, a year, a century."""
    if not isinstance(value, int):
        return
    if value <= 24 and text.startswith(_HOURS, end):
        yield from hour_values(value)
    if text.startswith(_YEARS, end):
        yield from (1900 + value, 2000 + value) if value < 100 else (value % 100,)
    if text.startswith(_CENTURIES, end):
        yield "century", value


def _scale(numerals: str) -> int:
    """Return the product of the magnitudes after digits: 2千万."""
    scale = 1
    for c in numerals:
        scale *= _TENS.get(c) or _MYRIADS.get(c) or 1
    return scale


def _numeral_value(run: str) -> int:
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
