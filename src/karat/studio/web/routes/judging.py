"""Routes of assessors: invitations, assignments, answers and progress."""

from __future__ import annotations

from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from karat.errors import InputError
from karat.studio.assignment import next_assignment, read_progress
from karat.studio.store.assessors import Assessor, assessors, hash_token
from karat.studio.store.assignments import find_neighbours, list_assignments, view_assignment
from karat.studio.store.events import now
from karat.studio.store.judgements import SentJudgement, judge, undo
from karat.studio.store.projects import project
from karat.studio.tasks.task import AssignmentView
from karat.studio.web.calls import Call, absent, only, route, staff_page
from karat.studio.web.pages import message_page, page
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
