"""Judged paraphrases of several systems: a table with one row for each judge of each paraphrase.

Columns: source, system, paraphrase, judge, and one for each dimension that was judged, on a scale
of 1 to 5. An original is a segment, and its own reference, so that any metric can be set beside the
judges; what a judge left open is an empty cell.
"""

from __future__ import annotations

from pathlib import Path

from karat.errors import short
from karat.evalset.draft import EvalSetDraft
from karat.evalset.judgements import Dimension
from karat.evalset.reading import Reading, check_filled, tab_rows
from karat.evalset.sets import EvalSet

COLUMNS = ("source", "system", "paraphrase", "judge")


def read_judged_paraphrases(path: Path, reading: Reading, *, name: str | None = None) -> EvalSet:
    """Return the set in a file."""
    with path.open("rb") as file:
        first = file.readline().decode("utf-8-sig", "replace").rstrip("\r\n")
    dimensions = [name for name in first.split("\t") if name not in COLUMNS]
    rows = list(tab_rows(path, (*COLUMNS, *dimensions), reading))
    sources = list(dict.fromkeys(row[0] for _, row in rows))
    systems = list(dict.fromkeys(row[1] for _, row in rows))
    number = {source: i for i, source in enumerate(sources)}
    check_filled(path, len(rows), len(systems), len(sources))
    outputs: dict[str, list[str | None]] = {system: [None] * len(sources) for system in systems}
    for place, (source, system, text, *_rest) in rows:
        known = outputs[system][number[source]]
        if known is not None and known != text:
            told = f"another paraphrase by {short(system)} of the same source stood before"
            reading.problem(place, told)
        outputs[system][number[source]] = text
    draft = EvalSetDraft(
        name or path.stem,
        [str(i + 1) for i in range(len(sources))],
        outputs,
        reading=reading,
        where=path,
        references=[(source,) for source in sources],
        sources=sources,
        dimensions=[Dimension(name, low=1.0, high=5.0) for name in dimensions],
        description="Paraphrases by several systems with the scores of judges",
    )
    for place, (source, system, _, judge, *scores) in rows:
        for dimension, score in zip(dimensions, scores, strict=True):
            if score.strip():
                draft.judge(system, str(number[source] + 1), judge, dimension, score, place)
    return draft.finish()
