"""The file of a store: versions, locks, copies, full disks."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest
from studio.projects_in_store import answer, answered, assessor, column, make_store, next_view, uuid
from studio.store_rows import history

import karat as kt
from karat.errors import InputError, OutputError
from karat.studio.export.formats import check_studio, export_studio
from karat.studio.store import schema, store
from karat.studio.store.judgements import SentJudgement, judge
from karat.studio.store.people import stamp
from karat.studio.store.store import Store

FIRST = Path(__file__).parent / "version-1.sql"


def parse_settings(path: Path) -> tuple[object, ...]:
    with Store.open(path) as opened, opened.read() as connection:
        names = ("journal_mode", "synchronous", "foreign_keys", "application_id", "user_version")
        return tuple(connection.execute(f"PRAGMA {name}").fetchone()[0] for name in names)


def test_a_store_is_written_with_care(tmp_path: Path) -> None:
    make_store(tmp_path).close()
    full, on = 2, 1
    assert parse_settings(tmp_path / "project.studio") == ("wal", full, on, 0x4B535444, 2)


def test_a_file_that_exists_is_not_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # long paths are shortened in messages
    make_store(Path()).close()
    with pytest.raises(InputError, match=r"project\.studio exists: open it, or name another"):
        Store.create("project.studio")
    with pytest.raises(OutputError, match=r"cannot make the store nowhere/project\.studio"):
        Store.create("nowhere/project.studio")
    with pytest.raises(InputError, match=r"no such file: other\.studio; expected a store"):
        Store.open("other.studio")


def test_a_file_of_another_program_is_not_touched(tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    with closing(sqlite3.connect(other)) as file:
        file.execute("CREATE TABLE mine (x)")
        file.commit()
    before = other.read_bytes()
    for open_store in (Store.open, Store.reading):
        with pytest.raises(InputError, match="is a database, but not a store of the studio"):
            open_store(other)
    assert other.read_bytes() == before
    text = tmp_path / "text"
    text.write_text("no database " * 100)
    with pytest.raises(InputError, match="is not a store of the studio, or is damaged"):
        Store.open(text)


def test_a_store_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    make_store(tmp_path).close()
    path = tmp_path / "project.studio"
    with closing(sqlite3.connect(path)) as file:
        file.execute("PRAGMA user_version = 9")
    with pytest.raises(InputError, match="a store of version 9, this Karat has 2: use a newer"):
        Store.open(path)


@pytest.mark.parametrize("version", range(1, len(schema.STEPS) + 1))
def test_a_version_is_what_it_was(version: int) -> None:
    """A release has written files by this SQL: a change of the tables is a further step."""
    released_step = FIRST.with_name(f"version-{version}.sql").read_text("utf-8")
    assert released_step == schema.STEPS[version - 1]


def test_a_store_of_the_first_version_opens_today(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "old.studio"
    with closing(sqlite3.connect(path)) as file:
        file.executescript(FIRST.read_text("utf-8"))
        file.execute(f"PRAGMA application_id = {schema.APPLICATION}")
        file.execute("PRAGMA user_version = 1")
        file.execute(f"INSERT INTO event VALUES (1, '{stamp()}', NULL, 'old', '{{}}')")
        file.execute("INSERT INTO item VALUES (1, 's', NULL, NULL, NULL, '[]', 1, 0, 0)")
        file.execute("INSERT INTO nugget VALUES (5, 1, 'a', 'vital', '[\"x\"]')")
        file.commit()
    further = "ALTER TABLE item ADD COLUMN more TEXT; CREATE TABLE extra (x);"
    steps = (*schema.STEPS, further)
    monkeypatch.setattr(store, "STEPS", steps)
    monkeypatch.setattr(schema.migrate, "__defaults__", (steps,))
    with pytest.raises(InputError, match="version 1, this Karat has 3: open it with karat studio"):
        Store.reading(path)
    with Store.open(path) as opened:
        assert column(opened, "SELECT what FROM event") == ["old"]
        assert column(opened, "SELECT count(more) FROM item") == [0]
        assert column(opened, "SELECT dropped FROM nugget WHERE ord IS NULL") == [0]
        assert opened.check().problems == ("The row of the project is missing.",)
        assert column(opened, "PRAGMA user_version") == [len(steps)]
    with Store.open(path) as again:
        assert column(again, "SELECT count(*) FROM extra") == [0]


def test_a_step_that_fails_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_store(tmp_path).close()
    path = tmp_path / "project.studio"
    steps = (*schema.STEPS, "CREATE TABLE extra (x); CREATE TABLE item (twice);")
    monkeypatch.setattr(store, "STEPS", steps)
    monkeypatch.setattr(schema.migrate, "__defaults__", (steps,))
    with pytest.raises(OutputError, match="already exists"):
        Store.open(path)
    with closing(sqlite3.connect(path)) as file:
        assert file.execute("PRAGMA user_version").fetchone() == (2,)
        assert not file.execute("SELECT 1 FROM sqlite_master WHERE name = 'extra'").fetchall()


SERVE = """
import sys
import threading
from karat.studio.store.store import Store
store = Store.open(sys.argv[1])
print("open", flush=True)
sys.stdin.read()
"""


def test_one_process_serves_and_others_may_read(tmp_path: Path) -> None:
    with make_store(tmp_path) as store:
        assessor(store)
    path = tmp_path / "project.studio"
    command = [sys.executable, "-c", SERVE, str(path)]
    serving = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert serving.stdout is not None
        assert serving.stdout.readline() == "open\n"
        message = rf"served by another process \({serving.pid}\): stop that one, or use its page"
        with pytest.raises(InputError, match=message):
            Store.open(path)
        with Store.reading(path) as reading:
            assert reading.check().ok
            reading.backup(tmp_path / "copy.studio")
            with pytest.raises(InputError, match="opened for reading only"), reading.write():
                pass
    finally:
        serving.kill()
        serving.communicate()
    with Store.open(path), Store.open(tmp_path / "copy.studio") as copy:
        assert copy.check().ok


def test_a_copy_has_all_and_replaces_nothing(tmp_path: Path) -> None:
    with make_store(tmp_path) as store:
        who = assessor(store)
        answered(store, who, 0)
        store.backup(tmp_path / "copy.studio")
        answered(store, who, 1)
        with pytest.raises(InputError, match="exists: name another file for the copy"):
            store.backup(tmp_path / "copy.studio")
        with pytest.raises(OutputError, match="cannot write the copy"):
            store.backup(tmp_path / "nowhere" / "copy.studio")
    with Store.open(tmp_path / "copy.studio") as copy:
        assert [row.uuid for row in history(copy)] == [uuid(0)]
    assert not list(tmp_path.glob("*.part"))


def test_a_copy_touches_no_file_of_another_name(tmp_path: Path) -> None:
    other = tmp_path / "copy.studio.part"
    other.write_text("mine")
    with make_store(tmp_path) as store:
        store.backup(tmp_path / "copy.studio")
    assert other.read_text() == "mine"


@pytest.mark.parametrize("ending", ["", "-wal"])
@pytest.mark.parametrize("event", ["deleted", "moved", "replaced"])
def test_nothing_is_saved_in_a_file_that_is_gone(tmp_path: Path, ending: str, event: str) -> None:
    with make_store(tmp_path) as store:
        who = assessor(store)
        answered(store, who, 0)
        file = tmp_path / f"project.studio{ending}"
        file.rename(tmp_path / "kept")
        if event == "replaced":
            file.write_bytes((tmp_path / "kept").read_bytes())
        elif event == "deleted":
            (tmp_path / "kept").unlink()
        message = f"{file.name} was deleted, moved or replaced while it was in use: nothing more"
        for _ in range(2):
            with pytest.raises(OutputError, match=message):
                answered(store, who, 1)
        with pytest.raises(OutputError, match=message):
            store.check_files_in_place()


def test_a_store_has_one_lock_under_all_its_names(tmp_path: Path) -> None:
    with make_store(tmp_path):
        (tmp_path / "link").symlink_to(tmp_path / "project.studio")
        with pytest.raises(InputError, match="served by another process"):
            Store.open(tmp_path / "link")


def test_an_exception_undoes_a_transaction(tmp_path: Path) -> None:
    with make_store(tmp_path) as store:

        def rename_and_fail() -> None:
            with store.write() as connection:
                connection.execute("UPDATE project SET name = 'other'")
                raise RuntimeError

        with pytest.raises(RuntimeError):
            rename_and_fail()
        assert column(store, "SELECT name FROM project") == ["small"]


@pytest.mark.parametrize("table", ["judgement", "event", "draw"])
@pytest.mark.parametrize("change", ["DELETE FROM {}", "UPDATE {} SET rowid = rowid"])
def test_rows_are_never_changed(tmp_path: Path, table: str, change: str) -> None:
    with make_store(tmp_path) as store:
        answered(store, assessor(store), 0)
        with (
            pytest.raises(OutputError, match=f"rows of {table} are never changed"),
            store.write() as connection,
        ):
            connection.execute(change.format(table))


def test_a_full_disk_is_told_and_saves_nothing(tmp_path: Path) -> None:
    with make_store(tmp_path) as store:
        who = assessor(store)
        view = next_view(store, who)
        judgement = SentJudgement(
            uuid(0), view.assignment, answer(view) | {"comment": "é" * 2000}, 1
        )
        with store.read() as connection:
            (pages,) = connection.execute("PRAGMA page_count").fetchone()
            connection.execute(f"PRAGMA max_page_count = {pages}")
        saved = 0

        def save_until_full() -> None:
            nonlocal saved, judgement
            while True:
                judge(store, who, judgement)
                saved += 1
                judgement = judgement._replace(uuid=uuid(saved), supersedes=judgement.uuid)

        with pytest.raises(OutputError, match="is full: nothing was saved; free some space"):
            save_until_full()
        assert [row.uuid for row in history(store)] == [uuid(k) for k in range(saved)]
        with store.read() as connection:
            connection.execute("PRAGMA max_page_count = 100000")
        assert not judge(store, who, judgement).duplicate
        assert store.check().ok


LIMITED = """
import resource, sys
from karat.errors import OutputError
from studio.projects_in_store import answered, assessor
from studio.store_rows import history
from karat.studio.store.store import Store
store = Store.open(sys.argv[1])
who = assessor(store)
size = (__import__("os").stat(sys.argv[1] + "-wal").st_size)
resource.setrlimit(resource.RLIMIT_FSIZE, (size + 300_000, resource.RLIM_INFINITY))
told = []
for number in range(30):
    try:
        answered(store, who, number)
        print("stored", number)
    except OutputError as error:
        told.append(str(error))
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
try:
    answered(store, who, 99)
except OutputError as error:
    told.append(str(error))
print(len(told), told[0])
print("kept", len(history(store)))
"""


def test_nothing_is_saved_after_the_disk_failed(tmp_path: Path) -> None:
    make_store(tmp_path).close()
    path = tmp_path / "project.studio"
    run = subprocess.run(
        [sys.executable, "-c", LIMITED, str(path)],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[1],
    )
    *stored, message, last_line = run.stdout.splitlines()
    assert 0 < len(stored) < 18
    assert message.startswith(f"{31 - len(stored)} ")
    assert "nothing more is saved; repair the disk, then start the studio again" in message
    assert last_line == f"kept {len(stored)}"
    with Store.open(path) as again:
        assert again.check().ok
        assert [row.uuid for row in history(again)] == [uuid(k) for k in range(len(stored))]


def test_a_check_is_a_report(tmp_path: Path) -> None:
    with make_store(tmp_path) as store:
        answered(store, assessor(store), 0)
        store_check = store.check()
        message = "project.studio is intact: 6 items, 1 assessor, 1 judgement."
        assert store_check.summary == message
        assert ("judgement", 1) in store_check.rows
        with store.write() as connection:
            connection.execute("UPDATE unit SET taken = 5")
        text = store.check().render("text")
        assert "project.studio is damaged (1 problem): restore a copy." in text
        assert "Found 18 units whose count of places taken is wrong." in text


MOMENT = "2026-01-02T03:04:05.678+00:00"
DAMAGE = {
    "UPDATE unit SET taken = 2 WHERE id = 1": "units whose count of places taken",
    "UPDATE assignment SET judged = NULL": "assignments whose newest judgement is not the one",
    "UPDATE assessor SET judged = 7": "assessors whose count of assignments or judgements",
    "UPDATE assignment SET assessor = 2": "judgements by somebody else than",
    f"INSERT INTO judgement VALUES (9, 'u', 1, 1, '{{}}', 0, NULL, '{MOMENT}')": "two first judg",
    "INSERT INTO item VALUES (7, 'x', '', '', '', '[]', 7, 0, 0); "
    "INSERT INTO draw VALUES (7, 1, 1.5, 'x')": "an invalid probability",
    "DELETE FROM unit": "rows refer to missing rows",
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_check_finds_what_is_wrong(tmp_path: Path, damage: str) -> None:
    with make_store(tmp_path) as store:
        who = assessor(store)
        assessor(store, "bea")
        answered(store, who, 0)
        assert store.check().ok
    with closing(sqlite3.connect(tmp_path / "project.studio")) as file:
        file.executescript(damage)
        file.commit()
    with Store.reading(tmp_path / "project.studio") as broken:
        assert any(DAMAGE[damage] in problem for problem in broken.check().problems)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="lists open files")
@pytest.mark.parametrize(
    ("damage", "expected_problem"),
    [
        ("UPDATE project SET settings = '{'", "1 row of project whose settings is not an object"),
        ("UPDATE item SET refs = '5'", "rows of item whose refs is not a list of texts"),
        ("UPDATE assignment SET outputs = '['", "row of assignment whose outputs is not a list"),
    ],
)
def test_damaged_rows_are_told_in_one_sentence(
    tmp_path: Path, damage: str, expected_problem: str
) -> None:
    with make_store(tmp_path) as store:
        answered(store, assessor(store), 0)
        with store.write() as connection:
            connection.execute(damage)
    path = tmp_path / "project.studio"
    (problem,) = check_studio(path).problems
    assert expected_problem in problem
    with pytest.raises(InputError, match="damaged"):
        kt.load_evalset(path)
    with pytest.raises(InputError, match="damaged"):
        export_studio(path, tmp_path / "exported")
    assert not (tmp_path / "exported").exists()


def test_threads_leave_no_connections_behind(tmp_path: Path) -> None:
    with make_store(tmp_path) as store:
        for _ in range(20):
            thread = threading.Thread(target=column, args=(store, "SELECT 1"))
            thread.start()
            thread.join()
        files = [path.readlink() for path in Path("/proc/self/fd").iterdir() if path.exists()]
        own_files = [file for file in files if file.is_relative_to(tmp_path.resolve())]
        assert [file.name for file in own_files].count("project.studio") == 1
        with store.read(), pytest.raises(RuntimeError, match="within another"), store.write():
            pass
