"""The folders of mt-metrics-eval: one test set, several language pairs.

    sources/PAIR.txt    references/PAIR.REF.txt    system-outputs/PAIR/SYSTEM.txt
    documents/PAIR.docs                     a line for each segment: domain and document
    human-scores/PAIR.NAME.seg.score        system and score, a block of all segments per system

All segment-level scores become dimensions, higher being better, as in that tool; `None` is missing.
A system that is called like a reference is that reference, and is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from karat.errors import InputError, quoted, short
from karat.evalset.draft import Draft
from karat.evalset.judgements import Dimension
from karat.evalset.reading import Reading, as_names, read_lines
from karat.evalset.sets import EvalSet, check_known

JUDGE = "all"


def read_mt_metrics_eval(
    path: Path,
    reading: Reading,
    *,
    pair: str | None = None,
    references: str | Sequence[str] | None = None,
    name: str | None = None,
) -> EvalSet:
    """The set of one language pair, which must be named if there are several."""
    pair = _pair(path, pair)
    files = _references(path, pair, references)
    outputs = {
        file.stem: read_lines(file)
        for file in sorted((path / "system-outputs" / pair).glob("*.txt"))
        if file.stem not in files
    }
    sources = read_lines(path / "sources" / f"{pair}.txt")
    columns = [read_lines(file) for file in files.values()]
    for file, column in zip(files.values(), columns, strict=True):
        if len(column) != len(sources):
            reading.problem(file, f"found {len(column):,} lines, expected {len(sources):,}")
    reading.check()
    scores = sorted((path / "human-scores").glob(f"{pair}.*.seg.score"))
    dimensions = {file: file.name[len(pair) + 1 : -len(".seg.score")] for file in scores}
    draft = Draft(
        name or f"{path.resolve().name}-{pair}",
        [str(i) for i in range(1, len(sources) + 1)],
        outputs,
        reading=reading,
        where=path,
        references=list(zip(*columns, strict=True)) or None,
        groups=_documents(path / "documents" / f"{pair}.docs", reading),
        sources=sources,
        dimensions=[Dimension(dimension) for dimension in dimensions.values()],
        description=f"mt-metrics-eval {pair}; references: {', '.join(files) or 'none'}",
    )
    for file, dimension in dimensions.items():
        _read_scores(file, dimension, {*files}, draft)
    return draft.finish()


def _pair(path: Path, pair: str | None) -> str:
    pairs = sorted(file.stem for file in (path / "sources").glob("*.txt"))
    if pair is None and len(pairs) == 1:
        return pairs[0]
    if pair is None or pair not in pairs:
        found = f"pair={pair}" if pair else "no pair"
        raise InputError(f"{path}: {found} was given: choose one of {', '.join(pairs) or 'none'}")
    return pair


def _references(path: Path, pair: str, chosen: str | Sequence[str] | None) -> dict[str, Path]:
    files = sorted((path / "references").glob(f"{pair}.*.txt"))
    named = {file.name[len(pair) + 1 : -len(".txt")]: file for file in files}
    if chosen is None:
        return named
    check_known("reference", as_names(chosen), named, str(path))
    return {name: named[name] for name in as_names(chosen)}


def _documents(path: Path, reading: Reading) -> list[str] | None:
    if not path.exists():
        return None
    documents = []
    for place, line in reading.numbered(read_lines(path), path):
        fields = line.split()
        if len(fields) != 2:
            reading.problem(place, f"found {quoted(line)}, expected domain and document")
        documents.append(fields[-1] if fields else "-")
    return documents


def _read_scores(path: Path, dimension: str, references: set[str], draft: Draft) -> None:
    seen: dict[str, int] = {}
    for place, line in draft.reading.numbered(read_lines(path), path):
        fields = line.split()
        if not fields:
            continue
        if len(fields) != 2:
            draft.reading.problem(place, f"found {quoted(line)}, expected system and score")
            continue
        system, score = fields
        at = seen[system] = seen.get(system, 0) + 1
        if at > len(draft.segments):
            draft.reading.problem(place, f"system {short(system)} has more scores than segments")
        elif system not in references and score != "None":
            draft.judge(system, str(at), JUDGE, dimension, score, place)
    for system, count in seen.items():
        if count < len(draft.segments):
            expected = f"{len(draft.segments):,}, one a segment"
            draft.reading.problem(
                path, f"system {short(system)}: found {count:,} scores, expected {expected}"
            )
