"""Routes for browsing: owners, and everybody after the reveal."""

from __future__ import annotations

import re
from functools import wraps
from html import unescape
from typing import Any
from urllib.parse import urlencode

from starlette.responses import HTMLResponse, Response

from karat.studio.browsing import (
    KINDS,
    OFFERED_METRICS,
    OutputTable,
    Search,
    find_segments,
    make_output_table,
    make_page,
    output_letters,
    output_table_lines,
    score_names,
    segment,
)
from karat.studio.live.statistics import has_asked_for_estimates
from karat.studio.reports import (
    find_report,
    has_references,
    render_explanation,
    render_report,
    reports,
)
from karat.studio.store.projects import REVEALED, project, systems
from karat.studio.tasks import NUGGETS
from karat.studio.web.calls import (
    Call,
    Handler,
    NotAllowed,
    absent,
    check_may_browse,
    page_number,
    query_number,
    query_text,
    route,
    staff_page,
)


def browsing(handler: Handler) -> Handler:
    """Return a handler that is for those who may browse."""

    @wraps(handler)
    def checked(call: Call) -> Any:
        check_may_browse(call)
        return handler(call)

    return checked


def _segments(call: Call) -> Response:
    store = call.studio.store
    search = Search(
        *(query_text(call, "q"), query_text(call, "kind") or "all", query_text(call, "dimension")),
        *(query_number(call, "low"), query_number(call, "high"), query_text(call, "system")),
    )
    page = find_segments(store, search, page_number(call))
    settings = project(store).settings
    return staff_page(
        call, "browse.html", page=page, search=search, kinds=KINDS,
        dimensions=score_names(settings), systems=_systems(call), rest=_rest(call),
    )  # fmt: skip


def _systems(call: Call) -> list[str]:
    """Return the names of systems after the reveal."""
    store = call.studio.store
    return sorted({*systems(store).values()}) if project(store).state == REVEALED else []


def _rest(call: Call) -> str:
    """Return the query without the page, for links to other pages."""
    items = call.query.multi_items()
    selected = [(key, value) for key, value in items if key != "page" and value]
    return urlencode([*selected, ("page", "")])


def _segment(call: Call) -> Response:
    with absent():
        view = segment(call.studio.store, call.number("item"))
    letters = output_letters(call.studio.store, [view.id])
    return staff_page(call, "segment.html", segment=view, letters=letters)


def _outputs(call: Call) -> Response:
    table, metrics, by, down = _requested_table(call)
    page = make_page(table.ids, page_number(call))
    return staff_page(
        call, "outputs.html", table=table, page=page._replace(rows=table.rows(page.rows)),
        by=by, down=down, metrics=metrics, offered=OFFERED_METRICS, rest=_rest(call),
        query=urlencode([("metrics", ",".join(metrics)), ("sort", by), ("down", "yes" * down)]),
    )  # fmt: skip


def _requested_table(call: Call) -> tuple[OutputTable, list[str], str, bool]:
    """Return the table with the metrics and in the order that a query asks for."""
    metrics, by, down = (
        _requested_metrics(call),
        query_text(call, "sort"),
        query_text(call, "down") == "yes",
    )
    return make_output_table(call.studio.store, metrics, by, down), metrics, by, down


def _requested_metrics(call: Call) -> list[str]:
    names = ",".join(call.query.getlist("metrics")).split(",")
    return list(dict.fromkeys(name for name in names if name))


def _table_csv(call: Call) -> Response:
    headers = {"content-disposition": 'attachment; filename="outputs.csv"'}
    lines = output_table_lines(_requested_table(call)[0])
    return Response("".join(lines), media_type="text/csv; charset=utf-8", headers=headers)


BROWSE_ROUTES = [
    route("/browse", browsing(_segments)),
    route("/browse/segments/{item}", browsing(_segment)),
    route("/browse/outputs", browsing(_outputs)),
    route("/browse/outputs.csv", browsing(_table_csv)),
]


_POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">')
_SANDBOX = "frame-ancestors 'none'; sandbox allow-scripts"


def _reports(call: Call) -> Response:
    available, may_tell = reports(call.studio.store), _tells(call)
    locked = [] if may_tell else [report for report in available if report.tells]
    ready = [report for report in available if report not in locked]
    return staff_page(call, "reports.html", ready=ready, locked=locked, metrics=_has_metrics(call))


def _has_metrics(call: Call) -> bool:
    """Return whether reports lack that a set with references would have."""
    nuggets_alone = [*project(call.studio.store).settings.tasks] == [NUGGETS.name]
    return nuggets_alone or has_references(call.studio.store)


def _tells(call: Call) -> bool:
    """Return whether reports may tell which systems lead."""
    return project(call.studio.store).state == REVEALED or has_asked_for_estimates(
        call.studio.store, call.who.id
    )


def _report(call: Call) -> Response:
    with absent():
        report = find_report(call.studio.store, call.path["name"])
    if report.tells and not _tells(call):
        advice = "ask for estimates on the owner's page, which is recorded"
        raise NotAllowed(f"this report would tell which systems lead: {advice}")
    return sandbox_page(render_report(call.studio.store, report))


def _explanation(call: Call) -> Response:
    return sandbox_page(
        render_explanation(call.studio.store, call.number("item"), call.number("output"))
    )


def sandbox_page(page: str) -> Response:
    """Return a whole page under the policy that it states, in a sandbox."""
    stated = _POLICY.search(page)
    policy = unescape(stated[1]) if stated else "default-src 'none'"
    return HTMLResponse(page, headers={"content-security-policy": f"{policy}; {_SANDBOX}"})


REPORT_ROUTES = [
    route("/browse/reports", browsing(_reports)),
    route("/browse/reports/{name}", browsing(_report)),
    route("/browse/segments/{item}/outputs/{output}", browsing(_explanation)),
]
