"""Rated paraphrases: a table with the columns source, reference, candidate and score.

The candidates of a source come from no system: the first candidate of one source has nothing to do
with the first of another. So a segment is one candidate, called `SOURCE.CANDIDATE` by numbers, its
group is the source, and all are outputs of one system, `candidate`. What the set can show is how
scores go with ratings over segments, all together or within each source; about systems it says
nothing.
"""

from __future__ import annotations

from pathlib import Path

from karat.evalset.draft import EvalSetDraft
from karat.evalset.judgements import Dimension
from karat.evalset.reading import Reading, tab_rows
from karat.evalset.sets import EvalSet

SYSTEM = "candidate"
JUDGE = "raters"
_SIMILARITY = Dimension("similarity", low=0.0, high=1.0)


def read_paraphrases(path: Path, reading: Reading, *, name: str | None = None) -> EvalSet:
    """The set in a file."""
    columns = ("source", "reference", "candidate", "score")
    rows = list(tab_rows(path, columns, reading))
    numbers: dict[str, int] = {}
    counts: dict[str, int] = {}
    ids, groups = [], []
    for _, (source, *_rest) in rows:
        group = str(numbers.setdefault(source, len(numbers) + 1))
        counts[group] = counts.get(group, 0) + 1
        groups.append(group)
        ids.append(f"{group}.{counts[group]}")
    draft = EvalSetDraft(
        name or path.stem,
        ids,
        {SYSTEM: [row[2] for _, row in rows]},
        reading=reading,
        where=path,
        references=[(row[1],) for _, row in rows],
        groups=groups,
        sources=[row[0] for _, row in rows],
        dimensions=[_SIMILARITY],
        description="Paraphrase candidates with ratings; one pseudo-system holds them all",
        licence="Apache-2.0",
    )
    for segment, (place, row) in zip(ids, rows, strict=True):
        draft.judge(SYSTEM, segment, JUDGE, "similarity", row[3], place)
    return draft.finish()
