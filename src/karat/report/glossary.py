"""The glossary: terms of reports and documents with their definitions."""

from __future__ import annotations

from functools import cache
from importlib import resources


@cache
def definitions() -> dict[str, str]:
    """Return the definition of every term, in Markdown, by its heading in `data/glossary.md`."""
    text = (resources.files("karat") / "data" / "glossary.md").read_text("utf-8")
    _, *terms = text.split("\n## ")
    return {term: told.strip() for term, _, told in (part.partition("\n") for part in terms)}
