"""Invitations: the token of a link becomes a cookie."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from karat.studio.store.assessors import Assessor, assessors, hashed
from karat.studio.web.pages import message_page, page
from karat.studio.web.sessions import LASTS
from karat.studio.web.studio import Studio


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


ROUTES = [Route("/join/{token}", _join, methods=["GET"])]
