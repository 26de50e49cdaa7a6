"""The report of `nuggets diff`: nuggets gained and lost, and whether that is significant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from karat.report.table import Cell, Column, Document, Row, Table

if TYPE_CHECKING:
    from karat.nuggets.changes import Change, Changes, Significance
    from karat.nuggets.official import RunScore

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
_COUNTS = (
    Column("change", "Change"),
    Column("vital", "Vital", align="right"),
    Column("okay", "Okay", align="right"),
)
_SCORES = (
    Column("run", "Run"),
    Column("f", "F", 4, align="right", help="The mean over questions."),
    Column("recall", "Recall", 4, align="right"),
    Column("precision", "Precision", 4, align="right"),
    Column("micro", "Micro F", 4, align="right", help="Of all questions together."),
)
_QUESTIONS = (
    Column("question", "Question"),
    Column("old", "Old F", 4, align="right"),
    Column("new", "New F", 4, align="right"),
    Column("delta", "Delta", 4, align="right", signed=True),
)
_TEST = (
    Column("questions", "Questions"),
    Column("old", "Old F"),
    Column("new", "New F"),
    Column("delta", "Delta"),
    Column("p", "p"),
    Column("trials", "Trials"),
)


def changes_document(
    found: Changes,
    signature: str,
    command: str,
    *,
    everything: bool = False,
    remarks: Sequence[str] = (),
) -> Document:
    """Gained and lost nuggets first; kept and missed ones on request."""
    from karat.nuggets.changes import GAINED, KINDS, LOST
    from karat.nuggets.official import NAME

    shown = KINDS if everything else (GAINED, LOST)
    rows = [_row(row) for kind in shown for row in found.rows if row.kind == kind]
    test = found.significance()
    return Document(
        title=f"From {found.old.run} to {found.new.run}",
        blocks=(
            Table("scores", "Scores", _SCORES, tuple(map(_score, (found.old, found.new)))),
            Table("counts", "Nuggets", _COUNTS, tuple(_count(found, kind) for kind in KINDS)),
            Table("rows", "What changed", _ROWS, tuple(rows), group="heading"),
            Table("questions", "Questions", _QUESTIONS, _questions(found)),
            Table("test", "Test", _TEST, [_test(test)], readers="programs"),
        ),
        command=command,
        signatures={NAME: signature},
        notes=(_sentence(test), *_open(found), *_skipped(found), *remarks),
    )


def _score(score: RunScore) -> Row:
    macro = score.macro
    return {
        "run": score.run,
        "f": macro.f,
        "recall": macro.recall,
        "precision": macro.precision,
        "micro": score.micro.f,
    }


def _count(found: Changes, kind: str) -> Row:
    return {
        "change": kind,
        "vital": found.count(kind, vital=True),
        "okay": found.count(kind, vital=False),
    }


def _row(row: Change) -> dict[str, Cell]:
    from karat.nuggets.likelihood import excerpt

    text = row.new.response or row.old.response
    return {
        "heading": row.kind,
        "change": row.kind,
        "question": row.question,
        "nugget": row.nugget.id,
        "importance": row.nugget.importance,
        "description": row.nugget.descriptions[0],
        "response": None if text is None else excerpt(text, row.nugget),
        "old_response": row.old.response,
        "new_response": row.new.response,
        "by": row.by,
        "old_by": row.old.by,
        "new_by": row.new.by,
    }


def _questions(found: Changes) -> tuple[Row, ...]:
    return tuple(
        {"question": question, "old": old, "new": new, "delta": new - old}
        for question, old, new in found.differences()
    )


def _test(test: Significance) -> Row:
    return {**test._asdict(), "delta": test.delta}


def _sentence(test: Significance) -> str:
    if not test.questions:
        return "No question has a nugget of any weight: there is nothing to compare."
    moved = f"F goes from {test.old:.4f} to {test.new:.4f} ({test.delta:+.4f})"
    if not test.trials:
        return f"{moved} on one question: too few for a test."
    return (
        f"{moved} over {test.questions:,} questions: p = {test.p:.4f} (paired permutation, "
        f"two-sided, {test.trials:,} trials)."
    )


def _open(found: Changes) -> list[str]:
    """A nugget is not lost for sure where nobody has judged the new responses."""
    from karat.nuggets.changes import GAINED, LOST
    from karat.nuggets.decisions import NOTHING

    changed = [row for row in found.rows if row.kind in (GAINED, LOST)]
    unsure = sum(row.by == NOTHING for row in changed)
    if not unsure:
        return []
    return [
        f"{unsure:,} of {len(changed):,} changes rest on responses that nobody judged for the "
        'nugget, which count as not carrying it ("nothing" decides): karat nuggets judge asks '
        "about them."
    ]


def _skipped(found: Changes) -> list[str]:
    if not found.new.skipped:
        return []
    return [
        f"Skipped, not scored 0: {', '.join(found.new.skipped)}; no nugget there has any weight."
    ]
