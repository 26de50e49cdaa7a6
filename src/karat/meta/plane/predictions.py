"""Predictions: where on the plane a task and a guideline lie (Soricut and Brill 2004).

The plane's x axis is the guideline, from recall to precision (alpha from 0 to 1); its y axis the
application, from compactness to faithfulness (N from 1 to 4).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from karat.errors import InputError, quoted
from karat.results import Result


class Region(NamedTuple):
    """A part of the plane: alphas and orders from and to, both ends included."""

    alpha_low: float
    alpha_high: float
    n_low: int
    n_high: int

    def holds(self, alpha: float, n: int) -> bool:
        """Return True if a cell lies in it."""
        slack = 1e-9  # 0.1 * 3 is not 0.3
        wide = self.alpha_low - slack <= alpha <= self.alpha_high + slack
        return wide and self.n_low <= n <= self.n_high

    def __str__(self) -> str:
        orders = f"{self.n_low} to {self.n_high}" if self.n_low < self.n_high else str(self.n_low)
        return f"alpha {self.alpha_low:g} to {self.alpha_high:g}, n {orders}"


TASKS: Mapping[str, tuple[int, int, str]] = MappingProxyType(
    {
        "mt": (3, 4, "translations: faithful, hardly compact"),
        "paraphrase": (3, 4, "paraphrases: faithful, hardly compact"),
        "qa": (2, 3, "answers to questions"),
        "viewpoint-summary": (1, 2, "summaries from a viewpoint"),
        "summary": (1, 1, "generic summaries: compact"),
    }
)
"""Task -> the orders n that the paper predicts, and what it is."""

GUIDELINES: Mapping[str, tuple[float, float, str]] = MappingProxyType(
    {
        "adequacy": (0.0, 0.3, "is all of the meaning there?"),
        "coverage": (0.0, 0.3, "is the content there?"),
        "lenient": (0.0, 0.3, "is the answer there, whatever else is?"),
        "strict": (0.3, 0.7, "is the answer there, and nothing misleading?"),
        "fluency": (0.7, 1.0, "is it good language?"),
    }
)
"""Guideline -> the alphas that the paper predicts, and the question it asks."""

PAPERS_WORDS: Mapping[str, str] = MappingProxyType({"correctness": "strict"})
"""Other names of guidelines: correctness, where content and precise wording count (section 2)."""


class Published(NamedTuple):
    """A table of the paper: R^2 in percent at alpha = 0, 0.1, ..., 1, in the legible rows."""

    number: int
    task: str
    guideline: str
    what: str
    best: tuple[float, int, float]
    """Alpha, n and R^2 of its best cell."""
    rows: Mapping[int, tuple[float, ...]]
    """By order n."""


def _row(text: str) -> tuple[float, ...]:
    return tuple(map(float, text.split()))


PAPER = (
    Published(
        *(1, "mt", "fluency", "7 Chinese-English systems, 878 sentences", (1.0, 3, 79.04)),
        {
            4: _row("76.10 76.45 76.78 77.10 77.40 77.69 77.96 78.21 78.45 78.67 78.87"),
            3: _row("76.11 76.6 77.04 77.44 77.80 78.11 78.38 78.61 78.80 78.94 79.04"),
            2: _row("73.19 74.21 75.07 75.78 76.32 76.72 76.96 77.06 77.03 76.87 76.58"),
            1: _row("31.71 38.22 44.82 51.09 56.59 60.99 64.10 65.90 66.50 66.12 64.99"),
        },
    ),
    Published(
        *(2, "mt", "adequacy", "7 Chinese-English systems, 878 sentences", (0.0, 4, 83.04)),
        {
            4: _row("83.04 82.58 82.11 81.61 81.10 80.56 80.01 79.44 78.86 78.26 77.64"),
            3: _row("81.80 81.00 80.16 79.27 78.35 77.39 76.40 75.37 74.31 73.23 72.11"),
        },
    ),
    Published(
        *(3, "summary", "coverage", "15 systems, summaries of 200 words", (0.0, 1, 90.77)),
        {
            4: _row("67.10 66.51 65.91 65.29 64.65 64.00 63.34 62.67 61.99 61.30 60.61"),
            3: _row("69.55 68.81 68.04 67.24 66.42 65.57 64.69 63.79 62.88 61.95 61.00"),
            2: _row("74.43 73.29 72.06 70.74 69.35 67.87 66.33 64.71 63.03 61.30 59.51"),
            1: _row("90.77 90.77 90.66 90.42 90.03 89.48 88.74 87.77 86.55 85.05 83.21"),
        },
    ),
    Published(
        *(4, "summary", "coverage", "15 systems, summaries of 400 words", (0.0, 1, 92.28)),
        {
            4: _row("81.24 81.04 80.78 80.47 80.12 79.73 79.30 78.84 78.35 77.84 77.31"),
            3: _row("84.72 84.33 83.86 83.33 82.73 82.08 81.39 80.65 79.88 79.07 78.24"),
        },
    ),
    Published(
        *(5, "qa", "lenient", "11 systems, 115 questions", (0.0, 2, 91.72)),
        {
            4: _row("63.40 57.62 51.86 46.26 40.96 36.02 31.51 27.43 23.78 20.54 17.70"),
            3: _row("81.39 76.38 70.76 64.76 58.61 52.51 46.63 41.09 35.97 31.33 27.15"),
            2: _row("91.72 89.21 85.54 80.78 75.14 68.87 62.25 55.56 49.04 42.88 37.20"),
            1: _row("61.61 58.83 55.25 51.04 46.39 41.55 36.74 32.12 27.85 23.97 20.54"),
        },
    ),
    Published(
        *(6, "qa", "strict", "11 systems, 115 questions, answers flooded", (0.3, 2, 86.26)),
        {
            4: _row("79.94 79.18 75.80 70.63 64.58 58.35 52.39 46.95 42.11 37.87 34.19"),
            3: _row("76.15 80.44 81.19 78.45 73.07 66.27 59.11 52.26 46.08 40.68 36.04"),
        },
    ),
)
"""The paper's own tables. For MT it also gives R^2 of BLEU with the same one reference, 78.52 with
fluency and 83.91 with adequacy, and with four references, 64.96 and 62.21."""


def predicted(task: str, guideline: str) -> Region:
    """Return the region that the paper predicts for a `task` and a `guideline`."""
    guideline = PAPERS_WORDS.get(guideline, guideline)
    for name, value, known in (("task", task, TASKS), ("guideline", guideline, GUIDELINES)):
        if value not in known:
            names = [*known, *(PAPERS_WORDS if known is GUIDELINES else ())]
            raise InputError(f"{name} {quoted(value)}: expected one of {', '.join(names)}")
    return Region(*GUIDELINES[guideline][:2], *TASKS[task][:2])


class PlacedTask(NamedTuple):
    """An evaluation on the plane, as in the paper's Figure 1: a task judged by a guideline."""

    task: str
    guideline: str
    region: Region
    best: tuple[tuple[float, int], ...]
    """Alpha and n of the best cells that the paper found, or that are recommended."""
    tables: tuple[int, ...]
    """The numbers of the paper's tables for it."""
    asked: bool
    """True for the evaluation that the recommendation is for."""


def _placed(task: str, guideline: str) -> PlacedTask:
    tables = [table for table in PAPER if (table.task, table.guideline) == (task, guideline)]
    best = dict.fromkeys(table.best[:2] for table in tables)
    numbers = tuple(table.number for table in tables)
    return PlacedTask(
        task, guideline, predicted(task, guideline), tuple(best), numbers, asked=False
    )


class Recommended(NamedTuple):
    """A member of the AEv family, and what its recommendation rests on."""

    metric: str
    alpha: float
    n: int
    rests_on: str


@dataclass(frozen=True, repr=False)
class Recommendation(Result):
    """The paper's answer for a task and a guideline, without human scores of one's own."""

    task: str
    guideline: str
    region: Region
    tables: tuple[Published, ...]
    """The paper's tables for them, if it has any."""

    @property
    def rows(self) -> tuple[Recommended, ...]:
        """The best cell of each table, or a cell of the predicted region."""
        if not self.tables:
            middle = round((self.region.alpha_low + self.region.alpha_high) / 2, 2)
            alpha = {0.15: 0.0, 0.85: 1.0}.get(middle, middle)
            why = "the paper's prediction alone: it measured no such task"
            return (_recommended(alpha, self.region.n_high, why),)
        return tuple(
            _recommended(*t.best[:2], f"the paper's Table {t.number}: {t.what}, R^2 {t.best[2]}%")
            for t in self.tables
        )

    @property
    def placed(self) -> tuple[PlacedTask, ...]:
        """The evaluations of the paper on the plane, and the one that was asked for."""
        asked = self.task, self.guideline
        pairs = dict.fromkeys((table.task, table.guideline) for table in PAPER)
        others = tuple(_placed(*pair) for pair in pairs if pair != asked)
        cells = tuple(dict.fromkeys((row.alpha, row.n) for row in self.rows))
        return (*others, _placed(*asked)._replace(best=cells, asked=True))

    @property
    def settings(self) -> dict[str, object]:
        """The task and the guideline."""
        return {"task": self.task, "guideline": self.guideline}

    @property
    def signature(self) -> str:
        """The metrics, a line each."""
        return "\n".join(row.metric for row in self.rows)

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence on how much this is worth."""
        return (
            f"The predicted region is {self.region}. This rests on Soricut and Brill (2004): few "
            "systems, one set for each task, no intervals. With human scores of your own, karat "
            "plane fit says whether it holds for you.",
            "preset=paper ignores case, stems with Porter's stemmer and leaves English stop words "
            "out of the unigrams. Keep these settings: case-sensitive matching can agree less with "
            "people.",
        )


def _recommended(alpha: float, n: int, why: str) -> Recommended:
    return Recommended(f"aev:preset=paper,alpha={alpha:g},n={n}", alpha, n, why)


def recommend(task: str, guideline: str) -> Recommendation:
    """Return the AEv metrics that the paper recommends for a `task` and a `guideline`."""
    guideline = PAPERS_WORDS.get(guideline, guideline)
    tables = tuple(table for table in PAPER if (table.task, table.guideline) == (task, guideline))
    return Recommendation(task, guideline, predicted(task, guideline), tables)
