"""Pools: pairs of response and nugget (cells) of some runs, with their labels and folds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from types import MappingProxyType
from typing import Any, NamedTuple

from karat.arrays import Flags, Floats, Ints, NDArray, np
from karat.errors import InputError, quoted
from karat.nuggets.sets.judgements import SUPPORT, JudgedResponse, Judgements
from karat.nuggets.sets.keys_and_runs import Nugget, NuggetKey, Question, Run, characters, normal
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.stats.correlation import r_squared, rmse, tau_b


@dataclass(eq=False)
class Pool:
    """Responses of some runs to the questions of a key, and their cells.

    A cell is a pair of response and nugget. Cells are ordered by question, then by response, then
    by nugget. Arrays of the size of all cells are made when they are first used.
    """

    questions: tuple[Question, ...]
    runs: tuple[str, ...]
    texts: tuple[str, ...]  # the responses
    run: Ints  # run of each response, as an index of `runs`
    starts: Ints  # first response to each question
    institutions: tuple[str, ...]  # institution of each run; its own tag if unknown

    nuggets: tuple[Nugget, ...] = field(init=False)  # nuggets of all questions
    nugget_starts: Ints = field(init=False)  # first nugget of each question
    descriptions: tuple[str, ...] = field(init=False)  # descriptions of all nuggets
    description_starts: Ints = field(init=False)  # first description of each nugget
    cell_starts: Ints = field(init=False)  # first cell of each question

    def __post_init__(self) -> None:
        self.nuggets = tuple(nugget for question in self.questions for nugget in question.nuggets)
        self.nugget_starts = starts_of([len(question.nuggets) for question in self.questions])
        self.descriptions = tuple(text for nugget in self.nuggets for text in nugget.descriptions)
        self.description_starts = starts_of([len(nugget.descriptions) for nugget in self.nuggets])
        self.cell_starts = starts_of(np.diff(self.starts) * np.diff(self.nugget_starts))

    @cached_property
    def question(self) -> Ints:
        """Question of each response."""
        return np.repeat(np.arange(len(self.questions)), np.diff(self.starts))

    @cached_property
    def cell_response(self) -> Ints:
        """Response of each cell."""
        widths = np.diff(self.nugget_starts)[self.question]
        return np.repeat(np.arange(len(self.texts)), widths)

    @cached_property
    def cell_nugget(self) -> Ints:
        """Nugget of each cell, as an index of `nuggets`."""
        widths = np.diff(self.nugget_starts)[self.question]
        first = self.nugget_starts[:-1][self.question]
        return np.arange(widths.sum()) - np.repeat(starts_of(widths)[:-1] - first, widths)

    @cached_property
    def cell_question(self) -> Ints:
        """Question of each cell."""
        return self.question[self.cell_response]

    @cached_property
    def cell_run(self) -> Ints:
        """Run of each cell."""
        return self.run[self.cell_response]

    @cached_property
    def text_ids(self) -> Ints:
        """A number for each response; identical responses to a question have the same one."""
        hashes = np.array([hash(normal(text)) for text in self.texts], dtype=np.int64)
        order = np.lexsort((hashes, self.question))  # stable: equals stay in their order
        is_same = (np.diff(hashes[order]) == 0) & (np.diff(self.question[order]) == 0)
        first = np.arange(len(order))
        bounds = np.flatnonzero(np.concatenate([[True], ~is_same, [True]]))
        for a, b in pairwise(bounds.tolist()):
            if b - a > 1:
                first_rows: dict[str, int] = {}  # hashes may be equal by chance
                rows = order[a:b].tolist()
                first[rows] = [first_rows.setdefault(normal(self.texts[row]), row) for row in rows]
        return np.unique(first, return_inverse=True)[1].ravel().astype(np.int64)

    @cached_property
    def _answers(self) -> dict[tuple[str, str], tuple[slice, tuple[int, int]]]:
        """(run, question) -> the cells of the run's responses, and the shape of their table."""
        slices = {}
        for q, (a, b) in enumerate(pairwise(self.starts.tolist())):
            wide, start = len(self.questions[q].nuggets), int(self.cell_starts[q])
            ends = np.searchsorted(self.run[a:b], np.arange(len(self.runs) + 1)).tolist()
            for tag, (first, last) in zip(self.runs, pairwise(ends), strict=True):
                cells = slice(start + first * wide, start + last * wide)
                slices[tag, self.questions[q].id] = cells, (last - first, wide)
        return slices

    def answer(self, cells: NDArray[Any], run: str, question: str) -> NDArray[Any]:
        """Return the cells of a run's responses to a question: responses x nuggets."""
        selected, shape = self._answers[run, question]
        return cells[selected].reshape(shape)

    def locate(self, cell: int) -> tuple[str, int, int, int]:
        """Return the run and question of a cell, and the response and nugget as `answer` has them.

        The question is an index, the response and the nugget are numbers from 0.
        """
        response = int(self.cell_response[cell])
        run, question = self.runs[self.run[response]], int(self.question[response])
        selected, (_, width) = self._answers[run, self.questions[question].id]
        number, nugget = divmod(cell - selected.start, width)
        return run, question, number, nugget

    def table(self, cells: Floats, question: int) -> Floats:
        """Return the cells of a question as responses x nuggets."""
        first, last = self.cell_starts[question : question + 2]
        return cells[first:last].reshape(-1, len(self.questions[question].nuggets))

    @cached_property
    def lengths(self) -> Floats:
        """Runs x questions: characters of the answer, white space not counted."""
        lengths = np.zeros((len(self.runs), len(self.questions)))
        np.add.at(lengths, (self.run, self.question), [characters(text) for text in self.texts])
        return lengths

    def take(self, rows: Ints) -> Pool:
        """Return the pool of some responses, in their order, and the questions they answer."""
        if len(rows) == len(self.texts):
            return self
        question_indices, counts = np.unique(self.question[rows], return_counts=True)
        questions = tuple(self.questions[q] for q in question_indices.tolist())
        texts = tuple(self.texts[row] for row in rows.tolist())
        return Pool(
            questions, self.runs, texts, self.run[rows], starts_of(counts), self.institutions
        )

    def cells(self, rows: Ints) -> Ints:
        """Return the indices of the cells of some responses (`rows`), in the order given."""
        nugget_counts = np.diff(self.nugget_starts)
        offsets = self.cell_starts[:-1] - self.starts[:-1] * nugget_counts
        row_nugget_counts = nugget_counts[self.question[rows]]
        first_cells = offsets[self.question[rows]] + rows * row_nugget_counts
        shifts = first_cells - starts_of(row_nugget_counts)[:-1]
        return np.arange(row_nugget_counts.sum()) + np.repeat(shifts, row_nugget_counts)

    @cached_property
    def answered(self) -> Ints:
        """A number for each cell; cells of the same run and nugget have the same one."""
        return self.cell_run * len(self.nuggets) + self.cell_nugget

    def answers(self, cells: Floats) -> Floats:
        """Return runs x nuggets: the best value of the responses; NaN without a response."""
        best = np.full(len(self.runs) * len(self.nuggets), -np.inf)
        np.maximum.at(best, self.answered, cells)
        best[np.isneginf(best)] = np.nan
        return best.reshape(len(self.runs), -1)

    def question_scores(self, cells: Floats) -> Floats:
        """Return runs x questions: A, the share of nuggets carried; NaN without a response."""
        table = self.answers(cells)
        bounds = pairwise(self.nugget_starts)
        means = [table[:, a:b].mean(axis=1) if b > a else table[:, :0].sum(1) for a, b in bounds]
        return np.asarray(np.stack(means, axis=1))

    def run_scores(self, cells: Floats) -> Floats:
        """Return the mean of A of each run, over the questions it answered."""
        scores = self.question_scores(cells)
        has_score = ~np.isnan(scores)
        sums, counts = np.where(has_score, scores, 0.0).sum(axis=1), has_score.sum(axis=1)
        return np.asarray(sums / np.where(counts > 0, counts, np.nan))


def make_pool(key: NuggetKey, runs: Iterable[Run]) -> Pool:
    """Return the responses of runs to the questions of a key, question by question."""
    runs = tuple(runs)
    answers = [
        [(k, response.text) for k, run in enumerate(runs) for response in run.responses(id)]
        for id in key.questions
    ]
    return Pool(
        tuple(key.questions.values()),
        runs=tuple(run.tag for run in runs),
        texts=tuple(text for answer in answers for _, text in answer),
        run=np.array([k for answer in answers for k, _ in answer], dtype=np.int64),
        starts=starts_of([len(answer) for answer in answers]),
        institutions=tuple(run.institution or run.tag for run in runs),
    )


def starts_of(sizes: Sequence[int] | Ints) -> Ints:
    """Return where groups of these sizes start, and where the last one ends."""
    return np.concatenate(([0], np.cumsum(sizes, dtype=np.int64))).astype(np.int64)


def assign_runs(judgements: Judgements, runs: Mapping[str, Run]) -> Judgements:
    """Return the judgements with rows that name no run assigned to all runs with these words.

    Rows whose words no run has are unchanged.
    """
    if all(row.run for row in judgements.rows):
        return judgements
    questions = {row.question for row in judgements.rows if not row.run}
    gave: dict[tuple[str, str], dict[str, None]] = {}
    for tag, run in runs.items():
        for question in questions & run.answers.keys():
            for response in run.responses(question):
                gave.setdefault((question, response.normal), {})[tag] = None

    def assigned(row: JudgedResponse) -> Iterator[JudgedResponse]:
        tags = gave.get((row.question, normal(row.response))) if not row.run else None
        yield from (row._replace(run=tag) for tag in tags or (row.run,))

    return judgements.with_rows(new for row in judgements.rows for new in assigned(row))


def run_labels(pool: Pool, judgements: Judgements, *, strict: bool = False) -> Floats:
    """Return the judgements of cells in their own runs, ignoring identical responses of others.

    If `strict`, partial support counts as no support.
    """
    labels = np.full(int(pool.cell_starts[-1]), np.nan)
    judged = {(run, question) for run, question, _ in judgements.of_run}
    first = 0
    for run, q, text in zip(pool.run.tolist(), pool.question.tolist(), pool.texts, strict=True):
        question = pool.questions[q]
        if (pool.runs[run], question.id) in judged:  # most responses of large sets are not
            values = judgements.of_run.get((pool.runs[run], question.id, normal(text)), {})
            for j, nugget in enumerate(question.nuggets) if values else ():
                labels[first + j] = values.get(nugget.id, np.nan)
        first += len(question.nuggets)
    return strict_labels(labels) if strict else labels


def corrected_labels(pool: Pool, judgements: Judgements, *, strict: bool = False) -> Floats:
    """Return the paper's corrected judgements of all cells.

    A response carries a nugget if an identical response of any run was judged to carry it. If
    `strict`, partial support counts as no support.
    """
    values: list[float] = []
    for q, text in zip(pool.question.tolist(), pool.texts, strict=True):
        judged = judgements.about(pool.questions[q].id, normal(text))
        values += [judged.get(nugget.id, np.nan) for nugget in pool.questions[q].nuggets]
    labels = np.array(values, dtype=np.float64)
    return strict_labels(labels) if strict else labels


def strict_labels(values: Floats) -> Floats:
    """Return the values with partial support counted as no support."""
    return np.where(values < SUPPORT, 0.0, values)  # NaN is not less


FOLD_UNITS = ("system", "institution", "question")  # units that cross-validation can leave out
INSTITUTION = r"[^\W\d_]+"
"""Default pattern of the institution in a tag: the letters before the first digit or sign, as in
`MIT03a`, `webis-rag-run0` and `UDInfolab.RAG.Query`. Case does not matter."""


def with_institutions(nuggets: NuggetSet, pattern: str | None = None) -> NuggetSet:
    """Return the set with an institution for each run: from its file, or else from its tag.

    In a tag, it is the first group of the pattern, or the whole match. A tag that does not match is
    its own institution.
    """
    if pattern == "":
        raise InputError("institution '': expected a regular expression that matches something")
    try:
        regex = re.compile(INSTITUTION if pattern is None else pattern)
    except re.error as error:
        reason = f"no regular expression ({error})"
        raise InputError(f"institution {quoted(pattern)}: {reason}") from error

    def institution_in(tag: str) -> str:
        match = regex.match(tag)
        return ((match[1] if regex.groups else match[0]) or tag).casefold() if match else tag

    runs = {
        tag: replace(run, institution=run.institution or institution_in(tag))
        for tag, run in nuggets.runs.items()
    }
    return replace(nuggets, runs=MappingProxyType(runs))


def folds(pool: Pool, by: str) -> Ints:
    """Return the fold of every cell."""
    if by not in FOLD_UNITS:
        raise InputError(f"leave out {quoted(by)}: expected one of {', '.join(FOLD_UNITS)}")
    fold = pool.cell_question if by == "question" else pool.cell_run
    if by == "institution":
        names = list(dict.fromkeys(pool.institutions))
        fold = np.array([names.index(name) for name in pool.institutions], np.int64)[pool.cell_run]
    if len(np.unique(fold)) < 2:
        raise InputError(
            f"there is one {by} with judged responses: while it is left out, nothing is left to "
            "learn from; leave out something else, or give more"
        )
    return fold


class AssessorAgreement(NamedTuple):
    """Precision, recall and F of decisions on all cells; tau-b, R^2 and RMSE of runs' scores."""

    precision: float
    recall: float
    f: float
    tau_b: float
    r_squared: float
    rmse: float


def assessor_agreement(
    pool: Pool, carried: Flags, labels: Floats, estimates: Floats | None = None
) -> AssessorAgreement:
    """Return the agreement of decisions with labels, and of runs' scores with the official ones.

    The scores of runs come from the decisions, or from `estimates` of the cells, such as
    probabilities. Cells without a label (NaN) do not count.
    """
    judged = ~np.isnan(labels)
    yes = judged & (labels > 0)
    hits = float((carried & yes).sum())
    predicted, actual = float((carried & judged).sum()), float(yes.sum())
    guess = carried.astype(np.float64) if estimates is None else estimates
    scores = pool.run_scores(np.where(judged, guess, 0.0))
    official_scores = pool.run_scores(np.where(judged, yes, 0.0).astype(np.float64))
    precision, recall = hits / predicted if predicted else 0.0, hits / actual if actual else 0.0
    f = 2 * hits / (predicted + actual) if predicted + actual else 0.0
    of_runs = (
        tau_b(official_scores, scores),
        r_squared(official_scores, scores),
        rmse(official_scores, scores),
    )
    return AssessorAgreement(precision, recall, f, *of_runs)


@dataclass(frozen=True, eq=False)
class FoldedCells:
    """Cells, their labels and their folds."""

    pool: Pool
    labels: Floats  # NaN if not judged; more than 0 is yes
    fold: Ints
    corrected_labels: Floats | None = None
    """Judgements to compare with, if they differ from `labels`. Corrected judgements use those of
    the fold that is left out, so nothing may be learned from them."""

    @cached_property
    def is_judged(self) -> Flags:
        """True for judged cells."""
        return ~np.isnan(self.labels)

    def training(self) -> Iterator[tuple[int, Flags]]:
        """Yield each fold, and the judged cells of the others."""
        for k in np.unique(self.fold).tolist():
            yield k, self.is_judged & (self.fold != k)

    @cached_property
    def elsewhere(self) -> Floats:
        """Labels of identical responses in other folds for each cell; NaN without any.

        The most favourable of several judgements counts.
        """
        pool, fold = self.pool, self.fold
        words = pool.text_ids[pool.cell_response] * (len(pool.nuggets) + 1) + pool.cell_nugget
        order = np.lexsort((fold, words))
        known_labels = np.full(len(fold), np.nan)
        values = np.nan_to_num(self.labels[order], nan=-np.inf)
        new_words = np.diff(words[order], prepend=-1) != 0
        new_fold = new_words | (np.diff(fold[order], prepend=-1) != 0)
        group, member = np.cumsum(new_words) - 1, np.cumsum(new_fold) - 1
        if len(order):
            best = np.maximum.reduceat(values, np.flatnonzero(new_fold))  # of each fold of a group
            best_elsewhere = _best_of_others(best, group[new_fold])[member]
            known_labels[order] = np.where(np.isneginf(best_elsewhere), np.nan, best_elsewhere)
        return known_labels

    @cached_property
    def is_known(self) -> Flags:
        """True for cells that are known from identical responses in other folds."""
        return ~np.isnan(self.elsewhere)

    def or_known(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return decisions or probabilities, replaced by known judgements where there are any."""
        return np.where(self.is_known, self.elsewhere > 0, values)

    @property
    def official_labels(self) -> Floats:
        """The judgements to compare with."""
        return self.labels if self.corrected_labels is None else self.corrected_labels

    def agreement(self, carried: Flags, chances: Floats | None = None) -> AssessorAgreement:
        """Return how decisions agree with official judgements."""
        return assessor_agreement(self.pool, carried, self.official_labels, chances)


def _best_of_others(values: Floats, group: Ints) -> Floats:
    """Return, for each value, the largest other value of its group; groups are contiguous."""
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    first = np.maximum.reduceat(values, starts)[group]
    is_first = values == first
    second = np.maximum.reduceat(np.where(is_first, -np.inf, values), starts)[group]
    alone = np.add.reduceat(is_first.astype(np.int64), starts)[group] == 1
    return np.where(is_first & alone, second, first)
