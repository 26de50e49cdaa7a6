"""The source of texts: candidates scored against references by metrics, or a table of both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from karat.arrays import np
from karat.errors import InputError, quoted, short
from karat.evalset.given_scores import GivenScores
from karat.evalset.sets import EvalSet
from karat.gating.items import ItemScores, ItemText, Measured, digest
from karat.metrics.pairs import SegmentNames
from karat.progress import Progress, silent
from karat.scoring import Keep, compute_statistics, load_metrics, make_inputs
from karat.text.references import VaryingReferences
from karat.text.segments import STRIDE, Segments

if TYPE_CHECKING:
    from karat.arrow.frame_scores import ColumnNames
    from karat.metrics.base import Metric

ONE_SYSTEM = "candidate"
"""The name of the system in a table."""
DEFAULT = ("chrf",)
"""Metrics where neither the call nor the baseline names any."""


def read_texts(
    output: Any,
    references: Any = None,
    metrics: Sequence[Any] | str | None = None,
    *,
    ids: Sequence[str] | None = None,
    candidate: str | None = None,
    id: str | None = None,
    threads: int | None = None,
    progress: Progress = silent,
) -> ItemScores:
    """Return the scores of one system's texts, or of a table with columns of texts.

    Segments are numbered from 1 unless `ids` has their ids. In a table, `references` names the
    columns of references, `candidate` that of candidates and `id` that of ids.
    """
    if id is not None:
        asked = candidate, references, None, id
        chosen = load_metrics(metrics or DEFAULT)
        output, references, ids, metrics = _table_texts(output, asked, chosen)
    elif candidate is not None or _is_table(output):
        raise InputError("a gate knows the rows of a table by their ids: name their column with id")
    given = make_inputs(output, references, metrics or DEFAULT, threads, progress)
    if len(given.systems) != 1:
        names = short(", ".join(map(str, given.systems)))
        raise InputError(f"{len(given.systems)} systems were given ({names}): a gate takes one")
    ((system, texts),) = given.systems.items()
    refs, numbered = given.references, _ids(ids, output, len(texts))
    given = given._replace(segments=SegmentNames(len(texts), numbered, given.segments.left_out))
    found = compute_statistics(given, Keep(rows=True), threads, progress)
    measures = [
        Measured(m, m.method(refs.number), np.concatenate(found[system, m].row_blocks))
        for m in given.metrics
    ]

    def shown(places: Sequence[int]) -> list[ItemText]:
        both = zip(texts.strings(places), given.references.strings(places), strict=True)
        return [ItemText(own, refs[0] if refs else "", tuple(refs)) for own, refs in both]

    against = digest(zip(numbered, _listed(refs), strict=True))
    return ItemScores(system, numbered, tuple(measures), against, shown)


def _is_table(output: Any) -> bool:
    """Return whether this is a table in memory, and not a list of texts."""
    from karat.arrow.frames import as_frame

    texts = isinstance(output, list | tuple) and all(isinstance(one, str) for one in output[:1])
    return not texts and as_frame(output) is not None


def _ids(ids: Sequence[str] | None, output: Any, size: int) -> tuple[str, ...]:
    if ids is None and isinstance(output, EvalSet):
        ids = output.segments
    found = tuple(map(str, range(1, size + 1) if ids is None else ids))
    if len(found) != size:
        given = "1 id was" if len(found) == 1 else f"{len(found):,} ids were"
        told = f"{given} given for {size:,} segment{'s' * (size != 1)}"
        raise InputError(f"{told}: give one for each")
    return found


def _listed(references: Any) -> list[Any]:
    """Return the references of every segment, with their trees where they have any."""
    if references.sources:
        return list(zip(*map(_strings, references.sources), strict=True))
    every = range(len(references))
    texts: list[Any] = references.strings(every)
    if references.trees(0, 1) is None:
        return texts
    trees = ([(tree.words, tree.heads) for tree in references[at]] for at in every)
    return list(zip(texts, trees, strict=True))


def _strings(source: Segments) -> list[str]:
    found: list[str] = []
    for start in range(0, len(source), STRIDE):
        found += source.views(start, min(start + STRIDE, len(source))).strings()
    return found


def _table_texts(
    table: Any, asked: ColumnNames, metrics: Sequence[Metric]
) -> tuple[Any, VaryingReferences, list[str], list[Metric]]:
    """Return the candidates, the references and the ids of all rows of a table, and the metrics.

    Metrics that are columns of the table have their scores.
    """
    from karat.arrow.table_scores import read_rows
    from karat.metrics.given import ExternalScores

    columns: dict[str, list[float]] = {}
    outputs: list[str] = []
    references: list[list[str]] = []
    ids: list[str] = []
    for rows in read_rows(table, asked, metrics=metrics):
        batch = rows.read()
        every = range(len(batch))
        outputs += batch.candidates[0].strings(every)
        references += batch.references.strings(every)
        if batch.ids is not None:
            ids += map(str, batch.ids.listed())
        for name, values in batch.numbers.items():
            columns.setdefault(name, []).extend(values.tolist())
    chosen = [
        m.with_scores(_column_scores(m.column, dict(zip(ids, columns[m.column], strict=True))))
        if isinstance(m, ExternalScores) and m.of_table and m.column
        else m
        for m in metrics
    ]
    return outputs, VaryingReferences(references), ids, chosen


def _column_scores(column: str, scores: dict[str, float]) -> GivenScores:
    """Return the scores in a column of the table of the only system."""
    return GivenScores(f"column {quoted(column)}", {ONE_SYSTEM: scores})
