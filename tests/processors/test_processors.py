"""The same numbers in every version and on every processor: what commands print and write.

What they printed and wrote is kept in `golden/`, a file each; after a wanted change, write these
anew with `KARAT_GOLDEN=write pytest tests/processors` and read the difference.

One machine stands in for others by switches (see switches.py), each of which is first seen to take
effect: all of an old processor at once here, each of them alone in `make test-long`. What this
processor cannot do is skipped by name.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

import karat as kt
from karat.cli.commands import data, plane
from karat.cli.main import COMMANDS
from karat.llm import cli as judge
from karat.lm import cli as lm
from karat.nuggets.cli import group as nuggets
from karat.paraphrase.cli import group as paraphrase
from karat.realize import cli as realize

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import commands  # noqa: E402
from switches import Switch, environment, oldest, switches, why_not  # noqa: E402

SWITCHES = switches()
under_every_switch = pytest.mark.parametrize("switch", SWITCHES, ids=lambda s: s.name)
PYTEST = (sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:xdist")
NUMBERS = (
    "tests/test_arithmetic.py",
    "tests/stats",
    "tests/meta/test_ranking.py",
    "tests/meta/test_bootstrap.py",
    "tests/meta/test_plane.py",
    "tests/nuggets/test_intervals.py",
    "tests/paraphrase/test_paraphrase_controls.py",
)
WITHIN_CHANCE = "as_often_as_they_say or within_chance"  # long, and no last bit decides them


def printed(folder: Path, environment: dict[str, str]) -> dict[str, str]:
    """What every command prints in a process of its own."""
    folder.mkdir()
    process = subprocess.run(
        [sys.executable, str(HERE / "commands.py"), str(folder)],
        check=False,
        env=environment,
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert process.returncode == 0, process.stderr
    return dict(json.loads(process.stdout))


@pytest.fixture(scope="module")
def outputs_here(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return printed(tmp_path_factory.mktemp("here") / "work", {**os.environ})


def test_all_commands_run(outputs_here: dict[str, str]) -> None:
    failed = {line: text for line, text in outputs_here.items() if text.startswith("exit ")}
    assert [text for text in failed.values() if not text.startswith("exit 0\n")] == []


GOLDEN = HERE / "golden"


def golden_name(line: str) -> str:
    """Return the name of the file that keeps what a command printed."""
    words = [word for word in line.split()[:2] if word[:1] != "-"]
    return "-".join([*words, sha256(line.encode()).hexdigest()[:6]]) + ".txt"


def test_commands_print_and_write_what_they_did(outputs_here: dict[str, str]) -> None:
    golden_texts = {
        golden_name(line): f"{line}\n{text}\n".replace(f"karat={kt.__version__}", "karat=VERSION")
        for line, text in outputs_here.items()
        if not any(part in line for part in commands.TRAINED)
    }
    if os.environ.get("KARAT_GOLDEN") == "write":
        shutil.rmtree(GOLDEN, ignore_errors=True)
        GOLDEN.mkdir()
        for name, text in golden_texts.items():
            (GOLDEN / name).write_bytes(text.encode("utf-8"))
    assert {path.name for path in GOLDEN.iterdir()} == set(golden_texts)
    assert {
        name: (GOLDEN / name).read_bytes().decode("utf-8") for name in golden_texts
    } == golden_texts


def test_every_command_is_compared_or_exempt() -> None:
    groups = {
        "nuggets": nuggets.COMMANDS,
        "judge": judge.COMMANDS,
        "lm": lm.COMMANDS,
        "paraphrase": paraphrase.COMMANDS,
        "realize": realize.COMMANDS,
        "data": data.command.commands,
        "plane": plane.command.commands,
    }
    all_commands = {f"{group} {name}" for group, listed in groups.items() for name in listed}
    all_commands |= set(COMMANDS) - set(groups)
    words = [line.split() for line in commands.LINES]
    compared_commands = {word[0] for word in words} | {" ".join(word[:2]) for word in words}
    assert all_commands - compared_commands == set(commands.EXEMPT)


def differing(outputs_here: dict[str, str], outputs_there: dict[str, str]) -> list[str]:
    """The commands that print or write something else there."""
    return [line for line in outputs_here if outputs_here[line] != outputs_there[line]]


def check_numbers(variables: dict[str, str]) -> None:
    """Run the tests of numbers in an environment."""
    process = subprocess.run(
        [*PYTEST, "-k", f"not ({WITHIN_CHANCE})", *NUMBERS],
        check=False,
        cwd=HERE.parents[1],
        env=variables,
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert process.returncode == 0, process.stdout[-3000:]


@pytest.fixture(scope="module")
def old() -> dict[str, str]:
    """The environment of the oldest processor that this one can stand in for."""
    chosen = oldest(SWITCHES)
    if not chosen:
        pytest.skip("; ".join(map(why_not, SWITCHES)))
    return environment(*chosen)


def test_commands_print_the_same_on_an_old_processor(
    old: dict[str, str], outputs_here: dict[str, str], tmp_path: Path
) -> None:
    assert differing(outputs_here, printed(tmp_path / "work", old)) == []


def test_the_tests_of_numbers_pass_on_an_old_processor(old: dict[str, str]) -> None:
    check_numbers({**old, "HYPOTHESIS_PROFILE": "few"})


@pytest.mark.long
@under_every_switch
def test_commands_print_the_same(
    switch: Switch, outputs_here: dict[str, str], tmp_path: Path
) -> None:
    if why_not(switch):
        pytest.skip(why_not(switch))
    assert differing(outputs_here, printed(tmp_path / "work", environment(switch))) == []


@pytest.mark.long
@under_every_switch
def test_the_tests_of_numbers_pass(switch: Switch) -> None:
    if why_not(switch):
        pytest.skip(why_not(switch))
    check_numbers({**environment(switch), "HYPOTHESIS_PROFILE": "karat"})
