"""What is known of a pool, cell by cell, and what is guessed from scores.

A known judgement always wins. A response is known by its words, whoever submitted it, white space
and case apart. Assessors list what they found, so silence speaks too: if a run was judged on a
question, and none of its responses was judged to carry a nugget, each of them is known not to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from karat.nuggets.judgements import SUPPORT, Judgements
from karat.nuggets.pool import Floats, Pool
from karat.nuggets.runs import normal


@dataclass(frozen=True, eq=False)
class Decisions:
    """For every cell of a pool whether it is known, and its value: known, or guessed 0 or 1."""

    known: NDArray[np.bool_]
    value: Floats

    @property
    def guessed(self) -> NDArray[np.bool_]:
        """The cells that nobody has judged."""
        return ~self.known

    @property
    def share_known(self) -> float:
        """The share of cells that are known."""
        return float(self.known.mean()) if len(self.known) else 0.0


def decide(
    pool: Pool, scores: Floats, threshold: float | Floats, judgements: Judgements | None = None
) -> Decisions:
    """The response carries every nugget whose score exceeds the threshold, unless it is known."""
    told = known_values(pool, judgements) if judgements else np.full(len(scores), np.nan)
    known = ~np.isnan(told)
    return Decisions(known, np.where(known, told, (scores > threshold).astype(np.float64)))


def known_values(pool: Pool, judgements: Judgements) -> Floats:
    """What is known of every cell; NaN where nothing is."""
    found = _with_silence(pool, judgements)
    values = []
    for i, words in enumerate(map(normal, pool.texts)):
        question = pool.questions[pool.question[i]]
        keys = ((question.id, nugget.id, words) for nugget in question.nuggets)
        values += [found.get(key, np.nan) for key in keys]
    return np.array(values, dtype=np.float64)


def own_values(pool: Pool, judgements: Judgements) -> Floats:
    """What was judged of every cell in its own run, for measuring agreement; NaN where nothing was.

    Here identical responses of other runs do not count. Nor does a run's silence: readers of files
    in which it speaks have put it into rows, and an assessor who is halfway through is silent, too.
    """
    best: dict[int, float] = {}
    columns = [
        {nugget.id: j for j, nugget in enumerate(question.nuggets)} for question in pool.questions
    ]
    keys = [(row.run, row.question, normal(row.response)) for row in judgements.rows]
    places = _places(pool, keys)
    for key, row in zip(keys, judgements.rows, strict=True):
        for question, first in places[key]:
            cell = first + columns[question].get(row.nugget, -first - 1)
            if cell >= 0 and not best.get(cell, -1.0) >= row.value:
                best[cell] = row.value
    found = np.full(int(pool.cell_starts[-1]), np.nan)
    found[np.array([*best], dtype=np.int64)] = [*best.values()]
    return found


def corrected_values(pool: Pool, judgements: Judgements) -> Floats:
    """What was judged of every cell in any run: the paper's corrected judgements.

    A response carries a nugget if an identical one, of any system, was judged to carry it.
    """
    names = [question.id for question in pool.questions]
    found: list[float] = []
    for q, text in zip(pool.question.tolist(), pool.texts, strict=True):
        said = judgements.about(names[q], normal(text))
        found += [said.get(nugget.id, np.nan) for nugget in pool.questions[q].nuggets]
    return np.array(found, dtype=np.float64)


def strictly(values: Floats) -> Floats:
    """The same where support in part is none."""
    return np.where(values < SUPPORT, 0.0, values)  # NaN is not less


def _places(
    pool: Pool, judged: Sequence[tuple[str, str, str]]
) -> dict[tuple[str, str, str], list[tuple[int, int]]]:
    """Where judged responses stand: question and first cell."""
    names = [question.id for question in pool.questions]
    pairs = {(run, question) for run, question, _ in judged}
    widths = np.diff(pool.nugget_starts)[pool.question]
    cells = np.cumsum(widths) - widths
    found: dict[tuple[str, str, str], list[tuple[int, int]]] = {key: [] for key in judged}
    places = zip(pool.run.tolist(), pool.question.tolist(), cells.tolist(), pool.texts, strict=True)
    for run, question, first, text in places:
        tag, name = pool.runs[run], names[question]
        if (tag, name) in pairs and (key := (tag, name, normal(text))) in found:
            found[key].append((question, first))
    return found


def _with_silence(pool: Pool, judgements: Judgements) -> dict[tuple[str, str, str], float]:
    """Judgements by question, nugget and words, and what their silence says."""
    found = dict(judgements.known)
    nuggets = {question.id: question.nuggets for question in pool.questions}
    carried = {(row.run, row.question, row.nugget) for row in judgements.rows if row.value > 0}
    for (run, question), words in _submitted(pool, judgements).items():
        for nugget in nuggets.get(question, ()):
            if (run, question, nugget.id) not in carried:
                for text in words:
                    found.setdefault((question, nugget.id, text), 0.0)
    return found


def _submitted(pool: Pool, judgements: Judgements) -> dict[tuple[str, str], set[str]]:
    """The responses of every run that was judged on a question."""
    found: dict[tuple[str, str], set[str]] = {}
    for row in judgements.rows:
        if row.run:
            found.setdefault((row.run, row.question), set()).add(normal(row.response))
    for text, run, question in zip(pool.texts, pool.run, pool.question, strict=True):
        mine = pool.runs[run], pool.questions[question].id
        if mine in found:
            found[mine].add(normal(text))
    return found
