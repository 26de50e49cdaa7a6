"""Calls: who asks for what, and how results and errors become pages and JSON."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from jinja2 import DictLoader, Environment, StrictUndefined
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from karat.errors import InputError, KaratError, quoted
from karat.studio.key_editing import may_edit
from karat.studio.store.judgements import Overtaken
from karat.studio.store.people import ROLES, Assessor
from karat.studio.store.projects import REVEALED, project
from karat.studio.store.schema import DamagedStore
from karat.studio.web.guard import parse
from karat.studio.web.studio import Studio

_NAMES = (
    *("frame.html", "staff.html", "judge.html", "message.html", "joined.html", "parts.html"),
    *("owner.html", "owner_live.html", "owner_people.html", "owner_agreement.html"),
    *("adjudicate.html", "browse.html", "segment.html", "outputs.html", "reports.html"),
    *("key.html", "owner_scores.html", "events.html"),
)


@cache
def _environment() -> Environment:
    folder = files("karat").joinpath("studio/web/templates")
    texts = {name: folder.joinpath(name).read_text("utf-8") for name in _NAMES}
    environment = Environment(
        autoescape=True, loader=DictLoader(texts), undefined=StrictUndefined, trim_blocks=True
    )
    environment.filters.update(number=number, words=words, answer=answer, comment=comment)
    return environment


def number(value: float | None, digits: int = 2) -> str:
    """Return a number for people; a dash where there is none."""
    if value is None or math.isnan(value):
        return "–"
    return f"{round(value, digits) + 0.0:,.{digits}f}"  # no "-0.00"


def words(value: object) -> str:
    """Return an answer or the detail of an event in words: names and values, without brackets."""
    if isinstance(value, Mapping) and "label" in value:  # of a nugget, with its evidence
        return str(value["label"])
    if isinstance(value, Mapping):
        fields = {
            key: field for key, field in value.items() if field not in (None, "") and key != "done"
        }
        return ", ".join(f"{key}: {words(field)}" for key, field in fields.items())
    if isinstance(value, list | tuple):
        return "; ".join(map(words, value)) or "none"
    return str(value)


def answer(value: object) -> str:
    """Return an answer or a decision in words, without its comment."""
    if not isinstance(value, Mapping):
        return str(value)
    if (
        len(
            fields := {key: field for key, field in value.items() if key not in ("comment", "done")}
        )
        > 1
    ):
        return words(fields)
    content = next(iter(fields.values()), "")
    if isinstance(content, Mapping) and "label" not in content:  # by dimension or nugget
        return ", ".join(f"{name} {words(field)}" for name, field in content.items())
    return words(content)


def comment(value: object) -> str:
    """Return the comment of an answer or a decision, if there is one."""
    return str(value.get("comment", "")) if isinstance(value, Mapping) else ""


def page(template: str, status: int = 200, **values: object) -> HTMLResponse:
    """Return a page."""
    return HTMLResponse(_environment().get_template(template).render(values), status)


def message_page(sentence: str, status: int) -> HTMLResponse:
    """Return a page that says one thing; errors of commands begin small and have no full stop."""
    message = f"{sentence[:1].upper()}{sentence[1:].rstrip('.')}."
    return page("message.html", status, message=message)


class Call(NamedTuple):
    """One request of somebody who is signed in."""

    studio: Studio
    who: Assessor
    path: Mapping[str, str]
    sent: Mapping[str, Any]
    """The JSON object that was sent."""
    csrf: str
    query: QueryParams
    """The part of the address after the question mark."""

    def number(self, name: str) -> int:
        """Return a part of the path that is a number."""
        text = self.path[name]
        if not (text.isascii() and text.isdigit() and len(text) < 16):
            raise NotThere(f"found {quoted(text)}, expected a number")
        return int(text)


class NotThere(InputError):
    """Something that does not exist, or not for this assessor."""


class NotAllowed(InputError):
    """Something that a role may not do, or not yet."""


_REFUSED: Mapping[type[InputError], int] = {
    NotThere: 404,
    NotAllowed: 403,
    Overtaken: 409,
    DamagedStore: 503,  # as for a full disk: nothing was saved, the page keeps it and tries again
}
"""Kind of error -> status; other input is 422."""
Handler = Callable[[Call], Any]
"""Returns a page, or what becomes JSON."""


def route(
    path: str, handler: Handler, method: str = "GET", roles: Collection[str] = ROLES
) -> Route:
    """Return a route for some roles; what blocks runs in a thread."""
    return Route(path, _endpoint(handler, roles), methods=[method])


def _endpoint(handler: Handler, roles: Collection[str]) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        body = await request.body() if request.method == "POST" else None
        return await run_in_threadpool(_respond, handler, roles, request, body)

    return endpoint


def _respond(
    handler: Handler, roles: Collection[str], request: Request, body: bytes | None
) -> Response:
    studio: Studio = request.app.state.studio
    as_page = not request.url.path.startswith("/api/")
    cookie = studio.sessions.cookie_in(request.headers.getlist("cookie"))
    try:
        who = studio.signed_in(cookie)
        if who is None:
            return _error_response(
                "You are not signed in. Open the link that you were given.", 401, as_page
            )
        if who.role not in roles:
            raise NotAllowed(f"this page is for {_join_roles(roles)} only: you are an {who.role}")
        sent = {} if body is None else parse(body)
        csrf = studio.sessions.csrf(cookie)
        call = Call(studio, who, request.path_params, sent, csrf, request.query_params)
        with studio.store.intact():
            answer = handler(call)
            return answer if isinstance(answer, Response) else JSONResponse(answer)
    except InputError as error:
        return _error_response(str(error), _REFUSED.get(type(error), 422), as_page)
    except KaratError as error:  # nothing was saved: the client keeps it and tries again
        return _error_response(str(error), 503, as_page)


def _join_roles(roles: Collection[str]) -> str:
    return " and ".join(f"{role}s" for role in roles)


def _error_response(sentence: str, status: int, as_page: bool) -> Response:
    if as_page:
        return message_page(sentence, status)
    return JSONResponse({"error": sentence}, status)


@contextmanager
def absent() -> Iterator[None]:
    """Turn refusals of the store into "there is no such thing", but not the news of damage."""
    try:
        yield
    except DamagedStore:
        raise
    except InputError as error:
        raise NotThere(str(error)) from None


def only(sent: Mapping[str, Any], *names: str) -> None:
    """Raise InputError for unknown keys in a request."""
    if unknown := [key for key in sent if key not in names]:
        expected = f"expected {', '.join(names)}" if names else "expected none"
        raise InputError(f"found the key {quoted(unknown[0])}, {expected}")


MAX_QUERY = 500
"""Characters of a text."""


def query_text(call: Call, name: str) -> str:
    """Return a text; "" if there is none."""
    text = call.query.get(name, "")
    if len(text) > MAX_QUERY:
        raise InputError(f"{name}: found {len(text):,} characters, expected at most {MAX_QUERY}")
    return text


def page_number(call: Call) -> int:
    """Return the number of a page, from 1."""
    text = query_text(call, "page") or "1"
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise InputError(f"found the page {quoted(text)}, expected a number")
    return int(text)


def query_number(call: Call, name: str) -> float | None:
    """Return a finite number; None if there is none."""
    text = query_text(call, name).strip()
    if not text:
        return None
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise InputError(f"{name}: found {quoted(text)}, expected a number")
    return number


def staff_page(call: Call, template: str, **values: object) -> Response:
    """Return a page with the links that its reader may follow."""
    current_project = project(call.studio.store)
    shared: dict[str, Any] = {
        "project": current_project,
        "who": call.who,
        "csrf": call.csrf,
        "links": _links(call),
    }
    return page(template, **{**shared, **values})


def _links(call: Call) -> dict[str, str]:
    """Return address -> title of the pages that somebody may open."""
    titles = {"/": "Judge"}
    if call.who.role != "assessor":
        titles["/adjudicate"] = "Adjudicate"
    if may_edit(call.studio.store, call.who.role):
        titles["/key"] = "Key"
    if may_browse(call):
        pages = {"": "Segments", "/outputs": "Outputs", "/reports": "Reports"}
        titles |= {f"/browse{path}": title for path, title in pages.items()}
    if call.who.role == "owner":
        titles["/owner"] = "Owner"
    return titles


def may_browse(call: Call) -> bool:
    """Return whether somebody may browse: the owner, and everybody after the reveal."""
    return call.who.role == "owner" or project(call.studio.store).state == REVEALED


def check_may_browse(call: Call) -> None:
    """Raise NotAllowed for assessors who still judge blind."""
    if not may_browse(call):
        raise NotAllowed("browsing is for the owner until the systems are revealed")


def check_revealed(call: Call, subject: str) -> None:
    """Raise NotAllowed before the reveal: `subject` would name systems."""
    if project(call.studio.store).state != REVEALED:
        raise NotAllowed(f"{subject} name the systems: reveal them first")
