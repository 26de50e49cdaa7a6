"""The catalogue of metrics: every setting with its meaning, read off the classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import Field
from typing import Any

from karat.metrics.base import Metric
from karat.metrics.names import ALIASES, METRICS, parse
from karat.report.model.table import Cell, Column, Document, Table
from karat.settings import to_text

_COLUMNS = (
    Column("heading", "Metric", readers="people"),
    Column("metric", "Metric", readers="programs"),
    Column("summary", "Summary", readers="programs"),
    Column("scale", "Scale", readers="programs"),
    Column("setting", "Setting", help="Written after the metric's name: bleu:tok=zh,eff=yes."),
    Column("default", "Default"),
    Column("meaning", "Meaning", wrap=True),
    Column("values", "Values", wrap=True),
)


def catalogue(names: Sequence[str], command: str) -> Document:
    """All metrics, or those named."""
    chosen = list(dict.fromkeys(type(parse(name)) for name in names)) or [
        METRICS[name] for name in METRICS
    ]
    rows = [row for cls in chosen for row in _rows(cls)]
    return Document(
        title="Metrics",
        blocks=(Table("rows", "Metrics", _COLUMNS, tuple(rows), group="heading"),),
        command=command,
        signatures={},
        notes=(
            "Write a metric as name or name:setting=value,setting=value.",
            f"Other names: {_aliases()}; rouge3, rouge4, … for other orders.",
        ),
    )


def _aliases() -> str:
    return ", ".join(f"{alias} = {parse(alias)}" for alias in ALIASES if str(parse(alias)) != alias)


def _rows(cls: type[Metric]) -> list[dict[str, Cell]]:
    summary = (cls.__doc__ or "").strip().split("\n")[0]
    about: dict[str, Cell] = {
        "heading": f"{cls.title or cls.name} ({_scale(cls)}): {summary}",
        "metric": cls.name,
        "summary": summary,
        "scale": cls.full_scale,
    }
    rows = [about | _row(f) for f in cls.settings()]
    for preset, settings in cls.presets.items():
        means = ", ".join(f"{key}={to_text(value)}" for key, value in settings.items())
        shown: dict[str, Cell] = {"setting": "preset", "default": "none"}
        rows.append(about | shown | {"meaning": means, "values": preset})
    return rows


def _scale(cls: type[Metric]) -> str:
    """What scores can be."""
    if cls.bounded:
        return f"0 to {cls.full_scale:.0f}"
    if cls.sign > 0:
        return f"up to {cls.full_scale:.0f}, may be negative"
    return "from 0, lower is better"


def _row(f: Field[Any]) -> dict[str, Cell]:
    return {
        "setting": f.name,
        "default": f.metadata["unset"] if f.default is None else to_text(f.default),
        "meaning": f.metadata["help"],
        "values": _values(f),
    }


def _values(f: Field[Any]) -> str:
    choices, kind = f.metadata["choices"], f.metadata["kind"]
    if callable(choices):
        return ", ".join(choices())
    if choices is not None:
        return "; ".join(f"{name}: {meaning}" for name, meaning in choices.items())
    if kind is bool:
        return "yes, no" if f.default is not None else f"{f.metadata['unset']}, yes, no"
    return _range(f) if kind in (int, float) else ""


def _range(f: Field[Any]) -> str:
    low, high, above = (f.metadata[key] for key in ("low", "high", "above"))
    if above > low:
        return f"> {to_text(above)}"
    return f"{to_text(low)} to {to_text(high)}" if high < 1e6 else f"{to_text(low)} or more"
