"""Pages from templates, in which every text is escaped."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from jinja2 import DictLoader, Environment, StrictUndefined
from starlette.responses import HTMLResponse

_NAMES = ("frame.html", "judge.html", "message.html", "joined.html", "owner.html")


@cache
def _environment() -> Environment:
    folder = files("karat").joinpath("studio/web/templates")
    texts = {name: folder.joinpath(name).read_text("utf-8") for name in _NAMES}
    return Environment(autoescape=True, loader=DictLoader(texts), undefined=StrictUndefined)


def page(template: str, status: int = 200, **values: object) -> HTMLResponse:
    """Return a page."""
    return HTMLResponse(_environment().get_template(template).render(values), status)


def message_page(sentence: str, status: int) -> HTMLResponse:
    """Return a page that says one thing."""
    return page("message.html", status, told=sentence)
