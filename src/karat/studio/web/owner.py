"""Routes of owners: live results, invitations, the audit trail, exports; and static files."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from functools import cache, partial
from hashlib import sha256
from importlib.resources import files
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from karat.errors import InputError
from karat.studio import live
from karat.studio.browsing import PAGE, Page, output_letters
from karat.studio.export.formats import ALL, FORMATS, export_files, list_formats
from karat.studio.store import people, projects
from karat.studio.store.projects import OPEN, REVEALED
from karat.studio.store.schema import DamagedStore
from karat.studio.store.store import Store
from karat.studio.web.calls import (
    Call,
    NotAllowed,
    NotThere,
    add_route,
    download,
    message_page,
    staff_page,
)

if TYPE_CHECKING:
    from karat.estimation.estimate_results import EstimateRow
    from karat.meta.judge_agreement import JudgeAgreement

MAX_NAMED = 3
"""Maximum dimensions listed one by one."""
ROUTES: list[Route] = []
route = partial(add_route, ROUTES, roles=("owner",))


# Values for the templates of the owner's page


def summary_sentences(
    counts: live.Coverage, agreement: live.LiveAgreement, state: str
) -> list[str]:
    """Return the summary of the owner's page, in sentences."""
    # Rounded down, so that 100% means all units.
    percent = 100 * counts.judged // counts.units if counts.units else 0
    share = "under 1%" if counts.judged and not percent else f"{percent}%"
    units = f"unit{'s' * (counts.units != 1)} {'is' if counts.judged == 1 else 'are'} judged"
    judged = f"{counts.judged:,} of {counts.units:,} {units} ({share})"
    if counts.overlap != 1:
        judged += f", {counts.complete:,} of them by {counts.overlap} assessors as planned"
    return [f"{judged}.", _agreement_sentence(agreement), _needed_sentence(counts, state)]


def _agreement_sentence(agreement: live.LiveAgreement) -> str:
    from karat.meta.judge_agreement import MIN_SHARED

    rows = [row for result in agreement.results for row in result.rows]
    enough = [row for row in rows if row.shared >= MIN_SHARED and not isnan(row.ordinal)]
    too_few = [row for row in rows if row.shared < MIN_SHARED]
    if not enough and (too_few or not rows):
        most = max((row.shared for row in rows), default=0)
        return f"Too few shared units to judge agreement: {most:,} so far, {MIN_SHARED} needed."
    if not enough:
        return "Agreement cannot be computed: all answers on shared units are equal."
    alphas = ", ".join(f"{row.ordinal:.2f} in {row.dimension}" for row in enough)
    if len(enough) > MAX_NAMED:
        low, high = (pick(enough, key=lambda row: row.ordinal) for pick in (min, max))
        ends = (f"{row.ordinal:.2f} ({row.dimension})" for row in (low, high))
        alphas = f"from {' to '.join(ends)}"
    names = ", ".join(f"{row.dimension} ({row.shared:,} so far)" for row in too_few)
    note = f" Too few shared units in {names}." if too_few else ""
    return f"Krippendorff's ordinal alpha is {alphas}; 1 is perfect, 0 is chance.{note}"


def _needed_sentence(counts: live.Coverage, state: str) -> str:
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
    """Return sentences on assessors who disagree with the others or gave identical answers."""
    sentences = []
    for row in agreement.judges:
        if row.identical:
            problem = f"{row.judge} and {row.identical} gave the same answers"
            sentences.append(f"{problem} ({row.dimension}).")
        elif row.flagged:
            sentences.append(f"{row.judge} disagrees with the others in {row.dimension}.")
    return list(dict.fromkeys(sentences))


def _left_out(estimates: Sequence[live.LiveEstimate]) -> list[str]:
    """Return the notes on systems that estimates left out for lack of labels."""
    return [
        f"{result.dimension}: {note}"
        for result in estimates
        if result.estimate
        for note in result.estimate.notes
        if note.startswith("Left out")
    ]


def nothing_is_estimated(estimates: Sequence[live.LiveEstimate]) -> bool:
    """Return whether every segment of every system is labelled, so that intervals have no width."""
    if not estimates or _left_out(estimates):
        return False
    return all(
        result.rows and all(row.labels == row.units and row.low == row.high for row in result.rows)
        for result in estimates
    )


def _labels_to_halve(estimates: Sequence[live.LiveEstimate]) -> list[str]:
    """Return sentences on the labels needed to halve the intervals of each dimension."""
    sentences = []
    for result in estimates:
        if more := max((row.more or 0 for row in result.rows), default=0):
            sentences.append(
                f"{result.dimension}: to halve the widest interval, label {more:,} more "
                f"unit{'s' * (more != 1)} of each system."
            )
    return sentences


def _intervals(result: live.LiveEstimate) -> list[tuple[EstimateRow, float, float, float]]:
    """Return the estimates of a dimension, and their positions on a line from 0 to 100."""
    rows = [row for row in result.rows if not isnan(row.estimate)]
    ends = [x for row in rows for x in (row.low, row.high, row.estimate) if not isnan(x)]
    low, high = min(ends, default=0.0), max(ends, default=1.0)

    def position(value: float) -> float:
        if high == low or isnan(value):
            return 50.0
        return round(3 + 94 * (value - low) / (high - low), 2)

    return [(row, position(row.estimate), position(row.low), position(row.high)) for row in rows]


def live_view(store: Store, owner: int) -> dict[str, Any]:
    """Return the values that change while people judge."""
    results = live.get_latest_results(store)
    progress = live.list_progress(store, results.work if results else {})
    values = {"project": projects.project(store), "people": progress, "results": results}
    if results is None:
        return values
    agreement, hidden_reason, estimates = results.agreement, "", results.estimates
    try:
        live.check_may_see_estimates(store, owner)
    except DamagedStore:
        raise
    except InputError as error:
        hidden_reason, estimates = str(error), []
    return {
        **values,
        "answer": summary_sentences(results.coverage, agreement, results.version.state),
        "coverage": results.coverage,
        "agreement": agreement.results,
        "kappa": agreement.nuggets,
        "warnings": [warning for result in agreement.results for warning in warnings(result)],
        "disputes": results.disputes,
        "letters": output_letters(store, [dispute.item for dispute in results.disputes]),
        "estimates": [(result, _intervals(result)) for result in estimates],
        "complete": nothing_is_estimated(estimates),
        "left_out": _left_out(estimates),
        "needed": _labels_to_halve(estimates),
        "hidden": hidden_reason,
    }


# Routes of the page


@route("/owner")
def _owner_page(call: Call) -> Response:
    view = live_view(call.store, call.who.id)
    names = {name: FORMATS[name].name for name in list_formats(view["project"].settings)}
    return staff_page(call, "owner.html", **view, roles=people.ROLES, formats=names)


@route("/owner/live")
def _live(call: Call) -> Response:
    """Return the live part of the page."""
    return staff_page(call, "owner_live.html", **live_view(call.store, call.who.id))


@route("/api/owner/invite", "POST", keys=("name", "role", "quota"))
def _invite(call: Call) -> dict[str, Any]:
    name, role = call.sent.get("name"), call.sent.get("role", "assessor")
    quota = call.sent.get("quota")
    token = people.invite(call.store, name, role, quota, call.who.id)  # type: ignore[arg-type]  # checked there
    call.studio.keys.add(call.store, str(name), token)
    return {"link": f"/join/{token}"}


@route("/api/owner/renew", "POST", keys=("assessor",))
def _renew(call: Call) -> dict[str, Any]:
    """Return a new link; the old one is no longer valid."""
    name, token = people.renew(call.store, call.sent.get("assessor"), call.who.id)  # type: ignore[arg-type]  # checked there
    call.studio.keys.add(call.store, name, token)
    return {"link": f"/join/{token}"}


@route("/api/owner/withdraw", "POST", keys=("assessor",))
def _withdraw(call: Call) -> None:
    people.withdraw(call.store, call.sent.get("assessor"), call.who.id)  # type: ignore[arg-type]  # checked there


@route("/api/owner/freeze", "POST")
def _freeze(call: Call) -> None:
    projects.freeze(call.store, call.who.id)


@route("/api/owner/reveal", "POST", keys=("anyway",))
def _reveal(call: Call) -> None:
    projects.reveal(call.store, call.who.id, call.sent.get("anyway") is True)


@route("/api/owner/estimates", "POST")
def _ask_estimates(call: Call) -> None:
    live.ask_estimates(call.store, call.who.id)


@route("/owner/events")
def _events(call: Call) -> Response:
    number = call.page_number()
    entries, total = people.read_trail(call.store, number, PAGE)
    names = {assessor.id: assessor.name for assessor in people.assessors(call.store)}
    rows = []
    for entry in entries:
        detail = dict(entry.detail)
        if "of" in detail:  # id of the assessor concerned
            detail = {"name": names.get(detail.pop("of"), "nobody"), **detail}
        rows.append(entry._replace(detail=detail))
    page = Page(rows, number, max(1, -(-total // PAGE)), total)
    return staff_page(call, "events.html", page=page, names=names)


_DOWNLOAD_TYPES = {
    "csv": "text/csv",
    "tsv": "text/tab-separated-values",
    "jsonl": "application/x-ndjson",
}


@route("/owner/export/{format}")
def _export(call: Call) -> Response:
    """Return a file, or a ZIP archive of several."""
    name, store = call.path["format"], call.store
    if name != ALL and name not in list_formats(call.project.settings):
        raise NotThere("there is no such export")
    if call.project.state != REVEALED:
        raise NotAllowed("exports name the systems: reveal them first")
    anonymous = call.query.get("names") == "no"
    texts = export_files(store, name, anonymous)
    with store.write() as connection:
        people.record(connection, "export", call.who.id, format=name, names=not anonymous)
    if len(texts) == 1:
        ((file, text),) = texts
        kind = _DOWNLOAD_TYPES.get(file.rpartition(".")[2], "text/plain")
        return download(file.rpartition("/")[2], text, f"{kind}; charset=utf-8")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for file, text in texts:
            if file.startswith("/") or ".." in file.split("/"):  # systems name files of sets
                raise InputError("the name of a system cannot be the name of a file")
            archive.writestr(file, text)
    archive_name = f"{FORMATS[name].name if name != ALL else 'judged'}.zip"
    return download(archive_name, buffer.getvalue(), "application/zip")


# Static files. The style sheet is shared with the report pages.

_KARAT = files("karat")
_STATIC_TYPES = {".css": "text/css", ".js": "text/javascript"}
FILES = {"style.css": _KARAT / "report/page/style.css"} | {
    file.name: file
    for file in (_KARAT / "studio/web/static").iterdir()
    if file.name.endswith(tuple(_STATIC_TYPES))
}


@cache
def content(name: str) -> tuple[bytes, str]:
    """Return a file and its ETag."""
    data = FILES[name].read_bytes()
    return data, f'"{sha256(data).hexdigest()[:16]}"'


async def _static_file(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in FILES:
        return message_page("There is no such file.", 404)
    data, tag = content(name)
    headers = {"etag": tag, "cache-control": "no-cache"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(data, media_type=_STATIC_TYPES[Path(name).suffix], headers=headers)


ROUTES.append(Route("/static/{name}", _static_file))
