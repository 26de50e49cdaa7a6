"""Routes of owners: the audit trail, and exports as downloads."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

from starlette.responses import Response

from karat.errors import InputError
from karat.studio.browsing.segments import PAGE, Page
from karat.studio.export.formats import ALL, FORMATS, export_files, formats_of
from karat.studio.live.trail import Entry, trail
from karat.studio.store.assessors import assessors
from karat.studio.store.events import record
from karat.studio.store.projects import project
from karat.studio.web.calls import Call, NotThere, route
from karat.studio.web.query import page_number
from karat.studio.web.staff import check_revealed, staff_page

OWNERS = ("owner",)
_TYPES = {"csv": "text/csv", "tsv": "text/tab-separated-values", "jsonl": "application/x-ndjson"}


def _events(call: Call) -> Response:
    store, number = call.studio.store, page_number(call)
    rows, total = trail(store, number, PAGE)
    found = Page(rows, number, max(1, -(-total // PAGE)), total)
    names = {one.id: one.name for one in assessors(store)}
    found = found._replace(rows=[_named(one, names) for one in rows])
    return staff_page(call, "events.html", found=found, names=names)


def _named(one: Entry, names: Mapping[int, str]) -> Entry:
    """Return an entry that names the assessor whom it is about."""
    if "of" not in one.detail:
        return one
    rest = {key: value for key, value in one.detail.items() if key != "of"}
    return one._replace(detail={"name": names.get(one.detail["of"], "nobody"), **rest})


def _export(call: Call) -> Response:
    """Return a file, or a ZIP archive of several."""
    name, store = call.path["format"], call.studio.store
    if name != ALL and name not in formats_of(project(store).settings):
        raise NotThere("there is no such export")
    check_revealed(call, "exports")
    anonymous = call.query.get("names") == "no"
    files = export_files(store, name, anonymous)
    with store.write() as connection:
        record(connection, "export", call.who.id, format=name, names=not anonymous)
    if len(files) == 1:
        ((file, text),) = files
        kind = _TYPES.get(file.rpartition(".")[2], "text/plain")
        return _download(file.rpartition("/")[2], text.encode(), f"{kind}; charset=utf-8")
    archive = f"{FORMATS[name].name if name != ALL else 'judged'}.zip"
    return _download(archive, _zipped(files), "application/zip")


def _zipped(files: list[tuple[str, str]]) -> bytes:
    found = io.BytesIO()
    with zipfile.ZipFile(found, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files:
            if name.startswith("/") or ".." in name.split("/"):  # systems name files of sets
                raise InputError("the name of a system cannot be the name of a file")
            archive.writestr(name, text)
    return found.getvalue()


def _download(name: str, content: bytes, kind: str) -> Response:
    shown = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=kind, headers=shown)


ROUTES = [
    route("/owner/events", _events, roles=OWNERS),
    route("/owner/export/{format}", _export, roles=OWNERS),
]
