"""Run a command's `main` many times in forked processes: as good as a new Python, and quicker.

    python forked_commands.py MODULE CASES

CASES is a JSON file with a list of {"args": [...], "stdin": text, "env": {...}}; the output is a
list of {"code", "stdout", "stderr"} with the bytes in Latin-1.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, NoReturn


class Run(NamedTuple):
    """How a command ended, and what it printed."""

    code: int
    stdout: str
    stderr: str


def run_commands(module: str, cases: Sequence[Mapping[str, Any]], folder: Path) -> list[Run]:
    """Run `main` of a module once for each case in a folder."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(cases, file)
        file.flush()
        command = [sys.executable, __file__, module, file.name]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    runs = json.loads(done.stdout)
    return [
        Run(run["code"], *(_decoded(run[name]) for name in ("stdout", "stderr"))) for run in runs
    ]


def _decoded(text: str) -> str:
    return text.encode("latin-1").decode("utf-8")


def _run_forked(main: Callable[[], object], case: Mapping[str, Any]) -> dict[str, object]:
    """Run `main` in a child process whose streams are files."""
    with ExitStack() as stack:
        streams = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(3)]
        streams[0].write(case["stdin"].encode())
        streams[0].seek(0)
        pid = os.fork()
        if pid == 0:
            for number, file in enumerate(streams):
                os.dup2(file.fileno(), number)
            _run_child(main, case)
        status = os.waitpid(pid, 0)[1]
        printed = []
        for file in streams[1:]:
            file.seek(0)
            printed.append(file.read().decode("latin-1"))
    code = os.waitstatus_to_exitcode(status)
    return {"code": code, "stdout": printed[0], "stderr": printed[1]}


def _run_child(main: Callable[[], object], case: Mapping[str, Any]) -> NoReturn:
    code: object = 1
    try:
        sys.argv = ["sacrebleu", *case["args"]]
        os.environ.update(case["env"])
        main()
        code = 0
    except SystemExit as end:
        code = end.code or 0
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else 1)


def _repair_json(module: Any) -> None:
    """Let sacreBLEU print JSON of a paired bootstrap: with numpy 2 it fails for chrF and TER."""
    utils = import_module(f"{module.__package__}.utils")
    if hasattr(utils, "json"):
        utils.json.dumps = partial(json.dumps, default=float)


if __name__ == "__main__":
    command = import_module(sys.argv[1])
    _repair_json(command)
    for name in ("karat.metrics.names", f"{command.__package__}.significance"):
        import_module(name)  # once, and not in every process
    cases = json.loads(Path(sys.argv[2]).read_text())
    print(json.dumps([_run_forked(command.main, case) for case in cases]))
