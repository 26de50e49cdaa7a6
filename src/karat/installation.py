"""The installed distribution: its name, the command that installs an extra, and conflicts.

A different evaluation tool is called `karat` on the package index. It also installs a package and a
command `karat`: where both tools are in one folder, the later installation replaces files of the
earlier.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from importlib import import_module
from typing import Any, NoReturn

DISTRIBUTION = "karat-eval"
"""The name on the package index; the package and the command are `karat`."""
_ENTRY_POINT = "karat.cli:run"
"""The command of this project, also in versions whose distribution was called `karat`."""
_REINSTALL = f"run pip uninstall karat {DISTRIBUTION}, then pip install {DISTRIBUTION}"


def install_command(*extras: str) -> str:
    """Return the command that installs extras: `pip install 'karat-eval[arrow]'`."""
    return f"pip install '{DISTRIBUTION}[{','.join(extras)}]'"


def import_package(module: str, extra: str, subject: str) -> Any:
    """Import a module of an optional package; raise with the command that installs it.

    `subject` is what needs the package, such as `parquet files`.
    """
    try:
        return import_module(module)
    except ImportError as error:
        from karat.errors import MissingExtra

        package = module.partition(".")[0]
        problem = f"{subject} need {package}, which is not installed"
        raise MissingExtra(f"{problem}: {install_command(extra)}") from error


def conflict() -> str:
    """Return a sentence about the other distribution called `karat`; "" if it is not installed.

    File names are enough, and much faster than `importlib.metadata`.
    """
    for folder in sys.path:
        with suppress(OSError):
            for name in os.listdir(folder or "."):
                if not (name.startswith("karat-") and name.endswith(".dist-info")):
                    continue
                if not _is_ours(os.path.join(folder, name)):
                    version = name.removeprefix("karat-").removesuffix(".dist-info")
                    return (
                        f"karat {version} in {folder or '.'} is a different evaluation tool, and "
                        f"it and {DISTRIBUTION} replace each other's files: {_REINSTALL}"
                    )
    return ""


def _is_ours(metadata: str) -> bool:
    """Whether a folder of metadata belongs to an earlier version of this project."""
    with suppress(OSError), open(os.path.join(metadata, "entry_points.txt"), encoding="utf-8") as f:
        return _ENTRY_POINT in f.read()
    return False


def broken_installation(error: Exception) -> str:
    """Return a sentence about the installation if it explains an error; else ""."""
    if not isinstance(error, ImportError | AttributeError):
        return ""
    if problem := conflict():
        return problem
    from importlib.util import find_spec

    if isinstance(error, ImportError) and find_spec("karat._kernel") is None:
        return f"the compiled kernel of {DISTRIBUTION} is missing: {_REINSTALL}"
    return ""


def refuse_replaced_package() -> NoReturn:
    """Stop an import: `karat/__init__.py` is that of another tool, or missing.

    The command `karat` ends with one sentence; other programs get an ImportError.
    """
    problem = conflict() or f"files of {DISTRIBUTION} are missing: {_REINSTALL}"
    if os.path.splitext(os.path.basename(sys.argv[0]))[0] in ("karat", "karat-script"):
        fail(problem)
    raise ImportError(problem)


def fail(problem: str) -> NoReturn:
    """End the command `karat` with a sentence and exit code 2."""
    sys.stderr.write(f"karat: {problem}\n")
    sys.exit(2)
