"""One case: files from a seed are damaged and read. And a process of its own for many of them.

The oracle: reading succeeds, or raises an InputError whose message is one line of bounded length,
within a time limit. Any other exception, a crash of the process and a hang are failures. Every
twentieth case is not damaged and must be read.
"""

from __future__ import annotations

import json
import os
import random
import resource
import select
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from fuzz.damage import Files, damaged
from fuzz.readers import READERS

LONGEST = 2000
"""Characters of a message, and more are not one sentence."""
PATIENCE = 60
"""Seconds for one case, which takes some milliseconds."""
MEMORY = 6 << 30
"""Bytes that the process may ask for."""

READ, REFUSED = "read", "refused"


class Case(NamedTuple):
    """A reader and the seed of its damage."""

    reader: str
    seed: int


class Outcome(NamedTuple):
    """What became of a case: the verdict is `read`, `refused`, or else a failure."""

    case: Case
    verdict: str

    @property
    def failed(self) -> bool:
        """Whether this is a fault of the product."""
        return self.verdict not in (READ, REFUSED)


def files_of(case: Case) -> Files:
    """The files of a case, always the same ones."""
    dice = random.Random(f"{case.reader} {case.seed}")
    valid = READERS[case.reader].sample(dice)
    return damaged(valid, dice) if case.seed % 20 else valid


def read_case(case: Case, folder: Path) -> str:
    """What reading the files of a case comes to."""
    from karat.errors import InputError

    for name, content in files_of(case).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    try:
        READERS[case.reader].read(folder)
    except InputError as error:
        return _judged(str(error).replace(str(folder), "."), case)
    except BaseException as error:
        return f"{type(error).__name__}: {str(error)[:200]!r}"
    return READ


def _judged(message: str, case: Case) -> str:
    if not case.seed % 20:
        return f"a valid file was refused: {message[:200]!r}"
    if len(message) > LONGEST:
        return f"a message of {len(message):,} characters: {message[:100]!r}"
    if len(message.splitlines()) != 1:
        return f"a message of several lines: {message[:200]!r}"
    return REFUSED


# ----------------------------------------------------------------------------- processes for them

CHILD = "import sys; sys.path.insert(0, sys.argv[1]); from fuzz.cases import serve; serve()"


def serve() -> None:
    """Work on the cases that standard input names, a line each, and tell what became of them."""
    if "libasan" not in os.environ.get("LD_PRELOAD", ""):  # which reserves terabytes for itself
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for line in sys.stdin:
        case = Case(*json.loads(line))
        with tempfile.TemporaryDirectory(prefix="karat-fuzz-") as folder:
            print(json.dumps(read_case(case, Path(folder))), flush=True)


class Worker:
    """A process that works on one case at a time, and is started anew where it came to harm."""

    def __init__(self) -> None:
        self._process = self._started()

    @staticmethod
    def _started() -> subprocess.Popen[bytes]:
        tests = str(Path(__file__).parents[1])
        return subprocess.Popen(
            [sys.executable, "-X", "faulthandler", "-c", CHILD, tests],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def outcome(self, case: Case) -> Outcome:
        """What becomes of a case."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin
        assert stdout
        stdin.write(json.dumps(case).encode() + b"\n")
        stdin.flush()
        ready, _, _ = select.select([stdout], [], [], PATIENCE)
        line = stdout.readline() if ready else b""
        if line:
            return Outcome(case, json.loads(line))
        self.close()
        code = self._process.returncode
        self._process = self._started()
        failure = f"the process ended with code {code}" if ready else f"no answer in {PATIENCE} s"
        return Outcome(case, failure)

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()


def outcomes(cases: Iterable[Case]) -> Iterator[Outcome]:
    """What becomes of each case, in a process that may crash or hang."""
    worker = Worker()
    try:
        for case in cases:
            yield worker.outcome(case)
    finally:
        worker.close()
