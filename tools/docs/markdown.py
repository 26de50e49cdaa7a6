"""Markdown: headings with their anchors, links, and text made safe for a page."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_HEADING = re.compile(r"(#{1,6})\s+(.*?)\s*(?:\{\s*#([^\s}]+)\s*\})?\s*#*$")
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)")
_CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.S)


class Heading(NamedTuple):
    """A heading: its level, its text and its anchor."""

    level: int
    text: str
    anchor: str


class Link(NamedTuple):
    """A link or picture: its text, the page it leads to (empty: this one) and the anchor there."""

    text: str
    page: str
    anchor: str


def pages(folder: Path) -> list[Path]:
    """Return all Markdown pages of a folder and its sub-folders, sorted."""
    return sorted(folder.rglob("*.md"))


def prose(text: str) -> str:
    """Return the text with the lines of fenced blocks left empty, so that line numbers stay."""
    lines_outside: list[str] = []
    fence = ""
    for line in text.splitlines():
        opened = _FENCE.match(line)
        outside = not fence and not opened
        if opened and not fence:
            fence = opened[1]
        elif fence and line.strip() == fence:
            fence = ""
        lines_outside.append(line if outside else "")
    return "\n".join(lines_outside)


def headings(text: str) -> Iterator[Heading]:
    """Yield the headings of a page; a repeated anchor gets a number, as on the built page."""
    anchor_counts: dict[str, int] = {}
    for line in prose(text).splitlines():
        if match := _HEADING.fullmatch(line):
            anchor = match[3] or slug(match[2])
            count = anchor_counts[anchor] = anchor_counts.get(anchor, -1) + 1
            yield Heading(len(match[1]), match[2], f"{anchor}_{count}" if count else anchor)


def title(text: str) -> str:
    """Return the first heading of a page, without backticks."""
    return next(headings(text)).text.replace("`", "")


def slug(heading: str) -> str:
    """Return the anchor of a heading on the site."""
    plain = re.sub(r"\]\([^)]*\)", "", heading)
    folded = unicodedata.normalize("NFKD", plain).encode("ascii", "ignore").decode()
    letters = re.sub(r"[^\w\s-]", "", folded).strip().lower()
    return re.sub(r"[-\s]+", "-", letters)


def links(text: str) -> Iterator[Link]:
    """Yield links and pictures outside code that lead to no other site."""
    for match in _LINK.finditer(_CODE.sub("", prose(text))):
        if not re.match(r"[a-z]+:", match[3]):
            page, _, anchor = match[3].partition("#")
            yield Link(match[2], page, anchor)


def dead_links(page: Path, folder: Path) -> list[str]:
    """Return a sentence for every link of a page that leads to no file or anchor of the folder."""
    wrong: list[str] = []
    for link in links(page.read_text("utf-8")):
        target = (page.parent / link.page).resolve() if link.page else page.resolve()
        written = f"{link.page}{'#' * bool(link.anchor)}{link.anchor}"
        if not target.exists():
            wrong.append(f"{page.relative_to(folder)}: {written} does not exist")
        elif link.anchor and target.suffix == ".md" and link.anchor not in anchors(target):
            wrong.append(f"{page.relative_to(folder)}: {written}: no such heading")
    return wrong


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page."""
    return {heading.anchor for heading in headings(page.read_text("utf-8"))}


def reached(start: Path) -> set[Path]:
    """Return the pages that links lead to from one page, over any number of pages."""
    pages, waiting = {start.resolve()}, [start.resolve()]
    while waiting:
        page = waiting.pop()
        targets = {(page.parent / link.page).resolve() for link in links(page.read_text("utf-8"))}
        new = {path for path in targets if path.suffix == ".md" and path.exists()} - pages
        pages |= new
        waiting += new
    return pages


def without_outer_links(text: str, page: Path, folder: Path) -> str:
    """Replace links that leave the folder, which the site has no page for, by their text."""

    def replaced(match: re.Match[str]) -> str:
        target = (page.parent / match[3].partition("#")[0]).resolve()
        inside = re.match(r"[a-z]+:|#", match[3]) or folder.resolve() in target.parents
        return match[0] if inside else match[2]

    return _LINK.sub(replaced, text)


# ------------------------------------------------------------------------------------ writing


def escaped(text: str) -> str:
    """Escape text for Markdown; code in backticks stays unchanged."""
    parts, at = [], 0
    for code in _CODE.finditer(text):
        parts += [_plain(text[at : code.start()]), code[0]]
        at = code.end()
    return "".join([*parts, _plain(text[at:])])


def _plain(text: str) -> str:
    return re.sub(r"([\\*_\[\]])", r"\\\1", text.replace("&", "&amp;").replace("<", "&lt;"))


def cell(text: str) -> str:
    """Return text for a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; cells are Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(cell, row))} |" for row in lines)


def code(text: str) -> str:
    """Return text as code within a line."""
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def block(text: str, language: str = "text") -> str:
    """Return text as a fenced block."""
    return f"```{language}\n{text.strip(chr(10))}\n```"
