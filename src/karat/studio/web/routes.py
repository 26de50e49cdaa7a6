"""Routes for judging, adjudicating, editing the key, and browsing."""

from __future__ import annotations

import re
from functools import partial
from html import unescape
from typing import Any
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from karat.errors import InputError
from karat.studio import assignment, browsing, disputes, key_editing, live, reports
from karat.studio.browsing import OutputTable, Search
from karat.studio.disputes import Dispute, Target
from karat.studio.export.formats import export_files
from karat.studio.key_editing import KeyEdit
from karat.studio.store import judgements, people, projects
from karat.studio.store.judgements import SentJudgement
from karat.studio.store.projects import REVEALED
from karat.studio.tasks import NUGGETS
from karat.studio.tasks.checks import is_integer
from karat.studio.tasks.task import AssignmentView
from karat.studio.web.calls import (
    Call,
    NotAllowed,
    NotThere,
    add_route,
    download,
    message_page,
    page,
    refused_as_not_found,
    staff_page,
)
from karat.studio.web.studio import SESSION_SECONDS, Studio

ROUTES: list[Route] = []
route = partial(add_route, ROUTES)


def _check_present(call: Call, *names: str) -> None:
    """Raise InputError if a key is missing in a request."""
    if lacking := [name for name in names if name not in call.sent]:
        raise InputError(f"{lacking[0]} is missing: expected {', '.join(names)}")


# Invitations


async def _join(request: Request) -> Response:
    studio: Studio = request.app.state.studio
    token = request.path_params["token"]
    who = await run_in_threadpool(studio.invited, token)
    if who is None:
        return message_page("This link is not valid. Ask for a new one.", 403)
    invited = await run_in_threadpool(people.assessors, studio.store)
    first = "/"
    if who.role == "adjudicator":  # the judging page would assign a unit
        first = "/adjudicate"
    elif who.role == "owner" and len(invited) > 1:
        first = "/owner"
    # Not a redirect: browsers that come from another site send no strict cookie with it.
    answer = page("joined.html", name=who.name, to=first)
    sessions = studio.sessions
    value = sessions.begin(who.id, people.hash_token(token))
    answer.set_cookie(
        sessions.cookie, value, max_age=SESSION_SECONDS, httponly=True, samesite="strict"
    )
    return answer


ROUTES.append(Route("/join/{token}", _join, methods=["GET"]))


# Judging


@route("/")
def _judge_page(call: Call) -> Response:
    cookie, digest = call.studio.sessions.cookie, call.project.set_digest
    return staff_page(call, "judge.html", place=f"{digest[:12]}.{cookie[-12:]}.{call.who.id}")


@route("/api/next")
def _next(call: Call) -> dict[str, Any]:
    view = assignment.next_assignment(call.store, call.who.id, people.now())
    if view is None:  # all done; earlier answers can still be opened
        last = next(iter(reversed(judgements.list_assignments(call.store, call.who.id))), None)
        return {"item": None, "last": last, "progress": _progress(call)}
    # The page must ask for the next open assignment instead of following finished ones.
    return {
        "item": {**_assignment_fields(call, view), "following": None},
        "progress": _progress(call),
    }


@route("/api/item/{assignment}")
def _item(call: Call) -> dict[str, Any]:
    with refused_as_not_found():
        view = judgements.view_assignment(call.store, call.who.id, call.number("assignment"))
    return {"item": _assignment_fields(call, view), "progress": _progress(call)}


def _assignment_fields(call: Call, view: AssignmentView) -> dict[str, Any]:
    neighbours = judgements.find_neighbours(call.store, call.who.id, view.assignment)
    return {**view.to_json(), **neighbours}


@route("/api/progress")
def _progress(call: Call) -> dict[str, int]:
    return assignment.read_progress(call.store, call.who.id)._asdict()


@route("/api/judgements", "POST", keys=SentJudgement._fields)
def _judge(call: Call) -> dict[str, Any]:
    _check_present(call, "uuid", "assignment", "value", "ms")
    return judgements.judge(call.store, call.who.id, SentJudgement(**call.sent))._asdict()


@route("/api/undo", "POST", keys=("uuid", "assignment", "supersedes"))
def _undo(call: Call) -> dict[str, Any]:
    uuid, of, replaced = map(call.sent.get, ("uuid", "assignment", "supersedes"))
    return judgements.undo(call.store, call.who.id, uuid, of, replaced)._asdict()  # type: ignore[arg-type]  # checked there


# Adjudicating

DECIDERS = ("adjudicator", "owner")
MAX_LISTED = 500
TARGET = ("task", "item", "output", "about")


@route("/adjudicate", roles=DECIDERS)
def _adjudication_page(call: Call) -> Response:
    return staff_page(call, "adjudicate.html")


def _dispute_fields(dispute: Dispute) -> dict[str, Any]:
    return {name: getattr(dispute, name) for name in (*TARGET, "segment", "amount", "settled")}


@route("/api/disputes", roles=DECIDERS)
def _disputes(call: Call) -> dict[str, Any]:
    """Return the list of disputes, largest first; settled ones only on request."""
    all_disputes = disputes.find_disputes(call.store, settled=True)
    with_settled = call.query.get("settled") == "yes"
    listed = [dispute for dispute in all_disputes if with_settled or not dispute.settled]
    rows = [
        {**_dispute_fields(dispute), "judgement": dispute.votes[0].judgement}
        for dispute in listed[:MAX_LISTED]
    ]
    settled = sum(dispute.settled for dispute in all_disputes)
    return {"disputes": rows, "total": len(listed), "settled": settled, "all": len(all_disputes)}


@route("/api/disputes/{id}", roles=DECIDERS)
def _dispute(call: Call) -> dict[str, Any]:
    """Return one dispute, given by one of its judgements and its subject."""
    judgement, about = call.number("id"), call.query_text("about")
    with call.store.read() as connection:
        item = connection.optional_value(
            "SELECT item FROM judgement JOIN assignment ON assignment.id = assignment "
            "WHERE judgement.id = ?",
            judgement,
        )
    for dispute in disputes.find_disputes_on(call.store, item or 0):
        if dispute.about == about and any(vote.judgement == judgement for vote in dispute.votes):
            view, votes = disputes.view_dispute(call.store, dispute)
            return {**view.to_json(), **_dispute_fields(dispute), "said": votes}
    raise NotThere("there is no such dispute: somebody may have changed an answer")


def _target(call: Call) -> Target:
    task, item, output, about = (call.sent.get(name) for name in TARGET)
    is_target = isinstance(task, str) and is_integer(item) and isinstance(about, str)
    if not is_target or not (output is None or is_integer(output)):
        raise InputError(f"expected {', '.join(TARGET)} of a dispute")
    return task, item, output, about  # type: ignore[return-value]


@route("/api/adjudications", "POST", roles=DECIDERS, keys=("uuid", *TARGET, "answer", "supersedes"))
def _decide(call: Call) -> dict[str, Any]:
    """Store a decision; the answer null undoes it."""
    if "answer" not in call.sent:
        raise InputError("answer is missing: expected a decision, or null to undo one")
    uuid, answer, replaced = map(call.sent.get, ("uuid", "answer", "supersedes"))
    stored = disputes.decide(call.store, call.who.id, uuid, _target(call), answer, replaced)  # type: ignore[arg-type]  # checked there
    return stored._asdict()


@route("/api/names", "POST", roles=DECIDERS, keys=TARGET)
def _ask_names(call: Call) -> dict[str, Any]:
    return {"names": disputes.ask_names(call.store, call.who.id, _target(call))}


# Editing the key


def _check_editor(call: Call) -> None:
    if not key_editing.may_edit(call.store, call.who.role):
        expected = "expected an owner, or an adjudicator whom an owner allows it"
        raise NotAllowed(f"you may not edit the key: {expected}")


editor_route = partial(route, roles=DECIDERS, check=_check_editor)


@editor_route("/key")
def _key_page(call: Call) -> Response:
    with call.store.read() as connection:
        allowed = key_editing.adjudicators_may_edit(connection)
    return staff_page(call, "key.html", allowed=allowed)


@editor_route("/key/key.jsonl")
def _key_file(call: Call) -> Response:
    """Return the current key; it names no system, so it is available before the reveal."""
    ((name, text),) = export_files(call.store, "key")
    with call.store.write() as connection:
        people.record(connection, "export", call.who.id, format="key")
    return download(name, text, "application/x-ndjson; charset=utf-8")


@editor_route("/api/key")
def _questions(call: Call) -> dict[str, Any]:
    rows, total = key_editing.list_questions(call.store, call.query_text("q"))
    return {"questions": rows, "total": total}


@editor_route("/api/key/edits", "POST", keys=KeyEdit._fields)
def _edit(call: Call) -> dict[str, Any]:
    _check_present(call, *KeyEdit._fields[:4])
    return key_editing.edit_key(call.store, call.who.id, KeyEdit(**call.sent))._asdict()


@route("/api/key/allow", "POST", roles=("owner",), keys=("adjudicators",))
def _allow(call: Call) -> None:
    allowed = call.sent.get("adjudicators")
    if not isinstance(allowed, bool):
        raise InputError("adjudicators: expected true or false")
    key_editing.allow_adjudicators(call.store, call.who.id, allowed)


@editor_route("/api/key/{item}")
def _question(call: Call) -> dict[str, Any]:
    with refused_as_not_found():
        return key_editing.view_question(call.store, call.number("item"))


# Browsing: owners, and everybody after the reveal


def _check_may_browse(call: Call) -> None:
    if not call.may_browse():
        raise NotAllowed("browsing is for the owner until the systems are revealed")


browse_route = partial(route, check=_check_may_browse)


@browse_route("/browse")
def _segments(call: Call) -> Response:
    search = Search(
        *(call.query_text("q"), call.query_text("kind") or "all", call.query_text("dimension")),
        *(call.query_number("low"), call.query_number("high"), call.query_text("system")),
    )
    project = call.project
    revealed = project.state == REVEALED
    return staff_page(
        call,
        "browse.html",
        page=browsing.find_segments(call.store, search, call.page_number()),
        search=search,
        kinds=browsing.KINDS,
        dimensions=browsing.score_names(project.settings),
        systems=sorted({*projects.systems(call.store).values()}) if revealed else [],
        rest=_query_base(call),
    )


def _query_base(call: Call) -> str:
    """Return the query without the page number, for links to other pages."""
    items = call.query.multi_items()
    selected = [(key, value) for key, value in items if key != "page" and value]
    return urlencode([*selected, ("page", "")])


@browse_route("/browse/segments/{item}")
def _segment(call: Call) -> Response:
    with refused_as_not_found():
        view = browsing.view_segment(call.store, call.number("item"))
    letters = browsing.output_letters(call.store, [view["id"]])
    return staff_page(call, "segment.html", segment=view, letters=letters)


@browse_route("/browse/outputs")
def _outputs(call: Call) -> Response:
    table, metrics, by, down = _requested_table(call)
    page = browsing.make_page(table.ids, call.page_number())
    return staff_page(
        call, "outputs.html", table=table, page=page._replace(rows=table.rows(page.rows)),
        by=by, down=down, metrics=metrics, offered=browsing.OFFERED_METRICS, rest=_query_base(call),
        query=urlencode([("metrics", ",".join(metrics)), ("sort", by), ("down", "yes" * down)]),
    )  # fmt: skip


def _requested_table(call: Call) -> tuple[OutputTable, list[str], str, bool]:
    """Return the requested table, its metrics, its sort column and direction."""
    names = ",".join(call.query.getlist("metrics")).split(",")
    metrics = list(dict.fromkeys(name for name in names if name))
    by, down = call.query_text("sort"), call.query_text("down") == "yes"
    return browsing.make_output_table(call.store, metrics, by, down), metrics, by, down


@browse_route("/browse/outputs.csv")
def _table_csv(call: Call) -> Response:
    lines = browsing.output_table_lines(_requested_table(call)[0])
    return download("outputs.csv", "".join(lines), "text/csv; charset=utf-8")


# Reports


def _may_see_ranking(call: Call) -> bool:
    """Return whether the person may see which systems lead."""
    return call.project.state == REVEALED or live.has_asked_for_estimates(call.store, call.who.id)


@browse_route("/browse/reports")
def _reports(call: Call) -> Response:
    available, may_tell = reports.list_reports(call.store), _may_see_ranking(call)
    locked = [] if may_tell else [report for report in available if report.reveals_ranking]
    ready = [report for report in available if report not in locked]
    has_nuggets_alone = [*call.project.settings.tasks] == [NUGGETS.name]
    metrics = has_nuggets_alone or reports.has_references(call.store)
    return staff_page(call, "reports.html", ready=ready, locked=locked, metrics=metrics)


@browse_route("/browse/reports/{name}")
def _report(call: Call) -> Response:
    with refused_as_not_found():
        report = reports.find_report(call.store, call.path["name"])
    if report.reveals_ranking and not _may_see_ranking(call):
        advice = "ask for estimates on the owner's page, which is recorded"
        raise NotAllowed(f"this report would tell which systems lead: {advice}")
    return _sandbox_page(reports.render_report(call.store, report))


@browse_route("/browse/segments/{item}/outputs/{output}")
def _explanation(call: Call) -> Response:
    item, output = call.number("item"), call.number("output")
    return _sandbox_page(reports.render_explanation(call.store, item, output))


_POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">')
_SANDBOX = "frame-ancestors 'none'; sandbox allow-scripts"


def _sandbox_page(page: str) -> Response:
    """Return a page in a sandbox, with the security policy that it contains."""
    stated = _POLICY.search(page)
    policy = unescape(stated[1]) if stated else "default-src 'none'"
    return HTMLResponse(page, headers={"content-security-policy": f"{policy}; {_SANDBOX}"})
