"""Routes of owners: live results, invitations, the audit trail, exports; and static files."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from math import isnan
from typing import TYPE_CHECKING, Any, NamedTuple

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from karat.errors import InputError
from karat.studio.browsing import PAGE, Page, output_letters
from karat.studio.export.formats import ALL, FORMATS, export_files, list_formats
from karat.studio.live import (
    Coverage,
    LiveAgreement,
    LiveEstimate,
    LiveResults,
    ask_estimates,
    check_may_see_estimates,
    get_latest_results,
    list_progress,
)
from karat.studio.store.people import (
    ROLES,
    TrailEntry,
    assessors,
    invite,
    record,
    renew,
    trail,
    withdraw,
)
from karat.studio.store.projects import OPEN, REVEALED, freeze, project, reveal
from karat.studio.store.schema import DamagedStore
from karat.studio.store.store import Store
from karat.studio.web.calls import (
    Call,
    NotThere,
    check_revealed,
    message_page,
    only,
    page_number,
    route,
    staff_page,
)

if TYPE_CHECKING:
    from karat.meta.judge_agreement import DimensionAgreement, JudgeAgreement


MAX_NAMED = 3
"""Dimensions that are named one by one."""


def glance(counts: Coverage, agreement: LiveAgreement, state: str) -> list[str]:
    """Return the summary of the owner's page, in sentences."""
    return [
        _judged_sentence(counts),
        _agreement_sentence(agreement),
        _needed_sentence(counts, state),
    ]


def _judged_sentence(counts: Coverage) -> str:
    units = f"unit{'s' * (counts.units != 1)} {'is' if counts.judged == 1 else 'are'} judged"
    sentence = f"{counts.judged:,} of {counts.units:,} {units} ({_judged_percentage(counts)})"
    if counts.overlap == 1:
        return f"{sentence}."
    return f"{sentence}, {counts.complete:,} of them by {counts.overlap} assessors as planned."


def _judged_percentage(counts: Coverage) -> str:
    """Return the judged share, rounded down: 100% are all units, and 0% are none."""
    percent = 100 * counts.judged // counts.units if counts.units else 0
    return "under 1%" if counts.judged and not percent else f"{percent}%"


def _agreement_sentence(agreement: LiveAgreement) -> str:
    from karat.meta.judge_agreement import FEWEST_SHARED

    rows = [row for result in agreement.results for row in result.rows]
    enough = [row for row in rows if row.shared >= FEWEST_SHARED and not isnan(row.ordinal)]
    too_few = [row for row in rows if row.shared < FEWEST_SHARED]
    if not enough:
        return _no_agreement_sentence(rows, too_few)
    alphas = ", ".join(f"{row.ordinal:.2f} in {row.dimension}" for row in enough)
    if len(enough) > MAX_NAMED:
        low, high = (pick(enough, key=lambda row: row.ordinal) for pick in (min, max))
        ends = (f"{row.ordinal:.2f} ({row.dimension})" for row in (low, high))
        alphas = f"from {' to '.join(ends)}"
    names = ", ".join(f"{row.dimension} ({row.shared:,} so far)" for row in too_few)
    note = f" Too few shared units in {names}." if too_few else ""
    return f"Krippendorff's ordinal alpha is {alphas}; 1 is perfect, 0 is chance.{note}"


def _no_agreement_sentence(
    rows: Sequence[DimensionAgreement], too_few: Sequence[DimensionAgreement]
) -> str:
    """Say why there is no agreement to report: too few shared units, or nothing but one answer."""
    from karat.meta.judge_agreement import FEWEST_SHARED

    if too_few or not rows:
        most = max((row.shared for row in rows), default=0)
        return f"Too few shared units to judge agreement: {most:,} so far, {FEWEST_SHARED} needed."
    return "Agreement cannot be computed: all answers on shared units are equal."


def _needed_sentence(counts: Coverage, state: str) -> str:
    parts = []
    if counts.needed and state == OPEN:
        parts.append(f"{counts.needed:,} judgement{'s' * (counts.needed != 1)}")
    if counts.disputes and state != REVEALED:
        parts.append(f"decisions on {counts.disputes:,} dispute{'s' * (counts.disputes != 1)}")
    state_sentence = "" if state == OPEN else f"The project is {state}. "
    if not parts:
        return state_sentence.strip() or "Nothing is needed any more."
    return f"{state_sentence}Still needed: {' and '.join(parts)}."


def warnings(agreement: JudgeAgreement) -> list[str]:
    """Return sentences on assessors who stand apart or answered exactly alike."""
    sentences = []
    for row in agreement.judges:
        if row.identical:
            sentences.append(
                f"{row.judge} and {row.identical} gave the same answers ({row.dimension})."
            )
        elif row.flagged:
            sentences.append(f"{row.judge} disagrees with the others in {row.dimension}.")
    return list(dict.fromkeys(sentences))


def left_out(estimates: Sequence[LiveEstimate]) -> list[str]:
    """Return what a table of estimates would hide: systems with few labels."""
    return [
        f"{result.dimension}: {note}"
        for result in estimates
        if result.estimate
        for note in result.estimate.notes
        if note.startswith("Left out")
    ]


def nothing_is_estimated(estimates: Sequence[LiveEstimate]) -> bool:
    """Return whether every segment of every system is labelled, so that no interval has a width."""
    if not estimates or left_out(estimates):
        return False
    rows = [result.estimate.rows if result.estimate else () for result in estimates]
    return all(
        system_rows and all(row.labels == row.units and row.low == row.high for row in system_rows)
        for system_rows in rows
    )


def labels_needed(estimates: Sequence[LiveEstimate]) -> list[str]:
    """Return how many further labels halve the intervals of each dimension."""
    sentences = []
    for result in estimates:
        more = [row.more for row in result.estimate.rows if row.more] if result.estimate else []
        if more:
            sentences.append(
                f"{result.dimension}: to halve the widest interval, label {max(more):,} more "
                f"unit{'s' * (max(more) != 1)} of each system."
            )
    return sentences


class IntervalView(NamedTuple):
    """An interval, and its places on a line from 0 to 100."""

    system: str
    estimate: float
    low: float
    high: float
    labels: int
    units: int
    at: float
    start: float
    end: float


def live_view(store: Store, owner: int) -> dict[str, Any]:
    """Return what changes while people judge."""
    results = get_latest_results(store)
    people = list_progress(store, results.work if results else {})
    values = {"project": project(store), "people": people, "results": results}
    return {**values, **_computed_values(store, owner, results)} if results else values


def _computed_values(store: Store, owner: int, results: LiveResults) -> dict[str, Any]:
    """Return what was computed from all judgements."""
    agreement, counts = results.agreement, results.coverage
    estimates, hidden_reason = _visible_estimates(store, owner, results)
    return {
        "answer": glance(counts, agreement, results.version.state),
        "coverage": counts,
        "agreement": agreement.results,
        "kappa": agreement.nuggets,
        "warnings": [warning for result in agreement.results for warning in warnings(result)],
        "disputes": results.disputes,
        "letters": output_letters(store, [result.item for result in results.disputes]),
        "estimates": [(result, intervals(result)) for result in estimates],
        "complete": nothing_is_estimated(estimates),
        "left_out": left_out(estimates),
        "needed": labels_needed(estimates),
        "hidden": hidden_reason,
    }


def _visible_estimates(
    store: Store, owner: int, results: LiveResults
) -> tuple[list[LiveEstimate], str]:
    """Return the estimates, or why they are not shown."""
    try:
        check_may_see_estimates(store, owner)
    except DamagedStore:
        raise
    except InputError as error:
        return [], str(error)
    return results.estimates, ""


def intervals(result: LiveEstimate) -> list[IntervalView]:
    """Return the intervals of a dimension on one scale, in the order of systems."""
    if result.estimate is None:
        return []
    rows = [row for row in result.estimate.rows if not isnan(row.estimate)]
    ends = [x for row in rows for x in (row.low, row.high, row.estimate) if not isnan(x)]
    low, high = min(ends, default=0.0), max(ends, default=1.0)

    def place(value: float) -> float:
        return 50.0 if high == low or isnan(value) else 3 + 94 * (value - low) / (high - low)

    return [
        IntervalView(
            *(row.system, row.estimate, row.low, row.high, row.labels, row.units),
            *(round(place(x), 2) for x in (row.estimate, row.low, row.high)),
        )
        for row in rows
    ]


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
