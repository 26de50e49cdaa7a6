"""The page that every HTML report is built on: one file that asks the network for nothing."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from importlib.resources import files
from typing import NamedTuple

from karat.report.page.markup import element, quote

_SKELETON = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
{style}
</head>
<body{look}>
{contents}<main>
{body}
</main>
{scripts}</body>
</html>
"""

FEWEST_LISTED = 3
"""Sections from which on a page has a list of contents."""


class Section(NamedTuple):
    """A part of a page: its id, its title and its markup."""

    id: str
    title: str
    markup: str


def page(
    title: str, head: Sequence[str], sections: Sequence[Section], scripts: Sequence[str] = ()
) -> str:
    """Return a whole page from a plain title, markup, sections and the texts of its scripts."""
    style, *programs = (f"\n{text}" for text in (asset("report/page/style.css"), *scripts))
    listed = len(sections) >= FEWEST_LISTED
    return _SKELETON.format(
        policy=_policy(style, programs),
        title=quote(title),
        style=element("style", style),
        look=' class="listed"' if listed else "",
        contents=_contents(sections) if listed else "",
        body="\n".join([*head, *(section.markup for section in sections)]),
        scripts="".join(element("script", text) + "\n" for text in programs),
    )


def _contents(sections: Sequence[Section]) -> str:
    links = [element("a", quote(one.title), href=f"#{one.id}") for one in sections]
    items = element("ul", *(element("li", link) for link in links))
    return element("nav", items, class_="contents", aria_label="Contents") + "\n"


def _policy(style: str, scripts: Sequence[str]) -> str:
    """The rules that the browser enforces on a report, which may quote hostile text.

    The page loads nothing, sends nothing, and runs no script and has no style but its own.
    """
    programs = " ".join(map(_hash, scripts)) or "'none'"
    own = f"style-src {_hash(style)}; script-src {programs}"
    return f"default-src 'none'; {own}; base-uri 'none'; form-action 'none'"


def _hash(text: str) -> str:
    """Name the exact text of a script or style sheet, as policies do."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def palette() -> str:
    """The colours alone, in light, in the dark and on paper."""
    style = asset("report/page/style.css")
    return style[: style.index("/* end of the colours */")]


def asset(name: str) -> str:
    """Return the text of a style sheet or script, by its path below the package."""
    return files("karat").joinpath(name).read_text(encoding="utf-8")
