"""Scripts and style sheets: a fixed list of names, read once; no path is ever opened."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from karat.studio.web.pages import message_page

# The style sheet is that of the report pages: colours, type and components are the same.
FILES = {"style.css": "report/page/style.css", "studio.css": "studio/web/static/studio.css"} | {
    name: f"studio/web/static/{name}"
    for name in (
        *("judge.js", "server.js", "queue.js", "clock.js", "dom.js", "keys.js", "marked_text.js"),
        *("ratings.js", "pairs.js", "spans.js", "nuggets.js", "uuid.js"),
        *("owner.js", "adjudicate.js", "statements.js", "drafts.js"),
        *("key_editor.js", "key_editor.css"),
    )
}
_TYPES = {"css": "text/css", "js": "text/javascript"}


@cache
def content(name: str) -> tuple[bytes, str]:
    """Return a file and its tag, by which browsers see whether it is still the same."""
    found = files("karat").joinpath(FILES[name]).read_bytes()
    return found, f'"{sha256(found).hexdigest()[:16]}"'


async def _file(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in FILES:
        return message_page("There is no such file.", 404)
    found, tag = content(name)
    headers = {"etag": tag, "cache-control": "no-cache"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(found, media_type=_TYPES[name.rpartition(".")[2]], headers=headers)


ROUTES = [Route("/static/{name}", _file)]
