"""Long work in stages, whose results are stored in a folder so that a stopped run can resume.

Every stage writes a file and then a manifest: its inputs (digests of files, settings,
the version of Karat) and the digest of the file. A stage is finished if its manifest equals the one
that would be written now and its file has that digest. Both are written atomically, so work that
was stopped or killed continues after the last finished stage.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

from karat import __version__
from karat.errors import OutputError
from karat.storage.digests import file_sha256
from karat.storage.output import FilePath, temporary_folder, write_atomically, writing_temporary

T = TypeVar("T")


class Stages:
    """The stages of one piece of work; `done_already` lists those finished by an earlier run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.done_already: list[str] = []
        self._made: set[str] = set()

    def result(
        self,
        name: str,
        inputs: Mapping[str, Any],
        make: Callable[[Path], object],
        read: Callable[[Path], T],
    ) -> T:
        """Return the result of a stage; make its file first unless the stage is finished.

        Args:
            name: description of the result, such as `alignment of fr`.
            inputs: everything that the result depends on.
            make: writes the file.
            read: reads the file.
        """
        file_name = re.sub(r"[^a-z0-9]+", "-", name.lower())[:40]
        if file_name != name.replace(" ", "-"):  # keep the names of stages distinct
            file_name += f"-{sha256(name.encode()).hexdigest()[:8]}"
        path = self.folder / f"{file_name}.npz"
        manifest = path.with_suffix(".json")
        plain_inputs = json.loads(json.dumps(inputs))
        expected = {"stage": name, "karat": __version__, "inputs": plain_inputs}
        try:
            written = json.loads(manifest.read_bytes())
        except (OSError, ValueError, RecursionError):  # it is missing or damaged
            written = None
        if written == {**expected, "result": _sha256(path)}:
            if name not in {*self.done_already, *self._made}:
                self.done_already.append(name)
        else:
            make(path)
            self._made.add(name)
            content = json.dumps({**expected, "result": _sha256(path)}, indent=1)
            write_atomically(manifest, content + "\n")
        return read(path)


@contextmanager
def work_folder(path: FilePath | None) -> Iterator[Path]:
    """Yield the folder `path`, which is created if it is missing, or a temporary one."""
    if path is None:
        with ExitStack() as stack:
            with writing_temporary("stages of the work are kept there"):
                temporary = stack.enter_context(temporary_folder("karat-work"))
            yield Path(temporary)
        return
    folder = Path(path)
    try:
        folder.mkdir(exist_ok=True)
    except FileExistsError as error:
        raise OutputError(f"cannot work in {folder}: it is a file, expected a folder") from error
    except FileNotFoundError as error:
        problem = f"there is no folder {folder.parent}"
        raise OutputError(f"cannot work in {folder}: {problem}; create it first") from error
    except OSError as error:
        raise OutputError(f"cannot work in {folder}: {error.strerror or error}") from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise OutputError(f"cannot work in {folder}: no permission to write to it")
    yield folder


def _sha256(path: Path) -> str | None:
    """Return the digest of a file; None if it cannot be read."""
    try:
        return file_sha256(path)
    except OSError:
        return None
