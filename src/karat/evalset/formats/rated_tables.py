"""Sets whose ratings are tables: E2E, MT believability, paraphrases."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from karat.errors import InputError, quoted, short
from karat.evalset.draft import EvalSetDraft
from karat.evalset.judgements import Dimension
from karat.evalset.reading import (
    FileLocation,
    Reading,
    output_columns,
    parse_number,
    read_header,
    read_lines,
    read_table,
    split_names,
)
from karat.evalset.sets import EvalSet

RATINGS = {"naturalness": "natur", "quality": "quality"}
"""Dimension -> prefix of its five columns."""

_GUIDELINE = "Share of the other outputs in the row that it beats; ties count one half."


def read_e2e(path: Path, reading: Reading, *, name: str | None = None) -> EvalSet:
    """Return the set in a folder; the segments are the inputs, numbered 1 to 630 as in `mr_id`.

        primary/SYSTEM.tsv          MR, output, as submitted (quotes, blank lines)
        testset_w_refs.csv          mr, ref: a row for each reference, grouped by input
        naturalness.nopii.csv       a row for each worker and unit: sys1…sys5, natur1…natur5
        quality.nopii.csv           the same with quality1…quality5

    Workers chose their own scale, so only the order within a row is meaningful. A judgement is the
    share of comparisons that an output wins, over all rows of the worker with this output:

        value = (outputs in the row rated lower + half of those rated equal) / other outputs

    Workers are numbered by file: `naturalness/w1` and `quality/w1` are two judges.
    """
    references: dict[str, list[str]] = {}
    reference_file = path / "testset_w_refs.csv"
    for _, (meaning, text) in read_table(reference_file, ("mr", "ref"), reading, commas=True):
        references.setdefault(meaning, []).append(text)
    inputs = list(references)
    files = sorted((path / "primary").glob("*.tsv"))
    draft = EvalSetDraft(
        name or path.name,
        [str(i) for i in range(1, len(inputs) + 1)],
        {file.stem: _read_e2e_outputs(file, inputs, reading) for file in files},
        reading=reading,
        location=path,
        references=list(references.values()),
        sources=inputs,
        dimensions=[Dimension(key, low=0.0, high=1.0, guideline=_GUIDELINE) for key in RATINGS],
        description="E2E NLG challenge, primary systems; ratings as shares of comparisons won",
        licence="CC-BY-SA 4.0",
    )
    for dimension, column in RATINGS.items():
        _read_e2e_ratings(path / f"{dimension}.nopii.csv", dimension, column, draft)
    return draft.finish()


def _read_e2e_outputs(path: Path, inputs: list[str], reading: Reading) -> list[str]:
    """Return the output for every input; inputs must be in the order of the test set."""
    rows = [row for row in reading.numbered(read_lines(path), path) if row[1].strip()]
    outputs = []
    for (location, line), expected in zip(rows[1:], inputs, strict=False):
        fields = [field.strip() for field in line.split("\t")]
        for i, field in enumerate(fields):
            if len(field) > 1 and field[0] == field[-1] and field[0] in "'\"":
                fields[i] = field[1:-1].replace('""', '"')
        if len(fields) != 2:
            reading.problem(location, f"found {len(fields)} fields, expected MR and output")
        elif fields[0] != expected:
            input_text = quoted(fields[0])
            reading.problem(location, f"found the input {input_text}, expected {quoted(expected)}")
        outputs.append(fields[-1])
    if len(rows) - 1 != len(inputs):
        reading.problem(path, f"found {len(rows) - 1:,} outputs, expected {len(inputs):,}")
    return outputs


def _read_e2e_ratings(path: Path, dimension: str, column: str, draft: EvalSetDraft) -> None:
    names = ("_worker_id", "mr_id", *(f"{key}{i}" for key in ("sys", column) for i in range(1, 6)))
    won: dict[tuple[str, str, str], list[float]] = {}
    places: dict[tuple[str, str, str], FileLocation] = {}
    rows = read_table(path, names, draft.reading, commas=True)
    for location, (worker, segment, *cells) in rows:
        ratings = [parse_number(text) for text in cells[5:]]
        values = [rating for rating in ratings if rating is not None]
        if len(values) < len(ratings):
            draft.reading.problem(location, f"found the ratings {cells[5:]}, expected numbers")
            continue
        for i, system in enumerate(cells[:5]):
            key = system, segment, f"{dimension}/{worker}"
            other_values = values[:i] + values[i + 1 :]
            wins = ((values[i] > other) + 0.5 * (values[i] == other) for other in other_values)
            won.setdefault(key, []).extend(wins)
            places.setdefault(key, location)
    for key, shares in won.items():
        draft.judge(*key, dimension, sum(shares) / len(shares), places[key])


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
    """Return the set in a folder; `reference="raw"` uses the reference before tokenisation.

        annotations/ar-en/ar-en.ad.annot.raw.csv    SEGID, LANGPAIR, ANNOTYPE, ANNOTATOR_01, …
        text/mt_output/ar-en.NAME.tok.en            the output, which SEGID numbers from 1
        text/test/ted_test1.tok.en                  one English reference for all pairs

    A system is named after its pair. Annotators are numbered by pair: `ar-en/01` and `fa-en/01`
    are two judges. Only a set of a single pair has sources.
    """
    have = sorted(folder.name for folder in (path / "annotations").iterdir() if folder.is_dir())
    chosen = have if pairs is None else split_names(pairs)
    for pair in chosen:
        if pair not in have:
            raise InputError(f"{path} has no pair {quoted(pair)}: it has {', '.join(have)}")
    if reference not in ("tok", "raw"):
        raise InputError(f"reference={quoted(reference)}: expected tok or raw")
    outputs = {}
    for pair in chosen:
        folder = path / "text" / "mt_output"
        files = sorted(folder.glob(f"{pair}.*"))
        if len(files) != 1:
            raise InputError(f"{folder}: found {len(files)} files {pair}.*, expected one")
        outputs[pair] = read_lines(files[0])
    texts = path / "text" / "test"
    references = read_lines(texts / f"ted_test1.{reference}.en")
    sources = [texts / f"ted_test1_en-{p}.raw.{p}" for p in (c.partition("-")[0] for c in chosen)]
    draft = EvalSetDraft(
        name or path.name,
        [str(i) for i in range(1, len(references) + 1)],
        outputs,
        reading=reading,
        location=path,
        references=[(text,) for text in references],
        sources=read_lines(sources[0]) if len(sources) == 1 else None,
        dimensions=QUESTIONS.values(),
        description="MT outputs rated for adequacy, fluency and believability, raw scores",
        licence="CC-BY",
    )
    for pair in chosen:
        for question, dimension in QUESTIONS.items():
            file = path / "annotations" / pair / f"{pair}.{question}.annot.raw.csv"
            _read_believability_scores(file, pair, question, dimension.name, draft)
    return draft.finish()


def _read_believability_scores(
    path: Path, pair: str, question: str, dimension: str, draft: EvalSetDraft
) -> None:
    annotators = [name for name in read_header(path, commas=True) if name.startswith("ANNOTATOR_")]
    judges = [f"{pair}/{name.removeprefix('ANNOTATOR_')}" for name in annotators]
    columns = ("SEGID", "LANGPAIR", "ANNOTYPE", *annotators)
    rows = read_table(path, columns, draft.reading, commas=True)
    for location, (segment, of, kind, *scores) in rows:
        if (of, kind) != (pair, question):
            problem = f"found {short(of)} {short(kind)}"
            draft.reading.problem(location, f"{problem}, expected {pair} {question}")
            continue
        for judge, score in zip(judges, scores, strict=True):
            if score != "nan":
                draft.judge(pair, segment, judge, dimension, score, location)


PARAPHRASE_SYSTEM = "candidate"
UNNAMED_JUDGE = "raters"
_SIMILARITY = Dimension("similarity", low=0.0, high=1.0)


def read_paraphrases(path: Path, reading: Reading, *, name: str | None = None) -> EvalSet:
    """Return the set in a table with the columns source, reference, candidate and score.

    Candidates have no system: a segment is one candidate, named `SOURCE.CANDIDATE` by
    number; its group is the source; all are outputs of one system, `candidate`.
    """
    rows = list(read_table(path, ("source", "reference", "candidate", "score"), reading))
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
        {PARAPHRASE_SYSTEM: [row[2] for _, row in rows]},
        reading=reading,
        location=path,
        references=[(row[1],) for _, row in rows],
        groups=groups,
        sources=[row[0] for _, row in rows],
        dimensions=[_SIMILARITY],
        description="Paraphrase candidates with ratings; one pseudo-system holds them all",
        licence="Apache-2.0",
    )
    for segment, (location, row) in zip(ids, rows, strict=True):
        draft.judge(PARAPHRASE_SYSTEM, segment, UNNAMED_JUDGE, "similarity", row[3], location)
    return draft.finish()


COLUMNS = ("source", "system", "paraphrase", "judge")


def read_judged_paraphrases(path: Path, reading: Reading, *, name: str | None = None) -> EvalSet:
    """Return the set in a table with one row per judge and paraphrase.

    Columns are source, system, paraphrase, judge and one for each dimension, on a scale of 1 to 5;
    an empty cell is a missing judgement. An original is a segment and its own reference.
    """
    dimensions = [name for name in read_header(path) if name not in COLUMNS]
    rows = list(read_table(path, (*COLUMNS, *dimensions), reading))
    ids: dict[str, str] = {}
    outputs: dict[tuple[str, str], str] = {}
    for location, (source, system, text, *_rest) in rows:
        item = system, ids.setdefault(source, str(len(ids) + 1))
        if outputs.setdefault(item, text) != text:
            problem = f"a different paraphrase by {short(system)} of the same source came before"
            reading.problem(location, problem)
    sources = list(ids)
    draft = EvalSetDraft(
        name or path.stem,
        list(ids.values()),
        output_columns(path, outputs, ids.values()),
        reading=reading,
        location=path,
        references=[(source,) for source in sources],
        sources=sources,
        dimensions=[Dimension(name, low=1.0, high=5.0) for name in dimensions],
        description="Paraphrases by several systems with the scores of judges",
    )
    for location, (source, system, _, judge, *scores) in rows:
        for dimension, score in zip(dimensions, scores, strict=True):
            if score.strip():
                draft.judge(system, ids[source], judge, dimension, score, location)
    return draft.finish()
