"""`python -m tools.docs.check_site FOLDER`: check a built site.

Checks that every link leads to an existing file and anchor, that every page is reachable from
index.html, and that no page, style sheet or policy lets a browser contact another site.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

_FETCHED = {"img", "script", "link", "iframe", "source", "video", "audio", "object", "embed"}
"""Elements whose `src`, `href` or `data` a browser fetches automatically."""
_KEPT_LINKS = {"canonical", "next", "prev", "license"}
"""Values of `rel` of links that nothing is fetched for."""
_POLICY = "default-src 'self' file: data: blob: 'unsafe-inline'"
_CSS_URL = re.compile(r"(?:url\(\s*['\"]?|@import\s+['\"])((?:https?:)?//[^'\")\s]+)")
_NOT_REACHED = {"404.html"}
"""Pages that a server shows, and no link."""


class Page(HTMLParser):
    """What a page links to, fetches, and offers as anchors."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.anchors: set[str] = set()
        self.policy = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect the ids and links of one element."""
        attributes = {name: value or "" for name, value in attrs}
        self.anchors |= {attributes.get("id", ""), attributes.get("name", "")}
        if tag == "a" and "href" in attributes:
            self.links.append(attributes["href"])
        if tag in _FETCHED and attributes.get("rel") not in _KEPT_LINKS:
            self.fetched += [
                attributes[name] for name in ("src", "href", "data") if name in attributes
            ]
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy":
            self.policy = attributes.get("content", "")


def problems(folder: Path) -> Iterator[str]:
    """Yield a sentence for everything that is wrong with a site."""
    pages = {path: Page(path.read_text("utf-8")) for path in sorted(folder.rglob("*.html"))}
    for path, page in pages.items():
        name = path.relative_to(folder)
        yield from (f"{name}: {problem}" for problem in _dead(folder, path, page, pages))
        yield from (f"{name} fetches {url}" for url in page.fetched if _outside(url))
        yield from _styles(name, path)
        if page.policy != _POLICY:
            yield f"{name}: its policy is {page.policy!r}, expected {_POLICY!r}"
    for path in sorted(folder.rglob("*.css")):
        yield from _styles(path.relative_to(folder), path)
    start = folder / "index.html"
    for path in sorted(set(pages) - _reached(start, pages)):
        if path.name not in _NOT_REACHED:
            yield f"{path.relative_to(folder)} is not reached from index.html"


def _outside(url: str) -> bool:
    return bool(urlsplit(url).netloc)


def _styles(name: Path, path: Path) -> Iterator[str]:
    for url in _CSS_URL.findall(path.read_text("utf-8")):
        yield f"{name} fetches {url}"


def _target(path: Path, link: str) -> tuple[Path, str] | None:
    """Return the file and the anchor of a link; None if it leads to another site."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return None
    file = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    return file / "index.html" if file.is_dir() else file, unquote(parts.fragment)


def _dead(folder: Path, path: Path, page: Page, pages: dict[Path, Page]) -> Iterator[str]:
    if path.name in _NOT_REACHED:  # its links begin at the root of a server
        return
    for link in sorted(set(page.links)):
        target = _target(path, link)
        if target is None:
            continue
        file, anchor = target
        if not file.exists() or folder not in file.parents:
            yield f"{link} does not exist"
        elif anchor and file in pages and anchor not in pages[file].anchors:
            yield f"{link}: no such anchor"


def _reached(start: Path, pages: dict[Path, Page]) -> set[Path]:
    reached, waiting = {start}, [start]
    while waiting:
        path = waiting.pop()
        targets = {target[0] for link in pages[path].links if (target := _target(path, link))}
        new = (targets & set(pages)) - reached
        reached |= new
        waiting += new
    return reached


def main(folder: Path) -> int:
    """Print the problems and the amount checked; return the exit code."""
    wrong = list(problems(folder))
    for sentence in wrong:
        print(sentence, file=sys.stderr)
    pages = [Page(path.read_text("utf-8")) for path in folder.rglob("*.html")]
    links = sum(len(page.links) for page in pages)
    print(f"{folder.name}: {len(pages)} pages, {links:,} links, {len(wrong)} problems")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
