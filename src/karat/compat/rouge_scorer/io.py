"""Scores of the records of files, written as CSV, as rouge-score does.

Plain scorers of this package score all records of a file at once.
"""

from __future__ import annotations

import glob
import logging
from collections.abc import Iterator, Mapping
from typing import Any

from karat.compat.rouge_scorer import RougeScorer
from karat.errors import InputError, short

_PARTS = ("precision", "recall", "fmeasure")


def compute_scores_and_write_to_csv(
    target_filepattern: str,
    prediction_filepattern: str,
    output_filename: str,
    scorer: Any,
    aggregator: Any,
    delimiter: str = "\n",
) -> None:
    """Score the records of prediction files against those of target files, and write a CSV file.

    Files that fit the two patterns are paired in alphabetical order. With an aggregator, the rows
    are low, mid and high of each type and part; with None, there is a row for each record.
    """
    targets, predictions = (
        sorted(glob.glob(pattern)) for pattern in (target_filepattern, prediction_filepattern)
    )
    if not targets or len(targets) != len(predictions):
        counts = f"{len(targets)} files of targets, {len(predictions)} of predictions"
        patterns = f"{short(target_filepattern)} and {short(prediction_filepattern)}"
        raise InputError(f"{patterns}: {counts}; expected equal numbers of at least one")
    scores = [
        score
        for pair in zip(targets, predictions, strict=True)
        for score in _file_scores(*pair, scorer, delimiter)
    ]
    if aggregator:
        for score in scores:
            aggregator.add_scores(score)
        _write(output_filename, _aggregate_lines(aggregator.aggregate()))
    elif scores:
        _write(output_filename, _score_lines(scores))
    else:
        logging.warning("no records: %s is not written", output_filename)


def _file_scores(
    target_file: str, prediction_file: str, scorer: Any, delimiter: str
) -> list[Mapping[str, Any]]:
    """Return the scores of the records of a pair of files."""
    records = [_records(file, delimiter) for file in (target_file, prediction_file)]
    if len(records[0]) != len(records[1]):
        counts = f"{len(records[0]):,} and {len(records[1]):,} records"
        raise InputError(f"{target_file} and {prediction_file} have {counts}: they must be equal")
    if type(scorer) is RougeScorer:
        return [*scorer.score_all(*records)]
    return [scorer.score(*pair) for pair in zip(*records, strict=True)]


def _records(file: str, delimiter: str) -> list[str]:
    """Return the records of a file, each of which ends in a delimiter."""
    with open(file, encoding="utf-8") as text:
        records = text.read().split(delimiter)
    if not records[-1]:
        return records[:-1]
    logging.warning("%s has no delimiter at its end", file)
    return records


def _aggregate_lines(aggregates: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of low, mid and high of each type and part."""
    yield "score_type,low,mid,high\n"
    for name, aggregate in sorted(aggregates.items()):
        for letter, part in zip("RPF", ("recall", "precision", "fmeasure"), strict=True):
            numbers = (getattr(end, part) for end in (aggregate.low, aggregate.mid, aggregate.high))
            yield f"{name}-{letter}," + ",".join(f"{x:f}" for x in numbers) + "\n"


def _score_lines(scores: list[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the lines of each record: its number, and precision, recall and F of each type."""
    names = sorted(scores[0])
    yield "id" + "".join(f",{name}-{letter}" for name in names for letter in "PRF") + "\n"
    for number, score in enumerate(scores):
        numbers = (getattr(score[name], part) for name in names for part in _PARTS)
        yield f"{number}," + ",".join(f"{x:f}" for x in numbers) + "\n"


def _write(file: str, lines: Iterator[str]) -> None:
    """Write lines to a file."""
    with open(file, "w", encoding="utf-8") as output:
        output.writelines(lines)
