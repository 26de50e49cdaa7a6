"""The report of `nuggets diff`: nuggets gained and lost, and whether that is significant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karat.report.table import Cell, Column, Document, Row, Table

if TYPE_CHECKING:
    from karat.nuggets.changes import Change, Changes
    from karat.nuggets.official import Official, RunScore

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
    Column("guessed", "Guessed", help="Decided by a classifier, not by an assessor."),
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


def changes_document(found: Changes, how: Official, everything: bool, command: str) -> Document:
    """Gained and lost nuggets first; kept and missed ones on request."""
    from karat.nuggets.changes import GAINED, KINDS, LOST

    shown = KINDS if everything else (GAINED, LOST)
    rows = [_row(row) for kind in shown for row in found.rows if row.kind == kind]
    return Document(
        title=f"From {found.old.run} to {found.new.run}",
        blocks=(
            Table("scores", "Scores", _SCORES, tuple(map(_score, (found.old, found.new)))),
            Table("counts", "Nuggets", _COUNTS, tuple(_count(found, kind) for kind in KINDS)),
            Table("rows", "What changed", _ROWS, tuple(rows), group="heading"),
            Table("questions", "Questions", _QUESTIONS, _questions(found)),
        ),
        command=command,
        signatures={"nugget-f": how.signature},
        notes=(_significance(found),),
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
    return {
        "heading": row.kind,
        "change": row.kind,
        "question": row.question,
        "nugget": row.nugget.id,
        "importance": "vital" if row.nugget.vital else "okay",
        "description": row.nugget.descriptions[0],
        "response": row.new or row.old,
        "old_response": row.old,
        "new_response": row.new,
        "guessed": row.guessed,
    }


def _questions(found: Changes) -> tuple[Row, ...]:
    return tuple(
        {"question": question, "old": old, "new": new, "delta": new - old}
        for question, old, new in found.differences()
    )


def _significance(found: Changes) -> str:
    """A paired permutation test over questions."""
    import numpy as np

    from karat.stats.permutation import paired_permutation

    pairs = found.differences()
    if len(pairs) < 2:
        return f"{len(pairs)} question: too few for a test."
    old, new = (np.array([pair[k] for pair in pairs]) for k in (1, 2))
    up = paired_permutation(new, old)
    down = paired_permutation(old, new)
    p = min(1.0, 2 * min(up.p, down.p))
    return (
        f"F goes from {old.mean():.4f} to {new.mean():.4f} ({new.mean() - old.mean():+.4f}) over "
        f"{len(pairs):,} questions: p = {p:.4f} (paired permutation, two-sided, "
        f"{up.trials:,} trials)."
    )
