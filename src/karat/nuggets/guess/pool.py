"""Pools: the responses of some runs beside the nuggets of a key, in the order that arrays have.

A cell is a response and a nugget of its question. Responses stand question by question, within one
run by run, within a run by rank; the cells of a question are a table of responses x nuggets, and
the tables of the questions stand one after the other in one flat array.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

from karat.arrays import Floats, Ints, NDArray, np
from karat.nuggets.sets.keys import Key, Nugget, Question
from karat.nuggets.sets.runs import Run, characters, normal


@dataclass(frozen=True, eq=False)
class Pool:
    """The responses of some runs to the questions of a key."""

    questions: tuple[Question, ...]
    runs: tuple[str, ...]
    texts: tuple[str, ...]
    """The responses."""
    run: Ints
    """Whose response it is, as an index of `runs`."""
    starts: Ints
    """The first response to each question."""
    houses: tuple[str, ...]
    """Whose systems the runs are; a run of unknown institution is its own house."""

    @cached_property
    def nuggets(self) -> tuple[Nugget, ...]:
        """The nuggets of all questions, one after the other."""
        return tuple(nugget for question in self.questions for nugget in question.nuggets)

    @cached_property
    def nugget_starts(self) -> Ints:
        """The first nugget of each question."""
        return _starts([len(question.nuggets) for question in self.questions])

    @cached_property
    def descriptions(self) -> tuple[str, ...]:
        """The descriptions of all nuggets, one after the other."""
        return tuple(text for nugget in self.nuggets for text in nugget.descriptions)

    @cached_property
    def description_starts(self) -> Ints:
        """The first description of each nugget."""
        return _starts([len(nugget.descriptions) for nugget in self.nuggets])

    @cached_property
    def cell_starts(self) -> Ints:
        """The first cell of each question."""
        return _starts(np.diff(self.starts) * np.diff(self.nugget_starts))

    @cached_property
    def question(self) -> Ints:
        """The question that each response answers."""
        return np.repeat(np.arange(len(self.questions)), np.diff(self.starts))

    @cached_property
    def cell_response(self) -> Ints:
        """The response of each cell."""
        widths = np.diff(self.nugget_starts)[self.question]
        return np.repeat(np.arange(len(self.texts)), widths)

    @cached_property
    def cell_nugget(self) -> Ints:
        """The nugget of each cell, as an index of `nuggets`."""
        widths = np.diff(self.nugget_starts)[self.question]
        first = self.nugget_starts[:-1][self.question]
        return np.arange(widths.sum()) - np.repeat(_starts(widths)[:-1] - first, widths)

    @cached_property
    def cell_question(self) -> Ints:
        """The question of each cell."""
        return self.question[self.cell_response]

    @cached_property
    def cell_run(self) -> Ints:
        """The run of each cell."""
        return self.run[self.cell_response]

    @cached_property
    def same(self) -> Ints:
        """A number for each response that identical responses to a question share."""
        hashes = np.array([hash(normal(text)) for text in self.texts], dtype=np.int64)
        order = np.lexsort((hashes, self.question))  # stable: equals stay in their order
        same = (np.diff(hashes[order]) == 0) & (np.diff(self.question[order]) == 0)
        first = np.arange(len(order))
        for a, b in pairwise(np.flatnonzero(np.append(np.insert(~same, 0, True), True)).tolist()):
            if b - a > 1:
                seen: dict[str, int] = {}  # hashes may be equal by chance
                rows = order[a:b].tolist()
                first[rows] = [seen.setdefault(normal(self.texts[row]), row) for row in rows]
        return np.unique(first, return_inverse=True)[1].ravel().astype(np.int64)

    @cached_property
    def _answers(self) -> dict[tuple[str, str], tuple[slice, tuple[int, int]]]:
        """By run and question: the cells of the run's responses, and the shape of their table."""
        found = {}
        for q, (a, b) in enumerate(pairwise(self.starts.tolist())):
            wide, start = len(self.questions[q].nuggets), int(self.cell_starts[q])
            ends = np.searchsorted(self.run[a:b], np.arange(len(self.runs) + 1)).tolist()
            for tag, (first, last) in zip(self.runs, pairwise(ends), strict=True):
                cells = slice(start + first * wide, start + last * wide)
                found[tag, self.questions[q].id] = cells, (last - first, wide)
        return found

    def answer(self, cells: NDArray[Any], run: str, question: str) -> NDArray[Any]:
        """Return the cells of a run's responses to a question: responses x nuggets."""
        some, shape = self._answers[run, question]
        return cells[some].reshape(shape)

    def table(self, cells: Floats, question: int) -> Floats:
        """The cells of a question as responses x nuggets."""
        first, last = self.cell_starts[question : question + 2]
        return cells[first:last].reshape(-1, len(self.questions[question].nuggets))

    @cached_property
    def lengths(self) -> Floats:
        """Runs x questions: the characters of an answer, white space not counted."""
        found = np.zeros((len(self.runs), len(self.questions)))
        np.add.at(found, (self.run, self.question), [characters(text) for text in self.texts])
        return found

    def take(self, rows: Ints) -> Pool:
        """Some of the responses, in their order, with the questions they answer."""
        if len(rows) == len(self.texts):
            return self
        asked, counts = np.unique(self.question[rows], return_counts=True)
        questions = tuple(self.questions[q] for q in asked.tolist())
        texts = tuple(self.texts[row] for row in rows.tolist())
        return Pool(questions, self.runs, texts, self.run[rows], _starts(counts), self.houses)

    def cells(self, rows: Ints) -> Ints:
        """The cells of some responses, in their order."""
        widths = np.diff(self.nugget_starts)
        first = self.cell_starts[:-1] - self.starts[:-1] * widths
        mine = widths[self.question[rows]]
        begins = first[self.question[rows]] + rows * mine
        return np.arange(mine.sum()) + np.repeat(begins - _starts(mine)[:-1], mine)

    @cached_property
    def answered(self) -> Ints:
        """A number for each cell that the cells of one run and nugget share."""
        return self.cell_run * len(self.nuggets) + self.cell_nugget

    def answers(self, cells: Floats) -> Floats:
        """Runs x nuggets: the best of a run's responses; NaN where it gave none."""
        found = np.full(len(self.runs) * len(self.nuggets), -np.inf)
        np.maximum.at(found, self.answered, cells)
        found[np.isneginf(found)] = np.nan
        return found.reshape(len(self.runs), -1)

    def question_scores(self, cells: Floats) -> Floats:
        """Runs x questions: the share of nuggets carried, A; NaN where a run gave no response."""
        table = self.answers(cells)
        bounds = pairwise(self.nugget_starts)
        means = [table[:, a:b].mean(axis=1) if b > a else table[:, :0].sum(1) for a, b in bounds]
        return np.asarray(np.stack(means, axis=1))

    def run_scores(self, cells: Floats) -> Floats:
        """The score of each run: the mean of A over the questions it answered."""
        scores = self.question_scores(cells)
        known = ~np.isnan(scores)
        sums, counts = np.where(known, scores, 0.0).sum(axis=1), known.sum(axis=1)
        return np.asarray(sums / np.where(counts > 0, counts, np.nan))


def make_pool(key: Key, runs: Iterable[Run]) -> Pool:
    """The responses of runs to the questions of a key, question by question."""
    runs = tuple(runs)
    questions = tuple(key.questions.values())
    answers = [
        [(k, response.text) for k, run in enumerate(runs) for response in run.responses(id)]
        for id in key.questions
    ]
    owners = np.array([k for some in answers for k, _ in some], dtype=np.int64)
    texts = tuple(text for some in answers for _, text in some)
    tags = tuple(run.tag for run in runs)
    houses = tuple(run.institution or run.tag for run in runs)
    return Pool(questions, tags, texts, owners, _starts([len(some) for some in answers]), houses)


def _starts(sizes: Sequence[int] | Ints) -> Ints:
    return np.concatenate(([0], np.cumsum(sizes, dtype=np.int64))).astype(np.int64)
