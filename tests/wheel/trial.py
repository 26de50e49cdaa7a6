"""Try an installed Karat: the demonstration, scores and Python, away from the sources.

    python trial.py

Run it with the Python into which a wheel was installed; it needs nothing else. cibuildwheel runs it
for every wheel, `make test-wheel` for those in `dist/`. It works in a folder of its own and ends
with exit code 0, or with the first thing that is wrong.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[2] / "src"
KARAT = Path(sysconfig.get_path("scripts")) / "karat"
BLEU = 50.49431053907979
"""BLEU of atlas against two references: the same bits on every machine."""


def karat(*args: str) -> str:
    """Return what a command prints."""
    command = [str(KARAT), *args]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    expect(done.returncode == 0, f"{' '.join(command)}: exit code {done.returncode}: {done.stderr}")
    return done.stdout


def expect(found: bool, otherwise: str) -> None:
    if not found:
        sys.exit(f"trial: {otherwise}")


def try_commands() -> None:
    """Try the demonstration, a score and the apps that read bundled data and models."""
    expect("Comparison with beacon" in karat("demo"), "karat demo shows no comparison")
    page = Path("karat-demo.html").read_text("utf-8")
    expect("<svg" in page and "</html>" in page, "the page of karat demo is not whole")
    karat("demo", "--texts", ".")
    scored = ("score", "atlas.txt", "-r", "ref1.txt", "-r", "ref2.txt", "-m", "bleu", "-f", "json")
    (row,) = json.loads(karat(*scored))["rows"]
    expect(row["score"] == BLEU, f"BLEU of atlas is {row['score']!r}, expected {BLEU}")
    karat("score", "atlas.txt", "-r", "ref1.txt", "-m", "rougeL:stem=english")  # PyStemmer
    karat("meta", "demo", "-m", "bleu", "-m", "chrf")
    karat("nuggets", "score", "heron", "--key", "demo-nuggets")
    karat("realize", "demo")
    karat("judge", "ratings", "demo", "-d", "fluency", "--endpoint", "demo", "-o", "log.jsonl")
    karat("nuggets", "draft", "demo", "--endpoint", "demo", "-o", "key.jsonl")  # prompts


def try_python() -> None:
    """Try the package: its place, its kernel, its types and a metric."""
    import karat as kt
    from karat import _kernel

    package = Path(str(kt.__file__)).resolve().parent
    expect(SOURCES not in package.parents, f"karat comes from the sources: {package}")
    expect(Path(str(_kernel.__file__)).resolve().parent == package, "the kernel is elsewhere")
    kernels = [file.name for file in package.glob("_kernel*") if file.suffix != ".pyi"]
    expect(len(kernels) == 1, f"expected one kernel, found {kernels}")
    expect((package / "py.typed").exists(), "py.typed is missing")
    same = kt.metric("chrf").corpus(["a small house"], [["a small house"]])
    expect(same.value == 100.0, f"chrF of equal texts is {same.value}")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try_python()
        try_commands()
        os.chdir(Path(folder).parent)  # Windows keeps a folder that is in use
    print(f"trial: karat works on Python {sys.version.split()[0]}, {sysconfig.get_platform()}")


if __name__ == "__main__":
    main()
