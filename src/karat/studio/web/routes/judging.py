"""Routes of assessors: invitations, assignments, answers and progress."""

from __future__ import annotations

from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from karat.errors import InputError
from karat.studio.assignment import next_assignment, progress_of
from karat.studio.store.assessors import Assessor, assessors, hashed
from karat.studio.store.assignments import earlier, shown, visit
from karat.studio.store.events import now
from karat.studio.store.judgements import SentJudgement, judge, undo
from karat.studio.store.projects import project
from karat.studio.tasks.task import AssignmentView
from karat.studio.web.calls import Call, absent, only, route, staff_page
from karat.studio.web.pages import message_page, page
from karat.studio.web.studio import LASTS, Studio


def _judge_page(call: Call) -> Response:
    found = project(call.studio.store)
    place = f"{found.set_digest[:12]}.{call.studio.sessions.cookie[-12:]}.{call.who.id}"
    return staff_page(call, "judge.html", place=place)


def _next(call: Call) -> dict[str, Any]:
    store = call.studio.store
    found = next_assignment(store, call.who.id, now())
    if found is None:  # all is done, and may still be looked at again
        last = next(iter(reversed(earlier(store, call.who.id))), None)
        return {"item": None, "last": last, "progress": _progress(call)}
    # After one that is open again comes the next that is open, not those that are done.
    return {"item": {**_sent(call, found), "following": None}, "progress": _progress(call)}


def _item(call: Call) -> dict[str, Any]:
    with absent():
        found = shown(call.studio.store, call.who.id, call.number("assignment"))
    return {"item": _sent(call, found), "progress": _progress(call)}


def _sent(call: Call, found: AssignmentView) -> dict[str, Any]:
    beside = visit(call.studio.store, call.who.id, found.assignment)
    return {**found.to_json(), **beside._asdict()}


def _progress(call: Call) -> dict[str, int]:
    return progress_of(call.studio.store, call.who.id)._asdict()


def _judge(call: Call) -> dict[str, Any]:
    only(call.given, *SentJudgement._fields)
    names = ("uuid", "assignment", "value", "ms")
    if lacking := [name for name in names if name not in call.given]:
        raise InputError(f"{lacking[0]} is missing: expected {', '.join(names)}")
    return judge(call.studio.store, call.who.id, SentJudgement(**call.given))._asdict()


def _undo(call: Call) -> dict[str, Any]:
    only(call.given, "uuid", "assignment", "supersedes")
    uuid, of, replaced = map(call.given.get, ("uuid", "assignment", "supersedes"))
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
    value = sessions.begin(who.id, hashed(token))
    answer.set_cookie(sessions.cookie, value, max_age=LASTS, httponly=True, samesite="strict")
    return answer


def _first(studio: Studio, who: Assessor) -> str:
    """Return the page to begin with: the page to judge on would assign a unit to its reader."""
    if who.role == "adjudicator":
        return "/adjudicate"
    alone = len(assessors(studio.store)) == 1
    return "/owner" if who.role == "owner" and not alone else "/"


JOIN_ROUTES = [Route("/join/{token}", _join, methods=["GET"])]
