"""Settings: fields of frozen dataclasses, each declared once with its default, meaning and limits.

`Settings` belong to a function; options of its command follow from the fields
(`karat.cli.options.settings_options`). `NamedSettings`, such as metrics and classifiers, have a
string form, `name:setting=value,setting=value`, which parses back.

A value in double quotes is taken as it is, backslashes included; a double quote inside is written
twice: `regex:pattern="a{1,2}"`. Values are printed in quotes where they would not parse back
without them.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from inspect import signature
from numbers import Integral, Real
from types import MappingProxyType
from typing import Any, ClassVar, TypeVar

from karat.errors import InputError, MetricError, quoted, short
from karat.headings import ADVANCED, COMMON, TESTS
from karat.registry import registry_of

Choices = Collection[str] | Callable[[], Any]

SEED = 12345
"""Default seed of all random numbers."""
MAX_TRIALS = 1_000_000
"""Most resamples or trials of a test."""


def setting(
    default: Any = MISSING,
    help: str = "",
    *,
    kind: type | None = None,
    items: type | None = None,
    choices: Choices | None = None,
    registry: str = "",
    low: float = -math.inf,
    high: float = math.inf,
    above: float = -math.inf,
    below: float = math.inf,
    distinct: bool = False,
    null_items: bool = False,
    unset: str = "none",
    place: bool = False,
    compare: bool = True,
    option: str = "",
    heading: str = COMMON,
    metavar: str | None = None,
    show_default: bool = True,
) -> Any:
    """Return a field of settings: its default, its meaning in one sentence and its limits.

    Args:
        default, help: default value, if there is one, and meaning in one sentence.
        kind: type; by default that of the default.
        items: type of the items of a tuple; None for any.
        choices: names that are allowed.
        registry: kind of the registry that has the allowed names; `{names}` in `help` lists them.
        low, high, above, below: limits: low <= value <= high, and above < value < below.
        distinct: whether the items of a tuple must differ.
        null_items: whether items of a tuple may be None.
        unset: text of None, if that is the default.
        place: the value is the path of a file.
        compare: whether values that differ in this field differ.
        option: spelling on the command line, such as `-l --level`, and the name of the parameter
            if it is not that of the field; empty for no option.
        heading, metavar, show_default: how help shows the option.
    """
    description = {"help": help, "kind": kind or type(default), "unset": unset, "place": place}
    limits: dict[str, Any] = {"low": low, "high": high, "above": above, "below": below}
    limits |= {"choices": choices, "registry": registry, "items": items}
    limits |= {"distinct": distinct, "null_items": null_items}
    look = {"heading": heading, "metavar": metavar, "show_default": show_default}
    metadata = {**description, **limits, **look, "option": option}
    return field(default=default, compare=compare, metadata=metadata)


def parameter_name(f: Field[Any]) -> str:
    """Return the name of a setting as a parameter: in its `option`, or else that of the field."""
    names = [word for word in f.metadata["option"].split() if not word.startswith("-")]
    return names[0] if names else f.name


class NamedTexts(Mapping[str, str]):
    """Texts by name, such as columns by role; immutable, so that it can be a default."""

    def __init__(self, texts: Mapping[str, str] | Iterable[tuple[str, str]] = ()) -> None:
        self._texts = dict(texts)

    def __getitem__(self, name: str) -> str:
        return self._texts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)

    def __hash__(self) -> int:
        return hash(tuple(self._texts.items()))

    def __repr__(self) -> str:
        return repr(self._texts)


@dataclass(frozen=True)
class Settings:
    """The settings of a function, checked."""

    def __post_init__(self) -> None:
        """Check every setting; lists become tuples, and numbers plain ints and floats."""
        for f in fields(self):
            if not f.metadata:  # not declared by `setting`
                continue
            value = _plain_value(getattr(self, f.name), f.metadata["kind"], f.metadata["items"])
            object.__setattr__(self, f.name, value)
            if problem := _problem(f, value):
                raise self._error(parameter_name(f), value, problem)

    def _error(self, name: str, value: Any, problem: str) -> InputError:
        return InputError(f"{name}={quoted(value)} {problem}")


@dataclass(frozen=True)
class NamedSettings(Settings):
    """Settings with a string form, which is name, argument and key, and parses back."""

    name: ClassVar[str]
    """Its name on the command line."""
    aliases: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """Other names for settings, as other tools call them."""
    presets: ClassVar[Mapping[str, dict[str, Any]]] = MappingProxyType({})
    """Settings that go together, by name."""
    digests: ClassVar[Mapping[str, Callable[[str], str]]] = MappingProxyType({})
    """Settings that name a file or list: signatures include a digest of its content."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for f in fields(self):
            text = getattr(self, f.name)
            has_choices = f.metadata["choices"] is not None
            if not isinstance(text, str) or has_choices or f.metadata["place"]:
                continue
            if not text:
                raise self._error(f.name, text, "is empty")
            if any(unicodedata.category(c) in _UNPRINTABLE for c in text):
                problem = "holds a line end or another control character, which a name cannot carry"
                raise self._error(f.name, quoted(text), problem)

    def _error(self, name: str, value: Any, problem: str) -> InputError:
        return MetricError(f"{self._head()}: {name}={to_text(value)} {problem}")

    def __str__(self) -> str:
        return self._written(lambda name: to_text(getattr(self, name)))

    def digested(self) -> str:
        """Return the string form, with digests of files and lists."""
        return self._written(self._full)

    def _written(self, value: Callable[[str], str], names: Iterable[str] | None = None) -> str:
        """Return the name with settings, by default those that differ from their defaults."""
        by_name = {f.name: f for f in self.settings()}
        if names is None:
            names = [name for name, f in by_name.items() if getattr(self, name) != f.default]
        items = (f"{name}={self._quote(by_name[name], value(name))}" for name in names)
        settings = ",".join(items)
        return f"{self._head()}:{settings}" if settings else self._head()

    def _quote(self, f: Field[Any], text: str) -> str:
        """Return the text of a value, in quotes if it would not parse back without them."""
        names_file = f.metadata["place"] or f.name in self.digests
        value = getattr(self, f.name)
        looks_unset = f.default is None and value is not None and _is_unset(text, f)
        if looks_unset or (not names_file and " " in text):
            return quote_value(text)
        return quote_if_needed(text)

    def _head(self) -> str:
        return self.name

    @classmethod
    def settings(cls) -> list[Field[Any]]:
        """Return the fields that are written after the name."""
        return list(fields(cls))

    def full_name(self) -> str:
        """Return the name with every setting, and digests of files and lists."""
        return self._written(self._full, [f.name for f in self.settings()])

    def identity(self) -> str:
        """Return the name with every setting; files appear only by digest, without their path."""
        texts = {f.name: self._full(f.name) for f in self.settings() if f.compare}
        for f in self.settings():
            if f.metadata["place"] and texts.get(f.name, "none") != "none":
                has_digest = f.name in self.digests
                texts[f.name] = texts[f.name].rpartition("@")[2] if has_digest else "…"
        return self._written(texts.__getitem__, texts)

    def _full(self, name: str) -> str:
        text = to_text(getattr(self, name))
        digest = self.digests[name](text) if name in self.digests and text != "none" else ""
        return f"{text}@{digest}" if digest else text


NamedT = TypeVar("NamedT", bound=NamedSettings)


def parse_settings(
    cls: type[NamedT],
    text: str,
    fixed: Mapping[str, Any] = MappingProxyType({}),
    hint: Callable[[str], str] = lambda item: "",
) -> NamedT:
    """Parse `name:setting=value,…` into a value of a class.

    `fixed` are settings that the name implies; `hint` returns advice on an item without `=`.
    """
    head, colon, rest = (part.strip() for part in text.partition(":"))
    preset: Mapping[str, Any] = {}
    values: dict[str, Any] = {}
    for item in split_unquoted(rest, ",") if colon else []:
        key, equals, written = (part.strip() for part in item.partition("="))
        if not (key and equals and written):
            advice = hint(item) or (" (a value with a comma needs quotes)" if values else "")
            problem = f"is no setting; expected setting=value{advice}"
            raise MetricError(f"{head}: {quoted(item)} {problem}")
        value = unquote_value(written)
        if value is None:
            problem = "is not closed by a quote: write a quote inside a quoted value twice"
            raise MetricError(f"{head}: {key}={short(written)} {problem}")
        if key == "preset" and cls.presets:
            if value not in cls.presets:
                preset_names = ", ".join(cls.presets)
                raise MetricError(f"{head}: no preset {quoted(value)}; there is {preset_names}")
            if preset:
                raise MetricError(f"{text}: preset is given twice")
            preset = cls.presets[value]
            continue
        setting = cls.aliases.get(key, key)
        if setting in values:
            raise MetricError(f"{text}: {key} is given twice")
        values[setting] = parse_setting(cls, head, setting, value, literal=value != written)
        if setting in fixed and values[setting] != fixed[setting]:
            raise MetricError(f"{text}: {head} already says {setting}={to_text(fixed[setting])}")
    return cls(**{**preset, **fixed, **values})


_SPECIAL = ',|"'
"""Characters that end a value, unless it is in quotes."""
_UNPRINTABLE = frozenset({"Cc", "Cs", "Zl", "Zp"})
_QUOTED = re.compile(r'"((?:[^"]|"")*)"')


def quote_value(text: str) -> str:
    """Return the text of a value in quotes."""
    doubled = text.replace('"', '""')
    return f'"{doubled}"'


def quote_if_needed(text: str) -> str:
    """Return the text of a value, in quotes if it would be split or stripped without them."""
    needs_quotes = text != text.strip() or any(c in _SPECIAL for c in text)
    return quote_value(text) if needs_quotes else text


def unquote_value(text: str) -> str | None:
    """Return a value without its quotes, if it has any; None if they are not closed."""
    if not text.startswith('"'):
        return text
    match = _QUOTED.fullmatch(text)
    return None if match is None else match[1].replace('""', '"')


def split_unquoted(text: str, separators: str) -> list[str]:
    """Split at any of the characters, except in quoted values, which begin right after a `=`."""
    parts, start, in_quotes, previous = [], 0, False, ""
    for at, char in enumerate(text):
        if char == '"' and (in_quotes or previous == "="):
            in_quotes = not in_quotes
            previous = "=" if not in_quotes else ""  # a doubled quote opens again
        elif in_quotes:
            continue
        elif char in separators:
            parts.append(text[start:at])
            start, previous = at + 1, ""
        elif not char.isspace():
            previous = char
    return [*parts, text[start:]]


def parse_setting(
    cls: type[NamedSettings], head: str, key: str, text: str, literal: bool = False
) -> Any:
    """Parse the value of one setting of a class; `head` is the name in messages.

    A `literal` text was in quotes: it is not the word for an unset value.
    """
    by_name = {f.name: f for f in cls.settings()}
    if key not in by_name:
        names = [*by_name, *(["preset"] if cls.presets else [])]
        has = f"it has {', '.join(names)}" if names else "it has none"
        raise MetricError(f"{head} has no setting {quoted(key)}{nearest(key, names)} ({has})")
    if key in cls.digests and "@" in text:  # `name@digest`, as in signatures
        text, _, digest = text.rpartition("@")
        if cls.digests[key](text) != digest:
            problem = f"{text} is not the one of the signature ({digest})"
            raise MetricError(f"{head}: the {'stop list' if key == 'stop' else key} {problem}")
    try:
        return from_text(text, by_name[key], literal)
    except (ValueError, KeyError) as error:
        kind = by_name[key].metadata["kind"]
        text_forms = {bool: "yes or no", tuple: "numbers as in 0.5/0.5"}
        expected = text_forms.get(kind) or _KIND_WORDS.get(kind, "a number")
        raise MetricError(f"{head}: {key}={text}: expected {expected}") from error


def _plain_value(value: Any, kind: type, items: type | None) -> Any:
    """Return lists as tuples, mappings as `NamedTexts`, and numbers of the kind as Python's."""
    if kind is tuple and isinstance(value, list | tuple):
        return tuple(_plain_value(item, items or object, None) for item in value)
    if kind is NamedTexts and isinstance(value, Mapping):
        return NamedTexts(value)
    if isinstance(value, bool):
        return value
    if kind is float and isinstance(value, Real):
        return float(value)
    return int(value) if kind is int and isinstance(value, Integral) else value


_KIND_WORDS = {
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    str: "a string",
    tuple: "a list",
    NamedTexts: "texts by name",
}


def _problem(f: Field[Any], value: Any) -> str:
    """Describe what is wrong with a value of a setting; empty if nothing is."""
    kind, items = f.metadata["kind"], f.metadata["items"]
    if value is None:
        return "" if f.default is None else "is missing"
    if kind is NamedTexts and isinstance(value, NamedTexts):
        texts = (text for item in value.items() for text in item)
        bad = next((text for text in texts if not isinstance(text, str) or not text), None)
        return "" if bad is None else f"has {quoted(bad)}, expected texts that are not empty"
    if kind is not tuple or not isinstance(value, tuple):
        return _value_problem(f, kind, value)
    if items is not None:
        for item in value:
            if item is None and f.metadata["null_items"]:
                continue
            if problem := _value_problem(f, items, item):
                return f"has {quoted(item)}, which {problem}"
    if f.metadata["distinct"] and len(set(value)) < len(value):
        twice = next(item for item in value if value.count(item) > 1)
        return f"has {quoted(twice)} twice"
    return ""


def _value_problem(f: Field[Any], kind: Any, value: Any) -> str:
    """Describe what is wrong with a value, or with an item of a tuple."""
    choices, registry = f.metadata["choices"], f.metadata["registry"]
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        return f"is {type(value).__name__}, expected {_KIND_WORDS.get(kind, kind.__name__)}"
    if registry:
        registry_of(registry)[value]  # raises if there is no such name
    elif choices is not None:
        choices = choices() if callable(choices) else choices
        if value not in choices:  # listing them reads entry points
            names = list(choices)
            return f"is not one of {', '.join(names)}{nearest(value, names)}"
    elif kind in (int, float):
        low, high, above, below = (f.metadata[key] for key in ("low", "high", "above", "below"))
        is_below = value < below or below == math.inf
        if not (low <= value <= high and value > above and is_below):
            ends = {"above": above, "at least": low, "at most": high, "below": below}
            limits = [
                f"{word} {_limit_text(end)}" for word, end in ends.items() if math.isfinite(end)
            ]
            return f"is out of range: expected {' and '.join(limits) or 'a number'}"
    return ""


def _limit_text(limit: float) -> str:
    return f"{limit:,}" if isinstance(limit, int) else to_text(limit)


def check_settings(
    function: Callable[..., Any], targets: Iterable[Callable[..., Any]], settings: Iterable[str]
) -> None:
    """Reject settings that neither a function nor the functions it calls with them have."""
    passed_on = [p for target in targets for p in signature(target).parameters.values()]
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in passed_on):
        return  # that function checks them itself
    parameters = [*signature(function).parameters.values(), *passed_on]
    keyword_only = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY]
    allowed = list(dict.fromkeys(keyword_only))
    for name in settings:
        if name not in allowed:
            expected = f"expected one of {', '.join(allowed)}{nearest(name, allowed)}"
            raise InputError(f"setting {quoted(name)} of {function.__name__}: {expected}")


def nearest(word: str, names: Iterable[str]) -> str:
    """Return `; did you mean NAME?` if a name is similar to the word."""
    import difflib

    folded = {name.lower(): name for name in names}
    close = difflib.get_close_matches(word.lower(), folded, n=1, cutoff=0.5)
    return f"; did you mean {folded[close[0]]}?" if close else ""


def to_text(value: Any) -> str:
    """Return a setting's value as text."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return "/".join(to_text(item) for item in value)
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return "none" if value is None else str(value)


def _is_unset(text: str, f: Field[Any]) -> bool:
    return bool(text.lower() == f.metadata["unset"])


def from_text(text: str, f: Field[Any], literal: bool = False) -> Any:
    """Return the value that `to_text` wrote, or raise ValueError."""
    kind = f.metadata["kind"]
    if f.default is None and not literal and _is_unset(text, f):
        return None
    if kind is bool:
        return {"yes": True, "no": False, "true": True, "false": False}[text.lower()]
    if kind is tuple:
        return tuple(_number(part) for part in text.split("/"))
    if kind is float:
        return _number(text)
    return kind(text)


def _number(text: str) -> float:
    value = float(text)
    if math.isnan(value):
        raise ValueError("not a number")
    return value


def check_trials(name: str, value: int, least: int = 0) -> None:
    """Reject a number of resamples or trials that is too small or too large."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= MAX_TRIALS:
        raise InputError(f"{name}={quoted(value)}: expected {least} to {MAX_TRIALS:,}")


def check_seed(seed: int) -> None:
    """Require an integer seed; None would not be reproducible."""
    check_count("seed", seed)


def check_count(name: str, value: int, least: int = 0) -> None:
    """Require a whole number of `least` or more."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise InputError(f"{name}={quoted(value)}: expected a whole number, {least} or more")


# ------------------------------------------------------------ settings that many functions have


def seed_setting(help: str = "Seed of the random numbers.") -> Any:
    """Return the setting `seed`."""
    return setting(SEED, help, low=0, option="--seed", heading=TESTS)


def resamples_setting(
    default: int | None = 1000,
    help: str = "Number of bootstrap resamples for the intervals; 0 for no intervals.",
    *,
    low: int = 0,
    heading: str = TESTS,
) -> Any:
    """Return the setting `resamples`; help does not show the defaults 0 and None."""
    return setting(
        default,
        help,
        kind=int,
        low=low,
        high=MAX_TRIALS,
        option="--resamples",
        heading=heading,
        show_default=bool(default),
    )


def normalise_setting() -> Any:
    """Return the setting `normalise`."""
    return setting(
        "none",
        "`z` scales the scores of each judge to mean 0 and standard deviation 1.",
        choices=("none", "z"),
        option="--normalise",
        heading=ADVANCED,
    )
