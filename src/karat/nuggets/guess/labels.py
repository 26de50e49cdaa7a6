"""Labels: judgements of the responses of a pool, cell by cell; NaN where there is none.

A response is known by its words, white space and case apart. A run's silence says nothing here:
readers of files in which it speaks have put it into rows, and an assessor who is halfway through is
silent, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from karat.arrays import Floats, np
from karat.nuggets.guess.pool import Pool
from karat.nuggets.sets.judgements import SUPPORT, Judged, Judgements
from karat.nuggets.sets.runs import Run, normal


def of_runs(judgements: Judgements, runs: Mapping[str, Run]) -> Judgements:
    """Return the judgements, where those that name no run are of every run with these words.

    Rows whose words no run has stay as they are.
    """
    if all(row.run for row in judgements.rows):
        return judgements
    asked = {row.question for row in judgements.rows if not row.run}
    gave: dict[tuple[str, str], dict[str, None]] = {}
    for tag, run in runs.items():
        for question in asked & run.answers.keys():
            for response in run.responses(question):
                gave.setdefault((question, response.normal), {})[tag] = None

    def assigned(row: Judged) -> Iterator[Judged]:
        tags = gave.get((row.question, normal(row.response))) if not row.run else None
        yield from (row._replace(run=tag) for tag in tags or (row.run,))

    return judgements.with_rows(new for row in judgements.rows for new in assigned(row))


def own_values(pool: Pool, judgements: Judgements) -> Floats:
    """Return judgements of cells in their own runs; identical responses of others do not count."""
    found = np.full(int(pool.cell_starts[-1]), np.nan)
    judged = {(run, question) for run, question, _ in judgements.of_run}
    first = 0
    for run, q, text in _responses(pool):
        question = pool.questions[q]
        if (pool.runs[run], question.id) in judged:  # most responses of large sets are not
            said = judgements.of_run.get((pool.runs[run], question.id, normal(text)), {})
            for j, nugget in enumerate(question.nuggets) if said else ():
                found[first + j] = said.get(nugget.id, np.nan)
        first += len(question.nuggets)
    return found


def corrected_values(pool: Pool, judgements: Judgements) -> Floats:
    """Return judgements of every cell in any run: the paper's corrected judgements.

    A response carries a nugget if an identical one, of any system, was judged to carry it.
    """
    found: list[float] = []
    for _, q, text in _responses(pool):
        said = judgements.about(pool.questions[q].id, normal(text))
        found += [said.get(nugget.id, np.nan) for nugget in pool.questions[q].nuggets]
    return np.array(found, dtype=np.float64)


def strictly(values: Floats) -> Floats:
    """Return the values where support in part is none."""
    return np.where(values < SUPPORT, 0.0, values)  # NaN is not less


def _responses(pool: Pool) -> Iterator[tuple[int, int, str]]:
    """Run, question and text, in the order of the cells."""
    return zip(pool.run.tolist(), pool.question.tolist(), pool.texts, strict=True)
