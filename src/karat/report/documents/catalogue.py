"""The report of `metrics`: settings under the heading of their metric."""

from __future__ import annotations

from karat.metrics.names import MetricCatalogue
from karat.report.model.table import Column, Document, Table, columns

_COLUMNS = (
    Column("heading", "Metric", readers="people"),
    *columns("programs", metric="Metric", summary="Summary", scale="Scale"),
    Column("setting", "Setting", help="Written after the metric's name: bleu:tok=zh,eff=yes."),
    Column("default", "Default"),
    Column("meaning", "Meaning", wrap=True),
    Column("values", "Values", wrap=True),
)


def catalogue_document(catalogue: MetricCatalogue, command: str) -> Document:
    """Return the list of metrics and their settings."""
    rows = tuple(
        {"heading": f"{row.title} ({row.range}): {row.summary}", **row._asdict()}
        for row in catalogue.rows
    )
    table = Table("rows", "Metrics", _COLUMNS, rows, group="heading")
    return Document("Metrics", (table,), command, {}, catalogue.notes)
