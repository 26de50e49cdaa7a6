"""Settings: values with one name, `name` or `name:setting=value,setting=value`, and back.

A `Named` value is a frozen dataclass whose fields are settings, each with its meaning and limits.
Metrics and classifiers are such values.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import Field, dataclass, field, fields
from inspect import signature
from numbers import Integral, Real
from types import MappingProxyType
from typing import Any, ClassVar, TypeVar

from karat.errors import InputError, MetricError, quoted

Choices = Mapping[str, str] | Callable[[], Any]


def setting(
    default: Any,
    help: str,
    *,
    kind: type | None = None,
    choices: Choices | None = None,
    low: float = -math.inf,
    high: float = math.inf,
    above: float = -math.inf,
    unset: str = "none",
    place: bool = False,
    compare: bool = True,
) -> Any:
    """Return a field of a metric: its default, its meaning in one sentence and its limits.

    Args:
        default, help: default value, and meaning in one sentence.
        kind: type; by default that of the default.
        choices: names that are allowed.
        low, high, above: limits: low <= value <= high, and value > above.
        unset: text of None, if that is the default.
        place: the value is the path of a file. A path with a comma has no string form.
        compare: whether values that differ in this field differ.
    """
    description = {"help": help, "kind": kind or type(default), "unset": unset, "place": place}
    limits = {"choices": choices, "low": low, "high": high, "above": above}
    return field(default=default, compare=compare, metadata={**description, **limits})


@dataclass(frozen=True)
class NamedSettings:
    """A value whose string form is its name, argument and key, and parses back."""

    name: ClassVar[str]
    """Its name on the command line."""
    aliases: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """Other names for settings, as other tools call them."""
    presets: ClassVar[Mapping[str, dict[str, Any]]] = MappingProxyType({})
    """Settings that go together, by name."""
    digests: ClassVar[Mapping[str, Callable[[str], str]]] = MappingProxyType({})
    """Settings that name a file or list: signatures show what is in it, by a digest."""

    def __post_init__(self) -> None:
        """Check every setting; numbers become plain ints and floats."""
        for f in fields(self):
            value = _plain_number(getattr(self, f.name), f.metadata["kind"])
            object.__setattr__(self, f.name, value)
            problem = _problem(f, value)
            if problem:
                raise MetricError(f"{self._head()}: {f.name}={to_text(value)} {problem}")

    def __str__(self) -> str:
        return self._written(lambda name: to_text(getattr(self, name)))

    def digested(self) -> str:
        """Return the name as `str` does, but files and lists with a digest of their content."""
        return self._written(self._full)

    def _written(self, value: Callable[[str], str]) -> str:
        """Return the name with the settings that differ from their defaults."""
        changed = [f.name for f in self.settings() if getattr(self, f.name) != f.default]
        return self._with_settings({name: value(name) for name in changed})

    def _with_settings(self, texts: Mapping[str, str]) -> str:
        settings = ",".join(f"{name}={text}" for name, text in texts.items())
        return f"{self._head()}:{settings}" if settings else self._head()

    def _head(self) -> str:
        return self.name

    @classmethod
    def settings(cls) -> list[Field[Any]]:
        """Return the fields that are written after the name."""
        return list(fields(cls))

    def full_name(self) -> str:
        """Return the name with every setting; files and lists with a digest of their content."""
        return self._with_settings({f.name: self._full(f.name) for f in self.settings()})

    def identity(self) -> str:
        """Return the name with every setting; of files their digest alone, wherever they are."""
        texts = {f.name: self._full(f.name) for f in self.settings() if f.compare}
        for f in self.settings():
            if f.metadata["place"] and texts.get(f.name, "none") != "none":
                has_digest = f.name in self.digests
                texts[f.name] = texts[f.name].rpartition("@")[2] if has_digest else "…"
        return self._with_settings(texts)

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
    """Return the value of a class that `name:setting=value,…` describes.

    `fixed` are settings that the name itself stands for; `hint` is said of an item that is none.
    """
    head, colon, rest = (part.strip() for part in text.partition(":"))
    preset: Mapping[str, Any] = {}
    values: dict[str, Any] = {}
    for item in rest.split(",") if colon else []:
        key, equals, value = (part.strip() for part in item.partition("="))
        if not (key and equals and value):
            problem = f"is no setting; expected setting=value{hint(item)}"
            raise MetricError(f"{head}: {quoted(item)} {problem}")
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
        values[setting] = parse_setting(cls, head, setting, value)
        if setting in fixed and values[setting] != fixed[setting]:
            raise MetricError(f"{text}: {head} already says {setting}={to_text(fixed[setting])}")
    return cls(**{**preset, **fixed, **values})


def parse_setting(cls: type[NamedSettings], head: str, key: str, text: str) -> Any:
    """Return the value of one setting of a class from its text; `head` is the name in messages."""
    by_name = {f.name: f for f in cls.settings()}
    if key not in by_name:
        names = [*by_name, *(["preset"] if cls.presets else [])]
        has = f"it has {', '.join(names)}" if names else "it has none"
        raise MetricError(f"{head} has no setting {quoted(key)}{nearest(key, names)} ({has})")
    if key in cls.digests and "@" in text:  # `name@digest`, as signatures have it
        text, _, digest = text.rpartition("@")
        if cls.digests[key](text) != digest:
            problem = f"{text} is not the one of the signature ({digest})"
            raise MetricError(f"{head}: the {'stop list' if key == 'stop' else key} {problem}")
    try:
        return from_text(text, by_name[key])
    except (ValueError, KeyError) as error:
        kinds = {bool: "yes or no", tuple: "numbers as in 0.5/0.5", int: "a whole number"}
        expected = kinds.get(by_name[key].metadata["kind"], "a number")
        raise MetricError(f"{head}: {key}={text}: expected {expected}") from error


def _plain_number(value: Any, kind: type) -> Any:
    """Return a whole number given for a float, or one of numpy's, as Python's own."""
    if isinstance(value, list | tuple) and kind is tuple:
        return tuple(_plain_number(item, float) for item in value)
    if isinstance(value, bool):
        return value
    if kind is float and isinstance(value, Real):
        return float(value)
    return int(value) if kind is int and isinstance(value, Integral) else value


def _problem(f: Field[Any], value: Any) -> str:
    """Describe what is wrong with a value of a setting; empty if nothing is."""
    kind, choices = f.metadata["kind"], f.metadata["choices"]
    if value is None:
        return "" if f.default is None else "is missing"
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        return f"is {type(value).__name__}, expected {kind.__name__}"
    if choices is not None:
        choices = choices() if callable(choices) else choices
        if value not in choices:  # a list of them reads entry points
            names = list(choices)
            return f"is not one of {', '.join(names)}{nearest(value, names)}"
    elif kind in (int, float):
        low, high, above = (f.metadata[key] for key in ("low", "high", "above"))
        if not (low <= value <= high and value > above):
            lower = f"above {to_text(above)}" if above > low else f"at least {to_text(low)}"
            limits = [lower] if max(low, above) > -math.inf else []
            limits += [f"at most {to_text(high)}"] if high < math.inf else []
            return f"is out of range: expected {' and '.join(limits) or 'a number'}"
    odd = not value or any(c in ",|\0" or c.isspace() for c in str(value))
    if kind is str and choices is None and not f.metadata["place"] and odd:
        return "holds a comma, a bar or white space, which a metric's name cannot carry"
    return ""


def check_settings(
    function: Callable[..., Any], targets: Iterable[Callable[..., Any]], settings: Iterable[str]
) -> None:
    """Reject settings that neither a function nor those it passes them on to have."""
    passed_on = [p for target in targets for p in signature(target).parameters.values()]
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in passed_on):
        return  # that function looks at them itself
    parameters = [*signature(function).parameters.values(), *passed_on]
    keyword_only = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY]
    allowed = list(dict.fromkeys(keyword_only))
    for name in settings:
        if name not in allowed:
            expected = f"expected one of {', '.join(allowed)}{nearest(name, allowed)}"
            raise InputError(f"setting {quoted(name)} of {function.__name__}: {expected}")


def nearest(word: str, names: Iterable[str]) -> str:
    """Return a suggestion, if some name is close to the word."""
    folded = {name.lower(): name for name in names}
    close = difflib.get_close_matches(word.lower(), folded, n=1, cutoff=0.5)
    return f"; did you mean {folded[close[0]]}?" if close else ""


def to_text(value: Any) -> str:
    """Return a setting's value in the one-string form."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return "/".join(to_text(item) for item in value)
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return "none" if value is None else str(value)


def from_text(text: str, f: Field[Any]) -> Any:
    """Return the value that `to_text` wrote, or raise ValueError."""
    kind = f.metadata["kind"]
    if f.default is None and text.lower() == f.metadata["unset"]:
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


MAX_TRIALS = 1_000_000


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
