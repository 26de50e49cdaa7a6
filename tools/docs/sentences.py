"""`python -m tools.docs.sentences`: lengths of the sentences of user documents, page by page.

Lab pages and the architecture are not user documents. Code blocks, tables and headings are left
out; code within a line is one word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from tools.docs.markdown import pages, prose

ROOT = Path(__file__).parents[2]
USER_FOLDERS = ("start", "how-to", "reference", "explanation")
MEDIAN, NINETIETH = 18, 30
"""The most words that the median and the 90th percentile of all sentences may have."""
_ITEM = re.compile(r"\s*(?:[-*+]|\d+\.)\s+")
_END = re.compile(r"(?<=[.!?])[\"')\]*_]*\s+(?=[^a-z])")
_SHORT = re.compile(r"\b(?:e\.g|i\.e|et al|vs|cf|p|pp|Fig|Sec|No)\.(?=\s)")


def user_documents() -> list[Path]:
    """Return README and the pages for users; the index is a list, not sentences."""
    documents = [page for name in USER_FOLDERS for page in pages(ROOT / "docs" / name)]
    return [ROOT / "README.md", *documents]


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of the paragraphs and list items of a page."""
    for paragraph in _paragraphs(text):
        plain = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "code", paragraph)
        plain = re.sub(r"!?\[((?:[^\[\]]|\[[^\]]*\])*)\]\([^)]*\)", r"\1", plain)
        plain = _SHORT.sub(lambda match: match[0][:-1], plain)
        for sentence in _END.split(plain):
            if words(sentence):
                yield sentence.strip()


def _paragraphs(text: str) -> Iterator[str]:
    lines: list[str] = []
    for line in [*re.sub(r"<!--.*?-->", "", prose(text), flags=re.S).splitlines(), ""]:
        code = line.startswith("    ") and not lines
        left_out = not line.strip() or code or line.lstrip().startswith(("#", "|", "!["))
        item = _ITEM.match(line)
        if (left_out or item) and lines:
            yield " ".join(lines)
            lines = []
        if not left_out:
            lines.append(line[item.end() :] if item else line.strip())


def words(sentence: str) -> int:
    """Return the number of words: what has a letter or a digit."""
    return sum(1 for word in sentence.split() if re.search(r"\w", word))


def quantiles(lengths: Iterable[int]) -> tuple[int, int]:
    """Return the median and the 90th percentile, each one of the lengths."""
    ranked = sorted(lengths)
    last = len(ranked) - 1
    return ranked[last // 2], ranked[int(0.9 * last)]


def main() -> None:
    """Print the lengths of each page, and of all together."""
    total: list[int] = []
    print("sentences  median  90%  page")
    for page in user_documents():
        lengths = [words(sentence) for sentence in sentences(page.read_text("utf-8"))]
        total += lengths
        if lengths:
            print(_line(lengths, str(page.relative_to(ROOT))))
    print(_line(total, "all"))


def _line(lengths: list[int], name: str) -> str:
    median, ninetieth = quantiles(lengths)
    return f"{len(lengths):9}  {median:6}  {ninetieth:3}  {name}"


if __name__ == "__main__":
    main()
