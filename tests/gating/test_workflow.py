"""The workflow of docs/how-to/gate.md: its `run` steps, one by one, as GitHub runs them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib import resources
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

GUIDE = Path(__file__).parents[2] / "docs" / "how-to" / "gate.md"
BUNDLED = Path(str(resources.files("karat") / "data" / "demo"))


def steps() -> dict[str, str]:
    """The steps that run something: name and script."""
    text = GUIDE.read_text("utf-8")
    (workflow,) = re.findall(r"^```yaml\n(.*?)^```", text, re.M | re.S)
    results = {}
    for step in re.split(r"^      - ", workflow, flags=re.M)[1:]:
        name = re.match(r"name: (.*)", step)
        run = re.search(r"^        run: (?:\|\n((?: {10}.*\n?)+)|(.*))", step, re.M)
        assert (name is None) == (run is None) == step.startswith("uses: ")
        if name and run:
            results[name[1]] = re.sub(r"^ {10}", "", run[1], flags=re.M) if run[1] else run[2]
    return results


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A checked-out project with its baseline, and commands as they would be installed."""
    for path in (BUNDLED / "systems").glob("*.txt"):
        shutil.copy(path, tmp_path)
    shutil.copy(BUNDLED / "reference-1.txt", tmp_path / "ref1.txt")
    commands = tmp_path / "bin"
    commands.mkdir()
    karat = f"exec {sys.executable} -c 'from karat.cli.main import run; run()' \"$@\""
    # Karat is here already: what would be installed is checked, and nothing is fetched.
    for name, script in {"karat": karat, "pip": '[ "$*" = "install karat-eval" ]'}.items():
        (commands / name).write_text(f"#!/bin/sh\n{script}\n")
        (commands / name).chmod(0o755)
    target = run(tmp_path, "karat gate atlas.txt -r ref1.txt -m chrf -m bleu -b gate.tsv --update")
    assert target.returncode == 0, target.stderr
    return tmp_path


def run(folder: Path, script: str) -> Any:
    """Run the script of a step."""
    path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    variables = {**os.environ, "PATH": path, "GITHUB_STEP_SUMMARY": str(folder / "summary.md")}
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    settings: dict[str, Any] = {
        "capture_output": True,
        "text": True,
        "cwd": folder,
        "env": variables,
    }
    return subprocess.run(command, check=False, **settings)


def test_a_change_that_changes_nothing_passes(folder: Path) -> None:
    assert list(steps()) == ["Install", "Make the outputs", "Gate"]
    for script in steps().values():
        done = run(folder, script)
        assert done.returncode == 0, done.stderr
    assert "::" not in done.stdout + done.stderr
    assert (folder / "summary.md").read_text("utf-8").startswith("# Gate: pass\n")
    assert ElementTree.parse(folder / "gate.xml").getroot()[0].get("failures") == "0"


def test_a_change_for_the_worse_fails_with_the_reason_on_it(folder: Path) -> None:
    scripts = steps()
    assert run(folder, scripts["Make the outputs"].replace("atlas", "drift")).returncode == 0
    done = run(folder, scripts["Gate"])
    assert (done.returncode, "::" in done.stdout) == (1, False)
    matches = re.findall(r"^::error title=karat gate%3A fail::.*\n", done.stderr, re.M)
    assert (len(matches), "".join(matches)) == (2, done.stderr)
    assert (folder / "summary.md").read_text("utf-8").count("reference: ") == 10
    assert ElementTree.parse(folder / "gate.xml").getroot()[0].get("failures") == "2"


def test_the_baseline_of_the_guide_is_what_is_written(folder: Path) -> None:
    listing = re.search(
        r"^\$ (head -8 gate\.tsv .*)\n((?:# .*\n)+)", GUIDE.read_text("utf-8"), re.M
    )
    assert listing is not None
    assert run(folder, listing[1]).stdout == listing[2]
