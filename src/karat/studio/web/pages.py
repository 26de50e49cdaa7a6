"""Pages from templates, in which every text is escaped."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from jinja2 import DictLoader, Environment, StrictUndefined
from starlette.responses import HTMLResponse

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
