"""Commands under a limit of memory: processor time, peak memory and temporary files of each."""

from __future__ import annotations

import hashlib
import os
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

_MB = 1 << 20


class LimitedRun(NamedTuple):
    """What one command took: processor time, peak memory, files without a name at their peak."""

    cpu: float
    peak_mb: float
    scratch_mb: float

    def __str__(self) -> str:
        summary = f"{self.cpu:.1f} s of the processor, {self.peak_mb:.0f} MB of memory"
        return f"{summary}, {self.scratch_mb:.0f} MB of temporary files"


def run(argv: Sequence[str]) -> LimitedRun:
    """LimitedRun a command, which must succeed."""
    process = subprocess.Popen(argv, stdout=subprocess.DEVNULL)
    ended, most = threading.Event(), [0]
    watcher = threading.Thread(target=_watch, args=(process.pid, ended, most))
    watcher.start()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    ended.set()
    watcher.join()
    if process.returncode:
        raise RuntimeError(f"{argv} ended with {process.returncode}")
    return LimitedRun(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, most[0] / _MB)


def _watch(pid: int, ended: threading.Event, most: list[int]) -> None:
    """Look at the unnamed files of a process now and then."""
    while not ended.wait(0.2):
        size = 0
        for file in Path(f"/proc/{pid}/fd").glob("*"):
            try:
                if os.readlink(file).endswith(" (deleted)"):
                    size += file.stat().st_size
            except OSError:  # it was closed meanwhile
                continue
        most[0] = max(most[0], size)


def most_mb(gigabytes: float) -> int:
    """The peak that a limit allows: 15 per cent above it, and 100 MB for the program itself."""
    return round(gigabytes * 1000 * 1.15 + 100)


def digest(path: Path) -> str:
    """A digest of the bytes of a file."""
    sha = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(_MB):
            sha.update(piece)
    return sha.hexdigest()
