"""The report of `meta gains`; apart from `gains.py`, so that `compare` does not load the fit."""

from __future__ import annotations

from karat.meta.gains import COLLECTION_COLUMNS, CURVE_COLUMNS, GainStudy
from karat.report.model import Document, Table


def study_document(study: GainStudy) -> Document:
    """Return the curves by metric and kind of task, and the collections."""
    title = "How often people agree with gains"
    blocks = (
        Table("rows", title, CURVE_COLUMNS, study.rows, open=True),
        Table("collections", "Collections", COLLECTION_COLUMNS, study.collections, open=True),
    )
    return Document(title, blocks)
