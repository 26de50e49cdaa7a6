"""The catalogue of metrics: every setting with its meaning, read off the classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import Field, fields
from typing import Any

from karat.metrics.base import Metric
from karat.metrics.names import ALIASES, CLASSES, metric_class, parse
from karat.metrics.settings import to_text
from karat.report.table import Cell, Column, Document, Table

_COLUMNS = (
    Column("metric", "Metric"),
    Column("setting", "Setting", help="Written after the metric's name: bleu:tok=zh,eff=yes."),
    Column("default", "Default"),
    Column("meaning", "Meaning", wrap=True),
    Column("values", "Values", wrap=True),
)


def catalogue(names: Sequence[str], command: str) -> Document:
    """All metrics, or those named."""
    chosen = list(dict.fromkeys(type(parse(name)) for name in names)) or [
        metric_class(name) for name in CLASSES
    ]
    rows = [row for cls in chosen for row in _rows(cls)]
    return Document(
        title="Metrics",
        tables=(Table("rows", "Metrics", _COLUMNS, tuple(rows), group="metric"),),
        command=command,
        signatures={},
        notes=(
            "Write a metric as name or name:setting=value,setting=value. Scores go up to 100 for "
            "bleu and chrf, up to 1 for all others; ter and wer are errors by 100 words, less is "
            "better.",
            f"Other names: {_aliases()}; rouge3, rouge4, … for other orders.",
        ),
    )


def _aliases() -> str:
    return ", ".join(f"{alias} = {parse(alias)}" for alias in ALIASES if str(parse(alias)) != alias)


def _rows(cls: type[Metric]) -> list[dict[str, Cell]]:
    name = "rouge1, rouge2, …" if cls.name == "rouge1" else cls.name
    summary = (cls.__doc__ or "").strip().split("\n")[0]
    heading = f"{name}: {summary}"
    rows = [_row(heading, f) for f in fields(cls) if f.name != "n" or cls.name != "rouge1"]
    presets = getattr(cls, "presets", {})
    for preset, settings in presets.items():
        means = ", ".join(f"{key}={to_text(value)}" for key, value in settings.items())
        rows.append(
            {
                "metric": heading,
                "setting": "preset",
                "default": "none",
                "meaning": means,
                "values": preset,
            }
        )
    return rows


def _row(heading: str, f: Field[Any]) -> dict[str, Cell]:
    return {
        "metric": heading,
        "setting": f.name,
        "default": to_text(f.default),
        "meaning": f.metadata["help"],
        "values": _values(f),
    }


def _values(f: Field[Any]) -> str:
    choices, kind = f.metadata["choices"], f.metadata["kind"]
    if callable(choices):
        return "none, porter-nltk, or a Snowball stemmer such as porter, english, german"
    if choices is not None:
        return ", ".join(choices)
    if kind is bool:
        return "yes, no"
    if kind in (int, float):
        return _range(f)
    return "none, en, iso-de, …, or a path" if f.name == "stop" else "numbers, as in 0.5/0.5"


def _range(f: Field[Any]) -> str:
    low, high, above = (f.metadata[key] for key in ("low", "high", "above"))
    if above > low:
        return f"> {to_text(above)}"
    return f"{to_text(low)} to {to_text(high)}" if high < 1e6 else f"{to_text(low)} or more"
