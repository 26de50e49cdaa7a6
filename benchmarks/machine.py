"""The machine and the versions that the numbers belong to."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


def facts() -> list[tuple[str, str]]:
    """What a reader needs to know to compare numbers."""
    packages = ("karat-eval", "numpy", "sacrebleu", "rouge-score", "rapidfuzz", "conllu", "kenlm")
    return [
        ("processor", f"{_processor()}, {len(os.sched_getaffinity(0))} cores"),
        ("load at the start", f"{os.getloadavg()[0]:.2f}"),
        ("system", f"{platform.system()} {platform.release()}"),
        ("Python", platform.python_version()),
        *((name, _version(name)) for name in packages),
    ]


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
