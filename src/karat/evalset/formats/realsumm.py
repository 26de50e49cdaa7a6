"""RealSumm's content units: line-aligned files, and for each summary which units it carries.

    ids.txt  documents.txt  references.txt      one document a line
    SCUs.txt                                    the content units of a reference, tabs between them
    summaries/SYSTEM.summary                    one summary a line
    labels/SYSTEM.label                         1 or 0 for every unit, tabs between them

Coverage is the share of the reference's units that a summary carries. Sentences of references are
marked `<t> … </t>`; the marks are taken out.
"""

from __future__ import annotations

import re
from pathlib import Path

from karat.errors import InputError, quoted
from karat.evalset.draft import EvalSetDraft
from karat.evalset.judgements import Dimension
from karat.evalset.reading import Reading, read_lines
from karat.evalset.sets import EvalSet

JUDGE = "annotators"
_MARKS = re.compile(r"\s*</?t>\s*")
_COVERAGE = Dimension(
    "coverage", low=0.0, high=1.0, guideline="Share of the reference's content units present."
)


def read_realsumm(path: Path, reading: Reading, *, name: str | None = None) -> EvalSet:
    """Return the set in a folder."""
    segments = read_lines(path / "ids.txt")
    units = read_lines(path / "SCUs.txt")
    references = read_lines(path / "references.txt")
    files = sorted((path / "summaries").glob("*.summary"))
    if len(units) != len(segments):
        lines = f"found {len(units):,} lines, expected {len(segments):,}"
        raise InputError(f"{path / 'SCUs.txt'}: {lines}")
    draft = EvalSetDraft(
        name or path.name,
        segments,
        {file.stem: read_lines(file) for file in files},
        reading=reading,
        where=path,
        references=[(" ".join(filter(None, _MARKS.split(text))),) for text in references],
        sources=read_lines(path / "documents.txt"),
        dimensions=[_COVERAGE],
        description="Summaries with labels of summary content units",
        licence="CC-BY 4.0",
    )
    counts = [len(line.split("\t")) for line in units]
    for file in files:
        _read_labels(path / "labels" / f"{file.stem}.label", file.stem, counts, draft)
    return draft.finish()


def _read_labels(path: Path, system: str, counts: list[int], draft: EvalSetDraft) -> None:
    lines = read_lines(path)
    if len(lines) != len(counts):
        draft.reading.problem(path, f"found {len(lines):,} lines, expected {len(counts):,}")
    rows = zip(draft.reading.numbered(lines, path), draft.segments, counts, strict=False)
    for (place, line), segment, count in rows:
        labels = line.split("\t")
        if len(labels) != count or not {*labels} <= {"0", "1"}:
            draft.reading.problem(place, f"found {quoted(line)}, expected {count} labels 0 or 1")
        else:
            draft.judge(system, segment, JUDGE, "coverage", labels.count("1") / count, place)
