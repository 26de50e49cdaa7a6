"""Reference page of the metrics: every setting with its default, meaning and values."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from karat.metrics.names import METRICS, MetricSetting, list_metrics
from tools.docs.markdown import code, escaped, table

_LISTS = {"tok": "names.md#tokenisers", "stem": "names.md#stemmers"}
"""Settings whose values are a list of their own."""
HEAD = ("Setting", "Default", "Meaning", "Values")


def metrics_page() -> str:
    """Return the page: a list of all metrics, then each with its settings."""
    listing = list_metrics(*METRICS.entries())
    parts = ["# Metrics", *map(escaped, listing.notes), _more()]
    groups = [(name, list(rows)) for name, rows in groupby(listing.rows, lambda row: row.metric)]
    rows = ([f"[`{name}`](#{name})", r[0].range, escaped(r[0].summary)] for name, r in groups)
    parts.append(table(["Metric", "Scores", "What it is"], rows))
    for name, settings in groups:
        parts += _section(name, settings)
    return "\n\n".join(parts) + "\n"


def _more() -> str:
    return (
        "[Scales](scales.md) says what the numbers mean. [Names, signatures and rules]"
        "(metrics-guide.md) says where they depart from a paper or a tool. "
        "[Which metric?](../how-to/which-metric.md) helps to choose one."
    )


def _section(name: str, settings: list[MetricSetting]) -> Iterator[str]:
    first = settings[0]
    yield f"## `{name}` {{ #{name} }}"
    yield f"{escaped(first.title)}. {escaped(first.summary)} Scores: {first.range}."
    if first.setting is not None:
        yield table(HEAD, map(_row, settings))


def _row(row: MetricSetting) -> list[str]:
    place = _LISTS.get(str(row.setting))
    values = f"[listed here]({place})" if place else escaped(row.values or "")
    return [code(str(row.setting)), code(str(row.default)), escaped(row.meaning or ""), values]
