"""The page that every HTML report is built on: one file that asks the network for nothing."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from importlib.resources import files

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
<body>
<main>
<h1>{title}</h1>
{body}
</main>
</body>
</html>
"""


def page(title: str, body: Sequence[str], scripts: Sequence[str] = ()) -> str:
    """A whole page from a plain title, blocks of markup and the texts of its scripts."""
    style, *programs = (f"\n{text}" for text in (asset("report/page/style.css"), *scripts))
    return _SKELETON.format(
        policy=_policy(style, programs),
        title=quote(title),
        style=element("style", style),
        body="\n".join([*body, *(element("script", text) for text in programs)]),
    )


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
