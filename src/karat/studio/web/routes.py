"""Routes of assessors, adjudicators, editors of the key, and those who browse."""

from __future__ import annotations

import re
from functools import wraps
from html import unescape
from typing import Any
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from karat.errors import InputError
from karat.studio.assignment import next_assignment, read_progress
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
from karat.studio.disputes import (
    Dispute,
    Target,
    ask_names,
    decide,
    find_disputes,
    find_disputes_on,
    view_dispute,
)
from karat.studio.export.formats import export_files
from karat.studio.key_editing import (
    KeyEdit,
    adjudicators_may_edit,
    allow_adjudicators,
    edit_key,
    may_edit,
    question,
    questions,
)
from karat.studio.live import has_asked_for_estimates
from karat.studio.reports import (
    find_report,
    has_references,
    render_explanation,
    render_report,
    reports,
)
from karat.studio.store.judgements import (
    SentJudgement,
    find_neighbours,
    judge,
    list_assignments,
    undo,
    view_assignment,
)
from karat.studio.store.people import Assessor, assessors, hash_token, now, record
from karat.studio.store.projects import REVEALED, project, systems
from karat.studio.store.store import Store
from karat.studio.tasks import NUGGETS
from karat.studio.tasks.task import AssignmentView
from karat.studio.web.calls import (
    Call,
    Handler,
    NotAllowed,
    NotThere,
    absent,
    check_may_browse,
    message_page,
    only,
    page,
    page_number,
    query_number,
    query_text,
    route,
    staff_page,
)
from karat.studio.web.studio import SESSION_SECONDS, Studio


def _judge_page(call: Call) -> Response:
    current_project = project(call.studio.store)
    place = f"{current_project.set_digest[:12]}.{call.studio.sessions.cookie[-12:]}.{call.who.id}"
    return staff_page(call, "judge.html", place=place)


def _next(call: Call) -> dict[str, Any]:
    store = call.studio.store
    view = next_assignment(store, call.who.id, now())
    if view is None:  # all is done, and may still be looked at again
        last = next(iter(reversed(list_assignments(store, call.who.id))), None)
        return {"item": None, "last": last, "progress": _progress(call)}
    # After one that is open again comes the next that is open, not those that are done.
    return {"item": {**_sent(call, view), "following": None}, "progress": _progress(call)}


def _item(call: Call) -> dict[str, Any]:
    with absent():
        view = view_assignment(call.studio.store, call.who.id, call.number("assignment"))
    return {"item": _sent(call, view), "progress": _progress(call)}


def _sent(call: Call, view: AssignmentView) -> dict[str, Any]:
    neighbours = find_neighbours(call.studio.store, call.who.id, view.assignment)
    return {**view.to_json(), **neighbours._asdict()}


def _progress(call: Call) -> dict[str, int]:
    return read_progress(call.studio.store, call.who.id)._asdict()


def _judge(call: Call) -> dict[str, Any]:
    only(call.sent, *SentJudgement._fields)
    names = ("uuid", "assignment", "value", "ms")
    if lacking := [name for name in names if name not in call.sent]:
        raise InputError(f"{lacking[0]} is missing: expected {', '.join(names)}")
    return judge(call.studio.store, call.who.id, SentJudgement(**call.sent))._asdict()


def _undo(call: Call) -> dict[str, Any]:
    only(call.sent, "uuid", "assignment", "supersedes")
    uuid, of, replaced = map(call.sent.get, ("uuid", "assignment", "supersedes"))
    return undo(call.studio.store, call.who.id, uuid, of, replaced)._asdict()  # type: ignore[arg-type]  # checked there


JUDGE_ROUTES = [
    route("/", _judge_page),
    route("/api/next", _next),
    route("/api/item/{assignment}", _item),
    route("/api/progress", _progress),
    route("/api/judgements", _judge, "POST"),
    route("/api/undo", _undo, "POST"),
]


async def _join(request: Request) -> Response:
    studio: Studio = request.app.state.studio
    token = request.path_params["token"]
    who = await run_in_threadpool(studio.invited, token)
    if who is None:
        return message_page("This link is not valid. Ask for a new one.", 403)
    # A page that goes on by itself, and no redirect: a browser that came from another site would
    # not send a strict cookie along with a redirect.
    answer = page("joined.html", name=who.name, to=await run_in_threadpool(_first, studio, who))
    sessions = studio.sessions
    value = sessions.begin(who.id, hash_token(token))
    answer.set_cookie(
        sessions.cookie, value, max_age=SESSION_SECONDS, httponly=True, samesite="strict"
    )
    return answer


def _first(studio: Studio, who: Assessor) -> str:
    """Return the page to begin with: the page to judge on would assign a unit to its reader."""
    if who.role == "adjudicator":
        return "/adjudicate"
    alone = len(assessors(studio.store)) == 1
    return "/owner" if who.role == "owner" and not alone else "/"


JOIN_ROUTES = [Route("/join/{token}", _join, methods=["GET"])]


DECIDERS = ("adjudicator", "owner")
MAX_LISTED = 500
TARGET = ("task", "item", "output", "about")


def _adjudication_page(call: Call) -> Response:
    return staff_page(call, "adjudicate.html")


def _disputes(call: Call) -> dict[str, Any]:
    """Return the list of disputes, largest first; those that are settled only if asked for."""
    listed = find_disputes(call.studio.store, call.query.get("settled") == "yes")
    all_disputes = find_disputes(call.studio.store, settled=True)
    settled = sum(dispute.settled for dispute in all_disputes)
    rows = [_list_row(dispute) for dispute in listed[:MAX_LISTED]]
    return {"disputes": rows, "total": len(listed), "settled": settled, "all": len(all_disputes)}


def _list_row(dispute: Dispute) -> dict[str, Any]:
    names = (*TARGET, "segment", "amount", "settled")
    return {name: getattr(dispute, name) for name in names} | {
        "judgement": dispute.votes[0].judgement
    }


def _dispute(call: Call) -> dict[str, Any]:
    """Return one dispute whole; it is named by one of its judgements and what it is about."""
    store, judgement = call.studio.store, call.number("id")
    about = query_text(call, "about")
    for dispute in find_disputes_on(store, _item_of(store, judgement)):
        if dispute.about == about and any(vote.judgement == judgement for vote in dispute.votes):
            return view_dispute(store, dispute).to_json()
    raise NotThere("there is no such dispute: somebody may have changed an answer")


def _item_of(store: Store, judgement: int) -> int:
    with store.read() as connection:
        row = connection.row(
            "SELECT item FROM judgement JOIN assignment ON assignment.id = assignment "
            "WHERE judgement.id = ?",
            judgement,
        )
    return row[0] if row else 0


def _target(sent: Any) -> Target:
    task, item, output, about = (sent.get(name) for name in TARGET)
    is_item = isinstance(item, int) and not isinstance(item, bool)
    right = isinstance(task, str) and is_item and isinstance(about, str)
    if not right or not isinstance(output, int | None) or isinstance(output, bool):
        raise InputError(f"expected {', '.join(TARGET)} of a dispute")
    return task, item, output, about


def _decide(call: Call) -> dict[str, Any]:
    """Store a decision; an answer of null undoes it."""
    only(call.sent, "uuid", *TARGET, "answer", "supersedes")
    if "answer" not in call.sent:
        raise InputError("answer is missing: expected a decision, or null to undo one")
    uuid, answer, replaced = map(call.sent.get, ("uuid", "answer", "supersedes"))
    target = _target(call.sent)
    return decide(call.studio.store, call.who.id, uuid, target, answer, replaced)._asdict()  # type: ignore[arg-type]  # checked there


def _ask_names(call: Call) -> dict[str, Any]:
    only(call.sent, *TARGET)
    return {"names": ask_names(call.studio.store, call.who.id, _target(call.sent))}


ADJUDICATION_ROUTES = [
    route("/adjudicate", _adjudication_page, roles=DECIDERS),
    route("/api/disputes", _disputes, roles=DECIDERS),
    route("/api/disputes/{id}", _dispute, roles=DECIDERS),
    route("/api/adjudications", _decide, "POST", DECIDERS),
    route("/api/names", _ask_names, "POST", DECIDERS),
]


EDITORS = ("adjudicator", "owner")


def editing(handler: Handler) -> Handler:
    """Return a handler for those alone who may edit the key of this project."""

    def checked(call: Call) -> Any:
        if not may_edit(call.studio.store, call.who.role):
            expected = "expected an owner, or an adjudicator whom an owner allows it"
            raise NotAllowed(f"you may not edit the key: {expected}")
        return handler(call)

    return checked


def _key_page(call: Call) -> Response:
    with call.studio.store.read() as connection:
        allowed = adjudicators_may_edit(connection)
    return staff_page(call, "key.html", allowed=allowed)


def _questions(call: Call) -> dict[str, Any]:
    rows, total = questions(call.studio.store, query_text(call, "q"))
    return {"questions": [question._asdict() for question in rows], "total": total}


def _question(call: Call) -> dict[str, Any]:
    with absent():
        return question(call.studio.store, call.number("item")).to_json()


def _edit(call: Call) -> dict[str, Any]:
    only(call.sent, *KeyEdit._fields)
    if lacking := [name for name in KeyEdit._fields[:4] if name not in call.sent]:
        raise InputError(f"{lacking[0]} is missing: expected {', '.join(KeyEdit._fields[:4])}")
    return edit_key(call.studio.store, call.who.id, KeyEdit(**call.sent))._asdict()


def _allow(call: Call) -> dict[str, Any]:
    only(call.sent, "adjudicators")
    allowed = call.sent.get("adjudicators")
    if not isinstance(allowed, bool):
        raise InputError("adjudicators: expected true or false")
    allow_adjudicators(call.studio.store, call.who.id, allowed)
    return {}


def _key_file(call: Call) -> Response:
    """Return the key as it is now, which names no system: it needs no reveal."""
    ((name, text),) = export_files(call.studio.store, "key")
    with call.studio.store.write() as connection:
        record(connection, "export", call.who.id, format="key")
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(text, media_type="application/x-ndjson; charset=utf-8", headers=headers)


KEY_ROUTES = [
    route("/key", editing(_key_page), roles=EDITORS),
    route("/key/key.jsonl", editing(_key_file), roles=EDITORS),
    route("/api/key", editing(_questions), roles=EDITORS),
    route("/api/key/edits", editing(_edit), "POST", EDITORS),
    route("/api/key/allow", _allow, "POST", ("owner",)),
    route("/api/key/{item}", editing(_question), roles=EDITORS),
]


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
