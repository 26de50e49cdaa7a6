"""The report of `nuggets diff`: nuggets gained and lost, and whether that is significant."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from karat.nuggets.report.scores import SHARES, number, records, without_ends
from karat.report.model.table import Column, Document, Table

if TYPE_CHECKING:
    from karat.nuggets.results.changes import NuggetChanges

_ROWS = (
    Column("heading", "Change", readers="people"),
    Column("change", "Change", readers="programs"),
    Column("question", "Question"),
    Column("nugget", "Nugget"),
    Column("importance", "Importance"),
    Column("description", "Description", wrap=True),
    Column("response", "Response", wrap=True, readers="people"),
    Column("old_response", "Old response", readers="programs"),
    Column("new_response", "New response", readers="programs"),
    Column("by", "By", help="What decided: a judgement, a guess or nothing.", readers="people"),
    Column("old_by", "Old by", readers="programs"),
    Column("new_by", "New by", readers="programs"),
)
_COUNTS = (Column("change", "Change"), number("vital", "Vital"), number("okay", "Okay"))
_SCORES = (
    Column("run", "Run"),
    number("f", "F", 4, help="The mean over questions."),
    number("f_low", "F low", 4, help="Lower end of the 95% interval of F."),
    number("f_high", "F high", 4, help="Upper end of the 95% interval of F."),
    *(number(key, key.capitalize(), 4) for key in ("recall", "precision")),
    number("micro", "Micro F", 4, help="Of all questions together."),
    *(replace(column, digits=4) for column in SHARES),
)
_QUESTIONS = (
    Column("question", "Question"),
    number("old", "Old F", 4),
    number("new", "New F", 4),
    number("delta", "Delta", 4, signed=True),
    number("old_A", "Old A", 4),
    number("new_A", "New A", 4),
    number("delta_A", "Delta", 4, signed=True),
)
_TEST = (
    *(Column(key, key.capitalize()) for key in ("score", "questions", "old", "new", "delta")),
    Column("p", "p"),
    Column("trials", "Trials"),
)


def changes_document(found: NuggetChanges, command: str = "") -> Document:
    """Return the report of both versions: gained and lost nuggets first."""
    from karat.nuggets.judging.likelihood import excerpt
    from karat.nuggets.scores.official import NAME

    rows = found.scoring.rows
    old, new = (row.run for row in rows)
    nuggets = {
        (id, nugget.id): nugget
        for id, question in found.scoring.nuggets.key.questions.items()
        for nugget in question.nuggets
    }
    scores = [{**row._asdict(), "f": row.macro} for row in rows]
    changed = []
    for row in found.rows:
        text = excerpt(row.new_response or row.old_response, nuggets[row.question, row.nugget])
        people = {"heading": row.change, "response": text, "by": row.by}
        changed.append({**row._asdict(), **people})
    blocks = (
        Table("scores", "Scores", without_ends(_SCORES, rows), scores),
        Table("counts", "Nuggets", _COUNTS, records(found.counts)),
        Table("rows", "What changed", _ROWS, changed, group="heading"),
        Table("questions", "Questions", _QUESTIONS, records(found.questions)),
        Table("test", "Tests", _TEST, records(found.tests), readers="programs"),
    )
    signed = {NAME: found.signature}
    return Document(f"From {old} to {new}", blocks, command, signed, notes=found.notes)
