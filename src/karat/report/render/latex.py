r"""Reports as LaTeX: booktabs tabulars, ready to `\input` into a table float."""

from __future__ import annotations

import re
from collections.abc import Sequence

from karat.errors import visible
from karat.report.model import Document, Table, sections

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
        # Not in the fonts of text, or only with packages.
        "↑": r"$\uparrow$",
        "↓": r"$\downarrow$",
        "●": r"$\bullet$",
        "†": r"\textsuperscript{\dag}",
        "‡": r"\textsuperscript{\ddag}",
    }
)
_NUMBER = str.maketrans({"-": "$-$", "<": "$<$", "∞": r"$\infty$"})


def render_latex(document: Document) -> str:
    r"""Render a tabular per table, after the conclusions, command and signatures as comments.

    The preamble must contain `\usepackage{booktabs}`.
    """
    warnings, remarks = document.split_notes()
    conclusions = filter(None, [*document.answer, document.basis])
    comments = [document.title, *conclusions, document.command]
    comments += (document.signatures or {}).values()
    blocks = [_comments(comments)]
    blocks += [_latex_table(table) for table in document.tables if table.readers != "programs"]
    blocks += _notes([*warnings, *remarks])
    return "\n\n".join(blocks) + "\n"


def _latex_table(table: Table) -> str:
    columns = table.shown_columns
    letters = "".join("r" if column.align == "right" else "l" for column in columns)
    lines = [_comments([table.title]), rf"\begin{{tabular}}{{@{{}}{letters}@{{}}}}", r"\toprule"]
    lines += [_line([_quote(column.title) for column in columns]), r"\midrule"]
    for position, (above, rows) in enumerate(sections(table, columns, _quote, MISSING)):
        lines += [r"\addlinespace"] if position and table.group else []
        span = rf"\multicolumn{{{len(letters)}}}{{@{{}}l@{{}}}}{{\emph{{{above}}}}} \\"
        lines += [] if above is None else [span]
        for row in rows:
            cells = []
            for cell, _, plain, is_emphasized in row:
                is_text = cell is None or isinstance(cell, str)
                text = plain if is_text else plain.translate(_NUMBER)
                cells.append(rf"\textbf{{{text}}}" if is_emphasized else text)
            lines.append(_line(cells))
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", *_notes(table.notes)])


def _line(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def _quote(text: str) -> str:
    escaped = visible(text, keep="\n").translate(_SPECIAL)
    return re.sub("-(?=-)", "-{}", escaped)  # two hyphens are not a dash


def _notes(notes: Sequence[str]) -> list[str]:
    return [rf"\par\smallskip{{\footnotesize {_quote(note)}\par}}" for note in notes]


def _comments(lines: Sequence[str]) -> str:
    return "\n".join(f"% {visible(line)}".rstrip() for line in lines)
