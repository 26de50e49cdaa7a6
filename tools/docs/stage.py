"""`python -m tools.docs.stage FOLDER`: put everything that the site is built from into a folder.

The folder gets the pages of docs/, the pages generated from the code, and `zensical.toml` with the
navigation.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from tools.docs.commands import command_pages
from tools.docs.markdown import links, pages, title, without_outer_links
from tools.docs.metrics import metrics_page
from tools.docs.names import formats_page, glossary_page, names_page
from tools.docs.python_names import python_page

ROOT = Path(__file__).parents[2]
SECTIONS = {
    "start": "Start",
    "how-to": "How to",
    "reference": "Reference",
    "explanation": "Explanation",
    "lab": "Lab",
}
"""Folder of docs/ -> its heading in the navigation, in this order."""


def generated() -> Iterator[tuple[str, str]]:
    """Yield the path and text of every page that is made from the code."""
    yield from command_pages()
    yield "reference/metrics.md", metrics_page()
    yield "reference/formats.md", formats_page()
    yield "reference/names.md", names_page()
    yield "reference/python.md", python_page()
    yield "glossary.md", glossary_page()


def stage_pages(folder: Path) -> None:
    """Write all pages to a new folder."""
    docs = ROOT / "docs"
    shutil.copytree(docs, folder)
    for page in pages(folder):
        text = page.read_text("utf-8")
        source = docs / page.relative_to(folder)
        page.write_text(without_outer_links(text, source, docs), "utf-8")
    for name, text in generated():
        path = folder / name
        if path.exists():
            raise SystemExit(f"docs/{name} is generated from the code: remove the file")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def navigation(folder: Path) -> str:
    """Return the navigation in TOML: sections, their pages in the order of links in index.md."""
    order = [link.page for link in links((folder / "index.md").read_text("utf-8"))]
    entries = [_entry(folder, "index.md")]
    for place, heading in SECTIONS.items():
        names = [path.relative_to(folder).as_posix() for path in pages(folder / place)]
        names = [name for name in names if not name.startswith("reference/commands/")]
        ranked = sorted(names, key=lambda name: (*_rank(name, order), _title(folder, name)))
        inner = [_entry(folder, name) for name in ranked]
        if place == "reference":
            inner.insert(0, _commands(folder))
        if inner:
            entries.append(_table(heading, f"[{', '.join(inner)}]"))
    rest = [path.name for path in sorted(folder.glob("*.md")) if path.name != "index.md"]
    entries += [_entry(folder, name) for name in sorted(rest, key=lambda name: _rank(name, order))]
    return f"nav = [\n  {f',{chr(10)}  '.join(entries)},\n]\n"


def _commands(folder: Path) -> str:
    """Return the entry of the commands, in the order of their list."""
    place = "reference/commands"
    listed = (folder / place / "index.md").read_text("utf-8")
    names = ["index.md", *dict.fromkeys(link.page for link in links(listed))]
    return _table("Commands", f"[{', '.join(_entry(folder, f'{place}/{name}') for name in names)}]")


def _rank(name: str, order: list[str]) -> tuple[int]:
    return (order.index(name) if name in order else len(order),)


def _title(folder: Path, name: str) -> str:
    return title((folder / name).read_text("utf-8"))


def _entry(folder: Path, name: str) -> str:
    return _table(_title(folder, name), json.dumps(name))


def _table(key: str, value: str) -> str:
    return f"{{ {json.dumps(key, ensure_ascii=False)} = {value} }}"


def stage(folder: Path) -> None:
    """Write pages and configuration to a folder, which is emptied first."""
    shutil.rmtree(folder, ignore_errors=True)
    stage_pages(folder / "pages")
    settings = (ROOT / "zensical.toml").read_text("utf-8")
    head, rest = settings.split("[project]\n", 1)
    text = f"{head}[project]\n{navigation(folder / 'pages')}{rest}"
    (folder / "zensical.toml").write_text(text, "utf-8")
    shutil.copytree(Path(__file__).parent / "theme", folder / "theme")


if __name__ == "__main__":
    stage(Path(sys.argv[1]))
