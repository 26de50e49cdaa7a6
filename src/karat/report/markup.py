"""Elements of HTML and SVG, and the assets of pages."""

from __future__ import annotations

import json
import re
from html import escape
from importlib.resources import files
from typing import Any

from karat.errors import visible

_OPENING = re.compile("<(?=!|script)", re.IGNORECASE)

Attribute = str | float | None
Look = dict[str, Attribute]


def quote(text: str) -> str:
    """Escape text for content or attribute values; hidden characters become visible."""
    return escape(visible(text, keep="\n\t"))


def element(name: str, *children: str, **attributes: Attribute) -> str:
    """Return an element with its children, which are markup; attribute values are escaped.

    Underscores in attribute names become hyphens, final ones are dropped (`class_`); attributes
    that are None are omitted.
    """
    return f"<{name}{_attributes(attributes)}>{''.join(children)}</{name}>"


def data(value: Any) -> str:
    """Return a value as JSON for the scripts of a page, in an element that is not executed.

    Only what could end the element, or hide its end, is escaped: pages carry much markup as data.
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
    return element("script", _OPENING.sub(r"\\u003c", text), type="application/json")


def shape(name: str, **attributes: Attribute) -> str:
    """Return an SVG element without children."""
    return f"<{name}{_attributes(attributes)}/>"


def coordinate(value: float) -> str:
    """Format a number with at most two decimals, the same on every platform."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _attributes(attributes: Look) -> str:
    text = ""
    for name, value in attributes.items():
        if value is not None:
            quoted = quote(value) if isinstance(value, str) else coordinate(value)
            text += f' {name.rstrip("_").replace("_", "-")}="{quoted}"'
    return text


def palette() -> str:
    """Return the color variables of pages: light, dark and print."""
    style = asset("report/page/style.css")
    return style[: style.index("/* end of the colours */")]


def asset(name: str) -> str:
    """Return the text of a style sheet or script, by its path below the package."""
    return files("karat").joinpath(name).read_text(encoding="utf-8")
