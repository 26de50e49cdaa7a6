"""The E2E generation challenge: outputs, references, and ratings of five outputs at a time.

    primary/SYSTEM.tsv          MR, output: as the team wrote it (quotes of both kinds, blank lines)
    testset_w_refs.csv          mr, ref: a row for each reference, those of one input together
    naturalness.nopii.csv       a row for each worker and unit: sys1…sys5, natur1…natur5
    quality.nopii.csv           the same with quality1…quality5

Workers chose their own scale (some gave 111111), so only the order within a row means anything.
What is stored is therefore not the rating but the share of comparisons that an output wins:

    value = (outputs in the row rated lower + half of those rated equal) / other outputs in the row

and over all rows, if the worker had the same output in several. Two systems with the same text
count as any other tie. Workers are numbered anew in each file: `naturalness/w1` and `quality/w1`
are two judges.
"""

from __future__ import annotations

from pathlib import Path

from karat.errors import quoted
from karat.evalset.draft import EvalSetDraft
from karat.evalset.judgements import Dimension
from karat.evalset.reading import Place, Reading, csv_rows, number, read_lines
from karat.evalset.sets import EvalSet

RATINGS = {"naturalness": "natur", "quality": "quality"}
"""Dimension -> how its five columns are called, before their numbers."""

_PLACES = range(1, 6)
_GUIDELINE = "Share of the other outputs in the row that it beats; ties count one half."


def read_e2e(path: Path, reading: Reading, *, name: str | None = None) -> EvalSet:
    """Return the set in a folder; the segments are the inputs, called 1 to 630 as in `mr_id`."""
    references: dict[str, list[str]] = {}
    for _, (meaning, text) in csv_rows(path / "testset_w_refs.csv", ("mr", "ref"), reading):
        references.setdefault(meaning, []).append(text)
    inputs = list(references)
    files = sorted((path / "primary").glob("*.tsv"))
    draft = EvalSetDraft(
        name or path.name,
        [str(i) for i in range(1, len(inputs) + 1)],
        {file.stem: _outputs(file, inputs, reading) for file in files},
        reading=reading,
        where=path,
        references=list(references.values()),
        sources=inputs,
        dimensions=[Dimension(key, low=0.0, high=1.0, guideline=_GUIDELINE) for key in RATINGS],
        description="E2E NLG challenge, primary systems; ratings as shares of comparisons won",
        licence="CC-BY-SA 4.0",
    )
    for dimension, column in RATINGS.items():
        _read_ratings(path / f"{dimension}.nopii.csv", dimension, column, draft)
    return draft.finish()


def _outputs(path: Path, inputs: list[str], reading: Reading) -> list[str]:
    """Return the output for every input, which must stand in the order of the test set."""
    rows = [row for row in reading.numbered(read_lines(path), path) if row[1].strip()]
    outputs = []
    for (place, line), expected in zip(rows[1:], inputs, strict=False):
        fields = [_unquoted(field) for field in line.split("\t")]
        if len(fields) != 2:
            reading.problem(place, f"found {len(fields)} fields, expected MR and output")
        elif fields[0] != expected:
            found = quoted(fields[0])
            reading.problem(place, f"found the input {found}, expected {quoted(expected)}")
        outputs.append(fields[-1])
    if len(rows) - 1 != len(inputs):
        reading.problem(path, f"found {len(rows) - 1:,} outputs, expected {len(inputs):,}")
    return outputs


def _unquoted(field: str) -> str:
    text = field.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1].replace('""', '"')
    return text


def _read_ratings(path: Path, dimension: str, column: str, draft: EvalSetDraft) -> None:
    names = ("_worker_id", "mr_id", *(f"{key}{i}" for key in ("sys", column) for i in _PLACES))
    won: dict[tuple[str, str, str], list[float]] = {}
    places: dict[tuple[str, str, str], Place] = {}
    for place, (worker, segment, *rest) in csv_rows(path, names, draft.reading):
        systems, ratings = rest[: len(_PLACES)], [number(text) for text in rest[len(_PLACES) :]]
        known = [rating for rating in ratings if rating is not None]
        if len(known) < len(ratings):
            draft.reading.problem(place, f"found the ratings {rest[5:]}, expected numbers")
            continue
        for i, system in enumerate(systems):
            key = system, segment, f"{dimension}/{worker}"
            others = known[:i] + known[i + 1 :]
            beaten = (1.0 if known[i] > o else 0.5 if known[i] == o else 0.0 for o in others)
            won.setdefault(key, []).extend(beaten)
            places.setdefault(key, place)
    for key, wins in won.items():
        draft.judge(*key, dimension, sum(wins) / len(wins), places[key])
