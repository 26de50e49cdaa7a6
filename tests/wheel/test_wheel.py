"""The files of `make wheel`: their content, and a trial of each wheel without a compiler.

`make test-wheel` runs these. A wheel is tried on the Python of its version: one of `KARAT_PYTHONS`
(paths, separated by spaces), the one that runs the tests, or a `python3.N` on the path.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WHEELS = sorted((ROOT / "dist").glob("*.whl"))
SOURCES = sorted((ROOT / "dist").glob("*.tar.gz"))
COMPILERS = ("cc", "c++", "gcc", "g++", "clang", "clang++", "cmake", "ninja", "make")
LITTER = re.compile(
    r"__pycache__|\.pyc$|\.o$|\.a$|(^|/)(tests?|build|\.venv|\.git|\.ci)(/|$)|\.tmp$"
)
LARGEST = 8_000_000
"""Bytes of a wheel or of the sources."""


def package_files() -> set[str]:
    """Return the files of the package that git has, as paths from `src`."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "src"]
    found = subprocess.run(listed, cwd=ROOT, capture_output=True, encoding="utf-8", check=True)
    return {name.removeprefix("src/") for name in found.stdout.split("\n") if name}


def python_of(wheel: Path) -> str:
    """Return the Python of a wheel's version."""
    tag = wheel.name.split("-")[2]
    for python in (*os.environ.get("KARAT_PYTHONS", "").split(), sys.executable):
        asked = "import sys; print('cp%d%d' % sys.version_info[:2])"
        if subprocess.check_output([python, "-c", asked], encoding="utf-8").strip() == tag:
            return python
    found = shutil.which(f"python{tag[2]}.{tag[3:]}")
    if found is None:
        pytest.skip(f"no Python for {tag}: name one in KARAT_PYTHONS")
    return found


def test_there_is_something_to_test():
    assert WHEELS, "no wheel in dist: run make wheel"
    assert len(SOURCES) == 1


@pytest.mark.parametrize("wheel", WHEELS, ids=lambda path: path.name)
def test_wheel_has_the_package_and_one_kernel(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if not name.endswith("/")}
    files = {name for name in names if name.startswith("karat/")}
    kernels = {name for name in files if name.endswith(".so")}
    assert files - kernels == package_files()
    version = wheel.name.split("-")[2].replace("cp", "cpython-")
    assert [name for name in kernels if version in name] == list(kernels)
    assert len(kernels) == 1
    rest = {name.split("/", 1)[1] for name in names - files}
    metadata = {"METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE"}
    assert metadata <= rest
    assert not [name for name in names if LITTER.search(name)]
    assert "manylinux" in wheel.name
    assert wheel.stat().st_size < LARGEST


def test_sources_build_and_hold_no_litter():
    (source,) = SOURCES
    with tarfile.open(source) as archive:
        members = [member for member in archive.getmembers() if member.isfile()]
    names = {member.name.split("/", 1)[1] for member in members}
    assert {f"src/{name}" for name in package_files()} <= names
    built_from = {"CMakeLists.txt", "pyproject.toml", "README.md", "LICENSE", "csrc/module.cpp"}
    assert built_from <= names
    assert not [name for name in names if LITTER.search(name) or name.endswith((".so", ".pyd"))]
    folders = {name.split("/")[0] for name in names if "/" in name}
    assert folders == {"csrc", "docs", "src"}
    assert source.stat().st_size < LARGEST


@pytest.mark.parametrize("wheel", WHEELS, ids=lambda path: path.name)
def test_wheel_works_in_a_clean_environment_without_a_compiler(wheel, tmp_path):
    """Only wheels are installed, only the environment is on the path, and no sources are near."""
    subprocess.run([python_of(wheel), "-m", "venv", tmp_path / "venv"], check=True)
    programs = tmp_path / "venv" / "bin"
    kept = ("HOME", "PIP_CERT", "PIP_FIND_LINKS", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL")
    environment = {name: os.environ[name] for name in kept if name in os.environ}
    environment["PATH"] = str(programs)
    assert not [name for name in COMPILERS if shutil.which(name, path=environment["PATH"])]
    installing = ("pip", "install", "--quiet", "--only-binary", ":all:", wheel)
    trial = shutil.copy(Path(__file__).with_name("trial.py"), tmp_path)
    for command in (["-m", *installing], ["-m", "pip", "check"], ["-I", trial]):
        done = subprocess.run(
            [programs / "python", *command],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
    assert "karat works on Python" in done.stdout
