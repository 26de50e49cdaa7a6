"""What a package index and the workflow of the wheels are told: versions, metadata and commands."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

from karat.installation import DISTRIBUTION, install_command

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]
SETTINGS: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PROJECT: dict[str, Any] = SETTINGS["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
BUILDER: dict[str, Any] = SETTINGS["tool"]["cibuildwheel"]
WORKFLOW = ROOT / ".github" / "workflows" / "wheels.yml"
MACHINES = {"ubuntu-latest", "ubuntu-24.04-arm", "macos-latest", "macos-15-intel", "windows-latest"}


def classified() -> list[tuple[int, int]]:
    """Return the Python versions of the classifiers."""
    matches = (re.fullmatch(r".* :: Python :: (3)\.(\d+)", x) for x in PROJECT["classifiers"])
    return [(int(m[1]), int(m[2])) for m in matches if m]


def workflow() -> dict[str, Any]:
    yaml = pytest.importorskip("yaml")
    return yaml.safe_load(WORKFLOW.read_text("utf-8"))


def test_the_same_pythons_everywhere():
    versions = classified()
    assert versions == [(3, minor) for minor in range(10, 15)]
    assert PROJECT["requires-python"] == f">={versions[0][0]}.{versions[0][1]}"
    assert BUILDER["build"] == [f"cp{major}{minor}-*" for major, minor in versions]
    oldest = f"{versions[0][0]}.{versions[0][1]}"
    assert SETTINGS["tool"]["mypy"]["python_version"] == oldest
    assert SETTINGS["tool"]["ruff"]["target-version"] == "py" + oldest.replace(".", "")
    assert f"find_package(Python {oldest} " in (ROOT / "CMakeLists.txt").read_text("utf-8")


def test_the_package_page_is_filled_in():
    assert PROJECT["license"] == "Apache-2.0"
    for file in (PROJECT["readme"], *PROJECT["license-files"]):
        assert (ROOT / file).is_file()
    assert PROJECT["description"]
    assert PROJECT["keywords"]
    # A licence expression and a licence classifier exclude each other.
    assert not [x for x in PROJECT["classifiers"] if x.startswith("License ::")]
    assert "Typing :: Typed" in PROJECT["classifiers"]
    assert (ROOT / "src" / "karat" / "py.typed").exists()


def test_every_extra_is_documented():
    text = (ROOT / "docs" / "how-to" / "install.md").read_text("utf-8")
    rows = re.findall(r"^\| `karat-eval\[(\w+)\]`", text, flags=re.MULTILINE)
    assert sorted(rows) == sorted(EXTRAS.keys() - {"test"})


def test_all_has_every_extra_that_can_be_installed_together():
    (requirement,) = EXTRAS["all"]
    name, _, extras = requirement.removesuffix("]").partition("[")
    assert name == PROJECT["name"]
    assert extras.split(",") == sorted(EXTRAS.keys() - {"all", "ray", "spark", "test"})


def test_the_distribution_has_one_name():
    """The name of the project in messages, and extras that exist wherever one is named."""
    assert PROJECT["name"] == DISTRIBUTION
    assert install_command("arrow", "xlsx") == "pip install 'karat-eval[arrow,xlsx]'"
    named_extra = re.compile(r"\bkarat(-eval)?\[([a-z]+(?:,[a-z]+)*)\]")
    wrong = []
    for folder in ("docs", "src", "examples", "README.md", "CONTRIBUTING.md", ".github"):
        for path in sorted({ROOT / folder, *(ROOT / folder).rglob("*.*")}):
            if path.suffix in (".md", ".py", ".pyi", ".yml", ".toml") and path.is_file():
                text = path.read_text("utf-8")
                for suffix, extras in named_extra.findall(text):
                    if not suffix or not set(extras.split(",")) <= EXTRAS.keys():
                        wrong.append(f"{path.relative_to(ROOT)}: karat{suffix}[{extras}]")
    assert wrong == []


def test_workflow_builds_on_every_system_and_tries_each_wheel():
    jobs = workflow()["jobs"]
    assert set(jobs["wheels"]["strategy"]["matrix"]["os"]) == MACHINES
    used = [step.get("uses", "") for step in jobs["wheels"]["steps"]]
    assert [x for x in used if re.fullmatch(r"pypa/cibuildwheel@v\d+\.\d+\.\d+", x)]
    assert jobs["wheels"]["strategy"]["fail-fast"] is False
    commands = [step["run"] for step in jobs["sdist"]["steps"] if "run" in step]
    assert "python -m build --sdist --outdir dist" in commands
    assert "python -m twine check --strict dist/*" in commands
    (trial,) = re.findall(r"\{project\}/(\S+)", BUILDER["test-command"])
    assert (ROOT / trial).is_file()


def test_workflow_needs_no_secret():
    text = WORKFLOW.read_text("utf-8")
    assert "secrets." not in text
    assert workflow()["permissions"] == {"contents": "read"}
