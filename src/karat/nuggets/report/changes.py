"""The report of `nuggets diff`: nuggets gained and lost, and whether that is significant."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from karat.nuggets.report.answers import changes_answer, changes_basis
from karat.nuggets.report.change_cards import changes_figure, guess_probabilities
from karat.nuggets.report.scores import F_BETA, SHARES, number, records, without_ends
from karat.report.charts.forest import Change, Forest
from karat.report.charts.models import Line, Point, Scatter
from karat.report.model.phrases import signed
from karat.report.model.table import Block, Column, Document, Figure, Gallery, Table

if TYPE_CHECKING:
    from karat.nuggets.results.changes import NuggetChanges
    from karat.nuggets.results.paired import Significance

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
    Column(
        "by", "By", help="Weaker source of the two: judgement, guess, nothing.", readers="people"
    ),
    Column(
        "p",
        "p",
        help="Probability that the old, then the new version carries it, if guessed.",
        readers="people",
    ),
    Column("old_by", "Old by", readers="programs"),
    Column("new_by", "New by", readers="programs"),
    number("old_p", "Old p", 3, readers="programs"),
    number("new_p", "New p", 3, readers="programs"),
)
_COUNTS = (Column("change", "Change"), number("vital", "Vital"), number("okay", "Okay"))
_SCORES = (
    Column("run", "Run"),
    number("f", "F", 4, help=f"Mean over questions of F(beta). {F_BETA}"),
    number("f_low", "F low", 4, help="Lower end of the 95% interval of F."),
    number("f_high", "F high", 4, help="Upper end of the 95% interval of F."),
    *(number(key, key.capitalize(), 4, detail=True) for key in ("recall", "precision")),
    number("micro", "Micro F", 4, help="F(beta) of sums over questions.", detail=True),
    *(replace(column, digits=4, detail=column.key not in "AV") for column in SHARES),
)
_QUESTIONS = (
    Column("question", "Question"),
    number("old", "Old F", 4),
    number("new", "New F", 4),
    number("delta", "F change", 4, signed=True, help="New F minus old F."),
    number("old_A", "Old A", 4),
    number("new_A", "New A", 4),
    number("delta_A", "A change", 4, signed=True, help="New A minus old A."),
)
_TEST = (
    *(Column(key, key.capitalize()) for key in ("score", "questions", "old", "new", "delta")),
    Column("p", "p"),
    Column("trials", "Trials"),
    *(Column(key, key.capitalize()) for key in ("low", "high", "verdict")),
)


def changes_document(found: NuggetChanges, command: str = "") -> Document:
    """Return the report of both versions: gained and lost nuggets first."""
    from karat.nuggets.scores.official import NAME
    from karat.nuggets.scores.shared_words import excerpt

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
        people = {
            "heading": row.change,
            "response": text,
            "by": row.by,
            "p": guess_probabilities(row),
        }
        changed.append({**row._asdict(), **people})
    guessed = any(row["p"] for row in changed)
    columns = tuple(column for column in _ROWS if column.key != "p" or guessed)
    tests = [{**test._asdict(), "verdict": test.verdict} for test in found.tests]
    blocks: tuple[Block, ...] = (
        changes_figure(found),
        *_pictures(found, old, new),
        Table("scores", "Scores", without_ends(_SCORES, rows), scores),
        Table("counts", "Nuggets", _COUNTS, records(found.counts)),
        Table("rows", "What changed", columns, changed, group="heading"),
        Table("questions", "Questions", _QUESTIONS, records(found.questions)),
        Table("test", "Tests", _TEST, tests, readers="programs"),
    )
    signatures = {NAME: found.signature}
    told = changes_answer(found), changes_basis(found)
    return Document(f"From {old} to {new}", blocks, command, signatures, found.notes, {}, *told)


def _pictures(found: NuggetChanges, old: str, new: str) -> Iterator[Block]:
    """The changes of F and A with their intervals, and F of each question."""
    changes = [_change(test) for test in found.tests if test.low is not None]
    if changes:
        title = f"Change of scores from {old} to {new}"
        caption = "Dots: differences; lines: 95% intervals. Filled: decided."
        yield Gallery(
            title, (Figure(f"Differences from {old}", Forest(title, old, changes)),), caption
        )
    points = [
        Point(row.old, row.new, row.question)
        for row in found.questions
        if row.old is not None and row.new is not None
    ]
    if len(points) > 1:
        title, caption = "F of each question", "Questions above the diagonal line improved."
        axes = f"F of {old}", f"F of {new}"
        yield Figure(title, Scatter(title, *axes, points, line=Line(1.0, 0.0)), caption)


def _change(test: Significance) -> Change:
    low, high = (float("nan") if end is None else end for end in (test.low, test.high))
    return Change(test.score, test.delta, low, high, signed(test.delta, 3), test.verdict)
