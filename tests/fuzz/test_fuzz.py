"""Some damaged files for every reader; `python -m tests.fuzz` (or `make fuzz`) has any number."""

from __future__ import annotations

import random

import pytest

from fuzz.cases import Case, Outcome, files_of, outcomes
from fuzz.damage import damaged
from fuzz.readers import READERS

SEEDS = range(12)
SLOW = ("pem model",)  # a large file for each case
ABOUT_MESSAGES = "a message of"


@pytest.fixture(scope="module")
def case_outcomes() -> list[Outcome]:
    """What became of a few cases of every reader."""
    cases = [
        Case(reader, seed)
        for reader in READERS
        for seed in SEEDS[: 4 if reader in SLOW else len(SEEDS)]
    ]
    return list(outcomes(cases))


def failures(case_outcomes: list[Outcome], about_messages: bool) -> list[Outcome]:
    """The failures that are about messages, or all others."""
    bad = [outcome for outcome in case_outcomes if outcome.failed]
    return [
        failure for failure in bad if failure.verdict.startswith(ABOUT_MESSAGES) == about_messages
    ]


def test_damaged_input_is_read_or_refused(case_outcomes: list[Outcome]) -> None:
    assert failures(case_outcomes, about_messages=False) == []


def test_every_message_is_one_line_of_bounded_length(case_outcomes: list[Outcome]) -> None:
    assert failures(case_outcomes, about_messages=True) == []


def test_every_reader_reads_its_valid_files_and_refuses_some(case_outcomes: list[Outcome]) -> None:
    verdicts_by_reader = {
        reader: {o.verdict for o in case_outcomes if o.case.reader == reader} for reader in READERS
    }
    assert {
        reader for reader, verdicts in verdicts_by_reader.items() if "read" not in verdicts
    } == set()
    refused = {reader for reader, verdicts in verdicts_by_reader.items() if "refused" in verdicts}
    assert len(refused) > 0.8 * len(READERS)


def test_a_seed_always_makes_the_same_files() -> None:
    for reader in READERS:
        assert files_of(Case(reader, 7)) == files_of(Case(reader, 7))


def test_damage_is_damage() -> None:
    valid = {"a.txt": b"one two\nthree four 5\n", "b.jsonl": b'{"a": [1, 2], "b": "c"}\n'}
    changed = [damaged(valid, random.Random(seed)) != valid for seed in range(200)]
    assert sum(changed) > 180
