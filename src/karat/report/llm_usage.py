"""Parts of reports on what a language model was asked: usage, missing answers, plans."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from karat.report.model import Column, Document, Table, several

if TYPE_CHECKING:
    from karat.asking.interview.plans import AskingPlan
    from karat.asking.usage import Totals, Usage


MOST_REASONS = 3


def usage_sentence(usage: Usage) -> str:
    """Return requests, tokens and cost in a sentence."""
    tokens = usage.prompt_tokens + usage.completion_tokens
    parts = [f"{several(usage.sent, 'request')} sent"]
    parts += [f"{several(usage.cached, 'answer')} from the cache"] if usage.cached else []
    parts += [several(tokens, "token")] if tokens else []
    parts += [f"cost {usage.cost:,.4f}"] if usage.cost is not None else []
    return f"{', '.join(parts)}."


def missing_clause(missing: Sequence[Any]) -> str:
    """Return how many judgements are missing and why; nothing if none is."""
    count = sum(row.missing for row in missing)
    if not count:
        return ""
    why = [f"{row.why} {row.missing:,}" for row in missing[:MOST_REASONS]]
    more = count - sum(row.missing for row in missing[:MOST_REASONS])
    why += [f"other reasons {more:,}"] if more else []
    verb = "is" if count == 1 else "are"
    return f"; {count:,} {verb} missing ({', '.join(why)})"


def plan_answer(found: AskingPlan) -> tuple[str, ...]:
    """Return what would be sent."""
    (row,) = found.rows
    cached = f"; {several(row.cached, 'answer')} in the cache" if row.cached else ""
    cost = "" if row.cost is None else f", which cost at most {row.cost:,.4f}"
    return (
        f"{several(row.to_send, 'request')} of about {row.prompt_tokens:,} tokens in all would be "
        f"sent{cost}{cached}.",
        "Nothing was sent.",
    )


_USAGE = (
    Column("run", "", help="This run, or all runs with the same cache, endpoint and model."),
    Column("requests", "Requests", align="right", help="Answers that were wanted."),
    Column("cached", "Cached", align="right", help="Answers that the cache had already."),
    Column("sent", "Sent", align="right", help="Requests that were sent, retries included."),
    Column("failed", "Failed", align="right", help="Attempts that failed or were not valid."),
    Column(
        "repeated",
        "Repeated",
        align="right",
        help="Requests that were under way when an earlier run was killed.",
    ),
    Column("prompt_tokens", "Tokens in", align="right", help="Tokens of the prompts."),
    Column("completion_tokens", "Tokens out", align="right", help="Tokens of the answers."),
    Column("cost", "Cost", 4, align="right", help="By the prices that were given."),
)
_KEYS = {column.key for column in _USAGE}
_FAILED = (Column("why", "Reason"), Column("count", "Attempts", align="right"))
_MISSING = (
    Column("why", "Reason", wrap=True),
    Column("missing", "Missing", align="right"),
    Column("example", "First", wrap=True, help="The first judgement that is missing so."),
)
_PLAN = (
    Column("requests", "Requests", align="right", help="Answers that are wanted."),
    Column("cached", "Cached", align="right", help="Answers that the cache has already."),
    Column("to_send", "To send", align="right", help="Requests that would be sent, no retries."),
    Column("prompt_tokens", "Tokens in", align="right", help="Characters of prompts / 4."),
    Column("completion_tokens", "Tokens out", align="right", help="At most."),
    Column("cost", "Cost", 4, align="right", help="By the prices that were given."),
)


def usage_tables(usage: Usage) -> list[Table]:
    """Return what asking took, and the attempts that failed by kind."""
    runs: dict[str, Usage | Totals] = {"this run": usage}
    runs |= {"all runs": usage.totals} if usage.totals.sent > usage.sent else {}
    rows: list[dict[str, Any]] = [
        {"run": run, "failed": sum(found.failures.values())}
        | {key: value for key, value in found._asdict().items() if key in _KEYS}
        for run, found in runs.items()
    ]
    tables = [Table("usage", "Usage", _USAGE, rows)]
    if usage.failures:
        rows = [{"why": why, "count": count} for why, count in usage.failures.items()]
        tables.append(Table("failed", "Failed attempts", _FAILED, rows))
    return tables


def missing_tables(missing: Sequence[Any]) -> list[Table]:
    """Return reasons of missing answers, if there are any."""
    rows = [row._asdict() for row in missing]
    return [Table("missing", "Missing", _MISSING, rows, open=True)] if rows else []


def plan_document(found: AskingPlan, command: str) -> Document:
    """Return what asking would take."""
    table = Table("rows", "Plan", _PLAN, [row._asdict() for row in found.rows], open=True)
    signatures = {found.task: found.signature}
    told = plan_answer(found)
    return Document("Dry run", (table,), command, signatures, found.notes, {}, told)
