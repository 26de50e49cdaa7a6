"""The sources themselves: lines fit, and documents state the limits in force."""

from __future__ import annotations

from pathlib import Path

import pytest

from karat.metrics import pairs

ROOT = Path(__file__).parent.parent
KERNEL_FILES = sorted((ROOT / "csrc").rglob("*.?pp"))


@pytest.mark.parametrize("source", KERNEL_FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_kernel_lines_are_at_most_a_hundred_columns(source: Path) -> None:
    long = [
        i for i, line in enumerate(source.read_text("utf-8").splitlines(), 1) if len(line) > 100
    ]
    assert not long


def test_the_documents_state_the_limits_in_force() -> None:
    text = (ROOT / "docs" / "reference/metrics-guide.md").read_text("utf-8")
    assert (pairs.MAX_LCS_CELLS, pairs.MAX_STORED_LCS_CELLS) == (10**12, 2**33)
    assert "10^12 cells" in text
    assert "2^33 cells" in text
