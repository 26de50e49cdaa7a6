"""Names: one string per metric, `name` or `name:setting=value,setting=value`, and back.

`parse(str(metric)) == metric`. Aliases (`ps`, `rs`, `rouge3`, `chrf++`) and presets parse to the
metric they stand for and print canonically. Metrics are loaded when they are named.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from karat.errors import MetricError, quoted
from karat.metrics.base import Metric
from karat.metrics.settings import from_text, nearest, to_text

CLASSES = {
    "aev": ("karat.metrics.ngram", "AEv"),
    "bleu": ("karat.metrics.ngram", "BLEU"),
    "chrf": ("karat.metrics.chrf", "ChrF"),
    "gtm": ("karat.metrics.matching", "GTM"),
    "generation_accuracy": ("karat.metrics.accuracy", "GenerationAccuracy"),
    "generation_tree_accuracy": ("karat.metrics.tree", "GenerationTreeAccuracy"),
    "pivot_f1": ("karat.paraphrase.pem.metric", "PivotF1"),
    "quality_accuracy": ("karat.metrics.tree", "QualityAccuracy"),
    "rouge1": ("karat.metrics.rouge", "RougeN"),
    "rougeL": ("karat.metrics.rouge", "RougeL"),
    "rougeLsum": ("karat.metrics.rouge", "RougeLsum"),
    "simple_accuracy": ("karat.metrics.accuracy", "SimpleAccuracy"),
    "simple_tree_accuracy": ("karat.metrics.tree", "SimpleTreeAccuracy"),
    "ter": ("karat.metrics.ter", "TER"),
    "understandability_accuracy": ("karat.metrics.tree", "UnderstandabilityAccuracy"),
    "wer": ("karat.metrics.ter", "WER"),
}
"""Name -> module and class."""

ALIASES: Mapping[str, tuple[str, dict[str, Any]]] = {
    "ps": ("aev", {"alpha": 1.0}),
    "rs": ("aev", {"alpha": 0.0}),
    "chrf++": ("chrf", {"words": 2}),
    "rouge2": ("rouge1", {"n": 2}),
}
"""Other name -> name and the settings it stands for."""


def metric_class(name: str) -> type[Metric]:
    """The class of a canonical name."""
    module, cls = CLASSES[name]
    found: type[Metric] = getattr(import_module(module), cls)
    return found


def metric(name: str | Metric) -> Metric:
    """The metric of that name; a metric is returned as it is."""
    if not isinstance(name, str | Metric):
        kind = getattr(name, "__name__", type(name).__name__)
        raise MetricError(f"{kind} is no metric: give its name, such as bleu, or a metric")
    return parse(name) if isinstance(name, str) else name


def parse(text: str) -> Metric:
    """The metric that a string names; a whole signature, Karat's or sacreBLEU's, is read too."""
    if "|" not in text:
        return parse_name(text)
    from karat.metrics.signatures.reading import read_signature

    return read_signature(text)


def parse_name(text: str) -> Metric:
    """The metric of `name` or `name:setting=value,setting=value`."""
    head, colon, rest = (part.strip() for part in text.partition(":"))
    name, fixed = _resolve(head)
    cls = metric_class(name)
    preset: dict[str, Any] = {}
    given: dict[str, Any] = {}
    for key, value in [_split(head, item) for item in rest.split(",")] if colon else []:
        if key == "preset" and cls.presets:
            preset |= _preset(head, value, cls.presets)
            continue
        setting = cls.aliases.get(key, key)
        if setting in given:
            raise MetricError(f"{text}: {key} is given twice")
        given[setting] = _value(cls, head, setting, value)
        if setting in fixed and given[setting] != fixed[setting]:
            raise MetricError(f"{text}: {head} already says {setting}={to_text(fixed[setting])}")
    return cls(**(preset | fixed | given))


def _resolve(head: str) -> tuple[str, dict[str, Any]]:
    """The canonical name for what was written, and the settings that come with it."""
    written = _folded(head)
    known: dict[str, tuple[str, dict[str, Any]]] = {_folded(n): (n, {}) for n in CLASSES}
    known |= ALIASES
    if written in known:
        name, settings = known[written]
        return name, dict(settings)
    order = re.fullmatch(r"rouge(\d{1,3})", written)
    if order:
        return "rouge1", {"n": int(order[1])}
    raise MetricError(_unknown(head))


def _unknown(head: str) -> str:
    """Return the sentence for a name that no metric has."""
    several = re.split(r"[\s,;]+", head)
    if len(several) > 1 and all(_is_name(name) for name in several):
        options = " ".join(f"-m {name}" for name in several)
        told = f"give them one by one, {options} (in Python, a list)"
        return f"{quoted(head)} is several metrics: {told}"
    if re.search(r"\+numrefs\.\d|\+version\.1\.", head):
        return (
            f"{quoted(head)} is a signature of sacreBLEU 1: write it in the form of sacreBLEU 2, "
            f"as in BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp"
        )
    hint = nearest(head, [*CLASSES, *ALIASES])
    return f"unknown metric {quoted(head)}{hint} (karat metrics lists them all)"


def _is_name(text: str) -> bool:
    """Whether some metric is called that."""
    written = _folded(text)
    known = {*map(_folded, CLASSES), *ALIASES}
    return written in known or bool(re.fullmatch(r"rouge\d{1,3}", written))


def _folded(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")


def _split(head: str, item: str) -> tuple[str, str]:
    key, equals, value = (part.strip() for part in item.partition("="))
    if not (key and equals and value):
        hint = f" (another metric is another option: -m {item.strip()})" if _is_name(key) else ""
        raise MetricError(f"{head}: {quoted(item)} is no setting; expected setting=value{hint}")
    return key, value


def _preset(head: str, name: str, presets: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    if name not in presets:
        raise MetricError(f"{head}: no preset {quoted(name)}; there is {', '.join(presets)}")
    return presets[name]


def _value(cls: type[Metric], head: str, key: str, text: str) -> Any:
    by_name = {f.name: f for f in cls.settings()}
    if key not in by_name:
        names = [*by_name, *(["preset"] if cls.presets else [])]
        raise MetricError(
            f"{head} has no setting {quoted(key)}{nearest(key, names)} (it has {', '.join(names)})"
        )
    if key in cls.digests and "@" in text:
        text = _same_content(cls, head, key, text)
    try:
        return from_text(text, by_name[key])
    except (ValueError, KeyError) as error:
        kind = by_name[key].metadata["kind"]
        wanted = {bool: "yes or no", tuple: "numbers as in 0.5/0.5", int: "a whole number"}
        expected = wanted.get(kind, "a number")
        raise MetricError(f"{head}: {key}={text}: expected {expected}") from error


def _same_content(cls: type[Metric], head: str, key: str, text: str) -> str:
    """The name in `name@digest`, as signatures have it, if what it names is still the same."""
    name, _, digest = text.rpartition("@")
    if cls.digests[key](name) != digest:
        what = {"stop": "stop list"}.get(key, key)
        raise MetricError(f"{head}: the {what} {name} is not the one of the signature ({digest})")
    return name
