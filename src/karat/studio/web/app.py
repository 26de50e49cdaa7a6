"""The application: all routes, behind the guard."""

from __future__ import annotations

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response

from karat.studio.web.guard import Guard
from karat.studio.web.hosts import Hosts
from karat.studio.web.pages import message_page
from karat.studio.web.routes import (
    adjudicate,
    browse,
    files,
    join,
    judge,
    key,
    owner,
    records,
    reports,
)
from karat.studio.web.studio import Studio

ROOMS = (join, judge, owner, records, adjudicate, key, browse, reports, files)


def make_app(studio: Studio, hosts: Hosts) -> Guard:
    """Return the application of a studio that is reached under some names."""
    routes = [route for room in ROOMS for route in room.ROUTES]
    app = Starlette(routes=routes, exception_handlers={404: _missing})
    app.router.redirect_slashes = False
    app.state.studio = studio
    return Guard(app, hosts, studio.sessions)


async def _missing(request: Request, error: Exception) -> Response:
    return message_page("There is no such page.", 404)
