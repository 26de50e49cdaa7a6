"""The reports of `nuggets describe` and of `data judges`: a set, its problems and its judges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from karat.llm.report import usage_sentence, usage_tables
from karat.nuggets.results.notes import percentage
from karat.nuggets.sets.nugget_set import short_places
from karat.report.documents.evalsets import judges_document, problems_table
from karat.report.model import Document, Figure, Table, format_count
from karat.results import Column, number

if TYPE_CHECKING:
    from karat.nuggets.drafting import DraftedNuggets
    from karat.nuggets.results.contents import DifficultyBin, NuggetContents, NuggetJudgeAgreement


_INTERVAL = "Half of the 95% interval of the mean: 1.96 standard errors."
_CENSUS = (
    Column("name", "Set"),
    number("questions", "#ques", help="Number of questions."),
    number("vital", "#vital", help="Number of vital nuggets."),
    number("okay", "#okay", help="Number of okay nuggets."),
    number("nuggets", "#n/q", 1, "Mean number of nuggets of a question."),
    number("nuggets_half", "±", 1, help=_INTERVAL),
    number("runs", "#sys", help="Number of runs."),
    number("responses", "#r/s", 1, "Mean number of responses of a run."),
    number("responses_half", "±", 1, help=_INTERVAL),
    number("answers", "#r/q/s", 1, "Mean number of responses of a run to a question."),
    number("answers_half", "±", 1, help=_INTERVAL),
    number("judgements", "Judgements"),
    number("judged", "Judged", 3, "Share of pairs of response and nugget that are judged."),
)
_BINS = (
    Column(
        "systems",
        "Found by",
        help="Number of runs judged to carry the nugget.",
        value=lambda row: row.label,
    ),
    Column("low", "Low", readers="programs"),
    Column("high", "High", readers="programs"),
    number("nuggets", "Nuggets"),
    number("share", "Share", 3),
)
_CONTRADICTIONS = (
    Column("question", "Question"),
    Column("nugget", "Nugget"),
    number("value", "Value", 1),
    Column("place", "Place", wrap=True),
    number("other_value", "Other value", 1),
    Column("other_place", "Other place", wrap=True),
)
_DISPUTES = (
    Column("question", "Question"),
    Column("nugget", "Nugget"),
    Column("votes", "Votes", wrap=True),
    number("value", "Counts", 1, "Value that counts: of the majority, or of a tie."),
    Column("tie", "Tie"),
    Column("places", "Places", wrap=True),
)
_MAX_SHOWN = 20  # rows of contradictions and disputes that people are shown
_KAPPA = "Cohen's kappa of carried (also in part) or not."
_JUDGES = (
    Column("judge", "Judge"),
    Column("kind", "Kind"),
    number("labels", "Labels"),
    number("carried", "Carried", 3, "Share of labels that are support or partial support."),
    number("others_units", "Others", help="Pairs on which the other judges have a majority."),
    number("others_equal", "Equal", 3, "Share equal to the majority of the other judges."),
    number("others_kappa", "Kappa", 3, help=_KAPPA),
    number("adjudicated_units", "Adjudicated", help="Pairs that were adjudicated."),
    number("adjudicated_equal", "Equal", 3, "Share equal to the adjudicated label."),
    number("adjudicated_kappa", "Kappa", 3, help=_KAPPA),
)
_PAIRS = (
    Column("first", "Judge"),
    Column("second", "Judge"),
    number("units", "Pairs", help="Pairs of response and nugget that both judged."),
    number("equal", "Equal", 3),
    number("kappa", "Kappa", 3, help=_KAPPA),
    Column("note", "", wrap=True),
)


def contents_document(set_contents: NuggetContents) -> Document:
    """Return the report of a set that could be read, or of every problem."""
    blocks: list[Table | Figure] = []
    if set_contents.nuggets is None:
        blocks.append(problems_table(set_contents.problems))
    else:
        title = "Contradictory judgements of the same words (the highest value counts)"
        disputes = "Pairs of response and nugget on which judges disagree"
        contents = Table("rows", "Contents", _CENSUS, set_contents.rows, open=True)
        blocks += [
            *_difficulty(set_contents.difficulty, contents),
            *_full_and_short_table(
                "contradictions", title, _CONTRADICTIONS, set_contents.contradictions
            ),
            *_full_and_short_table("disputes", disputes, _DISPUTES, set_contents.disputes),
        ]
    title = f"Nugget set {set_contents.name}"
    return Document(title, blocks, answer=contents_answer(set_contents))


def contents_answer(contents: NuggetContents) -> tuple[str, ...]:
    """Return the size of the set and the judged share, or that it cannot be used."""
    if contents.nuggets is None:
        return (f"The set cannot be used: {format_count(contents.problem_count, 'problem')}.",)
    (row,) = contents.rows
    size = (
        f"{format_count(row.questions, 'question')} with "
        f"{format_count(row.vital, 'vital nugget')} and "
        f"{row.okay:,} okay; {format_count(row.runs, 'run')}"
    )
    if not row.runs:
        return (f"{size}.",)
    judged = f"{percentage(row.judged, 1)} of the pairs of response and nugget are judged"
    problems = [
        format_count(len(rows), name)
        for rows, name in (
            (contents.contradictions, "contradiction"),
            (contents.disputes, "disputed pair"),
        )
        if rows
    ]
    conflicts = f" Judgements: {' and '.join(problems)}." if problems else ""
    return (f"{size}; {judged}.{conflicts}",)


def _difficulty(bins: Sequence[DifficultyBin], contents: Table) -> list[Table | Figure]:
    """Return the paper's Figure 4 as a chart, the contents, and the figure as a table."""
    from karat.report.charts.models import ChartRow, RowChart

    if not bins:
        return [contents]
    title = "Nuggets by the number of runs that carry them"
    bars = [ChartRow(f"{b.label} run{'s' * (b.high != 1)}", 100 * b.share) for b in bins]
    chart = Figure(title, RowChart(title, "nuggets, percent", bars, "bar", baseline=0.0))
    return [chart, contents, Table("difficulty", title, _BINS, bins)]


def _full_and_short_table(
    key: str, title: str, columns: tuple[Column, ...], rows: Sequence[Any]
) -> Iterator[Table]:
    """Yield a table of all rows for programs, and one of the first with short places for people."""
    if rows:
        more = (f"The first {_MAX_SHOWN} of {len(rows):,}.",) if len(rows) > _MAX_SHOWN else ()
        first = [{**row._asdict(), **_short_places_of(row)} for row in rows[:_MAX_SHOWN]]
        yield Table(key, title, columns, rows, readers="programs")
        yield Table(f"first_{key}", title, columns, first, notes=more, readers="people")


def _short_places_of(row: Any) -> dict[str, str]:
    """Return the places of a row without leading folders."""
    if not hasattr(row, "other_place"):
        return {"places": "; ".join(short_places(row.places.split("; ")))}
    first, second = short_places([row.place, row.other_place])
    return {"place": first, "other_place": second}


def nugget_judges_document(agreement: NuggetJudgeAgreement) -> Document:
    """Return the document of ratings with Cohen's kappa of each judge and of each pair."""
    document = judges_document(agreement)
    tables = [Table("kappa", "Each judge: Cohen's kappa", _JUDGES, agreement.kappa)]
    if agreement.pairs:
        tables.append(Table("pairs", "Two judges", _PAIRS, agreement.pairs))
    return replace(document, blocks=(*document.blocks, *tables))


_ROWS = (
    Column("question", "Question"),
    Column("nugget", "Nugget"),
    Column("importance", "Importance", filter=True),
    Column("description", "Description", wrap=True),
    number("document", "Document", detail=True),
    Column("quote", "Quote", wrap=True, help="Words of the document that state the fact."),
)
_REFUSED = (
    Column("question", "Question"),
    Column("fact", "Fact", wrap=True),
    Column("why", "Reason", field="reason"),
)
_MISSING = (Column("question", "Question"), Column("why", "Reason", wrap=True, field="reason"))


def drafts_document(drafts: DraftedNuggets) -> Document:
    """Return the report on a drafted key."""
    tables = (
        Table("refused", "Refused facts", _REFUSED, drafts.refused),
        Table("missing", "Questions without a draft", _MISSING, drafts.missing),
    )
    return Document(
        f"Draft of a key for {drafts.name}",
        (
            Table("rows", "Nuggets", _ROWS, drafts.rows, open=True),
            *(table for table in tables if table.rows),
            *usage_tables(drafts.usage),
        ),
        signatures={drafts.model: drafts.signature},
        answer=drafts_answer(drafts),
        basis=usage_sentence(drafts.usage),
    )


def drafts_answer(drafts: DraftedNuggets) -> tuple[str, ...]:
    """Return the size of the draft, and the number of questions without one."""
    vital = sum(row.importance == "vital" for row in drafts.rows)
    size = f"{format_count(len(drafts.rows), 'nugget')} ({vital:,} vital)"
    text = f"{drafts.model} drafted {size} for {format_count(len(drafts.questions), 'question')} of"
    refused = f" {format_count(len(drafts.refused), 'fact')} refused." if drafts.refused else ""
    lacks = f"{format_count(len(drafts.missing), 'question')} without a draft."
    return (f"{text} {drafts.name}.{refused}", *([lacks] if drafts.missing else []))
