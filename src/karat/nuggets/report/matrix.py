"""The questions on the page of `nuggets score`: nuggets by runs, with links to the responses.

A script shows one question at a time, from data in the page; the first questions are complete
without it. A cell links to the response that carries the nugget, or else to the run's answer; words
that it shares with the nugget are marked there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isnan
from typing import TYPE_CHECKING, Any

from karat.errors import visible
from karat.nuggets.results.scoring import score_name
from karat.nuggets.scores.decisions import GUESS, LABEL, NO_RESPONSE, NOTHING
from karat.nuggets.scores.words import words_with_nuggets
from karat.report.charts.models import CellChart
from karat.report.markup import data, element, quote
from karat.report.model import Figure, TextPassage

if TYPE_CHECKING:
    from karat.nuggets.results.scoring import NuggetScoring, ScoredRun
    from karat.nuggets.sets.keys_and_runs import Nugget, Question

TITLE = "Nuggets by question and run"
LEGEND = (
    "● carried, ◐ in part, · missed, ✕ vital and missed, – no response, ? undecided; in brackets: "
    "{}. Choose a sign to read the response; words that the nugget has too "
    "are marked."
)
STATES = {
    "2": ("●", "carries", "carried"),
    "1": ("◐", "carries in part", "part"),
    "0": ("·", "does not carry", "missed"),
    "-": ("–", "has no response for", "none"),
    "?": ("?", "is undecided on", "none"),
}
"""State of a cell: its sign, a verb for the tooltip, and its class; guesses are in brackets."""
VITAL_MISSED = "✕"
GUESSES = {"2": "c", "1": "b", "0": "a"}
_JUDGED = {guess: state for state, guess in GUESSES.items()}

MAX_CELLS = 1_000
"""Cells that a page has without its script; the first question is always there."""
MAX_BYTES = 1_500_000
"""Bytes of responses in a page: as many of the best runs as fit."""
MAX_ROWS = 1_000
"""Rows of the table of questions in a page; the matrices show the same."""
LONGEST = 12_000
"""Characters of a response in a page; longer ones are cut."""


@dataclass(frozen=True, eq=False)
class QuestionMatrix:
    """A question as the page shows it: vital nuggets first, the best runs first."""

    question: Question
    runs: Sequence[ScoredRun]
    scoring: NuggetScoring

    @property
    def strict(self) -> bool:
        """Whether partial support counts as none."""
        return self.scoring.official_settings.strict

    @property
    def title(self) -> str:
        """The id of the question, and its text."""
        return f"{self.question.id}: {self.question.text}" if self.question.text else self.id

    @property
    def id(self) -> str:
        """The id of the question."""
        return self.question.id

    @cached_property
    def order(self) -> list[int]:
        """Indices of the nuggets in the key, vital ones first."""
        nuggets = self.question.nuggets
        return sorted(range(len(nuggets)), key=lambda j: not nuggets[j].vital)

    @property
    def nuggets(self) -> list[Nugget]:
        """The nuggets, vital ones first."""
        return [self.question.nuggets[j] for j in self.order]

    @cached_property
    def credits(self) -> list[list[int | None]]:
        """Nuggets by runs: index of the response that gets the credit."""
        credits_by_run = [run.decisions[self.id].credit(self.strict) for run in self.runs]
        return [[credits[j] for credits in credits_by_run] for j in self.order]

    @cached_property
    def contradictions(self) -> dict[tuple[int, int], str]:
        """(nugget, run) -> the fact in which the run contradicts the nugget."""
        texts = {
            (row, k): self.scoring.contradiction(run, self.id, j, self.credits[row][k])
            for row, j in enumerate(self.order)
            for k, run in enumerate(self.runs)
        }
        return {cell: text for cell, text in texts.items() if text}

    @cached_property
    def states(self) -> list[str]:
        """A string for each nugget, with the state of every run."""
        support = [run.decisions[self.id].support(self.strict).tolist() for run in self.runs]
        return [
            "".join(
                self._state(run, j, support[k][j], credits[k]) for k, run in enumerate(self.runs)
            )
            for j, credits in zip(self.order, self.credits, strict=True)
        ]

    def _state(self, run: ScoredRun, j: int, support: float, credit: int | None) -> str:
        by = run.decisions[self.id].by(j, credit)
        if by in (NO_RESPONSE, NOTHING):
            return "-" if by == NO_RESPONSE else "?"
        state = "2" if support == 1 else "1" if support else "0"
        return GUESSES[state] if by in (GUESS, LABEL) else state

    @property
    def guessed(self) -> str:
        """Word for decisions without a judgement: `guessed`, or `labelled` by a model."""
        return "labelled" if self.scoring.model_labels else "guessed"

    def texts(self, run: ScoredRun) -> list[str]:
        """Return the responses of a run as the page shows them."""
        texts = [visible(response.text, keep="\n\t") for response in run.run.responses(self.id)]
        return [
            f"{text[:LONGEST]} … ({len(text) - LONGEST:,} more characters)"
            if len(text) > LONGEST
            else text
            for text in texts
        ]


def cell_text(state: str, *, vital: bool) -> str:
    """Return the sign of a cell."""
    kind = _JUDGED.get(state, state)
    sign = VITAL_MISSED if vital and kind == "0" else STATES[kind][0]
    return f"({sign})" if state in _JUDGED else sign


def questions_figure(scoring: NuggetScoring) -> Figure:
    """Return the figure of all questions; in other formats than pages, F of each as a heat map."""
    runs = [scoring.scored[k] for k in scoring.ranked]
    scores = {scored_run.run.tag: scored_run.by_question(scoring.scale) for scored_run in runs}
    ids, tags = list(scoring.nuggets.key.questions), [scored_run.run.tag for scored_run in runs]
    values = [[scores[tag].get(id) for tag in tags] for id in ids]
    title = f"{score_name(scoring)} by question and run"
    chart = CellChart(title, "question", "run", ids, tags, values, low=0, high=1)
    covers = ("nuggets", *(["questions"] if len(scoring.questions) > MAX_ROWS else []))
    script = "nuggets/report/nuggets.js"
    legend = LEGEND.format(
        "labelled by a model" if scoring.model_labels else "guessed by a classifier"
    )
    return Figure(TITLE, chart, legend, page=lambda: _page(scoring), script=script, covers=covers)


def _page(scoring: NuggetScoring) -> str:
    runs = [scoring.scored[k] for k in scoring.ranked]
    questions = scoring.nuggets.key.questions.values()
    matrices = [QuestionMatrix(question, runs, scoring) for question in questions]
    n_readable = _count_runs_with_responses(matrices, runs)
    scores = [item.by_question(scoring.scale) for item in runs]
    name = score_name(scoring)
    first = list(_first(matrices))
    markup = [
        _question(item, number, n_readable, scores, name) for number, item in enumerate(first)
    ]
    notes = []
    if len(first) < len(matrices):
        message = (
            f"The first {len(first):,} of {len(matrices):,} questions; a script shows the others."
        )
        notes.append(element("p", message, class_="note first"))
    if n_readable < len(runs):
        message = (
            f"To stay small, the page has the responses of {n_readable:,} of {len(runs):,} runs, "
            "the best ones. Score other runs by themselves to read theirs."
        )
        notes.append(element("p", message, class_="note"))
    page_data = {
        "score": name,
        "runs": [item.run.tag for item in runs],
        "states": STATES,
        "guesses": _JUDGED,
        "guessed": matrices[0].guessed if matrices else "",
        "missed": VITAL_MISSED,
        "questions": [_data(item, n_readable, scores) for item in matrices],
    }
    nuggets = {
        "": "all",
        "vital": "vital",
        "missed": "missed by all runs",
        "guessed": matrices[0].guessed,
    }
    tools = [  # hidden until the script runs
        element("label", "Search ", '<input type="search">'),
        element("label", "Question ", element("select", class_="chosen")),
        element("button", "Previous", type="button"),
        element("button", "Next", type="button"),
        select_box("Order", "order", {"": "as in the key", "hard": "lowest scores first"}),
        select_box("Nuggets", "kind", nuggets),
    ]
    controls = element("p", *tools, class_="tools", hidden="hidden")
    return element("div", controls, *markup, *notes, data(page_data), class_="questions")


def _count_runs_with_responses(
    matrices: Sequence[QuestionMatrix], runs: Sequence[ScoredRun]
) -> int:
    """Return how many of the best runs have their responses in the page."""
    bytes_left = MAX_BYTES
    for number, run in enumerate(runs):
        bytes_left -= sum(len(text.encode()) for matrix in matrices for text in matrix.texts(run))
        if bytes_left < 0:
            return number
    return len(runs)


def _first(matrices: Sequence[QuestionMatrix]) -> Iterator[QuestionMatrix]:
    """Yield the questions that the page shows without its script."""
    cells_left = MAX_CELLS
    for number, matrix in enumerate(matrices):
        cells_left -= len(matrix.order) * len(matrix.runs)
        if number and cells_left < 0:
            return
        yield matrix


def select_box(label: str, name: str, options: Mapping[str, str]) -> str:
    """Return a control by which readers filter or sort."""
    inner = [element("option", text, value=value) for value, text in options.items()]
    return element("label", label, " ", element("select", *inner, class_=name))


# ------------------------------------------------------------------------------------- as data


def _data(
    matrix: QuestionMatrix, n_readable: int, scores: Sequence[Mapping[str, float]]
) -> dict[str, Any]:
    """Return a question for the script: states of cells, responses, and the words to mark."""
    values = (score.get(matrix.id) for score in scores)
    answers = [matrix.texts(run) for run in matrix.runs[:n_readable]]
    return {
        "title": visible(matrix.title),
        "nuggets": [
            [visible(nugget.descriptions[0]), nugget.id, nugget.importance]
            for nugget in matrix.nuggets
        ],
        "states": matrix.states,
        "later": [
            [j, run, at]
            for j, credits in enumerate(matrix.credits)
            for run, at in enumerate(credits[:n_readable])
            if at
        ],
        "contradictions": [[*cell, visible(text)] for cell, text in matrix.contradictions.items()],
        "scores": [None if f is None or isnan(f) else round(f, 3) for f in values],
        "answers": answers,
        "words": _words(matrix, answers),
    }


def _words(matrix: QuestionMatrix, answers: Sequence[Sequence[str]]) -> dict[str, list[int]]:
    """Return the words of responses that occur in nuggets, with the indices of these nuggets."""
    text = "\n".join(dict.fromkeys(re.findall(r"\S+", " ".join(t for a in answers for t in a))))
    return {
        word.text: word.nuggets for word in words_with_nuggets(text, matrix.nuggets) if word.nuggets
    }


# ------------------------------------------------------------------------------- without script


def _question(
    matrix: QuestionMatrix,
    number: int,
    n_readable: int,
    scores: Sequence[Mapping[str, float]],
    name: str,
) -> str:
    """Return the matrix of a question, nuggets by runs, and the responses folded below."""
    tags = [run.run.tag for run in matrix.runs]
    heads = [
        element("th", element("span", quote(tag)), scope="col", class_="tag", title=tag)
        for tag in tags
    ]
    head = element("thead", element("tr", element("th", "Nugget", scope="col"), *heads))
    body = []
    for j, (nugget, states) in enumerate(zip(matrix.nuggets, matrix.states, strict=True)):
        kind = element("em", f" {nugget.importance}")
        cells = [_cell(matrix, number, n_readable, j, run) for run in range(len(states))]
        row = element("th", quote(nugget.descriptions[0]) + kind, scope="row")
        body.append(element("tr", row, *cells))
    values = [score.get(matrix.id) for score in scores]
    foot = [element("td", "–" if f is None or isnan(f) else f"{f:.2f}") for f in values]
    last = element("tr", element("th", name, scope="row"), *foot)
    parts = head, element("tbody", *body), element("tfoot", last)
    table = element("div", element("table", *parts, class_="matrix"), class_="scroll")
    title = element("h3", quote(matrix.title))
    return element("div", title, table, *_responses(matrix, number, n_readable), class_="question")


def _cell(matrix: QuestionMatrix, number: int, n_readable: int, j: int, run: int) -> str:
    """Return a cell with a sign that links to its response."""
    state, vital = matrix.states[j][run], matrix.nuggets[j].vital
    _, verb, look = STATES[_JUDGED.get(state, state)]
    by = f" ({matrix.guessed})" if state in _JUDGED else " (judged)" if state in "012" else ""
    tooltip = f"{matrix.runs[run].run.tag} {verb} nugget {matrix.nuggets[j].id}{by}"
    if contradiction := matrix.contradictions.get((j, run)):
        tooltip += f"; {visible(contradiction)}"
    sign = cell_text(state, vital=vital)
    if state == "-" or run >= n_readable:
        return element("td", sign, class_=look, title=tooltip)
    place = _anchor(number, run, matrix.credits[j][run] or 0)
    link = element("a", sign, href=f"#{place}", title=tooltip)
    return element("td", link, class_=f"{look}{' vital' * (vital and look == 'missed')}")


def _anchor(question: int, run: int, response: int) -> str:
    return f"answer-{question}-{run}-{response}"


def _responses(matrix: QuestionMatrix, number: int, n_readable: int) -> Iterator[str]:
    """Yield the responses of each run, folded; words that occur in nuggets are marked."""
    from karat.report.render.html import marked

    for run, scored in enumerate(matrix.runs[:n_readable]):
        if texts := matrix.texts(scored):
            items = []
            for i, text in enumerate(texts):
                words = words_with_nuggets(text, matrix.nuggets)
                marks = tuple((word.start, word.end) for word in words if word.nuggets)
                passage = marked(TextPassage("", text, marks))
                items.append(element("p", passage, id=_anchor(number, run, i)))
            count = f"{len(texts):,} response{'s' * (len(texts) > 1)}"
            summary = element("summary", quote(f"{scored.run.tag}: {count}"))
            yield element("details", summary, *items, class_="responses")
