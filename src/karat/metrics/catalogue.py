"""The catalogue of metrics: every setting with its meaning, read off the classes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import Field, dataclass
from typing import Any, ClassVar, NamedTuple

from karat.metrics.base import Metric
from karat.metrics.names import ALIASES, METRICS, metric, parse
from karat.results import Result
from karat.settings import to_text


class MetricSetting(NamedTuple):
    """One setting of one metric; a metric without settings has one row with none."""

    metric: str
    title: str
    range: str
    summary: str
    scale: float
    setting: str | None = None
    default: str | None = None
    meaning: str | None = None
    values: str | None = None


@dataclass(frozen=True, eq=False, repr=False)
class MetricCatalogue(Result):
    """Metrics with their settings."""

    rows: tuple[MetricSetting, ...]
    notes: tuple[str, ...]
    signature: ClassVar[str] = ""

    @property
    def settings(self) -> dict[str, object]:
        """The metrics that were asked for."""
        return {"metrics": tuple(dict.fromkeys(row.metric for row in self.rows))}


def list_metrics(*names: str) -> MetricCatalogue:
    """List metrics with their settings.

    Args:
        names: metrics to list; by default all.
    """
    broken: list[str] = []
    chosen = [type(metric(name)) for name in names]
    if not names:  # families as listed
        listed = sorted(METRICS.usable(broken), key=lambda found: found[0][:1])
        chosen += [cls for _, cls in listed]
    rows = tuple(row for cls in dict.fromkeys(chosen) for row in _rows(cls))
    other = ", ".join(f"{a} = {parse(a)}" for a in ALIASES if str(parse(a)) != a)
    notes = (
        "Write a metric as name or name:setting=value,setting=value.",
        f"Other names: {other}; rouge3, rouge4, … for other orders.",
    )
    return MetricCatalogue(rows, (*notes, *broken))


def _rows(cls: type[Metric]) -> Iterator[MetricSetting]:
    summary = (cls.__doc__ or "").strip().split("\n")[0]
    about = cls.name, cls.title or cls.name, _range_of_scores(cls), summary, cls.full_scale
    for f in cls.settings():
        default = f.metadata["unset"] if f.default is None else to_text(f.default)
        yield MetricSetting(*about, f.name, default, f.metadata["help"], _values(f))
    for preset, settings in cls.presets.items():
        means = ", ".join(f"{key}={to_text(value)}" for key, value in settings.items())
        yield MetricSetting(*about, "preset", "none", means, preset)
    if not (cls.settings() or cls.presets):
        yield MetricSetting(*about)


def _range_of_scores(cls: type[Metric]) -> str:
    if cls.score_range or cls.bounded:
        return cls.score_range or f"0 to {cls.full_scale:.0f}"
    if cls().sign > 0:
        return f"up to {cls.full_scale:.0f}, may be negative"
    return "from 0, lower is better"


def _values(f: Field[Any]) -> str:
    choices, kind = f.metadata["choices"], f.metadata["kind"]
    if isinstance(choices, Mapping):
        return "; ".join(f"{name}: {meaning}" for name, meaning in choices.items())
    if choices is not None:
        return ", ".join(choices() if callable(choices) else choices)
    if kind is bool:
        return "yes, no" if f.default is not None else f"{f.metadata['unset']}, yes, no"
    if kind not in (int, float):
        return ""
    low, high, above = (f.metadata[key] for key in ("low", "high", "above"))
    if above > low:
        return f"> {to_text(above)}"
    return f"{to_text(low)} to {to_text(high)}" if high < 1e6 else f"{to_text(low)} or more"
