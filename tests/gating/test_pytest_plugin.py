"""The pytest plugin, in a pytest of its own: baselines, messages, warnings, and what it costs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TEST = """
import pytest
import outputs

REFERENCES = [f"the cat number {i} sat on the mat" for i in range(40)]

def test_quality(karat_gate):
    karat_gate(outputs.texts(REFERENCES), REFERENCES, "chrf", max_drop=outputs.DROP)

class TestMore:
    @pytest.mark.parametrize("lang", ["de/at", "fr"])
    def test_language(self, karat_gate, lang):
        karat_gate(outputs.texts(REFERENCES), REFERENCES, ["chrf", "bleu"], max_drop=99)
        karat_gate(outputs.texts(REFERENCES), REFERENCES, "bleu", max_drop=99)

def test_named(karat_gate):
    found = karat_gate(REFERENCES, REFERENCES, "chrf", baseline="named.tsv", undecided="fail")
    assert found is None or found.verdict == "pass"
"""
GOOD = "DROP = 0\ndef texts(right):\n    return [t.replace('cat', 'dog') for t in right]\n"
WORSE = "DROP = 1.0\ndef texts(right):\n    return [t.replace('sat on', '') for t in right]\n"
UNSURE = (
    GOOD
    + "def texts(right):\n    return [right[0].replace('the', 'a'), 'x y', *"
    + ("[t.replace('cat', 'dog') for t in right[2:]]]\n")
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "test_mt.py").write_text(TEST)
    (tmp_path / "outputs.py").write_text(GOOD)
    return tmp_path


def run(project: Path, *args: str) -> Any:
    """Run pytest with the plugin alone."""
    plugin = "-p", "karat.gating.pytest_plugin", "-p", "no:cacheprovider"
    command = [sys.executable, "-m", "pytest", "-q", *plugin, *args]
    alone = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    settings: dict[str, Any] = {"capture_output": True, "text": True, "cwd": project, "env": alone}
    return subprocess.run(command, check=False, **settings)


def test_a_project(project: Path) -> None:
    missing = run(project)
    assert missing.returncode == 1
    assert "no such baseline; write it with --update" in missing.stdout
    assert run(project, "--karat-update").returncode == 0
    written = sorted(path.name for path in project.glob("*.tsv"))
    assert written == [
        "named.tsv",
        "test_mt.TestMore.test_language[de%2Fat].2.gate.tsv",
        "test_mt.TestMore.test_language[de%2Fat].gate.tsv",
        "test_mt.TestMore.test_language[fr].2.gate.tsv",
        "test_mt.TestMore.test_language[fr].gate.tsv",
        "test_mt.test_quality.gate.tsv",
    ]
    unchanged = run(project)
    assert (unchanged.returncode, "4 passed" in unchanged.stdout) == (0, True)

    (project / "outputs.py").write_text(WORSE)
    worse = run(project)
    assert worse.returncode == 1
    message = (
        r"AssertionError: karat gate: fail \(baseline .*test_mt.test_quality.gate.tsv\)\n.*fail: "
    )
    assert re.search(message + r"chrf went from .* this is a loss of more than 1\.00", worse.stdout)
    assert "reference: the cat number" in worse.stdout
    assert "pytest_plugin.py" not in worse.stdout  # no traceback through the plugin
    assert "1 failed, 3 passed" in worse.stdout

    (project / "outputs.py").write_text(UNSURE)
    unsure = run(project)
    assert (unsure.returncode, "4 passed, 1 warning" in unsure.stdout) == (0, True)
    assert "GateUndecided: karat gate: undecided" in unsure.stdout
    assert "test_mt.py:8" in unsure.stdout  # the place of the call


def test_nothing_is_loaded_until_it_is_used(tmp_path: Path) -> None:
    (tmp_path / "test_plain.py").write_text(
        "import sys\ndef test_plain():\n"
        "    loaded = [n for n in sys.modules if n.split('.')[0] in ('karat', 'numpy')]\n"
        "    assert sorted(loaded) == "
        "['karat', 'karat.exports', 'karat.gating', 'karat.gating.pytest_plugin']\n"
    )
    done = run(tmp_path)
    assert done.returncode == 0, done.stdout


def test_the_plugin_is_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["entry-points"]["pytest11"] == {"karat": "karat.gating.pytest_plugin"}


BAD = """
def test_setting(karat_gate):
    karat_gate(["a b"] * 9, ["a b"] * 9, "chrf", baseline="b.tsv", tolerance=1)

def test_undecided(karat_gate):
    karat_gate(["a b"] * 9, ["a b"] * 9, "chrf", baseline="b.tsv", undecided="x")
"""


@pytest.mark.parametrize("args", [(), ("--karat-update",)])
def test_bad_input_fails_with_its_sentence_alone(tmp_path: Path, args: tuple[str, ...]) -> None:
    (tmp_path / "test_bad.py").write_text(BAD)
    done = run(tmp_path, *args)
    assert (done.returncode, "2 failed" in done.stdout) == (1, True)
    assert re.search(r"^setting 'tolerance' of \w+: expected one of ", done.stdout, re.M)
    assert re.search(r"^undecided='x': expected 'warn' or 'fail'$", done.stdout, re.M)
    assert not re.search(r"Traceback|Error|karat_gate\(\[|\.py:\d", done.stdout)


UNITS = """
REFERENCES = [f"the cat number {i} sat on the mat" for i in range(40)]
PAGES = [i // 4 for i in range(40)]

def test_pages(karat_gate):
    result = karat_gate(REFERENCES, REFERENCES, "chrf", baseline="pages.tsv", units=PAGES)
    assert result is None or "|unit=unit" in result.signature

def test_too_short(karat_gate):
    karat_gate(REFERENCES, REFERENCES, "chrf", baseline="pages.tsv", units=PAGES[1:])
"""


def test_units(tmp_path: Path) -> None:
    (tmp_path / "test_units.py").write_text(UNITS)
    assert run(tmp_path, "-k", "pages", "--karat-update").returncode == 0
    done = run(tmp_path)
    assert "1 failed, 1 passed" in done.stdout
    assert "units: found 39 labels, expected 40, one per segment" in done.stdout
