r"""Metrics of answers that are right or wrong: 1 or 0 for each segment, the mean for a corpus.

`em` and `f1` are those of SQuAD's evaluation (Rajpurkar et al. 2016, 2018). Answers are normalised:
lower case, ASCII punctuation removed, the words a, an and the removed, white space collapsed. Other
languages are normalised as in MLQA (Lewis et al. 2020): all Unicode punctuation is removed, and the
language's articles; Chinese characters are words of their own.

    em = 1 if the normalised answer equals a reference
    f1 = 2 P R / (P + R) of words with their counts, for the best reference

Empty references follow SQuAD 2: a reference without words counts only if the segment has no other.
It stands for "no answer", and is met by an answer without words alone.
"""

from __future__ import annotations

import json
import re
import string
import unicodedata
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

from karat.arrays import Flags, Floats, NDArray, np
from karat.errors import InputError, MetricError, quoted
from karat.metrics.base import Metric
from karat.metrics.pairs import Pairs, SegmentNames
from karat.metrics.patterns import TooSlow, match_texts, pattern_problem, too_slow_error
from karat.settings import setting

# --------------------------------------------------------------------- normalised answers

LANGUAGES = {
    "en": "as SQuAD: a, an, the",
    "ar": "as MLQA: the letters of al-, wherever they are",
    "de": "as MLQA: ein, eine, …, der, die, das, …",
    "es": "as MLQA: un, una, …, el, la, …",
    "hi": "as MLQA: no articles",
    "vi": "as MLQA: của, là, cái, chiếc, những",
    "zh": "as MLQA: no articles; each Chinese character is a word",
}
"""Language -> what is removed."""
_ARTICLES = {
    "en": r"\b(?:a|an|the)\b",
    "ar": "ال",
    "de": r"\b(?:ein|eine|einen|einem|eines|einer|der|die|das|den|dem|des)\b",
    "es": r"\b(?:un|una|unos|unas|el|la|los|las)\b",
    "vi": r"\b(?:của|là|cái|chiếc|những)\b",
}
_NO_ASCII_PUNCTUATION = str.maketrans("", "", string.punctuation)
_CHINESE = re.compile("([\u4e00-\u9fa5])")


def answer_words(text: str, lang: str = "en") -> list[str]:
    """Return the words of an answer, normalised."""
    text = text.lower().translate(_NO_ASCII_PUNCTUATION)
    if lang != "en" and not text.isascii():
        text = "".join(c for c in text if unicodedata.category(c)[0] != "P")
    if lang in _ARTICLES:
        text = re.sub(_ARTICLES[lang], " ", text)
    if lang == "zh":
        text = _CHINESE.sub(r" \1 ", text)
    return text.split()


class _AnswerWords(NamedTuple):
    """Words of candidates by segment, words of references by pair, and the pairs that count."""

    candidates: list[list[str]]
    references: list[list[str]]
    counts: Flags
    """False for references without words, if the segment has another."""


def _words_of(pairs: Pairs, lang: str) -> _AnswerWords:
    """Return the normalised words of a batch."""

    def split() -> _AnswerWords:
        candidates, references = (
            [answer_words(text, lang) for text in side.views("mixed").strings()]
            for side in (pairs.candidates, pairs.references)
        )
        return _AnswerWords(candidates, references, _counting(pairs, map(bool, references)))

    return pairs.once(("answer words", lang), split)


def _counting(pairs: Pairs, has_words: Iterator[bool]) -> Flags:
    """Return whether each reference counts: it has words, or no reference of its segment has."""
    filled = np.fromiter(has_words, np.bool_)
    counts: Flags = filled | (pairs.spread(pairs.sum(filled.astype(np.int64))) == 0)
    return counts


def _by_pair(pairs: Pairs, per_segment: Sequence[Any]) -> Iterator[Any]:
    """Yield the item of each pair's segment."""
    for item, count in zip(per_segment, np.diff(pairs.starts).tolist(), strict=True):
        for _ in range(count):
            yield item


def _has_words(text: Sequence[str], words: Sequence[str]) -> bool:
    """Return whether words occur in a text, one after the other; no words only in no words."""
    if not words:
        return not text
    last = len(text) - len(words)
    return any(text[i : i + len(words)] == words for i in range(last + 1))


# --------------------------------------------------------------------------------- metrics


@dataclass(frozen=True)
class AnswerMetric(Metric):
    """The base class of metrics of right and wrong answers: a row is [1 or 0, 1]."""

    def columns(self) -> tuple[str, ...]:
        return ("correct", "segments")

    @abstractmethod
    def is_correct(self, pairs: Pairs) -> Flags:
        """Return whether the answer of each segment is correct."""

    def rows(self, pairs: Pairs) -> NDArray[Any]:
        correct = self.is_correct(pairs).astype(np.int64)
        return np.column_stack([correct, np.ones_like(correct)])

    def measure(self, rows: NDArray[Any]) -> dict[str, Floats]:
        correct, segments = (rows[:, k].astype(np.float64) for k in range(2))
        value = correct / np.maximum(segments, 1)
        return {"value": value, "correct": correct, "segments": segments}


def _any_reference(pairs: Pairs, fits: Flags) -> Flags:
    """Return whether any reference of each segment fits."""
    return pairs.sum(fits.astype(np.int64)) > 0


_LANG_HELP = "Language of the answers: its articles and its punctuation are removed."


@dataclass(frozen=True)
class ExactMatch(AnswerMetric):
    """Exact match: the answer equals a reference, both normalised as in SQuAD."""

    name: ClassVar[str] = "em"

    lang: str = setting("en", _LANG_HELP, choices=LANGUAGES)

    def is_correct(self, pairs: Pairs) -> Flags:
        candidates, references, counts = _words_of(pairs, self.lang)
        both = zip(_by_pair(pairs, candidates), references, strict=True)
        return _any_reference(pairs, counts & np.fromiter((a == b for a, b in both), np.bool_))


@dataclass(frozen=True)
class AnswerF1(Metric):
    """F1 of the words of answer and reference, as in SQuAD; mean over segments.

        P = common words / words of the answer     R = common words / words of the reference
        F1 = 2 P R / (P + R)

    A text without words has F1 = 1 with another such text, else 0. The best reference counts.
    """

    name: ClassVar[str] = "f1"

    lang: str = setting("en", _LANG_HELP, choices=LANGUAGES)

    def columns(self) -> tuple[str, ...]:
        return ("value", "precision", "recall", "segments")

    def rows(self, pairs: Pairs) -> NDArray[Any]:
        candidates, references, counts = _words_of(pairs, self.lang)
        both = zip(_by_pair(pairs, candidates), references, strict=True)
        per_pair = np.array([_word_f1(a, b) for a, b in both], np.float64).reshape(-1, 3)
        best = pairs.best(np.where(counts, per_pair[:, 0], -1.0))
        return np.column_stack([per_pair[best], np.ones(len(best))])

    def measure(self, rows: NDArray[Any]) -> dict[str, Floats]:
        means = (rows[:, :3] / np.maximum(rows[:, 3:], 1)).T
        return dict(zip(self.columns(), means, strict=False))


def _word_f1(answer: Sequence[str], reference: Sequence[str]) -> tuple[float, float, float]:
    """Return F1, precision and recall of two lists of words."""
    if not (answer and reference):
        agreement = float(not answer and not reference)
        return agreement, agreement, agreement
    common = (Counter(answer) & Counter(reference)).total()
    if not common:
        return 0.0, 0.0, 0.0
    precision, recall = common / len(answer), common / len(reference)
    return 2 * precision * recall / (precision + recall), precision, recall


@dataclass(frozen=True)
class Contains(AnswerMetric):
    """The answer contains a reference, as whole words; both normalised as in SQuAD."""

    name: ClassVar[str] = "contains"

    lang: str = setting("en", _LANG_HELP, choices=LANGUAGES)
    exact: bool = setting(
        False, "Whether the text of the reference must occur as it is, also within words."
    )

    def is_correct(self, pairs: Pairs) -> Flags:
        if self.exact:
            sides = (pairs.candidates, pairs.references)
            texts, references = (side.views("mixed").strings() for side in sides)
            counts = _counting(pairs, map(bool, references))
            both = zip(_by_pair(pairs, texts), references, strict=True)
            fits = (b in a if b else not a for a, b in both)
        else:
            words, reference_words, counts = _words_of(pairs, self.lang)
            both_words = zip(_by_pair(pairs, words), reference_words, strict=True)
            fits = (_has_words(a, b) for a, b in both_words)
        return _any_reference(pairs, counts & np.fromiter(fits, np.bool_))


@dataclass(frozen=True)
class RegexMatch(AnswerMetric):
    """The answer matches a regular expression of Python; references are not needed."""

    name: ClassVar[str] = "regex"
    needs_references: ClassVar[bool] = False

    pattern: str | None = setting(
        None, 'Regular expression, in quotes if it has commas: regex:pattern="a{1,2}".', kind=str
    )
    full: bool = setting(False, "Whether the whole answer must match, not only a part.")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.pattern is not None and (problem := pattern_problem(self.pattern)):
            message = f"is no regular expression of Python: {problem}"
            raise MetricError(f"regex: pattern={quoted(self.pattern)} {message}")

    def check_outputs(self, systems: Sequence[str], segments: SegmentNames) -> None:
        """Raise if there is no pattern, before any work."""
        self._required_pattern()

    def _required_pattern(self) -> str:
        if self.pattern is None:
            raise MetricError('regex needs a pattern: write regex:pattern="PATTERN"')
        return self.pattern

    def is_correct(self, pairs: Pairs) -> Flags:
        pattern, texts = self._required_pattern(), pairs.candidates.views("mixed").strings()
        try:
            return match_texts(pattern, self.full, texts, pairs.check)
        except TooSlow as error:
            raise too_slow_error(pattern, pairs.row_number(error.index)) from None


# --------------------------------------------------------------------------------- numbers

_THOUSANDS = "'’\u00a0\u2009\u202f"
DECIMALS = {
    "point": "a decimal point and commas between thousands: 1,234.5",
    "comma": "a decimal comma and points between thousands: 1.234,5",
}
COUNTED = {
    "last": "the last number of the answer",
    "only": "the only number: an answer with several is wrong",
}
_ARITHMETIC = Context(prec=60, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])
"""Arithmetic with decimals, rounded to 60 digits, the same on every machine."""
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻−", "0123456789+--")


@lru_cache(maxsize=2)
def _number_pattern(decimal: str) -> re.Pattern[str]:
    """Return the pattern of numbers; a number does not begin within a word or a number."""
    point, comma = (r"\.", ",") if decimal == "point" else (",", r"\.")
    thousands = rf"[{comma}{_THOUSANDS}]"
    sign, letter = "[-+−]", r"A-Za-zÀ-ɏ_"
    integer = rf"\d{{1,3}}(?:{thousands}\d{{3}})+(?!\d)|\d+"
    mantissa = rf"(?:(?:{integer})(?:{point}\d+)?|{point}\d+)"
    raised = rf"(?:\^|\*\*)\{{?(?P<power>{sign}?\d{{1,8}})\}}?"
    power = rf"10(?:{raised}|(?P<raised>[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{{1,8}}))"
    times = r"\s?(?:[×x*·⋅]|\\times|\\cdot)\s?"
    return re.compile(
        rf"(?P<sign>(?<![\d{letter})\]]){sign}[$€£¥]?|[$€£¥]{sign}?)?"
        rf"(?<![\d{letter}])"
        rf"(?:(?:(?P<factor>{mantissa}){times})?{power}"
        rf"|(?P<number>{mantissa})(?:[eE](?P<exponent>{sign}?\d{{1,8}}))?)"
        r"(?P<percent>\s?\\?[%％])?"
    )


def read_numbers(text: str, decimal: str = "point", percent: bool = True) -> list[Decimal]:
    """Return the numbers in a text, exactly; with `percent`, 50% is 0.5."""
    return [
        _number_value(match, decimal, percent) for match in _number_pattern(decimal).finditer(text)
    ]


def _number_value(match: re.Match[str], decimal: str, percent: bool) -> Decimal:
    """Return the value of a match of `_number_pattern`."""
    written = match["number"] or match["factor"] or "1"
    point, comma = (".", ",") if decimal == "point" else (",", ".")
    digits = re.sub(f"[{re.escape(comma)}{_THOUSANDS}]", "", written).replace(point, ".")
    exponent = match["exponent"] or match["power"] or match["raised"] or "0"
    sign = "-" if re.search("[-−]", match["sign"] or "") else ""
    scale = int(exponent.translate(_SUPERSCRIPTS)) - (2 if percent and match["percent"] else 0)
    return Decimal(f"{sign}{digits}E{scale}")


@dataclass(frozen=True)
class NumberMatch(AnswerMetric):
    """The last (or only) number of the answer is that of a reference, within a tolerance.

        correct if |number - reference| <= max(tolerance, relative * |reference|)

    Of a reference with several numbers the last one counts. An answer without a number is wrong.
    """

    name: ClassVar[str] = "number"

    tolerance: float = setting(0.0, "Largest difference.", low=0, high=1e300)
    relative: float = setting(
        0.0, "Largest difference, as a share of the reference.", low=0, high=1
    )
    take: str = setting("last", "Number of the answer that counts.", choices=COUNTED)
    decimal: str = setting("point", "How numbers are written.", choices=DECIMALS)
    percent: bool = setting(True, "Whether 50% is 0.5; else percent signs are ignored.")

    def is_correct(self, pairs: Pairs) -> Flags:
        read = self._numbers
        answers = [self._answer(read(text)) for text in pairs.candidates.views("mixed").strings()]
        reference_texts = pairs.references.views("mixed").strings()
        targets = [numbers[-1] if (numbers := read(t)) else None for t in reference_texts]
        has_number = np.array([target is not None for target in targets], np.bool_)
        if not _any_reference(pairs, has_number).all():
            self._refuse_reference(pairs, has_number, reference_texts)
        both = zip(_by_pair(pairs, answers), targets, strict=True)
        return _any_reference(pairs, np.fromiter((self._equal(a, b) for a, b in both), np.bool_))

    def _numbers(self, text: str) -> list[Decimal]:
        return read_numbers(text, self.decimal, self.percent)

    def _answer(self, numbers: Sequence[Decimal]) -> Decimal | None:
        if not numbers or (self.take == "only" and len(numbers) > 1):
            return None
        return numbers[-1]

    def _refuse_reference(self, pairs: Pairs, has_number: Flags, texts: Sequence[str]) -> None:
        """Raise for the first segment whose references have no number."""
        pair = next(
            start
            for start, end in zip(pairs.starts, pairs.starts[1:], strict=False)
            if not has_number[start:end].any()
        )
        raise InputError(
            f"segment {pairs.segment_number(int(pair)):,}: the reference {quoted(texts[pair])} has "
            f"no number, and {self} compares numbers; correct it, or use em or contains"
        )

    def _equal(self, number: Decimal | None, reference: Decimal | None) -> bool:
        if number is None or reference is None:
            return False
        difference = _ARITHMETIC.subtract(number, reference).copy_abs()
        share = _ARITHMETIC.multiply(Decimal(repr(self.relative)), reference.copy_abs())
        return difference <= max(Decimal(repr(self.tolerance)), share)


# ------------------------------------------------------------------------------------ JSON

MAX_JSON_DEPTH = 300
"""Levels of nesting; deeper JSON is not read, and counts as invalid."""
_STRING_OR_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[\]{}]', re.DOTALL)


@dataclass(frozen=True)
class ValidJSON(AnswerMetric):
    """The answer is valid JSON, with the named keys; references are not needed."""

    name: ClassVar[str] = "json"
    needs_references: ClassVar[bool] = False

    keys: str | None = setting(
        None,
        "Keys that the object must have, with + between them; a dot leads into an object, and a "
        "number into a list: name+address.city+items.0.price.",
        kind=str,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not all(all(path) for path in self._paths()):
            expected = "expected keys with + between them, as in name+address.city"
            raise MetricError(f"json: keys={self.keys} has an empty key; {expected}")

    def _paths(self) -> list[list[str]]:
        return [] if self.keys is None else [key.split(".") for key in self.keys.split("+")]

    def is_correct(self, pairs: Pairs) -> Flags:
        paths = self._paths()
        texts = pairs.candidates.views("mixed").strings()
        return np.fromiter((_has_keys(text, paths) for text in texts), np.bool_)


def _has_keys(text: str, paths: Sequence[Sequence[str]]) -> bool:
    """Return whether a text is valid JSON that has something at every path."""
    if text.count("[") + text.count("{") > MAX_JSON_DEPTH and _depth(text) > MAX_JSON_DEPTH:
        return False
    try:
        parsed = _STRICT_JSON(text)
    except ValueError:
        return False
    return all(_has_path(parsed, path) for path in paths)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _number_placeholder(text: str) -> int:
    """Return 0 for any number: Python refuses whole numbers of more than 4,300 digits."""
    return 0


_STRICT_JSON: Callable[[str], Any] = json.JSONDecoder(
    parse_int=_number_placeholder,
    parse_float=_number_placeholder,
    parse_constant=_refuse_constant,
).decode


def _depth(text: str) -> int:
    """Return the deepest nesting of brackets outside strings."""
    level = deepest = 0
    for match in _STRING_OR_BRACKET.finditer(text):
        level += (match[0] in "[{") - (match[0] in "]}")
        deepest = max(deepest, level)
    return deepest


def _has_path(value: Any, path: Sequence[str]) -> bool:
    """Return whether keys lead to a value, one after the other."""
    for key in path:
        if isinstance(value, dict) and key in value:
            value = value[key]
        elif isinstance(value, list) and key.isascii() and key.isdigit() and len(key) < 10:
            if int(key) >= len(value):
                return False
            value = value[int(key)]
        else:
            return False
    return True
