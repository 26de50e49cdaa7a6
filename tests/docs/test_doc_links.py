"""Links between pages: each leads to a page and a heading, and from the index to every page."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.docs.markdown import dead_links, headings, links, pages, reached, slug
from tools.docs.stage import ROOT, navigation

OUTSIDE = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]


def test_links_between_pages_lead_somewhere(site_pages: Path) -> None:
    assert [
        dead_link for page in pages(site_pages) for dead_link in dead_links(page, site_pages)
    ] == []


@pytest.mark.parametrize("document", OUTSIDE, ids=lambda path: path.name)
def test_links_of_other_documents_lead_somewhere(document: Path) -> None:
    assert dead_links(document, ROOT) == []


def test_every_page_is_reached_from_the_index(site_pages: Path) -> None:
    reached_pages = reached(site_pages / "index.md")
    assert [page.name for page in pages(site_pages) if page.resolve() not in reached_pages] == []


def test_every_page_is_in_the_navigation_once(site_pages: Path) -> None:
    text = navigation(site_pages)
    names = [page.relative_to(site_pages).as_posix() for page in pages(site_pages)]
    assert [name for name in names if text.count(f'"{name}"') != 1] == []
    order = [text.index(f'"{name}" = [') for name in ("Start", "Reference")]
    assert order == sorted(order)


# ------------------------------------------------------------------------- the checks themselves

PAGE = """\
# Title

See [one](other.md#second-part), [two](#title) and `[code](nowhere.md)`.

```text
[no](link.md)
# no heading
```

![picture](picture.svg) [there](https://example.org/page) ## no heading
"""


def test_links_and_headings_are_found() -> None:
    targets = [(link.page, link.anchor) for link in links(PAGE)]
    assert targets == [("other.md", "second-part"), ("", "title"), ("picture.svg", "")]
    assert [heading.anchor for heading in headings(PAGE)] == ["title"]


@pytest.mark.parametrize(
    ("heading", "anchor"),
    [
        ("P(better)", "pbetter"),
        ("R^2", "r2"),
        ("Pearson's r", "pearsons-r"),
        ("A - b", "a-b"),
        ("`karat.score`: now", "karatscore-now"),
        ("[Link](page.md) here", "link-here"),
    ],
)
def test_anchors_are_those_of_the_site(heading: str, anchor: str) -> None:
    assert slug(heading) == anchor


def test_repeated_headings_and_given_anchors() -> None:
    text = "# A\n## A\n## `kt.b` { #kt.b }\n"
    assert [heading.anchor for heading in headings(text)] == ["a", "a_1", "kt.b"]


def test_dead_links_are_told(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text(PAGE, "utf-8")
    (tmp_path / "other.md").write_text("# Other\n", "utf-8")
    assert dead_links(tmp_path / "page.md", tmp_path) == [
        "page.md: other.md#second-part: no such heading",
        "page.md: picture.svg does not exist",
    ]
    assert reached(tmp_path / "page.md") == {tmp_path / "page.md", tmp_path / "other.md"}
