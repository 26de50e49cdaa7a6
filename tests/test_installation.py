"""Karat beside the other distribution called `karat`, in real environments, without a network.

The wheels are written by hand: ours has the files of this source tree and its kernel, the other
has the layout and the entry point of the tool on the package index.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import subprocess
import sys
import sysconfig
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

import karat as kt
from karat import _kernel

PACKAGE = Path(kt.__file__).parent
KERNEL = Path(_kernel.__file__)
OUR_COMMAND = "karat = karat.cli:run"
OTHER_COMMAND = "karat = karat.cli:main"
OTHER_FILES = {
    "karat/__init__.py": b"from .lm import AgentLM\n\n__all__ = ['AgentLM']\n",
    "karat/lm.py": b"class AgentLM: ...\n",
    "karat/cli.py": b"def main(): print('the other tool')\n",
}
REPAIR = "run pip uninstall karat karat-eval, then pip install karat-eval"


@dataclass(frozen=True)
class Wheels:
    """The files that the tests install."""

    karat_eval: Path
    other: Path
    karat_before_the_rename: Path


@dataclass(frozen=True)
class Environment:
    """A virtual environment with the dependencies of Karat, and at first without Karat."""

    folder: Path

    @property
    def site(self) -> str:
        return sysconfig.get_path("purelib", "venv", {"base": str(self.folder)})

    def pip(self, *args: str | Path) -> None:
        python = self.folder / "bin" / "python"
        pip = [sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check"]
        done = subprocess.run([*pip, *args], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr

    def install(self, wheel: Path) -> None:
        self.pip("install", "--no-deps", "--no-index", wheel)

    def run(self, program: str, *args: str) -> subprocess.CompletedProcess[str]:
        command = [self.folder / "bin" / program, *args]
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=self.folder)

    def conflict(self, version: str = "0.2.9") -> str:
        tool = f"karat {version} in {self.site} is a different evaluation tool"
        return f"{tool}, and it and karat-eval replace each other's files: {REPAIR}"


def write_wheel(folder: Path, name: str, command: str, files: dict[str, bytes]) -> Path:
    """Write a wheel of pure files; `name` is that of its file, with the version."""
    info = f"{name}.dist-info"
    distribution, _, version = name.replace("_", "-").rpartition("-")
    members = {
        **files,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": f"[console_scripts]\n{command}\n",
    }
    record = io.StringIO()
    rows = csv.writer(record, lineterminator="\n")
    path = folder / f"{name}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for member, content in members.items():
            data = content if isinstance(content, bytes) else content.encode()
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
            rows.writerow([member, f"sha256={digest}", len(data)])
            archive.writestr(member, data)
        rows.writerow([f"{info}/RECORD", "", ""])
        archive.writestr(f"{info}/RECORD", record.getvalue())
    return path


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Wheels:
    folder = tmp_path_factory.mktemp("wheels")
    paths = [path for path in PACKAGE.rglob("*") if path.is_file()]
    files = {
        f"karat/{path.relative_to(PACKAGE).as_posix()}": path.read_bytes()
        for path in paths
        if "__pycache__" not in path.parts and path.suffix not in (".so", ".pyd")
    }
    files[f"karat/{KERNEL.name}"] = KERNEL.read_bytes()
    version = kt.__version__
    return Wheels(
        write_wheel(folder, f"karat_eval-{version}", OUR_COMMAND, files),
        write_wheel(folder, "karat-0.2.9", OTHER_COMMAND, OTHER_FILES),
        write_wheel(folder, "karat-0.1.0", OUR_COMMAND, files),
    )


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    environment = Environment(tmp_path / "venv")
    create = [sys.executable, "-m", "venv", "--without-pip", str(environment.folder)]
    subprocess.run(create, check=True)
    # `.pth` files are not read in a folder that another one adds: no editable install of Karat.
    dependencies = Path(environment.site, "dependencies.pth")
    dependencies.write_text(sysconfig.get_path("purelib") + "\n", "utf-8")
    return environment


def test_the_other_tool_installed_later(wheels: Wheels, environment: Environment) -> None:
    environment.install(wheels.karat_eval)
    done = environment.run("karat", "--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"karat {kt.__version__}\n", "")
    environment.install(wheels.other)
    for args in (["--version"], ["score", "a.txt", "-r", "b.txt"]):
        done = environment.run("karat", *args)
        assert done.stderr == f"karat: {environment.conflict()}\n"
        assert (done.returncode, done.stdout) == (2, "")
    done = environment.run("python", "-c", "import karat")
    assert done.stderr.endswith(f"\nImportError: {environment.conflict()}\n")

    environment.pip("uninstall", "--yes", "karat")  # takes files of ours away
    done = environment.run("python", "-c", "from karat.lm import train")
    assert done.stderr.endswith(f"\nImportError: files of karat-eval are missing: {REPAIR}\n")
    environment.pip("uninstall", "--yes", "karat", "karat-eval")
    environment.install(wheels.karat_eval)
    done = environment.run("karat", "--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"karat {kt.__version__}\n", "")


def test_the_other_tool_installed_earlier(wheels: Wheels, environment: Environment) -> None:
    environment.install(wheels.other)
    environment.install(wheels.karat_eval)
    done = environment.run("karat", "--version")
    assert done.stderr == f"karat: {environment.conflict()}\n"
    assert (done.returncode, done.stdout) == (0, f"karat {kt.__version__}\n")
    done = environment.run("karat", "demo", "--texts", ".")  # all files of ours are there
    assert (done.returncode, done.stderr) == (0, "")
    done = environment.run("karat", "score", "atlas.txt", "-r", "ref1.txt", "-m", "bleu")
    assert (done.returncode, done.stderr) == (0, "")
    # Their command may come first on the path, and our package first on Python's.
    script = Path(environment.folder, "bin", "karat")
    script.write_text(script.read_text("utf-8").replace("import run", "import main as run"))
    done = environment.run("karat", "--version")
    assert done.stderr == f"karat: {environment.conflict()}\n"
    assert (done.returncode, done.stdout) == (2, "")


def test_an_earlier_version_of_this_project_is_no_conflict(
    wheels: Wheels, environment: Environment
) -> None:
    environment.install(wheels.karat_before_the_rename)
    environment.install(wheels.karat_eval)
    done = environment.run("karat", "--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"karat {kt.__version__}\n", "")


def test_a_missing_kernel(wheels: Wheels, environment: Environment) -> None:
    environment.install(wheels.karat_eval)
    Path(environment.site, "karat", KERNEL.name).unlink()
    done = environment.run("karat", "demo")
    assert done.stderr == f"karat: the compiled kernel of karat-eval is missing: {REPAIR}\n"
    assert (done.returncode, done.stdout) == (2, "")
