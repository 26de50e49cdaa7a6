"""The page of `nuggets diff`: vital nuggets lost and gained, and both responses side by side.

A script filters the cards; the first ones are complete without it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from karat.nuggets.results.changes import GAINED, KEPT, LOST, MISSED
from karat.nuggets.scores.decisions import GUESS, JUDGEMENT, NO_RESPONSE, NOTHING
from karat.nuggets.scores.shared_words import Word, best_window, spoken_for
from karat.report.charts.models import Bars, Interval
from karat.report.charts.svg.frame import shorten
from karat.report.model.table import Figure
from karat.report.page.markup import data, element, quote

if TYPE_CHECKING:
    from karat.nuggets.results.changes import ChangeRow, NuggetChanges
    from karat.nuggets.sets.keys import Question
    from karat.nuggets.sets.runs import Response

TITLE = "Nuggets lost and gained"
MOST_LISTED = 8
"""Vital nuggets in each of the two columns."""
MOST_DRAWN = 12
"""Cards that a page has without its script."""
MOST_WORDS = 40
"""Words of a response on a card."""
LONGEST = 80
"""Letters of a question on a card."""
SIGNS = {LOST: "▼ lost", GAINED: "▲ gained", KEPT: "= kept", MISSED: "✕ missed by both"}
_BY = {JUDGEMENT: "judged", GUESS: "guessed", NOTHING: "not judged", NO_RESPONSE: "no response"}
_ORDER = {LOST: 0, GAINED: 1, MISSED: 2, KEPT: 3}


class Card(NamedTuple):
    """A nugget: what filters ask for, and its markup."""

    change: str
    importance: str
    by: str
    markup: str


def changes_figure(found: NuggetChanges) -> Figure:
    """Return the figure of lost and gained nuggets; in other formats than pages, their counts."""
    counts = {row.change: row for row in found.counts}
    bars = [
        Interval(f"{change}, {kind}", getattr(counts[change], kind))
        for kind in ("vital", "okay")
        for change in (LOST, GAINED)
    ]
    return Figure(
        TITLE,
        Bars(TITLE, "nuggets", bars),
        page=lambda: _page(found),
        script="nuggets/report/changes.js",
        covers=("rows",),
    )


def _page(found: NuggetChanges) -> str:
    rows = sorted(found.all, key=lambda row: (_ORDER[row.change], row.importance != "vital"))
    cards = list(_cards(found, rows))
    changed = [card for card in cards if card.change in (LOST, GAINED)]
    columns = [_column(found, change) for change in (LOST, GAINED)]
    drawn = [card.markup for card in changed[:MOST_DRAWN]]
    more = f"The first {len(drawn)} of {len(changed):,}." if len(changed) > len(drawn) else ""
    parts = [
        element("div", *columns, class_="columns"),
        _tools(),
        element("div", *drawn, class_="cards"),
        element("p", more, class_="note more"),
        data(cards),
    ]
    return element("div", *parts, class_="changes")


def _column(found: NuggetChanges, change: str) -> str:
    """The vital nuggets that were lost, or gained."""
    rows = [row for row in found.all if row.change == change and row.importance == "vital"]
    items = [
        element("li", quote(row.description), " ", element("small", quote(row.question)))
        for row in rows[:MOST_LISTED]
    ]
    left = len(rows) - len(items)
    items += [element("li", f"and {left:,} more below")] if left else []
    title = element("h3", f"{SIGNS[change]}: {len(rows):,} vital")
    inner = element("ul", *items) if items else element("p", "none", class_="note")
    return element("div", title, inner, class_=f"column {change}")


def _tools() -> str:
    """Controls that the script brings to life."""
    kinds = {"": "lost or gained", LOST: "lost", GAINED: "gained", KEPT: "kept"}
    kinds |= {MISSED: "missed by both", "all": "all"}
    tools = [
        element("label", "Search ", '<input type="search">'),
        _select("Change", "change", kinds),
        _select("Importance", "importance", {"": "all", "vital": "vital", "okay": "okay"}),
        _select("Decided by", "by", {"": "all", **_BY}),
    ]
    return element("p", *tools, class_="tools", hidden="hidden")


def _select(label: str, name: str, options: dict[str, str]) -> str:
    inner = [element("option", text, value=value) for value, text in options.items()]
    return element("label", label, " ", element("select", *inner, class_=name))


# --------------------------------------------------------------------------------------- cards


def _cards(found: NuggetChanges, rows: Sequence[ChangeRow]) -> Iterator[Card]:
    questions, both = found.scoring.nuggets.key.questions, found.scoring.scored
    told = {
        id: [_passages(question, one.run.responses(id)) for one in both]
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
        for passage, one, text in zip(told[row.question], both, texts, strict=True):
            shown = passage(j, text) if row.change != MISSED else ""
            sides.append((one.run.tag, bool(text), shown))
        yield Card(row.change, row.importance, row.by, _card(row, questions[row.question], sides))


def _card(row: ChangeRow, question: Question, sides: Sequence[tuple[str, bool, str]]) -> str:
    kind = f"{SIGNS[row.change]} · {row.importance}"
    title = shorten(f"{question.id}: {question.text}" if question.text else question.id, LONGEST)
    p = guess_probabilities(row)
    by = f" · {_BY[row.by]}{f' (p {p})' if p else ''}"
    what = element("span", element("strong", kind, class_=row.change), by)
    head = element("header", what, element("span", quote(title)))
    name = element("p", quote(row.description), class_="nugget")
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
    return element("article", head, name, *inner, class_="case")


def guess_probabilities(row: ChangeRow) -> str | None:
    """The probabilities of guesses about both versions: `0.12 → 0.85`, `judgement → 0.85`."""
    if row.old_p is None and row.new_p is None:
        return None
    shown = (
        source if p is None else f"{p:.2f}"
        for source, p in ((row.old_by, row.old_p), (row.new_by, row.new_p))
    )
    return " → ".join(shown)


Told = Sequence[tuple[Word, Sequence[int]]]


def _passages(question: Question, responses: Sequence[Response]) -> Callable[[int, str], str]:
    """Return what finds the passage of a run's answer that is nearest to a nugget.

    That is a part of the response that gets the credit or, without one, of the response that has
    most of the nugget's words.
    """
    told = {one.text: list(spoken_for(one.text, question.nuggets)) for one in responses}

    def passage(nugget: int, credited: str) -> str:
        if not told:
            return element("em", "no response")
        text = credited or max(told, key=lambda text: _shared(told[text], nugget))
        return _marked(text, told[text], nugget)

    return passage


def _shared(words: Told, nugget: int) -> int:
    return sum(nugget in found for _, found in words)


def _marked(text: str, words: Told, nugget: int) -> str:
    """Some words of a response in a row, marked where the nugget has them too."""
    some = best_window([nugget in found for _, found in words], MOST_WORDS)
    pieces, end = ["… " * (some.start > 0)], words[some.start][0].start if some else 0
    for word, found in (words[k] for k in some):
        shown = quote(word.text)
        pieces.append(quote(text[end : word.start]))
        pieces.append(element("mark", shown) if nugget in found else shown)
        end = word.end
    return "".join([*pieces, " …" * (some.stop < len(words))])
