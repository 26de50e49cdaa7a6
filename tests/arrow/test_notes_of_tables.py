"""Notes and answers about tables: each where it holds, and absent where it does not."""

from __future__ import annotations

from typing import Any

import pytest

import karat as kt
from karat.arrow import table_scores
from karat.arrow.jobs import Local
from karat.scoring import Scoring

ROWS = [{"output": "a b", "reference": "a b c"}, {"output": "d e", "reference": "d e"}]


def test_a_cluster_is_called_slow_for_few_rows_alone() -> None:
    dask = pytest.importorskip("karat.scale.dask_engine").Dask()
    assert table_scores.engine_remarks(dask, 10) == (
        "10 rows: below about a million, starting dask costs more than the job; --engine local "
        "scores them sooner.",
    )
    assert table_scores.engine_remarks(dask, table_scores.ENOUGH_ROWS) == ()
    assert table_scores.engine_remarks(Local(1), 10) == ()


def scored(rows: list[dict[str, Any]], **how: Any) -> Scoring:
    return kt.score(rows, metrics=["bleu", "chrf"], **how)


def test_no_system_is_called_best_where_there_is_one() -> None:
    assert scored(ROWS).summary == ""


def test_no_system_is_called_best_where_all_are_equal() -> None:
    rows = [{**row, "system": name} for name in ("A", "B") for row in ROWS]
    assert scored(rows, by="system").summary.startswith("All systems have the same score by")


def test_no_system_is_called_best_by_all_metrics_where_they_differ() -> None:
    rows = [
        {"system": "A", "output": "the cat sat on the mat", "reference": "the cat sat on the rug"},
        {"system": "B", "output": "thecatsatontherug", "reference": "the cat sat on the rug"},
    ]
    assert scored(rows, by="system").summary.startswith("Best: A by BLEU; B by chrF.")


@pytest.mark.parametrize("level", ["segment", "document"])
def test_scores_of_segments_and_documents_name_no_best_system(level: str) -> None:
    assert kt.score("demo", metrics="chrf", level=level).summary == ""
    assert kt.score("demo", metrics="chrf").summary.startswith("Best by chrF:")


def test_a_note_on_all_documents_of_a_system_is_stated_once() -> None:
    notes = kt.score("demo", metrics="pem", level="document").document().notes
    assert [note.partition(":")[0] for note in notes] == [
        "atlas, pem",
        "beacon, pem",
        "cinder, pem",
        "drift, pem",
    ]


def test_documents_are_signed_in_the_form_of_sacrebleu() -> None:
    metrics = ["bleu", "gtm"]
    scored = kt.score("demo", metrics=metrics, level="document", signature="sacrebleu")
    document = scored.document()
    assert document.signatures["bleu"].startswith("BLEU|nrefs:3|case:mixed|eff:no|tok:13a")
    assert [note for note in document.notes if "sacreBLEU" in note] == [
        "sacreBLEU's form of signatures cannot express gtm: signed in Karat's."
    ]
