"""Routes for browsing: owners, and everybody after the reveal."""

from __future__ import annotations

from functools import wraps
from typing import Any
from urllib.parse import urlencode

from starlette.responses import Response

from karat.studio.browsing.one_segment import output_letters, segment
from karat.studio.browsing.output_scores import score_names
from karat.studio.browsing.outputs_table import METRICS, OutputTable, output_table, table_lines
from karat.studio.browsing.segments import KINDS, Search, find_segments, paged
from karat.studio.store.projects import REVEALED, project, systems
from karat.studio.web.calls import Call, Handler, absent, route
from karat.studio.web.query import number_of, page_number, text_of
from karat.studio.web.staff import check_may_browse, staff_page


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
        *(text_of(call, "q"), text_of(call, "kind") or "all", text_of(call, "dimension")),
        *(number_of(call, "low"), number_of(call, "high"), text_of(call, "system")),
    )
    found = find_segments(store, search, page_number(call))
    settings = project(store).settings
    return staff_page(
        call, "browse.html", found=found, search=search, kinds=KINDS,
        dimensions=score_names(settings), systems=_systems(call), rest=_rest(call),
    )  # fmt: skip


def _systems(call: Call) -> list[str]:
    """Return the names of systems after the reveal."""
    store = call.studio.store
    return sorted({*systems(store).values()}) if project(store).state == REVEALED else []


def _rest(call: Call) -> str:
    """Return the query without the page, for links to other pages."""
    given = call.query.multi_items()
    kept = [(key, value) for key, value in given if key != "page" and value]
    return urlencode([*kept, ("page", "")])


def _segment(call: Call) -> Response:
    with absent():
        found = segment(call.studio.store, call.number("item"))
    letters = output_letters(call.studio.store, [found.id])
    return staff_page(call, "segment.html", found=found, letters=letters)


def _outputs(call: Call) -> Response:
    table, metrics, by, down = _asked_table(call)
    found = paged(table.ids, page_number(call))
    return staff_page(
        call, "outputs.html", table=table, found=found._replace(rows=table.rows(found.rows)),
        by=by, down=down, metrics=metrics, offered=METRICS, rest=_rest(call),
        query=urlencode([("metrics", ",".join(metrics)), ("sort", by), ("down", "yes" * down)]),
    )  # fmt: skip


def _asked_table(call: Call) -> tuple[OutputTable, list[str], str, bool]:
    """Return the table with the metrics and in the order that a query asks for."""
    metrics, by, down = _metrics(call), text_of(call, "sort"), text_of(call, "down") == "yes"
    return output_table(call.studio.store, metrics, by, down), metrics, by, down


def _metrics(call: Call) -> list[str]:
    given = ",".join(call.query.getlist("metrics")).split(",")
    return list(dict.fromkeys(name for name in given if name))


def _table(call: Call) -> Response:
    shown = {"content-disposition": 'attachment; filename="outputs.csv"'}
    lines = table_lines(_asked_table(call)[0])
    return Response("".join(lines), media_type="text/csv; charset=utf-8", headers=shown)


ROUTES = [
    route("/browse", browsing(_segments)),
    route("/browse/segments/{item}", browsing(_segment)),
    route("/browse/outputs", browsing(_outputs)),
    route("/browse/outputs.csv", browsing(_table)),
]
