"""Valid SQLite files that are damaged stores: one change of a value, a row or a table each.

A store of each task is judged, disputed, decided and edited. Every value of its first and last rows
is then replaced by values of other types, by other JSON, or by NULL; rows and tables are removed.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from studio.judged_store import decide, judge_all, make_store, nugget_texts, texts, uuids

import karat as kt
from karat.errors import InputError, KaratError
from karat.nuggets.formats.loading import load_nuggets
from karat.progress import silent
from karat.studio.disputes import find_disputes
from karat.studio.export.formats import check_studio, export_studio
from karat.studio.export.log import import_studio
from karat.studio.formats import has_nuggets
from karat.studio.key_editing import KeyEdit, edit_key, view_question
from karat.studio.live import ask_estimates
from karat.studio.opening import prepare_studio
from karat.studio.options import StudioOptions
from karat.studio.store.people import assessors, hash_token, invite
from karat.studio.store.settings import CalibrationItem
from karat.studio.store.store import Store

TABLES = (
    *("project", "item", "output", "dimension", "nugget", "draw", "unit", "assessor"),
    *("assignment", "judgement", "adjudication", "key_edit", "event"),
)
ODD = (
    *(
        None,
        -1,
        0,
        1,
        2,
        2**62,
        1.5,
        1e308,
        "",
        "text",
        "7",
        "open",
        "a\tb\nc",
        b"\xff\x00",
        "\x00",
    ),
    *("{", "[]", "{}", "null", "5", '"x"', "NaN", "[null]", '["a"]', "[1e999]", "[1, 99]"),
    *('{"done": 1}', "[" * 3000, f"[{'9' * 5000}]", "2026-01-31", "0001-01-01T00:00:00+00:00"),
)
"""Values for any column."""
LEAVES = (None, -1, 0, 1.5, 10**40, "", "x", True, [], {}, [None])
"""Values for any place within JSON."""
RATED = {"quality": 6, "fluency": 4}
SETTINGS: dict[str, dict[str, Any]] = {
    "ratings": {
        "tasks": {"ratings": {"scales": ["quality-7", "fluency-5"]}},
        "calibration": (
            CalibrationItem("ratings", ("A cat.",), {"ratings": {"quality": 6, "fluency": 4}}, "s"),
        ),
        "calibration_rate": 0.4,
    },
    "pairs": {"tasks": {"pairs": {}}},
    "spans": {"tasks": {"spans": {"scheme": "esa"}}},
    "errors": {"tasks": {"spans": {"scheme": "mqm"}}},
    "nuggets": {"tasks": {"nuggets": {}}},
}
DECIDED = {
    "ratings": 3,
    "pairs": "first",
    "spans": {"spans": [], "score": 40},
    "nuggets": "support",
}


def make_judged(path: Path, kind: str) -> None:
    """Write a store in which every table has rows, as one file."""
    source = nugget_texts() if kind == "nuggets" else texts(11, 2)
    with make_store(path, source, people=2, **SETTINGS[kind]) as store:
        invite(store, "owner", "owner")
        judge_all(store, most=30)
        new = uuids(9)
        for dispute in find_disputes(store)[:3]:
            value = {"spans": []} if kind == "errors" else DECIDED[dispute.task]
            decide(store, dispute.task, dispute.output, dispute.about, value, new(), dispute.item)
        owner = next(dispute.id for dispute in assessors(store) if dispute.role == "owner")
        ask_estimates(store, owner)
        if kind == "nuggets":
            _edit_key(store, owner, new)
    with closing(sqlite3.connect(path)) as file:
        file.execute("PRAGMA journal_mode = DELETE")


def _edit_key(store: Store, owner: int, new: Callable[[], str]) -> None:
    for importance in ("okay", "vital"):
        key = view_question(store, 1)
        nugget = key["nuggets"][0]
        sent = KeyEdit(
            new(),
            1,
            "importance",
            0,
            nugget=nugget["nugget"],
            importance=importance,
            supersedes=key["newest"],
        )
        if nugget["importance"] != importance:
            edit_key(store, owner, sent)


class Damage(NamedTuple):
    """One change, as SQL."""

    name: str
    sql: str
    value: Any = ...

    def apply(self, path: Path) -> bool:
        """Change a store; return whether the change is possible, and there is one."""
        with closing(sqlite3.connect(path)) as file:
            triggers = file.execute(
                "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
            ).fetchall()
            file.execute("PRAGMA ignore_check_constraints = ON")
            if "DROP TRIGGER" in self.sql:
                triggers = []
            for name, _ in triggers:
                file.execute(f"DROP TRIGGER {name}")
            try:
                changed = file.execute(self.sql, () if self.value is ... else (self.value,))
            except (sqlite3.IntegrityError, sqlite3.OperationalError):
                return False
            for _, sql in triggers if "DROP TABLE" not in self.sql else ():
                file.execute(sql)
            file.commit()
            return changed.rowcount != 0


def damages(path: Path) -> Iterator[Damage]:
    """Yield every change of a store."""
    with closing(sqlite3.connect(path)) as file:
        for table in TABLES:
            key = "item" if table == "draw" else "id"
            yield Damage(f"drop {table}", f"DROP TABLE {table}")
            yield Damage(f"empty {table}", f"DELETE FROM {table}")
            columns = [row[1] for row in file.execute(f"PRAGMA table_info({table})")]
            ends = file.execute(f"SELECT min({key}), max({key}) FROM {table}").fetchone()
            for row in dict.fromkeys(ends):
                if row is None:
                    continue
                condition = f"WHERE {key} = {row}"
                yield Damage(f"delete {table} {row}", f"DELETE FROM {table} {condition}")
                for column in columns:
                    (old,) = file.execute(f"SELECT {column} FROM {table} {condition}").fetchone()
                    for value in (*ODD, *_inner(old)):
                        name = f"{table}.{column} of {row}: {value!r:.60}"
                        yield Damage(name, f"UPDATE {table} SET {column} = ? {condition}", value)


def _inner(text: object) -> Iterator[str]:
    """Yield JSON in which one place differs; nothing if a text is no JSON."""
    if not isinstance(text, str) or text[:1] not in "[{":
        return
    value = json.loads(text)
    for changed in _changed(value):
        yield json.dumps(changed)


def _changed(value: Any) -> Iterator[Any]:
    yield from LEAVES
    if isinstance(value, dict):
        for key, inner in value.items():
            yield {name: changed_value for name, changed_value in value.items() if name != key}
            yield from ({**value, key: changed_value} for changed_value in _changed(inner))
        yield {**value, "unknown": 1}
    elif isinstance(value, list):
        for k, inner in enumerate(value):
            yield value[:k] + value[k + 1 :]
            yield from (
                [*value[:k], changed_value, *value[k + 1 :]] for changed_value in _changed(inner)
            )
        yield [*value, *value]


# ---------------------------------------------------------------- commands that read a store

PAGES = {
    "owner": (
        "/owner",
        "/owner/events",
        "/api/disputes",
        "/browse",
        "/browse/segments/1",
        "/browse/outputs",
        "/browse/reports",
        "/api/key",
        "/api/key/1",
    ),
    "ann": ("/", "/api/next", "/api/progress", "/api/item/1"),
}


def _meta(path: Path) -> None:
    if not has_nuggets(path):
        kt.meta_evaluate(kt.Experiment(str(path), ("chrf",), resamples=10))


def _estimate(path: Path) -> None:
    source: Any = load_nuggets(path) if has_nuggets(path) else kt.load_evalset(path)
    dimension = None if has_nuggets(path) else source.judgements.dimensions[0]
    try:
        kt.estimate(source, dimension)
    except InputError as error:
        if "label at least 10" not in str(error):  # too few labels are no damage
            raise


def _restore(path: Path) -> None:
    log = path.with_name("log")
    export_studio(path, log, "log")
    import_studio(log, path.with_name("again.sqlite"))


def _backup(path: Path) -> None:
    with Store.reading(path) as store:
        store.backup(path.with_name("copy.sqlite"))


def _serve(path: Path) -> None:
    """Open a studio and ask for its pages, as two people."""
    from karat.studio.web.guard import Hosts
    from karat.studio.web.server import make_app

    opened = prepare_studio(path, None, StudioOptions(), (), None, 0, None, silent)
    try:
        app = make_app(opened._studio, Hosts.for_address("127.0.0.1"))
        for name, pages in PAGES.items():
            if link := opened.links.get(name):
                token = link.rpartition("/")[2]
                who = opened._studio.invited(token)
                assert who
                sessions = opened._studio.sessions
                cookie = f"{sessions.cookie}={sessions.begin(who.id, hash_token(token))}"
                for page in pages:
                    _get(app, page, cookie)
    finally:
        opened.close()


def _get(app: Any, path: str, cookie: str) -> None:
    status = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            status.append(message["status"])

    headers = [(b"host", b"127.0.0.1"), (b"cookie", cookie.encode())]
    scope = {
        **{"type": "http", "method": "GET", "path": path, "raw_path": path.encode()},
        **{"query_string": b"", "headers": headers, "scheme": "http", "root_path": ""},
        **{"server": ("127.0.0.1", 1), "client": ("127.0.0.1", 2), "http_version": "1.1"},
    }
    asyncio.run(app(scope, receive, send))
    assert status[0] in (200, 401, 403, 404, 422, 503), (path, status)
    if status[0] == 503:
        raise KaratError(f"{path} answers 503")


COMMANDS: dict[str, Callable[[Path], Any]] = {
    "export": lambda path: export_studio(path, path.with_name("exported")),
    "import": _restore,
    "meta": _meta,
    "estimate": _estimate,
    "backup": _backup,
    "studio": _serve,
}
"""Every command that reads a store, but its check."""


def problem(path: Path) -> str:
    """What is wrong with how commands treat a store; "" if nothing is."""
    refused = {}
    for name, command in COMMANDS.items():
        copy = path.with_name(f"{name}.d") / path.name
        copy.parent.mkdir()
        copy.write_bytes(path.read_bytes())
        try:
            command(copy)
        except KaratError as error:
            refused[name] = str(error)
        except Exception as error:
            return f"karat {name} ends in {error!r}"
    for name, sentence in refused.items():
        if "\n" in sentence or len(sentence) > 1500:
            return f"karat {name} refuses with {sentence!r}"
    try:
        problems = check_studio(path).problems
    except KaratError:
        return ""
    if not problems and refused:
        return f"--check finds nothing, but {refused}"
    return ""
