"""The page of `nuggets score`: for each question nuggets by runs, and a way to the responses.

A cell leads to the response that carries the nugget, or to the run's answer where none does; there
the words that speak for the nugget are marked. The page is complete without its script, which marks
one nugget's words at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from karat.report.charts.models import HeatMap
from karat.report.model.table import Document, Figure, Link, Row, Table
from karat.report.page.markup import element, quote

if TYPE_CHECKING:
    from karat.nuggets.scores.scoring import Scored
    from karat.nuggets.sets.keys import Question
    from karat.nuggets.sets.nugget_set import NuggetSet

Block: TypeAlias = Table | Figure
SIGNS = {1.0: "●", 0.5: "◐", 0.0: "·"}
_WORDS = {1.0: "carries", 0.5: "carries in part", 0.0: "does not carry"}
LEGEND = (
    "● carried, ◐ in part, · not, – no response, ? undecided; in brackets: guessed by a "
    "classifier. A sign leads to the response, where the words that speak for the nugget are "
    "marked."
)
MOST_WORDS = 2_000
"""Words of a response that the page shows; longer ones are cut."""


def score_page(
    document: Document, nuggets: NuggetSet, scored: Sequence[Scored], strict: bool
) -> Document:
    """A report of scores with matrices, to which the table of questions leads.

    What a page is for comes before long tables.
    """
    titles = {question.id: _title(question) for question in nuggets.key.questions.values()}
    first, *others = document.blocks
    figures = matrix_figures(nuggets, scored, strict)
    return replace(document, blocks=(first, *figures, *(_led(one, titles) for one in others)))


def _led(block: Block, titles: Mapping[str, str]) -> Block:
    """The table of questions with ways to their matrices."""
    if not isinstance(block, Table) or block.key != "questions":
        return block
    rows: list[Row] = []
    for row in block.rows:
        id = str(row["question"])
        rows.append({**row, "question": Link(id, titles[id])})
    return replace(block, rows=rows)


def _title(question: Question) -> str:
    return f"Question {question.id}" + (f": {question.text}" if question.text else "")


def matrix_figures(nuggets: NuggetSet, scored: Sequence[Scored], strict: bool) -> list[Figure]:
    """One figure for each question."""
    return [
        _figure(question, number, scored, strict)
        for number, question in enumerate(nuggets.key.questions.values())
    ]


def _figure(question: Question, number: int, scored: Sequence[Scored], strict: bool) -> Figure:
    title = _title(question)
    supports = [one.decided[question.id].support(strict).tolist() for one in scored]
    chart = HeatMap(
        title,
        "nugget",
        "run",
        [nugget.id for nugget in question.nuggets],
        [one.run.tag for one in scored],
        [[column[j] for column in supports] for j in range(len(question.nuggets))],
        digits=1,
        low=0,
        high=1,
    )

    def page() -> str:
        table = _table(question, number, scored, supports, strict)
        return "".join([table, *_answers(question, number, scored)])

    return Figure(title, chart, LEGEND, page=page, script="nuggets/report/nuggets.js")


def _table(
    question: Question,
    number: int,
    scored: Sequence[Scored],
    supports: Sequence[list[float]],
    strict: bool,
) -> str:
    """Nuggets down, runs across."""
    tags = [
        element("th", element("span", quote(one.run.tag)), scope="col", class_="tag")
        for one in scored
    ]
    head = element("tr", element("th", "Nugget", scope="col"), *tags)
    rows = []
    for j, nugget in enumerate(question.nuggets):
        kind = element("em", f" {nugget.importance}")
        name = element("th", quote(nugget.descriptions[0]) + kind, scope="row")
        cells = [
            _cell(question, number, one, run, j, column[j], strict)
            for run, (one, column) in enumerate(zip(scored, supports, strict=True))
        ]
        rows.append(element("tr", name, *cells))
    return element("table", element("thead", head), element("tbody", *rows), class_="matrix")


def _cell(
    question: Question,
    number: int,
    one: Scored,
    run: int,
    nugget: int,
    support: float,
    strict: bool,
) -> str:
    """A sign that leads to the response it is about."""
    decided = one.decided[question.id]
    credit = decided.credit(strict)[nugget]
    by = decided.by(nugget, credit)
    name = question.nuggets[nugget].id
    told = f"{one.run.tag} {_WORDS[support]} nugget {name} ({by})"
    sign = SIGNS[support] if by != "guess" else f"({SIGNS[support]})"
    if by in ("no response", "nothing"):
        return element("td", "–" if by == "no response" else "?", title=told)
    place = _anchor(number, run, 0 if credit is None else credit)
    link = element(
        "a", sign, href=f"#{place}", aria_label=told, title=told, data_nugget=str(nugget)
    )
    return element("td", link)


def _anchor(question: int, run: int, response: int) -> str:
    return f"answer-{question}-{run}-{response}"


def _answers(question: Question, number: int, scored: Sequence[Scored]) -> Iterator[str]:
    """The responses of each run, folded away until they are asked for."""
    for run, one in enumerate(scored):
        responses = one.run.responses(question.id)
        if responses:
            items = [
                element("p", _marked(question, response.text), id=_anchor(number, run, i))
                for i, response in enumerate(responses)
            ]
            count = f"{len(responses):,} response{'s' * (len(responses) > 1)}"
            summary = element("summary", quote(f"{one.run.tag}: {count}"))
            yield element("details", summary, *items, class_="answer")


def _marked(question: Question, text: str) -> str:
    """A response in which words that speak for a nugget are marked with its number."""
    from karat.nuggets.judging.likelihood import spoken_for

    pieces, end, count = [], 0, 0
    for count, (word, found) in enumerate(spoken_for(text, question.nuggets), 1):
        if count > MOST_WORDS:
            continue
        nuggets = " ".join(map(str, found))
        shown = quote(word.text)
        gap = " " * (0 < end < word.start)
        pieces += [gap, element("mark", shown, data_nuggets=nuggets) if nuggets else shown]
        end = word.end
    more = f" … ({count - MOST_WORDS:,} more words)" if count > MOST_WORDS else ""
    return "".join(pieces) + more
