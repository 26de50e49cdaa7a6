"""Routes of owners: live results, invitations, the audit trail, exports; and static files."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from karat.errors import InputError
from karat.studio.browsing import PAGE, Page
from karat.studio.export.formats import ALL, FORMATS, export_files, list_formats
from karat.studio.live.statistics import ask_estimates
from karat.studio.store.assessors import ROLES, assessors, invite, renew, withdraw
from karat.studio.store.events import TrailEntry, record, trail
from karat.studio.store.projects import freeze, project, reveal
from karat.studio.web.calls import (
    Call,
    NotThere,
    check_revealed,
    only,
    page_number,
    route,
    staff_page,
)
from karat.studio.web.owner_view import live_view
from karat.studio.web.pages import message_page

OWNERS = ("owner",)


def _owner_page(call: Call) -> Response:
    view = live_view(call.studio.store, call.who.id)
    names = {name: FORMATS[name].name for name in list_formats(view["project"].settings)}
    return staff_page(call, "owner.html", **view, roles=ROLES, formats=names)


def _live(call: Call) -> Response:
    """Return the part of the page that changes while people judge."""
    return staff_page(call, "owner_live.html", **live_view(call.studio.store, call.who.id))


def _invite(call: Call) -> dict[str, Any]:
    only(call.sent, "name", "role", "quota")
    name, role = call.sent.get("name"), call.sent.get("role", "assessor")
    quota = call.sent.get("quota")
    token = invite(call.studio.store, name, role, quota, call.who.id)  # type: ignore[arg-type]  # checked there
    call.studio.keys.add(str(name), token)
    return {"link": f"/join/{token}"}


def _renew(call: Call) -> dict[str, Any]:
    """Return a new link; the old one is no longer valid."""
    only(call.sent, "assessor")
    name, token = renew(call.studio.store, call.sent.get("assessor"), call.who.id)  # type: ignore[arg-type]  # checked there
    call.studio.keys.add(name, token)
    return {"link": f"/join/{token}"}


def _withdraw(call: Call) -> dict[str, Any]:
    only(call.sent, "assessor")
    withdraw(call.studio.store, call.sent.get("assessor"), call.who.id)  # type: ignore[arg-type]  # checked there
    return {}


def _freeze(call: Call) -> dict[str, Any]:
    only(call.sent)
    freeze(call.studio.store, call.who.id)
    return {}


def _reveal(call: Call) -> dict[str, Any]:
    only(call.sent, "anyway")
    reveal(call.studio.store, call.who.id, call.sent.get("anyway") is True)
    return {}


def _ask_estimates(call: Call) -> dict[str, Any]:
    only(call.sent)
    ask_estimates(call.studio.store, call.who.id)
    return {}


OWNER_ROUTES = [
    route("/owner", _owner_page, roles=OWNERS),
    route("/owner/live", _live, roles=OWNERS),
    route("/api/owner/invite", _invite, "POST", OWNERS),
    route("/api/owner/renew", _renew, "POST", OWNERS),
    route("/api/owner/withdraw", _withdraw, "POST", OWNERS),
    route("/api/owner/freeze", _freeze, "POST", OWNERS),
    route("/api/owner/reveal", _reveal, "POST", OWNERS),
    route("/api/owner/estimates", _ask_estimates, "POST", OWNERS),
]


_DOWNLOAD_TYPES = {
    "csv": "text/csv",
    "tsv": "text/tab-separated-values",
    "jsonl": "application/x-ndjson",
}


def _events(call: Call) -> Response:
    store, number = call.studio.store, page_number(call)
    rows, total = trail(store, number, PAGE)
    page = Page(rows, number, max(1, -(-total // PAGE)), total)
    names = {entry.id: entry.name for entry in assessors(store)}
    page = page._replace(rows=[_name_assessor(entry, names) for entry in rows])
    return staff_page(call, "events.html", page=page, names=names)


def _name_assessor(entry: TrailEntry, names: Mapping[int, str]) -> TrailEntry:
    """Return an entry that names the assessor whom it is about."""
    if "of" not in entry.detail:
        return entry
    details = {key: value for key, value in entry.detail.items() if key != "of"}
    return entry._replace(detail={"name": names.get(entry.detail["of"], "nobody"), **details})


def _export(call: Call) -> Response:
    """Return a file, or a ZIP archive of several."""
    name, store = call.path["format"], call.studio.store
    if name != ALL and name not in list_formats(project(store).settings):
        raise NotThere("there is no such export")
    check_revealed(call, "exports")
    anonymous = call.query.get("names") == "no"
    files = export_files(store, name, anonymous)
    with store.write() as connection:
        record(connection, "export", call.who.id, format=name, names=not anonymous)
    if len(files) == 1:
        ((file, text),) = files
        kind = _DOWNLOAD_TYPES.get(file.rpartition(".")[2], "text/plain")
        return _download(file.rpartition("/")[2], text.encode(), f"{kind}; charset=utf-8")
    archive = f"{FORMATS[name].name if name != ALL else 'judged'}.zip"
    return _download(archive, _zipped(files), "application/zip")


def _zipped(files: list[tuple[str, str]]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files:
            if name.startswith("/") or ".." in name.split("/"):  # systems name files of sets
                raise InputError("the name of a system cannot be the name of a file")
            archive.writestr(name, text)
    return buffer.getvalue()


def _download(name: str, content: bytes, kind: str) -> Response:
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=kind, headers=headers)


RECORD_ROUTES = [
    route("/owner/events", _events, roles=OWNERS),
    route("/owner/export/{format}", _export, roles=OWNERS),
]


# The style sheet is that of the report pages: colours, type and components are the same.
FILES = {"style.css": "report/page/style.css", "studio.css": "studio/web/static/studio.css"} | {
    name: f"studio/web/static/{name}"
    for name in (
        *("judge.js", "server.js", "queue.js", "clock.js", "dom.js", "keys.js", "marked_text.js"),
        *("ratings.js", "pairs.js", "spans.js", "nuggets.js", "uuid.js"),
        *("owner.js", "adjudicate.js", "statements.js", "drafts.js"),
        *("key_editor.js", "key_editor.css"),
    )
}
_STATIC_TYPES = {"css": "text/css", "js": "text/javascript"}


@cache
def content(name: str) -> tuple[bytes, str]:
    """Return a file and its tag, by which browsers see whether it is still the same."""
    data = files("karat").joinpath(FILES[name]).read_bytes()
    return data, f'"{sha256(data).hexdigest()[:16]}"'


async def _static_file(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in FILES:
        return message_page("There is no such file.", 404)
    data, tag = content(name)
    headers = {"etag": tag, "cache-control": "no-cache"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(data, media_type=_STATIC_TYPES[name.rpartition(".")[2]], headers=headers)


FILE_ROUTES = [Route("/static/{name}", _static_file)]
