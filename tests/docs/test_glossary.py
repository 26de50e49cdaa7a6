"""The glossary: data for reports, and a page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from karat.report.render.html import definitions
from tools.docs.markdown import anchors, links
from tools.docs.sentences import sentences, words

TERMS = """\
    segment system reference tau-b acc-eq SPA PERM-BOTH nugget vital okay A V W F(beta)
    interval signature pivot lattice supertag run question response judgement assessor
    unit jackknife simultaneous
"""


@pytest.mark.parametrize("term", [*TERMS.split(), "paired bootstrap", "evaluation set", "p-value"])
def test_terms_of_tables_and_pages_are_defined(term: str) -> None:
    assert definitions()[term].endswith(".")


def test_terms_are_sorted_and_short() -> None:
    terms = list(definitions())
    assert terms == sorted(terms, key=lambda term: re.sub(r"[^a-z0-9]", "", term.lower()))
    for term, definition in definitions().items():
        term_sentences = list(sentences(definition))
        assert len(term_sentences) <= 3, term
        assert max(map(words, term_sentences)) <= 32, term


def test_the_page_has_an_anchor_for_each_term(site_pages: Path) -> None:
    page = site_pages / "glossary.md"
    assert len(anchors(page)) == len(definitions()) + 1
    assert [
        link for link in links(page.read_text("utf-8")) if link.anchor not in anchors(page)
    ] == []
