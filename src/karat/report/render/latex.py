r"""Reports as LaTeX: booktabs tabulars, ready to `\input` into a table float."""

from __future__ import annotations

import re
from collections.abc import Sequence

from karat.report.model.cells import is_missing, show
from karat.report.model.sections import Section, for_people, heading, sections, shown_columns
from karat.report.model.table import Cell, Column, Document, Row, Table
from karat.visible import visible

MISSING = "--"
_SPECIAL = str.maketrans(
    {
        **{char: f"\\{char}" for char in "{}$&#_%"},
        # After the \\ that ends a row, a bare [ or * would be read as that command's argument.
        **{char: f"{{{char}}}" for char in "[]*"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "\n": " ",
    }
)
_NUMBER = str.maketrans({"-": "$-$", "∞": r"$\infty$"})


def render_latex(document: Document) -> str:
    r"""One tabular per table, after comments with the command and the signatures.

    The preamble must hold `\usepackage{booktabs}`.
    """
    blocks = [_comments([document.title, document.command, *document.signatures.values()])]
    blocks += [_table(block) for block in for_people(document) if isinstance(block, Table)]
    blocks += _notes(document.notes)
    return "\n\n".join(blocks) + "\n"


def _table(table: Table) -> str:
    columns = shown_columns(table)
    letters = "".join("r" if column.align == "right" else "l" for column in columns)
    lines = [_comments([table.title]), rf"\begin{{tabular}}{{@{{}}{letters}@{{}}}}", r"\toprule"]
    lines += [_line([_quote(column.title) for column in columns]), r"\midrule"]
    for position, section in enumerate(sections(table)):
        lines += [r"\addlinespace"] if position and table.group else []
        lines += _section(table, columns, section)
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", *_notes(table.notes)])


def _section(table: Table, columns: Sequence[Column], section: Section) -> list[str]:
    above = heading(table, section, _quote, MISSING)
    span = rf"\multicolumn{{{len(columns)}}}{{@{{}}l@{{}}}}{{\emph{{{above}}}}} \\"
    first = [] if above is None else [span]
    return first + [_row(table, columns, index, row) for index, row in section.rows]


def _row(table: Table, columns: Sequence[Column], index: int, row: Row) -> str:
    cells = []
    for column in columns:
        text = _cell(row.get(column.key), column)
        bold = (index, column.key) in table.emphasis
        cells.append(rf"\textbf{{{text}}}" if bold else text)
    return _line(cells)


def _cell(cell: Cell, column: Column) -> str:
    text = show(cell, column, _quote, MISSING)
    return text if isinstance(cell, str) or is_missing(cell) else text.translate(_NUMBER)


def _line(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def _quote(text: str) -> str:
    escaped = visible(text, keep="\n").translate(_SPECIAL)
    return re.sub("-(?=-)", "-{}", escaped)  # two hyphens are not a dash


def _notes(notes: Sequence[str]) -> list[str]:
    return [rf"\par\smallskip{{\footnotesize {_quote(note)}\par}}" for note in notes]


def _comments(lines: Sequence[str]) -> str:
    return "\n".join(f"% {visible(line)}".rstrip() for line in lines)
