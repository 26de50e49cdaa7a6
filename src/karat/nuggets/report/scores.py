"""The reports of `karat nuggets`: what is in a set, and what a run is worth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from karat.report.model.table import Cell, Column, Document, Figure, Row, Table

if TYPE_CHECKING:
    from karat.nuggets.guess.guesses import RunIntervals
    from karat.nuggets.scores.nugget_shares import Shares
    from karat.nuggets.scores.official import RunScore
    from karat.nuggets.scores.pourpre import Pourpre
    from karat.nuggets.scores.scoring import Scored, Scoring
    from karat.nuggets.sets.census import Bin, Spread
    from karat.nuggets.sets.judgements import Contradiction, Dispute
    from karat.nuggets.sets.keys import Nugget
    from karat.nuggets.sets.nugget_set import NuggetSet
    from karat.nuggets.sets.runs import Response

_INTERVAL = "± is 1.96 standard errors."
_CENSUS = (
    Column("name", "Set"),
    Column("questions", "#ques", align="right"),
    Column("vital", "#vital", align="right"),
    Column("okay", "#okay", align="right"),
    Column("nuggets", "#n/q", 1, align="right", help="Nuggets of a question."),
    Column("nuggets_half", "±", 1, align="right", help=_INTERVAL),
    Column("runs", "#sys", align="right"),
    Column("responses", "#r/s", 1, align="right", help="Responses of a run."),
    Column("responses_half", "±", 1, align="right", help=_INTERVAL),
    Column("answers", "#r/q/s", 1, align="right", help="Responses of a run to a question."),
    Column("answers_half", "±", 1, align="right", help=_INTERVAL),
    Column("judgements", "Judgements", align="right"),
    Column("judged", "Judged", 3, align="right", help="Share of pairs of response and nugget."),
)
_BINS = (
    Column("systems", "Found by", help="So many runs were judged to carry the nugget."),
    Column("low", "Low", readers="programs"),
    Column("high", "High", readers="programs"),
    Column("nuggets", "Nuggets", align="right"),
    Column("share", "Share", 3, align="right"),
)
_CONTRADICTIONS = (
    Column("question", "Question"),
    Column("nugget", "Nugget"),
    Column("value", "Value", 1, align="right"),
    Column("place", "Place", wrap=True),
    Column("other_value", "Other", 1, align="right"),
    Column("other_place", "Place", wrap=True),
)
_DISPUTES = (
    Column("question", "Question"),
    Column("nugget", "Nugget"),
    Column("votes", "Votes", wrap=True),
    Column("value", "Counts", 1, align="right", help="The value of the majority, or of a tie."),
    Column("tie", "Tie"),
    Column("places", "Places", wrap=True),
)
_MOST = 20  # contradictions that people are shown
_PROBLEMS = (Column("problem", "Problem", wrap=True),)


def describe_document(
    given: str, nuggets: NuggetSet | None, problems: Sequence[str], command: str
) -> Document:
    """What is in a set, if it could be read, and every problem."""
    from karat.nuggets.sets.nugget_set import remarks

    blocks: list[Table | Figure] = []
    notes: list[str] = []
    if nuggets is not None:
        blocks.append(Table("rows", "Contents", _CENSUS, [_census(nuggets)]))
        if nuggets.runs and nuggets.judgements.deciding:
            blocks += _difficulty(nuggets)
        blocks += _contradictions(nuggets) + _disputes(nuggets)
        notes = remarks(nuggets)
    else:
        rows: list[Row] = [{"problem": problem} for problem in problems]
        blocks.append(Table("problems", "Problems", _PROBLEMS, rows))
    return Document(f"Nugget set {given}", tuple(blocks), command, {}, notes=tuple(notes))


def _census(nuggets: NuggetSet) -> Row:
    from karat.nuggets.sets.census import census

    found = census(nuggets)._asdict()
    spreads: dict[str, Spread] = {
        key: found.pop(key) for key in ("nuggets", "responses", "answers")
    }
    cells: dict[str, Cell] = {"name": nuggets.name, **found}
    for key, value in spreads.items():
        cells |= {key: value.mean, f"{key}_half": value.half}
    return cells


def _difficulty(nuggets: NuggetSet) -> list[Table | Figure]:
    """Figure 4, as a table and as a chart."""
    from karat.nuggets.sets.census import difficulty
    from karat.report.charts.models import Bars, Interval

    bins = difficulty(nuggets)
    title = "Nuggets by how many systems found them"
    rows: list[Row] = [{"systems": b.label, **b._asdict()} for b in bins]
    items = [Interval(_systems(b), 100 * b.share) for b in bins]
    chart = Bars(title, "Nuggets, percent", items)
    return [Table("difficulty", title, _BINS, rows), Figure(title, chart)]


def _contradictions(nuggets: NuggetSet) -> list[Table | Figure]:
    """Judgements of the same words that differ: all for programs, the first for people."""
    found = nuggets.judgements.contradictions
    if not found:
        return []
    title = "Judgements that contradict each other; the highest counts"
    more = f"The first {_MOST} of {len(found):,}." if len(found) > _MOST else ""
    whole = [_both(pair, (pair.first.place, pair.second.place)) for pair in found]
    short = [_both(p, _short(p.first.place, p.second.place)) for p in found[:_MOST]]
    return [
        Table("contradictions", title, _CONTRADICTIONS, whole, readers="programs"),
        Table(
            "first_contradictions",
            title,
            _CONTRADICTIONS,
            short,
            notes=(more,) if more else (),
            readers="people",
        ),
    ]


def _disputes(nuggets: NuggetSet) -> list[Table | Figure]:
    """Pairs on which judges contradict each other: all for programs, the first for people."""
    found = nuggets.judgements.disputes
    if not found:
        return []
    title = "Pairs of response and nugget on which judges contradict each other"
    rows = [_dispute(one) for one in found]
    more = (f"The first {_MOST} of {len(found):,}.",) if len(found) > _MOST else ()
    return [
        Table("disputes", title, _DISPUTES, rows, readers="programs"),
        Table("first_disputes", title, _DISPUTES, rows[:_MOST], notes=more, readers="people"),
    ]


def _dispute(one: Dispute) -> Row:
    from karat.nuggets.sets.judgements import UNNAMED

    return {
        "question": one.rows[0].question,
        "nugget": one.rows[0].nugget,
        "votes": ", ".join(f"{row.judge or UNNAMED} {row.value:g}" for row in one.rows),
        "value": one.value,
        "tie": "tie" if one.tie else "",
        "places": "; ".join(row.place for row in one.rows if row.place),
    }


def _both(pair: Contradiction, places: tuple[str, str]) -> Row:
    first, second = pair
    return {
        "question": first.question,
        "nugget": first.nugget,
        "value": first.value,
        "place": places[0],
        "other_value": second.value,
        "other_place": places[1],
    }


def _short(one: str, other: str) -> tuple[str, str]:
    """Places without the folders in front, but for what is needed to tell files apart."""
    files = [place.rpartition(", line ")[0].split("/") for place in (one, other)]
    lines = [place.rpartition(", line ")[2] for place in (one, other)]
    kept = 1
    while files[0] != files[1] and files[0][-kept:] == files[1][-kept:]:
        kept += 1
    if not all(map(any, files)):  # judgements that no file has
        return one, other
    first, second = (f"{'/'.join(f[-kept:])}, line {n}" for f, n in zip(files, lines, strict=True))
    return first, second


def _systems(found: Bin) -> str:
    return f"{found.label} system{'s' * (found.high != 1)}"


# --------------------------------------------------------------------------------- the scores

_RUNS = (
    Column("run", "Run"),
    Column("micro", "F micro", 3, align="right", help="F of sums over questions."),
    Column("macro", "F macro", 3, align="right", help="Mean of F over questions."),
    Column("f_low", "F low", 3, align="right", help="Lower end of the 95% interval of F macro."),
    Column("f_high", "F high", 3, align="right", help="Upper end of the 95% interval of F macro."),
    Column("micro_low", "F micro low", 3, align="right", readers="programs"),
    Column("micro_high", "F micro high", 3, align="right", readers="programs"),
    Column("recall", "Recall", 3, align="right", help="Mean over questions."),
    Column("precision", "Precision", 3, align="right", help="Mean over answers that have one."),
    Column("A", "A", 3, align="right", help="Share of all nuggets, half for partial support."),
    Column("low", "Low", 3, align="right", help="Lower end of the 95% interval of A."),
    Column("high", "High", 3, align="right", help="Upper end of the 95% interval of A."),
    Column("V", "V", 3, align="right", help="The same of vital nuggets."),
    Column("W", "W", 3, align="right", help="The same, okay nuggets weighing half."),
    Column("A_strict", "A strict", 3, align="right", help="Partial support does not count."),
    Column("V_strict", "V strict", 3, align="right", help="Partial support does not count."),
    Column("W_strict", "W strict", 3, align="right", help="Partial support does not count."),
    Column("questions", "Questions", align="right", readers="programs"),
    Column("known", "Known", 3, align="right", help="Share of decisions that were judged."),
    Column("guessed", "Guessed", 3, align="right", help="Share of decisions that are guesses."),
    Column("undecided", "Open", 3, align="right", help="Share that nothing decides: no credit."),
)
_QUESTIONS = (
    Column("run", "Run"),
    Column("question", "Question"),
    Column("f", "F", 3, align="right"),
    Column("recall", "Recall", 3, align="right"),
    Column("precision", "Precision", 3, align="right"),
    Column("vital_returned", "Vital", align="right", help="Vital nuggets returned."),
    Column("vital", "of", align="right", help="Vital nuggets in the key."),
    Column("okay_returned", "Okay", align="right", help="Okay nuggets returned."),
    Column("okay", "of", align="right", help="Okay nuggets in the key."),
    Column("length", "Length", align="right", help="Characters, white space not counted."),
    Column("allowance", "Allowance", 0, align="right", help="100 for every nugget returned."),
    Column("A", "A", 3, align="right", readers="programs"),
    Column("V", "V", 3, align="right", readers="programs"),
    Column("W", "W", 3, align="right", readers="programs"),
    Column("responses", "Responses", align="right", readers="programs"),
    Column("judged", "Judged", align="right", readers="programs"),
    Column("undecided", "Undecided", align="right", readers="programs"),
)
_NUGGETS = (
    Column("heading", "Question", readers="people"),
    Column("run", "Run", readers="programs"),
    Column("question", "Question", readers="programs"),
    Column("nugget", "Nugget"),
    Column("importance", "Importance"),
    Column("support", "Support", 1, align="right", help="1, 0.5 in part, 0; none if undecided."),
    Column("by", "By", help="What decided: a judgement or a guess."),
    Column("response", "Response", align="right", help="The first that carries it, from 1."),
    Column("evidence", "Evidence", wrap=True, help="Words of that response that speak for it."),
    Column("description", "Description", wrap=True),
)


def score_document(nuggets: NuggetSet, found: Scoring, details: bool, command: str) -> Document:
    """Runs, their answers and, with `details`, every nugget."""
    from karat.nuggets.scores.official import NAME

    scored = found.scored
    tables = [
        Table("rows", "Runs", without_ends(_RUNS, scored), [run_row(one) for one in scored]),
        Table(
            "questions",
            "Questions",
            _QUESTIONS,
            [row for one in scored for row in _questions(one)],
            group="run",
        ),
    ]
    if details:
        rows = [row for one in scored for row in _nuggets(nuggets, one, found.how.strict)]
        tables.append(Table("nuggets", "Nuggets", _NUGGETS, rows, group="heading"))
    return Document(
        f"Nuggets of {nuggets.name}",
        tuple(tables),
        command,
        {NAME: found.signature},
        notes=_notes(nuggets, found),
    )


_POURPRE = (
    Column("run", "Run"),
    Column("count_micro", "Count micro", 3, align="right", help="Every word weighs 1."),
    Column("count_macro", "Count macro", 3, align="right", help="Every word weighs 1."),
    Column("idf_micro", "idf micro", 3, align="right", help="Words weigh their idf."),
    Column("idf_macro", "idf macro", 3, align="right", help="Words weigh their idf."),
)


def with_pourpre(
    document: Document, found: Sequence[tuple[Pourpre, Sequence[RunScore]]]
) -> Document:
    """The report of scores with those of Pourpre, by counts and by idf, if there are any."""
    if not found:
        return document
    names = ("count", "idf")
    rows: list[Row] = []
    for pair in zip(*(scores for _, scores in found), strict=True):
        row: dict[str, Cell] = {"run": pair[0].run}
        for name, one in zip(names, pair, strict=True):
            row |= {f"{name}_micro": one.micro.f, f"{name}_macro": one.macro.f}
        rows.append(row)
    table = Table("pourpre", "Pourpre: F by words of descriptions", _POURPRE, rows)
    signed = {f"pourpre-{name}": how.signature for name, (how, _) in zip(names, found, strict=True)}
    first, *rest = document.blocks
    return replace(
        document, blocks=(first, table, *rest), signatures={**document.signatures, **signed}
    )


_ENDS = frozenset({"f_low", "f_high", "low", "high"})


def without_ends(columns: Sequence[Column], scored: Sequence[Scored]) -> tuple[Column, ...]:
    """The same columns; people are not shown the ends of intervals if there is none."""
    if any(one.intervals for one in scored):
        return tuple(columns)
    return tuple(replace(c, readers="programs") if c.key in _ENDS else c for c in columns)


def run_row(one: Scored) -> Row:
    """All scores of a run."""
    from karat.nuggets.scores.nugget_shares import mean_shares

    pairs = sum(decided.values.size for decided in one.decided.values())
    judged = sum(decided.judged for decided in one.decided.values())
    undecided = sum(decided.undecided for decided in one.decided.values())
    return {
        "run": one.run.tag,
        "micro": one.official.micro.f,
        "macro": one.official.macro.f,
        "recall": one.official.macro.recall,
        "precision": one.official.macro.precision,
        **_only(mean_shares(one.shares)),
        **_ends(one.intervals),
        "questions": len(one.official.questions),
        "known": judged / pairs if pairs else math.nan,
        "guessed": (pairs - judged - undecided) / pairs if pairs else math.nan,
        "undecided": undecided / pairs if pairs else math.nan,
    }


def _ends(found: RunIntervals | None) -> dict[str, Cell]:
    """The ends of all intervals; missing where there is none."""
    names = {"": "share", "f_": "macro", "micro_": "micro"}
    ends = {name: getattr(found, which) if found else None for name, which in names.items()}
    return {
        f"{name}{side}": getattr(one, side) if one else None
        for name, one in ends.items()
        for side in ("low", "high")
    }


def _only(shares: Shares) -> dict[str, Cell]:
    return {key: value for key, value in shares._asdict().items() if key not in ("run", "question")}


def _questions(one: Scored) -> list[Row]:
    """All questions of the key; a skipped one has no F."""
    scores = {row.question: row._asdict() for row in one.official.questions}
    return [
        {"run": one.run.tag, "question": row.question, **_only(row), **scores.get(row.question, {})}
        for row in one.shares
    ]


def _nuggets(nuggets: NuggetSet, one: Scored, strict: bool) -> list[Row]:
    rows: list[Row] = []
    for id, question in nuggets.key.questions.items():
        decided = one.decided[id]
        support, credit = decided.support(strict), decided.credit(strict)
        for j, nugget in enumerate(question.nuggets):
            by = decided.by(j, credit[j])
            text = f": {question.text}" if question.text else ""
            rows.append(
                {
                    "heading": f"{one.run.tag}, question {id}{text}",
                    "run": one.run.tag,
                    "question": id,
                    "nugget": nugget.id,
                    "importance": nugget.importance,
                    "support": None if by == "nothing" else float(support[j]),
                    "by": by,
                    "response": None if (first := credit[j]) is None else first + 1,
                    "evidence": _evidence(one.run.responses(id), first, nugget),
                    "description": nugget.descriptions[0],
                }
            )
    return rows


def _evidence(responses: Sequence[Response], credit: int | None, nugget: Nugget) -> str | None:
    from karat.nuggets.judging.likelihood import quoted, spoken

    return None if credit is None else quoted(spoken(responses[credit].text, nugget))


def _notes(nuggets: NuggetSet, scoring: Scoring) -> tuple[str, ...]:
    from karat.nuggets.sets.nugget_set import remarks

    scored, found = scoring.scored, remarks(nuggets, corrected=scoring.corrected)
    skipped = list(dict.fromkeys(q for one in scored for q in one.official.skipped))
    if skipped:
        found.append(
            f"Skipped, not scored 0: {', '.join(skipped)}; no nugget there has any weight."
        )
    if any(decided.undecided for one in scored for decided in one.decided.values()):
        found.append("Pairs of response and nugget that nobody judged get no credit.")
    return tuple(found)
