"""The page of `nuggets score`: for each question nuggets by runs, and a way to the responses.

A cell leads to the response that carries the nugget, or to the run's answer where none does; there
the words that speak for the nugget are marked. The page is complete without its script, which marks
one nugget's words at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from karat.report.charts.models import HeatMap
from karat.report.model.table import Block, Document, Figure, Link, Table
from karat.report.page.markup import element, quote

if TYPE_CHECKING:
    from karat.nuggets.results.scoring import NuggetRow, NuggetScoring, ScoredRun
    from karat.nuggets.sets.keys import Question

SIGNS = {1.0: "●", 0.5: "◐", 0.0: "·"}
_WORDS = {1.0: "carries", 0.5: "carries in part", 0.0: "does not carry"}
LEGEND = (
    "● carried, ◐ in part, · not, – no response, ? undecided; in brackets: guessed by a "
    "classifier. A sign leads to the response, where the words that speak for the nugget are "
    "marked."
)
MOST_WORDS = 2_000
"""Words of a response that the page shows; longer ones are cut."""


def score_page(document: Document, found: NuggetScoring) -> Document:
    """Return a report of scores with matrices, to which the table of questions leads.

    What a page is for comes before long tables.
    """
    cells: dict[tuple[str, str], list[NuggetRow]] = {}
    for row in found.decisions:
        cells.setdefault((row.question, row.run), []).append(row)
    questions = found.nuggets.key.questions.values()
    titles = {q.id: f"Question {q.id}" + (f": {q.text}" if q.text else "") for q in questions}
    figures = []
    for number, question in enumerate(questions):
        columns = [cells[question.id, one.run.tag] for one in found.scored]
        figures.append(_figure(question, titles[question.id], number, found, columns))
    first, *others = document.blocks
    return replace(document, blocks=(first, *figures, *(_led(one, titles) for one in others)))


def _led(block: Block, titles: Mapping[str, str]) -> Block:
    """The table of questions with ways to their matrices."""
    if not isinstance(block, Table) or block.key != "questions":
        return block
    links = {id: Link(id, title) for id, title in titles.items()}
    rows = [{**row, "question": links[str(row["question"])]} for row in block.rows]
    return replace(block, rows=rows)


def _figure(
    question: Question, title: str, number: int, found: NuggetScoring, by_run: list[list[NuggetRow]]
) -> Figure:
    """One figure of a question: nuggets down, runs across, and the responses."""
    tags = [one.run.tag for one in found.scored]
    rows = list(zip(*by_run, strict=True))
    names = [nugget.id for nugget in question.nuggets]
    shades = [[row.support or 0.0 for row in some] for some in rows]
    chart = HeatMap(title, "nugget", "run", names, tags, shades, digits=1, low=0, high=1)

    def page() -> str:
        spans = [element("span", quote(tag)) for tag in tags]
        heads = [element("th", span, scope="col", class_="tag") for span in spans]
        body = []
        for j, some in enumerate(rows):
            kind = element("em", f" {some[0].importance}")
            name = element("th", quote(some[0].description) + kind, scope="row")
            cells = [_cell(number, run, j, row) for run, row in enumerate(some)]
            body.append(element("tr", name, *cells))
        head = element("thead", element("tr", element("th", "Nugget", scope="col"), *heads))
        table = element("table", head, element("tbody", *body), class_="matrix")
        return table + "".join(_answers(question, number, found.scored))

    return Figure(title, chart, LEGEND, page=page, script="nuggets/report/nuggets.js")


def _cell(number: int, run: int, nugget: int, row: NuggetRow) -> str:
    """A sign that leads to the response it is about."""
    support = row.support or 0.0
    told = f"{row.run} {_WORDS[support]} nugget {row.nugget} ({row.by})"
    if row.by in ("no response", "nothing"):
        return element("td", "–" if row.by == "no response" else "?", title=told)
    sign = SIGNS[support] if row.by != "guess" else f"({SIGNS[support]})"
    place = _anchor(number, run, (row.response or 1) - 1)
    told_of = {"aria_label": told, "title": told, "data_nugget": str(nugget)}
    return element("td", element("a", sign, href=f"#{place}", **told_of))


def _anchor(question: int, run: int, response: int) -> str:
    return f"answer-{question}-{run}-{response}"


def _answers(question: Question, number: int, scored: Sequence[ScoredRun]) -> Iterator[str]:
    """The responses of each run, folded away until they are asked for."""
    for run, one in enumerate(scored):
        if responses := one.run.responses(question.id):
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
        nuggets, shown = " ".join(map(str, found)), quote(word.text)
        gap = " " * (0 < end < word.start)
        pieces += [gap, element("mark", shown, data_nuggets=nuggets) if nuggets else shown]
        end = word.end
    more = f" … ({count - MOST_WORDS:,} more words)" if count > MOST_WORDS else ""
    return "".join(pieces) + more
