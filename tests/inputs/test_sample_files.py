"""Every sample file is read right, or refused with the option that settles it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from inputs.judging import Outcome, judge_case, totals
from inputs.plain_reading import Case
from inputs.reading_options import PROBLEMS, options_for

import karat as kt
from karat.evalset.sets import EvalSet

for package in ("openpyxl", "pyarrow"):
    pytest.importorskip(package)

FOLDER = Path(__file__).parent
CASES: list[Case] = json.loads((FOLDER / "expected.json").read_text("utf-8"))["cases"]


def read(source: Path | list[Path], **options: Any) -> EvalSet:
    """Read a table; the option `filter` is one of the format lm-eval."""
    if "filter" in options:
        return kt.load_evalset(source, **options)
    return kt.read_outputs(source, **options)


def judge(case: Case, folder: Path = FOLDER) -> Outcome:
    """Return what becomes of a case in a folder."""
    pattern = PROBLEMS.get(case["name"], "")
    return judge_case(case, folder / "files", read, options_for, pattern)


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_a_sample_file_is_read_right_or_refused(case: Case) -> None:
    outcome = judge(case)
    assert outcome.verdict in ("right", "refused"), outcome


def main(folder: Path) -> None:
    """Print the outcome of each case, and the totals."""
    cases = json.loads((folder / "expected.json").read_text("utf-8"))["cases"]
    outcomes = [judge(case, folder) for case in cases]
    for outcome in outcomes:
        print(f"{outcome.verdict:8} {outcome.name}  {outcome.reason}  {outcome.options}".rstrip())
    print(", ".join(f"{count} {verdict}" for verdict, count in totals(outcomes).items()))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
