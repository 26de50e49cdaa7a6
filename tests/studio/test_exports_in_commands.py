"""A set judged in the studio goes straight into other commands; export and import as commands."""

from __future__ import annotations

import csv
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from judged_store import decide, judge_all, make_store, nugget_texts, texts, uuids
from studio.store_rows import current

import karat as kt
from karat.errors import InputError, OutputError
from karat.studio.cli import export, import_log
from karat.studio.contents import read_contents
from karat.studio.disputes import find_disputes
from karat.studio.export.formats import export_studio, make_labels


@pytest.fixture
def get_evalset(tmp_path: Path) -> str:
    """The folder of a set of which a part was judged."""
    store = make_store(tmp_path / "store", texts(30, 3), people=2)
    judge_all(store, most=30)
    export_studio(store.path, tmp_path / "set", "set")
    return str(tmp_path / "set")


def test_meta_takes_an_exported_set(get_evalset: str, run_karat: Callable[..., Any]) -> None:
    done = run_karat("meta", get_evalset, "-m", "bleu", "-d", "quality", "--format", "json")
    assert done.returncode == 0, done.stderr
    assert "quality" in json.dumps(json.loads(done.stdout))


def test_estimate_takes_an_exported_set(get_evalset: str) -> None:
    estimate = kt.estimate(get_evalset, "quality")
    assert [row.system for row in estimate.rows] == ["sys0", "sys1", "sys2"]
    assert all(row.low <= row.people <= row.high for row in estimate.rows)
    assert all(row.high - row.low > 0 for row in estimate.rows)  # a part only was judged


def test_the_command_estimate_takes_an_exported_set(
    get_evalset: str, run_karat: Callable[..., Any]
) -> None:
    pytest.importorskip("karat.report.documents.estimates")
    done = run_karat("estimate", get_evalset, "-d", "quality", "--format", "json")
    assert done.returncode == 0, done.stderr
    assert "sys1" in done.stdout


def test_commands_read_a_store_while_it_is_open(
    tmp_path: Path, run_karat: Callable[..., Any]
) -> None:
    place = tmp_path / "open.sqlite"
    with make_store(place, texts(30, 3), people=2) as store:
        judge_all(store, most=30)
        export_studio(store.path, tmp_path / "set", "set")
        assert kt.estimate(place, "quality").rows == kt.estimate(tmp_path / "set", "quality").rows
        done = run_karat("meta", str(place), "-m", "bleu", "-d", "quality", "--format", "json")
        assert done.returncode == 0, done.stderr
        done = run_karat("nuggets", "describe", str(place))
        assert done.returncode == 2
        assert "this is an evaluation set: give it to karat" in " ".join(done.stdout.split())


def test_nugget_commands_read_a_store(tmp_path: Path, run_karat: Callable[..., Any]) -> None:
    place = tmp_path / "nuggets.sqlite"
    with make_store(place, nugget_texts(), people=2, tasks={"nuggets": {}}) as store:
        judge_all(store)
        export_studio(store.path, tmp_path / "all.jsonl", "nuggets")
    files = [str(place), str(tmp_path / "all.jsonl")]
    scored = [
        run_karat("nuggets", "score", "kestrel", "--key", file, "-f", "csv") for file in files
    ]
    assert scored[0].returncode == 0, scored[0].stderr
    assert scored[0].stdout == scored[1].stdout
    done = run_karat("meta", files[0], "-m", "bleu")
    assert done.returncode == 2
    assert "this is a nugget set: give it to karat nuggets" in done.stderr
    assert run_karat("data", "judges", files[0]).returncode == 0


def test_another_database_is_no_set(tmp_path: Path, run_karat: Callable[..., Any]) -> None:
    place = tmp_path / "other.sqlite"
    with closing(sqlite3.connect(place)) as other:
        other.execute("CREATE TABLE project (settings TEXT)")
        other.commit()
    done = run_karat("meta", str(place), "-m", "bleu")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_nuggets_score_takes_exported_labels(tmp_path: Path, run_karat: Callable[..., Any]) -> None:
    store = make_store(tmp_path / "store", nugget_texts(), people=2, tasks={"nuggets": {}})
    judge_all(store)
    export_studio(store.path, tmp_path / "all.jsonl", "nuggets")
    place = str(tmp_path / "all.jsonl")
    done = run_karat(
        "nuggets", "score", "kestrel", "--key", place, "--no-guess", "--format", "json"
    )
    assert done.returncode == 0, done.stderr
    assert "kestrel" in done.stdout


def test_data_judges_takes_an_exported_set(get_evalset: str, run_karat: Callable[..., Any]) -> None:
    done = run_karat("data", "judges", get_evalset, "--format", "json")
    assert done.returncode == 0, done.stderr
    assert "ann" in done.stdout


@pytest.mark.parametrize(
    ("tasks", "bases"),
    [
        ({"ratings": {"scales": ["quality-7"]}}, {"mean"}),
        ({"pairs": {}}, {"majority", "tie"}),
        ({"spans": {"scheme": "esa"}}, {"mean"}),
        ({"nuggets": {}}, {"majority", "tie"}),
    ],
)
def test_there_is_one_label_for_each_thing(tmp_path: Path, tasks: Any, bases: set[str]) -> None:
    source = nugget_texts() if "nuggets" in tasks else texts(6, 3)
    store = make_store(tmp_path / "store", source, people=2, tasks=tasks)
    judge_all(store)
    labels = make_labels(read_contents(store))
    label_keys = [label[:6] for label in labels]
    assert len(label_keys) == len({*label_keys})
    assert {label.basis for label in labels} == bases
    first = find_disputes(store)[0]
    value: Any = {"ratings": 4, "pairs": "tie", "nuggets": "partial"}.get(first.task)
    value = value or {"spans": [], "score": 50}
    decide(store, first.task, first.output, first.about, value, uuids(5)(), first.item)
    settled = make_labels(read_contents(store))
    assert [label[:6] for label in settled] == label_keys
    assert {label.basis for label in settled} == bases | {"adjudicated"}


def test_cells_of_tables_are_exact(tmp_path: Path) -> None:
    """A text that a spreadsheet would take for a formula is not changed."""
    odd = ["=1+1", "+1", "-1", "@x", "'=1"]
    source = kt.make_evalset("odd", {"a": ["x"] * 5}, segments=odd)
    store = make_store(tmp_path / "store", source, people=1)
    judge_all(store)
    export_studio(store.path, tmp_path / "table.csv", "csv")
    with (tmp_path / "table.csv").open(encoding="utf-8", newline="") as file:
        assert sorted(row["segment"] for row in csv.DictReader(file)) == sorted(odd * 2)


def test_the_commands_export_a_store_and_make_one(tmp_path: Path) -> None:
    with make_store(tmp_path / "store", texts(3, 2), people=1) as store:
        judge_all(store)
    run = CliRunner().invoke
    done = run(export, [str(tmp_path / "store"), str(tmp_path / "out"), "--anonymous"])
    assert done.exit_code == 0, done.output
    assert done.output.endswith("out: log, csv, labels, ties, set\n")
    done = run(import_log, [str(tmp_path / "out"), str(tmp_path / "again")])
    assert done.exit_code == 0, done.output
    assert "opens it, with new links." in done.output
    again = run(export, [str(tmp_path / "again"), str(tmp_path / "out")])
    assert isinstance(again.exception, OutputError)
    none = run(export, [str(tmp_path / "none"), str(tmp_path / "new")])
    assert isinstance(none.exception, InputError)
    with pytest.raises(OutputError, match="exists already"):
        raise again.exception


def test_comparisons_leave_the_store_as_pairs(tmp_path: Path) -> None:
    place = tmp_path / "pairs.sqlite"
    with make_store(place, texts(30, 3), people=1, tasks={"pairs": {}}) as store:
        judge_all(store, most=60)
        compared = {(answer.item, *answer.outputs) for answer in current(store)}
    evalset = kt.load_evalset(place)
    assert len(evalset.pairs) == len(compared) == 60
    assert {pair.dimension for pair in evalset.pairs} == {"win"}
    rows = kt.estimate(evalset, "win").rows
    assert sum(row.people for row in rows) == pytest.approx(1.5)  # ties are half for each
