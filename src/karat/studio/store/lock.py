"""The lock of a store: one process serves it, and the system frees the lock when that ends."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import IO

from karat.errors import InputError, OutputError, short


class ServingLock:
    """A lock on the file `STORE.lock` beside a store; its text is the id of the process."""

    def __init__(self, store: Path) -> None:
        self.path = store.with_name(store.name + ".lock")
        try:
            self._file: IO[str] = open(self.path, "a+", encoding="ascii")  # noqa: SIM115
        except OSError as error:
            why = error.strerror or error
            raise OutputError(f"cannot make the lock {short(self.path)}: {why}") from None
        if not _locked(self._file):
            self._file.seek(0)
            owner = self._file.read(20).strip() or "unknown"
            self._file.close()
            raise InputError(
                f"{short(store)} is served by another process ({short(owner)}): stop that one, or "
                "use its page"
            )
        self._file.truncate(0)
        self._file.write(str(os.getpid()))
        self._file.flush()

    def release(self) -> None:
        """Free the lock; the file stays, since removing it would race with others."""
        self._file.close()


if sys.platform == "win32":
    import msvcrt

    def _locked(file: IO[str]) -> bool:
        """Take the lock, at a place far behind the text so that others can read who has it."""
        file.seek(1 << 20)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
else:
    import fcntl

    def _locked(file: IO[str]) -> bool:
        try:
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True
