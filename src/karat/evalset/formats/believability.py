"""MT believability: a CSV per language pair and question, with a column for every annotator.

    annotations/ar-en/ar-en.ad.annot.raw.csv    SEGID, LANGPAIR, ANNOTYPE, NUMANNOT, ANNOTATOR_01, …
    text/mt_output/ar-en.NAME.tok.en            the output, which SEGID numbers from 1
    text/test/ted_test1.tok.en                  one English reference for all pairs

A system is called after its pair. Annotators are numbered anew for each pair, so judge `ar-en/01`
and judge `fa-en/01` are two. Sources differ by pair: the set has them if it is read for one pair.
NUMANNOT does not always say how many scores a row holds, and is not used.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from karat.errors import InputError, quoted, short
from karat.evalset.draft import EvalSetDraft
from karat.evalset.judgements import Dimension
from karat.evalset.reading import Reading, as_names, csv_header, csv_rows, read_lines
from karat.evalset.sets import EvalSet

QUESTIONS = {
    "ad": Dimension("adequacy", low=0.0, high=100.0),
    "fl": Dimension("fluency", low=0.0, high=100.0),
    "bl": Dimension(
        "believability",
        low=0.0,
        high=100.0,
        guideline="Without source and reference: how likely is the meaning correct?",
    ),
}


def read_believability(
    path: Path,
    reading: Reading,
    *,
    pairs: str | Sequence[str] | None = None,
    reference: str = "tok",
    name: str | None = None,
) -> EvalSet:
    """Return the set in a folder; `reference="raw"` takes the reference before tokenisation."""
    have = sorted(folder.name for folder in (path / "annotations").iterdir() if folder.is_dir())
    chosen = have if pairs is None else as_names(pairs)
    for pair in chosen:
        if pair not in have:
            raise InputError(f"{path} has no pair {quoted(pair)}: it has {', '.join(have)}")
    if reference not in ("tok", "raw"):
        raise InputError(f"reference={quoted(reference)}: expected tok or raw")
    outputs = {pair: read_lines(_only(path / "text" / "mt_output", f"{pair}.*")) for pair in chosen}
    texts = path / "text" / "test"
    references = read_lines(texts / f"ted_test1.{reference}.en")
    sources = [texts / f"ted_test1_en-{p}.raw.{p}" for p in (c.partition("-")[0] for c in chosen)]
    draft = EvalSetDraft(
        name or path.name,
        [str(i) for i in range(1, len(references) + 1)],
        outputs,
        reading=reading,
        where=path,
        references=[(text,) for text in references],
        sources=read_lines(sources[0]) if len(sources) == 1 else None,
        dimensions=QUESTIONS.values(),
        description="MT outputs rated for adequacy, fluency and believability, raw scores",
        licence="CC-BY",
    )
    for pair in chosen:
        for question, dimension in QUESTIONS.items():
            file = path / "annotations" / pair / f"{pair}.{question}.annot.raw.csv"
            _read_scores(file, pair, question, dimension.name, draft)
    return draft.finish()


def _only(folder: Path, pattern: str) -> Path:
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        raise InputError(f"{folder}: found {len(found)} files {pattern}, expected one")
    return found[0]


def _read_scores(path: Path, pair: str, question: str, dimension: str, draft: EvalSetDraft) -> None:
    annotators = [name for name in csv_header(path) if name.startswith("ANNOTATOR_")]
    judges = [f"{pair}/{name.removeprefix('ANNOTATOR_')}" for name in annotators]
    columns = ("SEGID", "LANGPAIR", "ANNOTYPE", *annotators)
    for place, (segment, of, kind, *scores) in csv_rows(path, columns, draft.reading):
        if (of, kind) != (pair, question):
            found = f"found {short(of)} {short(kind)}"
            draft.reading.problem(place, f"{found}, expected {pair} {question}")
            continue
        for judge, score in zip(judges, scores, strict=True):
            if score != "nan":
                draft.judge(pair, segment, judge, dimension, score, place)
