"""Reports as GitHub Markdown: pipe tables that survive any string."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from karat.errors import visible
from karat.report.model import Document, Figure, Table, sections
from karat.report.render.text import TextLayout

SKETCH_WIDTH = 100  # of drawings, in letters

# An underscore inside a word is not markup: snake_case stays readable in the source.
_INLINE = re.compile(r"[\\`*\[\]<>|~$&]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
_BLOCK = re.compile(r"^(\d*)([#+\-=.)])")  # starts a heading, a list or an underline


def render_markdown(document: Document) -> str:
    """Render the document as Markdown; a code block at the end has command and signatures."""
    warnings, remarks = document.split_notes()
    blocks = [f"# {_quote(document.title)}"]
    blocks += _paragraphs([*document.answer, document.basis, *warnings])
    for part in document.parts:
        if isinstance(part, Figure):
            if part.sketch:  # drawn with letters: a code block keeps them aligned
                sketch = _code_block(part.sketch(TextLayout(SKETCH_WIDTH, color=False)))
                blocks += [f"## {_quote(part.title)}", sketch, *_paragraphs([part.caption])]
        elif part.readers != "programs":
            blocks += _markdown_table(part, document.title)
    blocks += _paragraphs(remarks)
    blocks.append(_code_block([document.command, *(document.signatures or {}).values()]))
    return "\n\n".join(blocks) + "\n"


def _markdown_table(table: Table, above: str) -> list[str]:
    title = [] if table.title in ("", above) else [f"## {_quote(table.title)}"]
    columns = table.shown_columns
    lines = [_line(_quote(column.title) for column in columns)]
    lines.append(_line("---:" if column.align == "right" else "---" for column in columns))
    for head, rows in sections(table, columns, _quote):
        # A pipe table has no spanning cells: the first cell of a row has the sub-heading.
        lines += [] if head is None else [_line([f"**{head}**", *[""] * (len(columns) - 1)])]
        bold = [
            [f"**{s.text}**" if s.is_emphasized and s.text else s.text for s in row] for row in rows
        ]
        lines += map(_line, bold)
    return [*title, "\n".join(lines), *_paragraphs(table.notes)]


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _quote(text: str) -> str:
    escaped = _INLINE.sub(r"\\\g<0>", visible(text.strip(), keep="\n"))
    return escaped.replace("\n", "<br>")


def _paragraphs(texts: Sequence[str]) -> list[str]:
    return [_BLOCK.sub(r"\1\\\2", _quote(text)) for text in texts if text]


def _code_block(lines: Sequence[str]) -> str:
    texts = [visible(line) for line in lines]
    longest = max((len(ticks) for text in texts for ticks in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join([fence, *texts, fence])
