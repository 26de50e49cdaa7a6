"""The page on tables: every command of its table runs, and refusals read as they are shown."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from test_docs import Block, blocks, examples, prepare

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/how-to/my-data.md").read_text("utf-8")
KINDS = re.findall(r"^\| ([^|]+) \| `(karat [^`]+)` \|", PAGE, re.MULTILINE)
REFUSALS = [
    (example.command, example.output_lines)
    for block in blocks(PAGE)
    if isinstance(block, Block) and block.language == "text"
    for example in examples(block)
]
Called = Callable[..., Any]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with the files that the page names."""
    prepare(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_page_has_a_row_for_each_kind_of_file() -> None:
    assert len(KINDS) >= 20
    assert len(REFUSALS) >= 3


@pytest.mark.parametrize(("kind", "command"), KINDS, ids=[kind for kind, _ in KINDS])
def test_a_command_of_the_table_runs(
    folder: Path, run_karat: Called, kind: str, command: str
) -> None:
    completed = run_karat(*shlex.split(command)[1:])
    assert completed.returncode == 0, completed.stderr
    assert completed.stdout


@pytest.mark.parametrize(("command", "lines"), REFUSALS)
def test_a_refusal_reads_as_shown(
    folder: Path, run_karat: Called, command: str, lines: tuple[str, ...]
) -> None:
    completed = run_karat(*shlex.split(command)[1:])
    assert completed.returncode == 2
    assert completed.stderr.splitlines() == [*lines]
