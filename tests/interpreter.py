"""A Python process where packages are installed, which runs one command after the other.

Starting Python and importing Karat takes longer than most commands.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

CHILD = "import sys; sys.path.append(sys.argv[1]); from interpreter import serve; serve()"


def serve() -> None:
    """Run the commands that standard input names, a line each, and tell what became of them."""
    answers = sys.stdout
    for line in sys.stdin:
        print(json.dumps(_done(**json.loads(line))), file=answers, flush=True)


def _done(args: list[str], program: str, folder: str) -> tuple[int, str, str]:
    from karat.cli.main import main

    os.chdir(folder)
    sys.argv = ["karat", *args]
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        if program:
            exec(program, {"__name__": "__main__"})
        code = 0 if program else main(args)
    return code, out.getvalue(), err.getvalue()


class Interpreter:
    """The other side: call it with the arguments of `karat`, or with a program."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def __call__(self, *args: str, program: str = "") -> subprocess.CompletedProcess[str]:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin
        assert stdout
        request: dict[str, Any] = {"args": args, "program": program, "folder": os.getcwd()}
        print(json.dumps(request), file=stdin, flush=True)
        return subprocess.CompletedProcess(args, *json.loads(stdout.readline()))


@contextmanager
def interpreter(site: Path) -> Iterator[Interpreter]:
    """An interpreter that finds the packages of a folder before all others."""
    paths = os.pathsep.join([str(site), *sys.path])
    with subprocess.Popen(
        [sys.executable, "-c", CHILD, str(Path(__file__).parent)],
        env={**os.environ, "PYTHONPATH": paths},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield Interpreter(process)
