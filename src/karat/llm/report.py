"""Reports on language models as judges: judgements, usage, missing answers, dry runs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from karat.report.charts.models import CellChart, ChartRow, RowChart, chart_figure
from karat.report.model import (
    Block,
    Document,
    ExampleCase,
    Examples,
    Figure,
    Table,
    TextPassage,
    format_count,
    join_names,
)
from karat.results import Column, number

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


MAX_REASONS = 3


def usage_sentence(usage: Usage) -> str:
    """Return requests, tokens and cost as a sentence."""
    tokens = usage.prompt_tokens + usage.completion_tokens
    parts = [f"{format_count(usage.sent, 'request')} sent"]
    parts += [f"{format_count(usage.cached, 'answer')} from the cache"] if usage.cached else []
    parts += [format_count(tokens, "token")] if tokens else []
    parts += [f"cost {usage.cost:,.4f}"] if usage.cost is not None else []
    return f"{', '.join(parts)}."


def missing_clause(missing: Sequence[Any]) -> str:
    """Return the number of missing judgements and the main reasons; "" if none is missing."""
    count = sum(row.missing for row in missing)
    if not count:
        return ""
    reasons = [f"{row.reason} {row.missing:,}" for row in missing[:MAX_REASONS]]
    more = count - sum(row.missing for row in missing[:MAX_REASONS])
    reasons += [f"other reasons {more:,}"] if more else []
    verb = "is" if count == 1 else "are"
    return f"; {count:,} {verb} missing ({', '.join(reasons)})"


_USAGE = (
    Column("run", "", help="This run, or all runs with the same cache, endpoint and model."),
    number("requests", "Requests", help="Answers that were wanted."),
    number("cached", "Cached", help="Answers that the cache had already."),
    number("sent", "Sent", help="Requests that were sent, retries included."),
    number("failed", "Failed", help="Attempts that failed or were not valid."),
    Column(
        "repeated",
        "Repeated",
        align="right",
        help="Requests that were under way when an earlier run was killed.",
    ),
    number("prompt_tokens", "Tokens in", help="Tokens of the prompts."),
    number("completion_tokens", "Tokens out", help="Tokens of the answers."),
    number("cost", "Cost", 4, "By the prices that were given."),
)
_FAILED = (Column("why", "Reason"), number("count", "Attempts"))
_MISSING = (
    Column("why", "Reason", field="reason", wrap=True),
    number("missing", "Missing"),
    Column("example", "First", wrap=True, help="The first judgement that is missing so."),
)
_PLAN = (
    number("requests", "Requests", help="Answers that are wanted."),
    number("cached", "Cached", help="Answers that the cache has already."),
    number("to_send", "To send", help="Requests that would be sent, no retries."),
    number("prompt_tokens", "Tokens in", help="Characters of prompts / 4."),
    number("completion_tokens", "Tokens out", help="At most."),
    number("cost", "Cost", 4, "By the prices that were given."),
)


def usage_tables(usage: Usage) -> list[Table]:
    """Return the usage, and failed attempts by kind."""
    runs: dict[str, Usage | Totals] = {"this run": usage}
    runs |= {"all runs": usage.totals} if usage.totals.sent > usage.sent else {}
    rows: list[dict[str, Any]] = [
        {**counts._asdict(), "run": run, "failed": sum(counts.failures.values())}
        for run, counts in runs.items()
    ]
    tables = [Table("usage", "Usage", _USAGE, rows)]
    if usage.failures:
        rows = [{"why": reason, "count": count} for reason, count in usage.failures.items()]
        tables.append(Table("failed", "Failed attempts", _FAILED, rows))
    return tables


def plan_document(plan: AskingPlan) -> Document:
    """Return the report on a dry run: the expected requests, tokens and cost."""
    (row,) = plan.rows
    requests = f"{format_count(row.to_send, 'request')} of about {row.prompt_tokens:,} tokens"
    cost = "" if row.cost is None else f", which cost at most {row.cost:,.4f}"
    cached = f"; {format_count(row.cached, 'answer')} in the cache" if row.cached else ""
    answer = (f"{requests} in all would be sent{cost}{cached}.", "Nothing was sent.")
    table = Table("rows", "Plan", _PLAN, plan.rows, open=True)
    return Document("Dry run", (table,), signatures={plan.task: plan.signature}, answer=answer)


def ratings_answer(ratings: ModelRatings) -> tuple[str, ...]:
    """Return a summary: number of ratings, means by system, and agreement with people."""
    summary = _judged_sentence(ratings, "rated", "outputs")
    lower, title = ratings.dimension.better == "lower", f"Mean {ratings.dimension.name}"
    return (summary, *_means(title, ratings.systems, "{:.2f}", lower), *_agreement(ratings))


def pairs_answer(pairs: ModelPairs) -> tuple[str, ...]:
    """Return a summary: number of comparisons, shares of wins, and position bias."""
    summary = _judged_sentence(pairs, "compared", "pairs of outputs")
    title = "Share of comparisons won, ties as half"
    return (summary, *_means(title, pairs.systems, "{:.1%}"), *_bias(pairs))


def _bias(pairs: ModelPairs) -> list[str]:
    bias = pairs.bias
    if bias.flipped_share is None:
        return []
    pair_count = format_count(bias.pairs, "pair")
    sentence = f"The order changed no winner in {pair_count}"
    if bias.flipped:
        sentence = f"The order changed the winner of {bias.flipped:,} of {pair_count}"
        sentence += f" ({bias.flipped_share:.1%}), which count as ties"
    if bias.first_share is None:
        return [f"{sentence}."]
    return [
        f"{sentence}; the output shown first won {bias.first_share:.1%} of the decided answers."
    ]


def supports_answer(supports: ModelSupports) -> tuple[str, ...]:
    """Return a summary: number of labels, mean support by run, and agreement with people."""
    summary = _judged_sentence(supports, "labelled", "pairs of response and nugget")
    title = "Mean support of nuggets by a response (partial support as half)"
    return (summary, *_means(title, supports.systems, "{:.3f}"), *_agreement(supports))


def _judged_sentence(judging: Judging, verb: str, units: str) -> str:
    judged = f"{len(judging.rows):,} of {judging.expected:,} {units} of {judging.name}"
    return f"{judging.judge} {verb} {judged}{missing_clause(judging.missing)}."


def _means(
    title: str, systems: Sequence[SystemShares], form: str, lower: bool = False
) -> list[str]:
    """Return the means of systems as a sentence, the best first; nothing without systems."""
    ranked = sorted(systems, key=lambda system: system.mean, reverse=not lower)
    means = [f"{system.system} {form.format(system.mean)}" for system in ranked]
    return [f"{title}: {join_names(means)}."] if means else []


def _agreement(judging: Judging) -> list[str]:
    row = judging.agreement
    if row is None or row.r != row.r:
        return []
    return [
        f"Pearson's r with the mean of people is {row.r:.3f} "
        f"({format_count(row.shared, 'judgement')} in common)."
    ]


MAX_BARS = 6


def rating_examples(ratings: ModelRatings) -> list[Examples]:
    """Return the outputs with the worst ratings, at most one per segment."""
    sign = 1 if ratings.dimension.better == "higher" else -1
    worst: dict[str, RatingRow] = {}
    for row in sorted(ratings.rows, key=lambda row: sign * row.value):
        if row.evidence:
            worst.setdefault(row.segment, row)
    rows = list(worst.values())[:MAX_BARS]
    if not rows:
        return []
    columns = (*_RATINGS[:3], Column("evidence", "Evidence", wrap=True))
    table = Table("examples", "Lowest ratings", columns, rows)
    caption = "Marked: words that the model quoted as evidence."
    return [Examples("Lowest ratings", tuple(map(_case, rows)), table, marked=caption)]


def _case(row: RatingRow) -> ExampleCase:
    passage = TextPassage(row.system, row.output, quote_marks(row.evidence, row.output))
    return ExampleCase(f"Segment {row.segment}", f"rated {row.value:.3g}", (passage,), {})


def quote_marks(quote: str, text: str) -> tuple[tuple[int, int], ...]:
    """Return the range of a quote in a text, ignoring white space; () if it does not occur."""
    pattern = r"\s+".join(map(re.escape, quote.split()))
    match = re.search(pattern, text, re.IGNORECASE) if pattern else None
    return (match.span(),) if match else ()


_PROMPT_COLUMNS = (
    Column("task", "Task", value=lambda row: row.slots.task),
    Column(
        "prompt",
        "Prompt",
        help="Name, version and hash of the text.",
        value=lambda row: row.prompt.label,
    ),
    Column(
        "needed",
        "Needs",
        help="Placeholders that a prompt of this task must have.",
        value=lambda row: _placeholders(row.slots.needed),
    ),
    Column(
        "optional",
        "May have",
        wrap=True,
        help="Placeholders that it may have.",
        value=lambda row: _placeholders(row.slots.optional),
    ),
    Column("command", "Command"),
)


def _placeholders(words: Sequence[str]) -> str:
    return " ".join(f"{{{word}}}" for word in words)


def prompts_document(prompts: PromptList) -> Document:
    """Return the list of prompts."""
    table = Table("rows", "Prompts", _PROMPT_COLUMNS, prompts.rows, open=True)
    return Document("Prompts", (table,), notes=())


_LABELS = {"0": "not", "0.5": "partial", "1": "support"}
MAX_VALUES = 11
"""Maximum number of different values in a distribution."""
_ANSWERS = number("answers", "Answers", detail=True, help="Answers it rests on.")
_EVIDENCE = Column("evidence", "Evidence", wrap=True, help="Words that the model quoted.")
_RATINGS = (
    Column("system", "System"),
    Column("segment", "Segment"),
    number("value", "Rating", 2),
    _EVIDENCE,
    Column("output", "Output", wrap=True),
    _ANSWERS,
)
_PAIRS = (
    *(Column("segment", "Segment"), Column("system", "System"), Column("other", "Other")),
    number("value", "Value", 2, "1: the system is better; 0: the other."),
    _EVIDENCE,
    Column("flipped", "Flipped", help="Whether the winner changed with the order."),
    _ANSWERS,
)
_SUPPORTS = (
    *(Column("question", "Question"), Column("nugget", "Nugget"), Column("label", "Label")),
    number("value", "Value", 1),
    _EVIDENCE,
    Column("response", "Response", wrap=True),
    Column("runs", "Runs", value=lambda row: ", ".join(row.runs)),
    _ANSWERS,
)
_BIAS = (
    number("pairs", "Pairs", help="Pairs that were asked about in both orders."),
    number("flipped", "Flipped", help="Pairs whose winner changed with the order."),
    number("flipped_share", "Share flipped", 3),
    number("decided", "Decided", help="Answers that prefer one output.", field="n_decided"),
    number("first_share", "First won", 3, "Share of them for the first."),
)


def ratings_document(ratings: ModelRatings) -> Document:
    """Return the report on ratings."""
    dimension = ratings.dimension.name
    rows = Table("rows", "Ratings", _RATINGS, ratings.rows, readers="programs")
    title, values = f"Distribution of {dimension}", ratings.values
    figures = _distribution(
        ratings.systems, title, dimension, dict(zip(values, values, strict=True))
    )
    systems = _systems(ratings.systems, "System", "Mean", 2)
    blocks: list[Block] = [rows, *figures, *rating_examples(ratings), systems]
    title = f"Ratings of {ratings.name} by a model"
    return _document(ratings, title, blocks, ratings_answer(ratings))


def pairs_document(pairs: ModelPairs) -> Document:
    """Return the report on preferences."""
    rows = Table("rows", "Preferences", _PAIRS, pairs.rows, readers="programs")
    tallies = [_tally(system) for system in pairs.systems]
    caption = "A preference that changes with the order is a tie."
    chart = RowChart(
        "Comparisons won, tied and lost", "the other systems", tallies, "tally", caption=caption
    )
    bias = Table("bias", "Position bias", _BIAS, [pairs.bias], open=True)
    systems = _systems(pairs.systems, "System", "Share won", 3)
    blocks = (rows, Figure(chart.title, chart, chart.caption), bias, systems)
    title = f"Preferences between outputs of {pairs.name} by a model"
    return _document(pairs, title, blocks, pairs_answer(pairs))


def supports_document(supports: ModelSupports) -> Document:
    """Return the report on labels of nuggets."""
    table = Table("rows", "Labels", _SUPPORTS, supports.rows, readers="programs")
    figures = _distribution(supports.systems, "Distribution of labels", "label", _LABELS, "run")
    blocks: list[Block] = [table, *figures, _systems(supports.systems, "Run", "Mean support", 3)]
    title = f"Nuggets of {supports.name} labelled by a model"
    return _document(supports, title, blocks, supports_answer(supports))


def _document(
    judging: Judging, title: str, blocks: Iterable[Block], answer: tuple[str, ...]
) -> Document:
    missing = Table("missing", "Missing", _MISSING, judging.missing, open=True)
    blocks = (*blocks, *([missing] if judging.missing else []), *usage_tables(judging.usage))
    signatures, basis = {judging.judge: judging.signature}, usage_sentence(judging.usage)
    return Document(title, blocks, signatures=signatures, answer=answer, basis=basis)


def _systems(systems: Sequence[SystemShares], title: str, mean: str, digits: int) -> Table:
    """Return a table with the mean of each system or run."""
    columns = (
        Column("system", title),
        number("judged", "Judged"),
        Column("mean", mean, digits, align="right"),
    )
    return Table("systems", f"{title}s", columns, systems, open=True)


def _distribution(
    systems: Sequence[SystemShares],
    title: str,
    axis: str,
    values: Mapping[str, str],
    unit: str = "system",
) -> list[Figure]:
    """Return a heat map of the shares of values, unless there are too many different values."""
    if not 1 < len(values) <= MAX_VALUES:
        return []
    shares = [[system.shares.get(value, 0.0) for value in values] for system in systems]
    names = [system.system for system in systems]
    caption = f"Share of each {unit}'s judgements that have a value."
    labels = list(values.values())
    chart = CellChart(title, unit, axis, names, labels, shares, low=0, high=1, caption=caption)
    return [chart_figure(chart)]


def _tally(system: SystemShares) -> ChartRow:
    """Return wins, ties and losses; a mean of replicates between them counts as a tie."""
    wins, losses = (round(system.shares.get(value, 0.0) * system.judged) for value in ("1", "0"))
    return ChartRow(system.system, 0, counts=(wins, system.judged - wins - losses, losses))
