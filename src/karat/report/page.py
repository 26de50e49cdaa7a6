"""The page that every HTML report is built on: one file that asks the network for nothing."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files

from karat.report.markup import quote

# The browser itself enforces that a report, which may quote hostile text, loads nothing.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"

_SKELETON = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<main>
<h1>{title}</h1>
{body}
</main>
</body>
</html>
"""


def page(title: str, body: Sequence[str]) -> str:
    """A whole page from a plain title and blocks of markup."""
    return _SKELETON.format(
        policy=_POLICY, title=quote(title), style=asset("style.css"), body="\n".join(body)
    )


def palette() -> str:
    """The colours alone, in light, in the dark and on paper."""
    style = asset("style.css")
    return style[: style.index("/* end of the colours */")]


def asset(name: str) -> str:
    """The text of a style sheet or script that lies beside this module."""
    return files("karat.report").joinpath(name).read_text(encoding="utf-8")
