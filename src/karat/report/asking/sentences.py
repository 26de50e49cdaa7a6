"""Answers of reports on what a language model was asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from karat.report.model.cells import several

if TYPE_CHECKING:
    from karat.asking.asker import Usage
    from karat.asking.interview.plans import AskingPlan

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
