"""A renderer of another package, found by its entry point."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

MODULE = '''
def render_keys(document):
    """The keys of the tables, one on each line."""
    for table in document.tables:
        yield f"{table.key}: {len(table.rows)} rows\\n"
'''
PROGRAM = """
import sys
from importlib.resources import files
from karat.cli.main import main
demo = files("karat") / "data" / "demo"
text = str(demo / "systems" / "atlas.txt")
sys.exit(main(["score", text, "-r", str(demo / "reference-1.txt"), "-m", "bleu", *sys.argv[1:]]))
"""


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A folder as an installer leaves it behind."""
    (tmp_path / "keys_format.py").write_text(MODULE)
    info = tmp_path / "keys_format-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: keys-format\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[karat.renderers]\nkeys = keys_format:render_keys\n")
    return tmp_path


def score(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), *sys.path])}
    command = [sys.executable, "-c", PROGRAM, *options]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


def test_a_format_of_another_package_is_printed_and_written(installed: Path) -> None:
    assert score(installed, "-f", "keys").stdout == "rows: 1 rows\n"
    path = installed / "out.txt"
    assert score(installed, "-f", "keys", "-o", str(path)).returncode == 0
    assert path.read_text() == "rows: 1 rows\n"


def test_without_the_package_there_is_no_such_format(tmp_path: Path) -> None:
    done = score(tmp_path, "-f", "keys")
    assert done.returncode == 2
    assert "'keys' is not one of 'text', 'json'" in done.stderr
