"""The document of `karat judge prompts`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karat.report.model import Column, Document, Table

if TYPE_CHECKING:
    from karat.judge.prompt_list import PromptList

_COLUMNS = (
    Column("task", "Task"),
    Column("prompt", "Prompt", help="Name, version and hash of the text."),
    Column("needed", "Needs", help="Placeholders that a prompt of this task must have."),
    Column("optional", "May have", wrap=True, help="Placeholders that it may have."),
    Column("command", "Command"),
)


def prompts_document(found: PromptList, command: str = "") -> Document:
    """Return the list of prompts."""
    rows = [row._asdict() for row in found.rows]
    return Document("Prompts", (Table("rows", "Prompts", _COLUMNS, rows, open=True),), command, {})
