"""What all tests share: the oracles' path, one Hypothesis profile, where the real data is.

And the real command: in a process of its own, or in this one, in a folder with a few small files.
"""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings

sys.path.insert(0, str(Path(__file__).parent))
pytest.register_assert_rewrite("scale.cluster_checks")

# The same examples on every run; HYPOTHESIS_PROFILE=explore looks for new ones. `make test-long`
# has the profile `long`, tests within tests have `few`.
_CHECKS = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
_COMMON = settings(
    deadline=None, suppress_health_check=_CHECKS, phases=set(Phase) - {Phase.explain}
)
settings.register_profile("karat", _COMMON, derandomize=True, max_examples=60)
settings.register_profile("few", _COMMON, derandomize=True, max_examples=10)
settings.register_profile("long", _COMMON, derandomize=True, max_examples=300)
settings.register_profile("explore", _COMMON, derandomize=False, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "karat"))

logging.getLogger("sacrebleu").setLevel(logging.ERROR)

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # of a shell's background job
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def karat_data() -> Path:
    """The folder of real data that KARAT_DATA names."""
    folder_name = os.environ.get("KARAT_DATA")
    if not folder_name:
        pytest.skip("KARAT_DATA is not set: no real data to test on")
    folder = Path(folder_name)
    if not folder.is_dir():
        pytest.skip(f"KARAT_DATA={folder_name} is no folder: no real data to test on")
    return folder


# ---------------------------------------------------------------------------- the command

COMMAND = [sys.executable, "-c", "from karat.cli.main import run; run()"]
UNSET = ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "_KARAT_COMPLETE", "PYTHONIOENCODING")

FILES = {
    "ref1.txt": "the cat sat on the mat\nhe paid $5 & 10% more | a_b\n\nProfit rose by a third .\n",
    "ref2.txt": "a cat was on the mat\nhe gave $5 & 10% extra\nnothing\nProfits grew by 30 % .\n",
    "a.txt": "the cat sat on a mat\nhe paid $5 & 10% extra | a_b\n\nProfit rose by a third .\n",
    "b.txt": "a cat sat there\nhe paid <b>five</b>\nsomething\nProfits rose by a third .\n",
    "c.txt": "dogs\nhe paid $5 & 10% more\n\nΠόσο κοστίζει ; 価格 .\n",
}


def environment(**more: str) -> dict[str, str]:
    """This process's environment without what changes the output, and with `more`."""
    inherited = {key: value for key, value in os.environ.items() if key not in UNSET}
    return {**inherited, "TERM": "xterm", **more}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A directory with two references and three systems of four segments."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8", newline="")
    return tmp_path


@pytest.fixture
def command() -> list[str]:
    """What starts the command line, whatever is on the PATH."""
    return list(COMMAND)


@pytest.fixture
def clean_environment() -> Callable[..., dict[str, str]]:
    """The environment that the command is run in."""
    return environment


@pytest.fixture
def karat(folder: Path) -> Callable[..., subprocess.CompletedProcess[bytes]]:
    """Run `karat` in the folder: bytes in, bytes out."""

    def run(*args: str, env: dict[str, str] | None = None, **more: Any) -> Any:
        return subprocess.run(
            [*COMMAND, *args],
            cwd=folder,
            env=environment(**(env or {})),
            check=False,
            **{"capture_output": True, "timeout": 120, **more},
        )

    return run


@pytest.fixture
def run_karat(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., subprocess.CompletedProcess[str]]:
    """The same within this process, which is much quicker: strings out."""
    from karat.cli.main import main

    def run(*args: str) -> subprocess.CompletedProcess[str]:
        monkeypatch.chdir(folder)
        monkeypatch.setattr(sys, "argv", ["karat", *args])
        capsys.readouterr()
        code = main(list(args))
        return subprocess.CompletedProcess(args, code, *capsys.readouterr())

    return run


@pytest.fixture
def output(run_karat: Callable[..., subprocess.CompletedProcess[str]]) -> Callable[..., str]:
    """Run `karat`, which must succeed without a word on standard error, and give its output."""

    def run(*args: str) -> str:
        done = run_karat(*args)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    return run
