"""Edited keys in files: exports, logs of this version and the first, logs that were changed."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from studio.keyed_store import BEFORE, OPENED, Q1, Keyed, close_stores
from studio.projects_in_store import START, answer, uuid

from karat.errors import InputError
from karat.nuggets.formats.loading import load_nuggets
from karat.studio.assignment import next_assignment
from karat.studio.export.formats import export_studio
from karat.studio.export.log import import_studio
from karat.studio.key_editing import KeyEdit, edit_key, view_question
from karat.studio.store.judgements import SentJudgement, judge
from karat.studio.store.schema import APPLICATION
from karat.studio.store.store import Store


@pytest.fixture(autouse=True)
def _closes_stores() -> Iterator[None]:
    yield
    close_stores()


def test_export_and_import_keep_the_key_and_its_edits(tmp_path: Path) -> None:
    keyed = Keyed(tmp_path)
    keyed.edit("importance", 0, nugget="2", importance="vital")
    keyed.edit("reword", 2, nugget="1", descriptions=['a "quote"', "zwei 東京"])
    keyed.edit("add", 0, descriptions=["<b>x</b>"], importance="okay")
    while (view := next_assignment(keyed.store, keyed.ann, START)) is not None:
        keyed.number += 1
        value = answer(view)
        sent = SentJudgement(uuid(keyed.number), view.assignment, value, 9, view.newest)
        judge(keyed.store, keyed.ann, sent, START)
    keyed.edit("drop", 2, nugget="2")
    keyed.edit("drop", 2, nugget="3")
    keyed.edit("undo", 0)
    assert keyed.judged() == 4
    export_studio(keyed.store.path, tmp_path / "first")
    import_studio(tmp_path / "first", tmp_path / "again")
    with Store.open(tmp_path / "again") as again:
        assert again.check().ok
        assert view_question(again, Q1) == keyed.look()
        export_studio(again.path, tmp_path / "second")
        sent = KeyEdit(uuid(5), Q1, "undo", 0, supersedes=keyed.look()["newest"])
        edit_key(again, keyed.owner, sent)
        assert [nugget["nugget"] for nugget in view_question(again, Q1)["nuggets"]] == [
            "1.v2",
            "2",
            "3",
        ]
    for name in ("nuggets.jsonl", "key.jsonl", "labels.tsv", "judgements.csv", "trec/ties.tsv"):
        first, second = (tmp_path / folder / name for folder in ("first", "second"))
        assert first.read_bytes() == second.read_bytes()
    key = load_nuggets(tmp_path / "first" / "key.jsonl").key.questions["q1"]
    assert [(nugget.id, nugget.descriptions, nugget.vital) for nugget in key.nuggets] == [
        ("1.v2", ('a "quote"', "zwei 東京"), True),
        ("3", ("<b>x</b>",), False),
    ]
    nugget_set = load_nuggets(tmp_path / "first" / "nuggets.jsonl")
    assert {nugget.nugget for nugget in nugget_set.judgements.rows if nugget.question == "q1"} == {
        "1.v2",
        "3",
    }
    log = (tmp_path / "first" / "log.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line)["key_edit"] for line in log if line.startswith('{"key_edit"')]
    assert [row["what"] for row in rows] == [
        *("importance", "reword", "add", "drop", "drop", "undo"),
    ]


def first_version(store: Store, path: Path) -> None:
    """Write the rows of a store into a file of version 1."""
    with closing(sqlite3.connect(path)) as file:
        file.executescript((Path(__file__).parent / "version-1.sql").read_text("utf-8"))
        file.execute(f"PRAGMA application_id = {APPLICATION}")
        file.execute("PRAGMA user_version = 1")
        file.execute("ATTACH ? AS new", (str(store.path),))
        tables = file.execute("SELECT name FROM main.sqlite_master WHERE type = 'table'").fetchall()
        for (table,) in tables:
            columns = ", ".join(row[1] for row in file.execute(f"PRAGMA main.table_info({table})"))
            file.execute(f"INSERT INTO main.{table} ({columns}) SELECT {columns} FROM new.{table}")
        file.commit()


def test_a_judged_key_of_the_first_version_is_edited(tmp_path: Path) -> None:
    keyed = Keyed(tmp_path)
    first_version(keyed.store, tmp_path / "old.studio")
    before = keyed.look()
    keyed.store = Store.open(tmp_path / "old.studio")
    OPENED.append(keyed.store)
    assert keyed.look() == before
    assert keyed.judged() == 4
    keyed.edit("reword", 2, nugget="1", descriptions=["other words"])
    assert [*keyed.nuggets()] == ["1.v2", "2"]
    assert keyed.judged() == 2
    keyed.edit("undo", 0)
    assert (keyed.nuggets(), keyed.judged()) == (BEFORE, 4)


def test_a_log_of_the_first_version_is_read(tmp_path: Path) -> None:
    keyed = Keyed(tmp_path)
    export_studio(keyed.store.path, tmp_path / "log", "log")
    old = tmp_path / "old"
    text = (tmp_path / "log").read_text("utf-8").replace('{"studio": 2', '{"studio": 1', 1)
    old.write_text(text, "utf-8")
    with pytest.raises(InputError, match="'dropped' in a row of nugget"):
        import_studio(old, tmp_path / "again")
    old.write_text(text.replace(', "dropped": 0, "ord": null', ""), "utf-8")
    import_studio(old, tmp_path / "again")
    with Store.open(tmp_path / "again") as again:
        assert view_question(again, Q1) == keyed.look()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"dropped": 1', '"dropped": 0', "not as the newest edit left them"),
        ('"what": "drop"', '"what": "burn"', "not a row of key_edit"),
        ('"item": 1, "assessor": 1', '"item": 2, "assessor": 1', "a nugget of another question"),
        ('"nugget": "2", "imp', '"nugget": "5", "imp', "found the nugget '2'"),
    ],
)
def test_a_log_whose_edits_were_changed_is_refused(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    keyed = Keyed(tmp_path)
    keyed.edit("drop", 2, nugget="2")
    export_studio(keyed.store.path, tmp_path / "log", "log")
    text = (tmp_path / "log").read_text("utf-8")
    assert old in text
    (tmp_path / "log").write_text(text.replace(old, new, 1), "utf-8")
    with pytest.raises(InputError, match=message):
        import_studio(tmp_path / "log", tmp_path / "again")
