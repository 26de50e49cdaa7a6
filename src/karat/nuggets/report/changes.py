"""The report of `nuggets diff`: nuggets gained and lost, and whether that is significant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from karat.nuggets.report.scores import run_row, without_ends
from karat.report.model.table import Cell, Column, Document, Row, Table

if TYPE_CHECKING:
    from karat.nuggets.results.changes import Change, Changes, Significance
    from karat.nuggets.results.scoring import Scored, Scoring

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
    Column("f_low", "F low", 4, align="right", help="Lower end of the 95% interval of F."),
    Column("f_high", "F high", 4, align="right", help="Upper end of the 95% interval of F."),
    Column("recall", "Recall", 4, align="right"),
    Column("precision", "Precision", 4, align="right"),
    Column("micro", "Micro F", 4, align="right", help="Of all questions together."),
    Column("A", "A", 4, align="right", help="Share of all nuggets, half for partial support."),
    Column("low", "Low", 4, align="right", help="Lower end of the 95% interval of A."),
    Column("high", "High", 4, align="right", help="Upper end of the 95% interval of A."),
    Column("V", "V", 4, align="right", help="The same of vital nuggets."),
    Column("W", "W", 4, align="right", help="The same, okay nuggets weighing half."),
)
_QUESTIONS = (
    Column("question", "Question"),
    Column("old", "Old F", 4, align="right"),
    Column("new", "New F", 4, align="right"),
    Column("delta", "Delta", 4, align="right", signed=True),
    Column("old_A", "Old A", 4, align="right"),
    Column("new_A", "New A", 4, align="right"),
    Column("delta_A", "Delta", 4, align="right", signed=True),
)
_TEST = (
    Column("score", "Score"),
    Column("questions", "Questions"),
    Column("old", "Old"),
    Column("new", "New"),
    Column("delta", "Delta"),
    Column("p", "p"),
    Column("trials", "Trials"),
)


def changes_document(
    found: Changes,
    scoring: Scoring,
    command: str,
    *,
    everything: bool = False,
    remarks: Sequence[str] = (),
) -> Document:
    """Gained and lost nuggets first; kept and missed ones on request.

    `scoring` is that of both versions, for their scores and intervals.
    """
    from karat.nuggets.results.changes import GAINED, KINDS, LOST
    from karat.nuggets.scores.official import NAME

    scored = scoring.scored
    shown = KINDS if everything else (GAINED, LOST)
    rows = [_row(row) for kind in shown for row in found.rows if row.kind == kind]
    tests = {score: found.significance(score) for score in ("F", "A")}
    return Document(
        title=f"From {found.old.run} to {found.new.run}",
        blocks=(
            Table("scores", "Scores", without_ends(_SCORES, scored), tuple(map(_score, scored))),
            Table("counts", "Nuggets", _COUNTS, tuple(_count(found, kind) for kind in KINDS)),
            Table("rows", "What changed", _ROWS, tuple(rows), group="heading"),
            Table("questions", "Questions", _QUESTIONS, _questions(found)),
            Table(
                "test", "Tests", _TEST, [_test(*one) for one in tests.items()], readers="programs"
            ),
        ),
        command=command,
        signatures={NAME: scoring.signature},
        notes=(
            *(_sentence(*one) for one in tests.items()),
            *_unsure(found),
            *_skipped(found),
            *remarks,
        ),
    )


def _score(one: Scored) -> Row:
    row = run_row(one)
    return {**row, "f": row["macro"]}


def _count(found: Changes, kind: str) -> Row:
    return {
        "change": kind,
        "vital": found.count(kind, vital=True),
        "okay": found.count(kind, vital=False),
    }


def _row(row: Change) -> dict[str, Cell]:
    from karat.nuggets.judging.likelihood import excerpt

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
    """F where there is one, and A."""
    classic = {
        question: {"old": old, "new": new, "delta": new - old}
        for question, old, new in found.differences()
    }
    return tuple(
        {
            "question": question,
            **classic.get(question, {}),
            "old_A": old,
            "new_A": new,
            "delta_A": new - old,
        }
        for question, old, new in found.differences("A")
    )


def _test(score: str, test: Significance) -> Row:
    return {"score": score, **test._asdict(), "delta": test.delta}


def _sentence(score: str, test: Significance) -> str:
    if not test.questions:
        return f"No question has a nugget of any weight: there is no {score} to compare."
    moved = f"{score} goes from {test.old:.4f} to {test.new:.4f} ({test.delta:+.4f})"
    if not test.trials:
        return f"{moved} on one question: too few for a test."
    return (
        f"{moved} over {test.questions:,} questions: p = {test.p:.4f} (paired permutation, "
        f"two-sided, {test.trials:,} trials)."
    )


_UNSURE = {
    "nothing": "rest on responses that nobody judged for the nugget, which count as not carrying "
    'it ("nothing" decides): karat nuggets judge asks about them',
    "guess": "rest on guesses, which may be wrong and which p takes for right: karat nuggets judge "
    "asks about them",
}


def _unsure(found: Changes) -> list[str]:
    """A nugget is not lost for sure where nobody has judged the new responses."""
    from karat.nuggets.results.changes import GAINED, LOST

    changed = [row for row in found.rows if row.kind in (GAINED, LOST)]
    counts = {by: sum(row.by == by for row in changed) for by in _UNSURE}
    return [
        f"{count:,} of {len(changed):,} changes {_UNSURE[by]}."
        for by, count in counts.items()
        if count
    ]


def _skipped(found: Changes) -> list[str]:
    if not found.new.skipped:
        return []
    return [
        f"Skipped, not scored 0: {', '.join(found.new.skipped)}; no nugget there has any weight."
    ]
