"""The report of `nuggets diff`: nuggets gained and lost, and whether that is significant."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from karat.nuggets.report.matrix import select_box
from karat.nuggets.report.scores import (
    CONTRADICTION,
    F_BETA,
    SHARES,
    changes_answer,
    changes_basis,
    difference_gallery,
    difference_row,
    without_ends,
)
from karat.nuggets.results.changes import GAINED, KEPT, LOST, MISSED
from karat.nuggets.scores.decisions import GUESS, JUDGEMENT, LABEL, NO_RESPONSE, NOTHING
from karat.nuggets.scores.words import ResponseWord, best_window, words_with_nuggets
from karat.report.charts.models import (
    ChartLine,
    ChartRow,
    Point,
    RowChart,
    XYChart,
)
from karat.report.charts.svg.frame import shorten
from karat.report.markup import data, element, quote
from karat.report.model import Block, Document, Figure, Table
from karat.results import Column, number, people_column

if TYPE_CHECKING:
    from karat.nuggets.results.changes import ChangeRow, NuggetChanges
    from karat.nuggets.sets.keys_and_runs import Question, Response


TITLE = "Nuggets lost and gained"
MAX_LISTED = 8
"""Vital nuggets in each of the two columns."""
MAX_DRAWN = 12
"""Cards that a page has without its script."""
MAX_WORDS = 40
"""Words of a response on a card."""
LONGEST = 80
"""Letters of a question on a card."""
SIGNS = {LOST: "▼ lost", GAINED: "▲ gained", KEPT: "= kept", MISSED: "✕ missed by both"}
_BY = {
    JUDGEMENT: "judged",
    GUESS: "guessed",
    LABEL: "labelled by a model",
    NOTHING: "not judged",
    NO_RESPONSE: "no response",
}
_ORDER = {LOST: 0, GAINED: 1, MISSED: 2, KEPT: 3}


class Card(NamedTuple):
    """A nugget: the values of filters, and its markup."""

    change: str
    importance: str
    by: str
    markup: str


def changes_figure(changes: NuggetChanges) -> Figure:
    """Return the figure of lost and gained nuggets; in other formats than pages, their counts."""
    counts = {row.change: row for row in changes.counts}
    bars = [
        ChartRow(f"{change}, {kind}", getattr(counts[change], kind))
        for kind in ("vital", "okay")
        for change in (LOST, GAINED)
    ]
    return Figure(
        TITLE,
        RowChart(TITLE, "nuggets", bars, "bar", baseline=0.0),
        page=lambda: _page(changes),
        script="nuggets/report/changes.js",
        covers=("rows",),
    )


def _page(changes: NuggetChanges) -> str:
    rows = sorted(changes.all, key=lambda row: (_ORDER[row.change], row.importance != "vital"))
    cards = list(_cards(changes, rows))
    changed = [card.markup for card in cards if card.change in (LOST, GAINED)]
    visible = changed[:MAX_DRAWN]
    more = f"The first {len(visible)} of {len(changed):,}." if len(changed) > len(visible) else ""
    columns = []
    for change in (LOST, GAINED):
        vital = [row for row in changes.all if row.change == change and row.importance == "vital"]
        items = [
            element("li", quote(row.description), " ", element("small", quote(row.question)))
            for row in vital[:MAX_LISTED]
        ]
        n_more = len(vital) - len(items)
        items += [element("li", f"and {n_more:,} more below")] if n_more else []
        title = element("h3", f"{SIGNS[change]}: {len(vital):,} vital")
        inner = element("ul", *items) if items else element("p", "none", class_="note")
        columns.append(element("div", title, inner, class_=f"column {change}"))
    kinds = {"": "lost or gained", LOST: "lost", GAINED: "gained", KEPT: "kept"}
    kinds |= {MISSED: "missed by both", "all": "all"}
    tools = [  # hidden until the script runs
        element("label", "Search ", '<input type="search">'),
        select_box("Change", "change", kinds),
        select_box("Importance", "importance", {"": "all", "vital": "vital", "okay": "okay"}),
        select_box("Decided by", "by", {"": "all", **_BY}),
    ]
    parts = [
        element("div", *columns, class_="columns"),
        element("p", *tools, class_="tools", hidden="hidden"),
        element("div", *visible, class_="cards"),
        element("p", more, class_="note more"),
        data(cards),
    ]
    return element("div", *parts, class_="changes")


# --------------------------------------------------------------------------------------- cards


def _cards(changes: NuggetChanges, rows: Sequence[ChangeRow]) -> Iterator[Card]:
    questions, versions = changes.scoring.nuggets.key.questions, changes.scoring.scored
    passages = {
        id: [_passages(question, version.run.responses(id)) for version in versions]
        for id, question in questions.items()
    }
    places = {
        (id, nugget.id): j
        for id, question in questions.items()
        for j, nugget in enumerate(question.nuggets)
    }
    for row in rows:
        sides = []
        j, texts = places[row.question, row.nugget], (row.old_response, row.new_response)
        for passage, version, text in zip(passages[row.question], versions, texts, strict=True):
            side_text = passage(j, text) if row.change != MISSED else ""
            sides.append((version.run.tag, bool(text), side_text))
        yield Card(row.change, row.importance, row.by, _card(row, questions[row.question], sides))


def _card(row: ChangeRow, question: Question, sides: Sequence[tuple[str, bool, str]]) -> str:
    kind = f"{SIGNS[row.change]} · {row.importance}"
    title = shorten(f"{question.id}: {question.text}" if question.text else question.id, LONGEST)
    p = guess_probabilities(row)
    by = f" · {_BY[row.by]}{f' (p {p})' if p else ''}"
    status = element("span", element("strong", kind, class_=row.change), by)
    head = element("header", status, element("span", quote(title)))
    name = element("p", quote(row.description), class_="nugget")
    contradictions = named_contradictions(row)
    facts = [element("p", quote(contradictions), class_="note")] if contradictions else []
    columns = [
        element(
            "div",
            element("h4", quote(f"{tag} {'carries it' if has else 'misses it'}")),
            element("p", text),
        )
        for tag, has, text in sides
        if text
    ]
    inner = [element("div", *columns, class_="sides")] if columns else []
    return element("article", head, name, *facts, *inner, class_="case")


def _passages(question: Question, responses: Sequence[Response]) -> Callable[[int, str], str]:
    """Return a function that finds the passage of a run's answer that is nearest to a nugget.

    The passage is part of the response that gets the credit or, without one, of the response with
    the most words of the nugget.
    """
    words_by_text = {
        response.text: words_with_nuggets(response.text, question.nuggets) for response in responses
    }

    def passage(nugget: int, credited: str) -> str:
        if not words_by_text:
            return element("em", "no response")
        text = credited or max(
            words_by_text,
            key=lambda text: sum(nugget in word.nuggets for word in words_by_text[text]),
        )
        return _marked(text, words_by_text[text], nugget)

    return passage


def _marked(text: str, words: Sequence[ResponseWord], nugget: int) -> str:
    """Return a window of a response, with the words of the nugget marked."""
    window = best_window([nugget in word.nuggets for word in words], MAX_WORDS)
    pieces, end = ["… " * (window.start > 0)], words[window.start].start if window else 0
    for word in words[window.start : window.stop]:
        word_markup = quote(word.text)
        pieces.append(quote(text[end : word.start]))
        pieces.append(element("mark", word_markup) if nugget in word.nuggets else word_markup)
        end = word.end
    return "".join([*pieces, " …" * (window.stop < len(words))])


def guess_probabilities(row: ChangeRow) -> str | None:
    """Return the probabilities of guesses on both versions: `0.12 → 0.85`, `judgement → 0.85`."""
    if row.old_p is None and row.new_p is None:
        return None
    texts = (
        source if p is None else f"{p:.2f}"
        for source, p in ((row.old_by, row.old_p), (row.new_by, row.new_p))
    )
    return " → ".join(texts)


def named_contradictions(row: ChangeRow) -> str | None:
    """Return the facts in which versions contradict the nugget: `new: numbers: nugget 17, …`."""
    sides = (("old", row.old_contradiction), ("new", row.new_contradiction))
    return "; ".join(f"{side}: {text}" for side, text in sides if text) or None


_ROWS = (
    people_column("heading", "Change", lambda row: row.change),
    Column("change", "Change", readers="programs"),
    Column("question", "Question"),
    Column("nugget", "Nugget"),
    Column("importance", "Importance"),
    Column("description", "Description", wrap=True),
    Column("response", "Response", wrap=True, readers="people"),  # with a passage
    Column("old_response", "Old response", readers="programs"),
    Column("new_response", "New response", readers="programs"),
    Column(
        "by", "By", help="Weaker source of the two: judgement, guess, nothing.", readers="people"
    ),
    people_column(
        "p",
        "p",
        guess_probabilities,
        help="Probability that the old, then the new version carries it, if guessed.",
    ),
    Column("old_by", "Old by", readers="programs"),
    Column("new_by", "New by", readers="programs"),
    number("old_p", "Old p", 3, readers="programs"),
    number("new_p", "New p", 3, readers="programs"),
    replace(CONTRADICTION, value=named_contradictions, readers="people"),
    Column("old_contradiction", "Old contradiction", readers="programs"),
    Column("new_contradiction", "New contradiction", readers="programs"),
)
_COUNTS = (Column("change", "Change"), number("vital", "Vital"), number("okay", "Okay"))
_SCORES = (
    Column("run", "Run"),
    number(
        "f",
        "F",
        4,
        f"Mean over questions of F(beta). {F_BETA}",
        value=lambda row: row.macro,
    ),
    number("f_low", "F low", 4, help="Lower end of the 95% interval of F."),
    number("f_high", "F high", 4, help="Upper end of the 95% interval of F."),
    *(number(key, key.capitalize(), 4, detail=True) for key in ("recall", "precision")),
    number("micro", "Micro F", 4, help="F(beta) of sums over questions.", detail=True),
    *(replace(column, digits=4, detail=column.key not in "AV") for column in SHARES),
)
_QUESTIONS = (
    Column("question", "Question"),
    number("old", "Old F", 4),
    number("new", "New F", 4),
    number("delta", "F change", 4, signed=True, help="New F minus old F."),
    number("old_A", "Old A", 4),
    number("new_A", "New A", 4),
    number("delta_A", "A change", 4, signed=True, help="New A minus old A."),
)
_TEST = (
    *(Column(key, key.capitalize()) for key in ("score", "questions", "old", "new", "delta")),
    Column("p", "p"),
    *(Column(key, key.capitalize()) for key in ("low", "high", "verdict")),
)


def changes_document(changes: NuggetChanges) -> Document:
    """Return the report of both versions: gained and lost nuggets first."""
    from karat.nuggets.scores.official import NAME
    from karat.nuggets.scores.words import excerpt

    rows = changes.scoring.rows
    old, new = (row.run for row in rows)
    nuggets = {
        (id, nugget.id): nugget
        for id, question in changes.scoring.nuggets.key.questions.items()
        for nugget in question.nuggets
    }

    def passage(row: ChangeRow) -> str:
        return excerpt(row.new_response or row.old_response, nuggets[row.question, row.nugget])

    of_guesses = {"p": guess_probabilities, CONTRADICTION.key: named_contradictions}
    hidden = {key for key, text in of_guesses.items() if not any(map(text, changes.rows))}
    columns = [
        replace(column, value=passage) if column.key == "response" else column
        for column in _ROWS
        if column.key not in hidden
    ]
    blocks: tuple[Block, ...] = (
        changes_figure(changes),
        *_pictures(changes, old, new),
        Table("scores", "Scores", without_ends(_SCORES, rows), rows),
        Table("counts", "Nuggets", _COUNTS, changes.counts),
        Table("rows", "What changed", columns, changes.rows, group="heading"),
        Table("questions", "Questions", _QUESTIONS, changes.questions),
        Table("test", "Tests", _TEST, changes.tests, readers="programs"),
    )
    return Document(
        f"From {old} to {new}",
        blocks,
        signatures={NAME: changes.signature},
        answer=changes_answer(changes),
        basis=changes_basis(changes),
    )


def _pictures(result: NuggetChanges, old: str, new: str) -> Iterator[Block]:
    """Yield charts of the changes of F and A with intervals, and of F of each question."""
    rows = [
        difference_row(test.score, test.delta, test.low, test.high, test.verdict)
        for test in result.tests
        if test.low is not None
    ]
    if rows:
        title = f"Change of scores from {old} to {new}"
        caption = "Dots: differences; lines: 95% intervals. Filled: decided."
        yield difference_gallery(title, old, rows, caption)
    points = [
        Point(row.old, row.new, row.question)
        for row in result.questions
        if row.old is not None and row.new is not None
    ]
    if len(points) > 1:
        title, caption = "F of each question", "Questions above the diagonal line improved."
        axes = f"F of {old}", f"F of {new}"
        yield Figure(title, XYChart(title, *axes, points, line=ChartLine(1.0, 0.0)), caption)
