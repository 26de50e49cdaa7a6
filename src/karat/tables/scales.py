"""Scales of ratings: declared, in the name of a column, known words, or inferred from values."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from karat.errors import InputError, quoted
from karat.evalset.reading import parse_number
from karat.tables.names import compact, fold, read_data, scale_in_name, word_lists
from karat.tables.roles import option_name

USUAL = ((0, 1), (1, 5), (0, 5), (1, 7), (1, 10), (0, 10), (0, 100), (-1, 1))
"""Usual scales, in the order in which values are compared with them."""


def normal_label(text: str) -> str:
    """Return a label in lower case without accents and signs: `Strongly-Agree!`."""
    words = re.findall(r"\w+", fold(text.replace("’", "'").replace("'", "")))
    return " ".join(words) or text.strip()


@dataclass(frozen=True)
class WordScale:
    """Words as ratings: the value of each label."""

    values: Mapping[str, float]
    """Normal label -> value."""
    labels: tuple[str, ...]
    """The labels from the lowest to the highest."""

    def parse(self, text: str) -> float | None:
        """Return the value of a label; None if it is not on the scale."""
        return self.values.get(normal_label(text))

    def __str__(self) -> str:
        return ", ".join(f"{label} = {self.values[normal_label(label)]:g}" for label in self.labels)


@dataclass(frozen=True)
class Scale:
    """The scale of a dimension."""

    low: float | None = None
    high: float | None = None
    better: Literal["higher", "lower"] = "higher"
    words: WordScale | None = None
    is_inferred: bool = False

    def excludes(self, value: float) -> bool:
        """Return whether a value is outside the scale."""
        return self.low is not None and self.high is not None and not self.low <= value <= self.high

    def __str__(self) -> str:
        return f"{self.low:g} to {self.high:g}" if self.low is not None else "unknown"


def word_scale(labels: Iterable[str]) -> WordScale:
    """Return the scale of labels from the lowest to the highest, with spellings after `|`."""
    spellings = [label.split("|") for label in labels]
    first = 0 if len(spellings) == 2 else 1
    values = {
        normal_label(text): float(first + i) for i, texts in enumerate(spellings) for text in texts
    }
    return WordScale(values, tuple(texts[0].strip() for texts in spellings))


@lru_cache(maxsize=1)
def known_scales() -> tuple[WordScale, ...]:
    """Return the scales of words in `data/columns/scales.toml`, short ones first."""
    scales = [word_scale(labels) for labels in read_data("columns/scales.toml")["scale"]]
    return tuple(sorted(scales, key=lambda scale: len(scale.labels)))


def find_word_scale(labels: Collection[str]) -> WordScale | None:
    """Return the shortest known scale that has all these labels; None if there is none."""
    texts = {normal_label(label) for label in labels}
    return next((s for s in known_scales() if texts and texts <= {*s.values}), None)


def parse_scale(text: str, dimension: str) -> Scale:
    """Return a declared scale: `1..5`, `100..0` if lower is better, or labels `bad,ok,good`."""
    low, dots, high = text.partition("..")
    if dots:
        first, last = parse_number(low.strip()), parse_number(high.strip())
        if first is not None and last is not None and first != last:
            is_lower = first > last
            ends = sorted((first, last))
            return Scale(ends[0], ends[1], "lower" if is_lower else "higher")
    elif "," in text:
        labels = [label.strip() for label in text.split(",")]
        if all(labels) and len({normal_label(label) for label in labels}) == len(labels):
            words = word_scale(labels)
            return Scale(min(words.values.values()), max(words.values.values()), words=words)
    example = f"{dimension}=1..5" if dimension else "1..5"
    raise InputError(
        f"{option_name('scale')} {dimension and dimension + '='}{text}: expected LOW..HIGH, as in "
        f"{example}, or labels from the lowest to the highest, as in bad,ok,good"
    )


def declared_scale(dimension: str, scales: Mapping[str, str]) -> Scale | None:
    """Return the scale that the user declares for a dimension, or for all."""
    by_name = {compact(name): text for name, text in scales.items()}
    text = by_name.get(compact(dimension), by_name.get("", scales.get("*")))
    return None if text is None else parse_scale(text, dimension)


def is_lower_better(dimension: str) -> bool:
    """Return whether lower values of a dimension are better, by its name."""
    return compact(dimension) in word_lists()["lower"]


def infer_scale(dimension: str, columns: Iterable[str], values: Collection[float]) -> Scale:
    """Return the scale in the names of columns, or a usual scale that holds all values."""
    better: Literal["higher", "lower"] = "lower" if is_lower_better(dimension) else "higher"
    for column in columns:
        name = scale_in_name(column)
        if name.low is not None and name.high is not None:
            low, high = sorted((name.low, name.high))
            if all(low <= value <= high for value in values):
                return Scale(low, high, "lower" if name.low > name.high else better)
    if not values:
        return Scale(better=better)
    low, high = min(values), max(values)
    is_whole = all(value.is_integer() for value in values)
    for usual_low, usual_high in USUAL:
        if usual_low <= low and high <= usual_high:
            if (usual_low, usual_high) == (1, 5) and is_whole and high < 4 and len({*values}) > 1:
                return Scale(1.0, high, better, is_inferred=True)
            return Scale(float(usual_low), float(usual_high), better, is_inferred=True)
    if low == high:
        return Scale(better=better)
    return Scale(low, high, better, is_inferred=True)


def check_labels(location: str, dimension: str, labels: Collection[str]) -> InputError:
    """Return the error for labels that are on no known scale."""
    names = sorted({label.strip() for label in labels})
    listed = ",".join(names[:8])
    return InputError(
        f"{location}: found the ratings {', '.join(map(quoted, names[:5]))}, whose order is not "
        f"known: expected numbers, or the labels from the lowest to the highest: "
        f"{option_name('scale')} {quoted(f'{dimension}={listed}')} in the right order"
    )
