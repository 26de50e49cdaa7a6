"""Calls of routes by signed-in people, and the pages and JSON that answer them."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any, NamedTuple, TypeVar

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from karat.errors import InputError, KaratError, quoted
from karat.studio.key_editing import may_edit
from karat.studio.store.judgements import Overtaken
from karat.studio.store.people import ROLES, Assessor
from karat.studio.store.projects import REVEALED, Project, project
from karat.studio.store.schema import DamagedStore
from karat.studio.store.store import Store
from karat.studio.web.guard import parse
from karat.studio.web.studio import Studio

MAX_QUERY = 500
"""Maximum characters of a query parameter."""


class NotThere(InputError):
    """The requested object does not exist, or not for this assessor."""


class NotAllowed(InputError):
    """A role may not do this, or not yet."""


class Call(NamedTuple):
    """One request of a signed-in person."""

    studio: Studio
    who: Assessor
    path: Mapping[str, str]
    sent: Mapping[str, Any]
    """The JSON object in the body."""
    csrf: str
    query: QueryParams
    """The query parameters of the URL."""

    @property
    def store(self) -> Store:
        """The store of the studio."""
        return self.studio.store

    @property
    def project(self) -> Project:
        """The project of the store."""
        return project(self.store)

    def number(self, name: str) -> int:
        """Return a number in the path; raise NotThere if it is not one."""
        text = self.path[name]
        if not (text.isascii() and text.isdigit() and len(text) < 16):
            raise NotThere(f"found {quoted(text)}, expected a number")
        return int(text)

    def query_text(self, name: str) -> str:
        """Return a query parameter; "" if it is missing."""
        text = self.query.get(name, "")
        if len(text) > MAX_QUERY:
            problem = f"found {len(text):,} characters, expected at most {MAX_QUERY}"
            raise InputError(f"{name}: {problem}")
        return text

    def query_number(self, name: str) -> float | None:
        """Return a query parameter as a finite number; None if it is missing."""
        text = self.query_text(name).strip()
        if not text:
            return None
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            raise InputError(f"{name}: found {quoted(text)}, expected a number")
        return number

    def page_number(self) -> int:
        """Return the page number, starting at 1."""
        text = self.query_text("page") or "1"
        if not (text.isascii() and text.isdigit() and len(text) < 10):
            raise InputError(f"found the page {quoted(text)}, expected a number")
        return int(text)

    def may_browse(self) -> bool:
        """Return whether the person may browse: owners, and everybody after the reveal."""
        return self.who.role == "owner" or self.project.state == REVEALED


# Routes

_REFUSED: Mapping[type[InputError], int] = {
    NotThere: 404,
    NotAllowed: 403,
    Overtaken: 409,
    DamagedStore: 503,  # as for a full disk: the page keeps the answer and tries again
}
"""Kind of error -> status; other InputErrors have 422."""
Handler = TypeVar("Handler", bound=Callable[[Call], Any])
"""Returns a page, or a value for a JSON answer; None becomes an empty object."""


def add_route(
    routes: list[Route],
    path: str,
    method: str = "GET",
    *,
    roles: Collection[str] = ROLES,
    check: Callable[[Call], None] = lambda call: None,
    keys: Collection[str] = (),
) -> Callable[[Handler], Handler]:
    """Return a decorator that adds a route; handlers run in a thread.

    Args:
        routes: list of routes to extend.
        path: path of the route.
        method: GET or POST.
        roles: roles that may call it.
        check: raises an error for people who may not call it.
        keys: allowed keys of the JSON object in the body.
    """

    def add(handler: Handler) -> Handler:
        def answer(call: Call, body: bytes | None) -> Response:
            if call.who.role not in roles:
                allowed = " and ".join(f"{role}s" for role in roles)
                raise NotAllowed(f"this page is for {allowed} only: you are an {call.who.role}")
            call = call._replace(sent={} if body is None else parse(body))
            with call.store.explaining_damage():
                check(call)
                if unknown := [key for key in call.sent if key not in keys]:
                    expected = f"expected {', '.join(keys) or 'none'}"
                    raise InputError(f"found the key {quoted(unknown[0])}, {expected}")
                result = handler(call)
                return result if isinstance(result, Response) else JSONResponse(result or {})

        async def endpoint(request: Request) -> Response:
            body = await request.body() if request.method == "POST" else None
            return await run_in_threadpool(_respond, answer, request, body)

        routes.append(Route(path, endpoint, methods=[method]))
        return handler

    return add


def _respond(
    answer: Callable[[Call, bytes | None], Response], request: Request, body: bytes | None
) -> Response:
    studio: Studio = request.app.state.studio
    sessions = studio.sessions
    cookie = sessions.cookie_in(request.headers.getlist("cookie"))
    problem, status = "You are not signed in. Open the link that you were given.", 401
    try:
        if who := studio.signed_in(cookie):
            csrf = sessions.csrf(cookie)
            call = Call(studio, who, request.path_params, {}, csrf, request.query_params)
            return answer(call, body)
    except InputError as error:
        problem, status = str(error), _REFUSED.get(type(error), 422)
    except KaratError as error:  # nothing was saved: the client tries again
        problem, status = str(error), 503
    if request.url.path.startswith("/api/"):
        return JSONResponse({"error": problem}, status)
    return message_page(problem, status)


@contextmanager
def refused_as_not_found() -> Iterator[None]:
    """Turn InputErrors into NotThere, except for damaged stores."""
    try:
        yield
    except DamagedStore:
        raise
    except InputError as error:
        raise NotThere(str(error)) from None


# Pages from templates with automatic escaping


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("karat.studio.web"),
        autoescape=True,
        auto_reload=False,
        undefined=StrictUndefined,
        trim_blocks=True,
    )
    environment.filters.update(number=number, words=words, answer=answer, comment=comment)
    return environment


def page(template: str, status: int = 200, **values: object) -> HTMLResponse:
    """Return a page."""
    return HTMLResponse(_environment().get_template(template).render(values), status)


def message_page(sentence: str, status: int) -> HTMLResponse:
    """Return a page with one sentence, capitalized and ended by a full stop."""
    message = f"{sentence[:1].upper()}{sentence[1:].rstrip('.')}."
    return page("message.html", status, message=message)


def staff_page(call: Call, template: str, **values: object) -> Response:
    """Return a page with links to the pages that its reader may open."""
    role = call.who.role
    titles = {"/": "Judge"}
    if role != "assessor":
        titles["/adjudicate"] = "Adjudicate"
    if may_edit(call.store, role):
        titles["/key"] = "Key"
    if call.may_browse():
        pages = {"": "Segments", "/outputs": "Outputs", "/reports": "Reports"}
        titles |= {f"/browse{path}": title for path, title in pages.items()}
    if role == "owner":
        titles["/owner"] = "Owner"
    shared: dict[str, Any] = {"project": call.project, "who": call.who, "csrf": call.csrf}
    return page(template, **{**shared, "links": titles, **values})


def download(name: str, content: str | bytes, kind: str) -> Response:
    """Return a file to download."""
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=kind, headers=headers)


def number(value: float | None, digits: int = 2) -> str:
    """Return a formatted number; a dash for None and NaN."""
    if value is None or math.isnan(value):
        return "–"
    return f"{round(value, digits) + 0.0:,.{digits}f}"  # no "-0.00"


def words(value: object) -> str:
    """Return an answer or the details of an event as names and values, without brackets."""
    if isinstance(value, Mapping) and "label" in value:  # a nugget with its evidence
        return str(value["label"])
    if isinstance(value, Mapping):
        return ", ".join(
            f"{key}: {words(field)}"
            for key, field in value.items()
            if field not in (None, "") and key != "done"
        )
    if isinstance(value, list | tuple):
        return "; ".join(map(words, value)) or "none"
    return str(value)


def answer(value: object) -> str:
    """Return an answer or a decision as text, without its comment."""
    if not isinstance(value, Mapping):
        return str(value)
    fields = {key: field for key, field in value.items() if key not in ("comment", "done")}
    if len(fields) > 1:
        return words(fields)
    content = next(iter(fields.values()), "")
    if isinstance(content, Mapping) and "label" not in content:  # by dimension or nugget
        return ", ".join(f"{name} {words(field)}" for name, field in content.items())
    return words(content)


def comment(value: object) -> str:
    """Return the comment of an answer or a decision, or ""."""
    return str(value.get("comment", "")) if isinstance(value, Mapping) else ""
