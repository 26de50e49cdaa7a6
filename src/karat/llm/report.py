"""Reports on what a language model was asked: judgements, usage, missing replies, dry runs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from karat.report.charts.models import HeatMap, Tallies, Tally, chart_figure
from karat.report.model import (
    Block,
    Case,
    Column,
    Document,
    Examples,
    Figure,
    Passage,
    Table,
    listing,
    several,
)

if TYPE_CHECKING:
    from karat.llm.interview import AskingPlan
    from karat.llm.requests import Totals, Usage
    from karat.llm.results import (
        Judging,
        ModelPairs,
        ModelRatings,
        ModelSupports,
        RatingRow,
        SystemShares,
    )
    from karat.llm.task_prompts import PromptList


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


def ratings_answer(found: ModelRatings) -> tuple[str, ...]:
    """Return how much was rated, the means by system, and agreement with others."""
    means = _means(found.systems, "{:.2f}", found.dimension.better == "lower")
    told = f"Mean {found.dimension.name}: {means}."
    return (_made(found, "rated", "outputs"), *([told] if means else []), *_agreement(found))


def pairs_answer(found: ModelPairs) -> tuple[str, ...]:
    """Return how much was compared, shares of wins, and the effect of the order."""
    wins = _means(found.systems, "{:.1%}")
    told = f"Share of comparisons won, ties as half: {wins}."
    made = _made(found, "compared", "pairs of outputs")
    return (made, *([told] if wins else []), *_bias(found))


def _bias(found: ModelPairs) -> list[str]:
    bias = found.bias
    if bias.flipped_share is None:
        return []
    told = f"The order changed no winner in {several(bias.pairs, 'pair')}"
    if bias.flipped:
        told = f"The order changed the winner of {bias.flipped:,} of {several(bias.pairs, 'pair')}"
        told += f" ({bias.flipped_share:.1%}), which count as ties"
    if bias.first_share is None:
        return [f"{told}."]
    return [f"{told}; the output shown first won {bias.first_share:.1%} of the decided answers."]


def supports_answer(found: ModelSupports) -> tuple[str, ...]:
    """Return how much was labelled, mean support by run, and agreement with others."""
    means = _means(found.systems, "{:.3f}")
    told = f"Mean support of nuggets by a response (partial support as half): {means}."
    made = _made(found, "labelled", "pairs of response and nugget")
    return (made, *([told] if means else []), *_agreement(found))


def _made(found: Judging, verb: str, what: str) -> str:
    judged = f"{len(found.rows):,} of {found.wanted:,} {what} of {found.name}"
    return f"{found.judge} {verb} {judged}{missing_clause(found.missing)}."


def _means(systems: Sequence[SystemShares], form: str, lower: bool = False) -> str:
    """The means of systems, the best first."""
    ranked = sorted(systems, key=lambda one: one.mean, reverse=not lower)
    return listing([f"{one.system} {form.format(one.mean)}" for one in ranked]) if ranked else ""


def _agreement(found: Judging) -> list[str]:
    row = found.agreement
    if row is None or row.r != row.r:
        return []
    return [
        f"Pearson's r with the mean of people is {row.r:.3f} "
        f"({several(row.shared, 'judgement')} in common)."
    ]


MOST = 6
_EXAMPLE_COLUMNS = (
    Column("system", "System"),
    Column("segment", "Segment"),
    Column("value", "Rating", 2, align="right"),
    Column("evidence", "Evidence", wrap=True),
)


def rating_examples(found: ModelRatings) -> list[Examples]:
    """Return the worst outputs by the ratings of a model, at most one for each segment."""
    sign = 1 if found.dimension.better == "higher" else -1
    worst: dict[str, RatingRow] = {}
    for row in sorted(found.rows, key=lambda row: sign * row.value):
        if row.evidence:
            worst.setdefault(row.segment, row)
    rows = list(worst.values())[:MOST]
    if not rows:
        return []
    keys = [column.key for column in _EXAMPLE_COLUMNS]
    records = [{key: getattr(row, key) for key in keys} for row in rows]
    table = Table("examples", "Lowest ratings", _EXAMPLE_COLUMNS, records)
    told = "Marked: words that the model quoted as evidence."
    return [Examples("Lowest ratings", tuple(map(_case, rows)), table, marked=told)]


def _case(row: RatingRow) -> Case:
    passage = Passage(row.system, row.output, quote_marks(row.evidence, row.output))
    return Case(f"Segment {row.segment}", f"rated {row.value:.3g}", (passage,), {})


def quote_marks(quote: str, text: str) -> tuple[tuple[int, int], ...]:
    """Return where a quote stands in a text, whatever the white space; nothing if nowhere."""
    pattern = r"\s+".join(map(re.escape, quote.split()))
    found = re.search(pattern, text, re.IGNORECASE) if pattern else None
    return (found.span(),) if found else ()


_PROMPT_COLUMNS = (
    Column("task", "Task"),
    Column("prompt", "Prompt", help="Name, version and hash of the text."),
    Column("needed", "Needs", help="Placeholders that a prompt of this task must have."),
    Column("optional", "May have", wrap=True, help="Placeholders that it may have."),
    Column("command", "Command"),
)


def prompts_document(found: PromptList, command: str = "") -> Document:
    """Return the list of prompts."""
    rows = [row._asdict() for row in found.rows]
    return Document(
        "Prompts", (Table("rows", "Prompts", _PROMPT_COLUMNS, rows, open=True),), command, {}
    )


_LABELS = {"0": "not", "0.5": "partial", "1": "support"}
MOST_VALUES = 11
"""Different values of a scale that a distribution shows."""
_ANSWERS = Column("answers", "Answers", align="right", detail=True, help="Answers it rests on.")
_EVIDENCE = Column("evidence", "Evidence", wrap=True, help="Words that the model quoted.")
_RATINGS = (
    Column("system", "System"),
    Column("segment", "Segment"),
    Column("value", "Rating", 2, align="right"),
    _EVIDENCE,
    Column("output", "Output", wrap=True),
    _ANSWERS,
)
_PAIRS = (
    *(Column("segment", "Segment"), Column("system", "System"), Column("other", "Other")),
    Column("value", "Value", 2, align="right", help="1: the system is better; 0: the other."),
    _EVIDENCE,
    Column("flipped", "Flipped", help="Whether the winner changed with the order."),
    _ANSWERS,
)
_SUPPORTS = (
    *(Column("question", "Question"), Column("nugget", "Nugget"), Column("label", "Label")),
    Column("value", "Value", 1, align="right"),
    _EVIDENCE,
    *(Column("response", "Response", wrap=True), Column("runs", "Runs"), _ANSWERS),
)
_BIAS = (
    Column("pairs", "Pairs", align="right", help="Pairs that were asked about in both orders."),
    Column("flipped", "Flipped", align="right", help="Pairs whose winner changed with the order."),
    Column("flipped_share", "Share flipped", 3, align="right"),
    Column("decided", "Decided", align="right", help="Answers that prefer one output."),
    Column("first_share", "First won", 3, align="right", help="Share of them for the first."),
)


def ratings_document(found: ModelRatings, command: str = "") -> Document:
    """Return the report on ratings."""
    dimension = found.dimension.name
    rows = Table("rows", "Ratings", _RATINGS, _records(found.rows), readers="programs")
    title, values = f"Distribution of {dimension}", found.values
    figures = _distribution(found.systems, title, dimension, dict(zip(values, values, strict=True)))
    systems = _systems(found.systems, "System", "Mean", 2)
    blocks: list[Block] = [rows, *figures, *rating_examples(found), systems]
    title = f"Ratings of {found.name} by a model"
    return _document(found, title, blocks, command, ratings_answer(found))


def pairs_document(found: ModelPairs, command: str = "") -> Document:
    """Return the report on preferences."""
    rows = Table("rows", "Preferences", _PAIRS, _records(found.rows), readers="programs")
    tallies = [_tally(one) for one in found.systems]
    caption = "A preference that changes with the order is a tie."
    chart = Tallies("Comparisons won, tied and lost", "the other systems", tallies, caption)
    bias = Table("bias", "Position bias", _BIAS, [found.bias._asdict()], open=True)
    systems = _systems(found.systems, "System", "Share won", 3)
    blocks = (rows, Figure(chart.title, chart, chart.caption), bias, systems)
    title = f"Preferences between outputs of {found.name} by a model"
    return _document(found, title, blocks, command, pairs_answer(found))


def supports_document(found: ModelSupports, command: str = "") -> Document:
    """Return the report on labels of nuggets."""
    rows = [{**row._asdict(), "runs": ", ".join(row.runs)} for row in found.rows]
    table = Table("rows", "Labels", _SUPPORTS, rows, readers="programs")
    figures = _distribution(found.systems, "Distribution of labels", "label", _LABELS, "run")
    blocks: list[Block] = [table, *figures, _systems(found.systems, "Run", "Mean support", 3)]
    title = f"Nuggets of {found.name} labelled by a model"
    return _document(found, title, blocks, command, supports_answer(found))


def _document(
    found: Judging, title: str, blocks: Iterable[Block], command: str, answer: tuple[str, ...]
) -> Document:
    blocks = (*blocks, *missing_tables(found.missing), *usage_tables(found.usage))
    told = answer, usage_sentence(found.usage)
    return Document(title, blocks, command, {found.judge: found.signature}, found.notes, {}, *told)


def _records(rows: Sequence[Any]) -> list[dict[str, Any]]:
    return [row._asdict() for row in rows]


def _systems(systems: Sequence[SystemShares], what: str, mean: str, digits: int) -> Table:
    """The mean of each system or run."""
    columns = (
        Column("system", what),
        Column("judged", "Judged", align="right"),
        Column("mean", mean, digits, align="right"),
    )
    keys = ("system", "judged", "mean")
    rows = [{key: getattr(one, key) for key in keys} for one in systems]
    return Table("systems", f"{what}s", columns, rows, open=True)


def _distribution(
    systems: Sequence[SystemShares],
    title: str,
    axis: str,
    values: Mapping[str, str],
    what: str = "system",
) -> list[Figure]:
    """A heat map of the shares of values; nothing where there are too many different ones."""
    if not 1 < len(values) <= MOST_VALUES:
        return []
    shares = [[one.shares.get(value, 0.0) for value in values] for one in systems]
    names = [one.system for one in systems]
    caption = f"Share of each {what}'s judgements that have a value."
    labels = list(values.values())
    chart = HeatMap(title, what, axis, names, labels, shares, low=0, high=1, caption=caption)
    return [chart_figure(chart)]


def _tally(one: SystemShares) -> Tally:
    """Wins, ties and losses; a mean of replicates between them counts as a tie."""
    wins, losses = (round(one.shares.get(value, 0.0) * one.judged) for value in ("1", "0"))
    return Tally(one.system, wins, one.judged - wins - losses, losses)
