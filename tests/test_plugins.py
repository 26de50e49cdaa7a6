"""A metric of another package: the one in `examples/`, built and installed for real."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from interpreter import Interpreter, interpreter

import karat as kt
from karat import registry

EXAMPLE = Path(__file__).parents[1] / "examples" / "karat-length-ratio"
COMMAND = [sys.executable, "-c", "from karat.cli.main import run; run()"]
Run = Callable[..., "subprocess.CompletedProcess[str]"]

BROKEN = """
from dataclasses import dataclass
import numpy as np
import karat as kt

not_a_metric = 3

@dataclass(frozen=True)
class Other(kt.Metric):
    "Another name."
    name = "another"
    def columns(self): return ("n",)
    def rows(self, pairs): return np.zeros((len(pairs.starts) - 1, 1))
    def measure(self, rows): return {"value": rows[:, 0]}

class Failing(Other):
    name = "failing"
    def rows(self, pairs): raise RuntimeError("no luck")

class Short(Other):
    name = "short_rows"
    def rows(self, pairs): return np.zeros((1, 3))

class Valueless(Other):
    name = "valueless"
    def measure(self, rows): return {"score": rows[:, 0]}

class Leaving(Other):
    name = "leaving"
    def rows(self, pairs): raise SystemExit(0)

class Infinite(Other):
    name = "infinite"
    def measure(self, rows): return {"value": np.full(len(rows), np.inf)}

class Wordy(Other):
    name = "wordy"
    def rows(self, pairs): return np.full((len(pairs.starts) - 1, 1), "x")

@dataclass(frozen=True)
class Plain(Other):
    name = "plain_field"
    least: int = 1

class Columnless(Other):
    name = "columnless"
    def columns(self): return None
"""
BROKEN_PROJECT = """
[build-system]
requires = ["setuptools>=61"]
build-backend = "setuptools.build_meta"
[project]
name = "karat-broken"
version = "1.0"
[tool.setuptools]
py-modules = ["karat_broken"]
[project.entry-points."karat.metrics"]
gone = "karat_gone:Metric"
digits = "karat_broken:not_a_metric"
misnamed = "karat_broken:Other"
failing = "karat_broken:Failing"
short_rows = "karat_broken:Short"
valueless = "karat_broken:Valueless"
leaving = "karat_broken:Leaving"
infinite = "karat_broken:Infinite"
wordy = "karat_broken:Wordy"
plain_field = "karat_broken:Plain"
columnless = "karat_broken:Columnless"
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the example and a broken package, built and installed by pip."""
    work = tmp_path_factory.mktemp("plugins")
    shutil.copytree(EXAMPLE, work / "example")
    (work / "broken").mkdir()
    (work / "broken" / "pyproject.toml").write_text(BROKEN_PROJECT, "utf-8")
    (work / "broken" / "karat_broken.py").write_text(BROKEN, "utf-8")
    options = ["--quiet", "--no-build-isolation", "--no-deps", "--no-index"]
    pip = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", *options]
    places = [str(work / "example"), str(work / "broken")]
    subprocess.run([*pip, "--target", str(work / "site"), *places], check=True)
    return work / "site"


@pytest.fixture(scope="module")
def shared(installed: Path) -> Iterator[Interpreter]:
    """A process where the packages are installed."""
    with interpreter(installed) as run:
        yield run


@pytest.fixture
def karat(shared: Interpreter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the command line where the packages are installed, in a folder with the demo's texts."""
    monkeypatch.chdir(tmp_path)
    assert shared("demo", "--texts", ".").returncode == 0
    return shared


@pytest.fixture
def alone(installed: Path, tmp_path: Path) -> Run:
    """Run a process of its own where the packages are installed."""
    path = os.pathsep.join([str(installed), *filter(None, [os.environ.get("PYTHONPATH")])])

    def run(*args: str, program: list[str] = COMMAND, **more: str) -> Any:
        environment = {**os.environ, "PYTHONPATH": path, **more}
        return subprocess.run(
            [*program, *args],
            check=False,
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
        )

    return run


def rows(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    assert (done.returncode, done.stderr) == (0, "")
    return list(json.loads(done.stdout)["rows"])


def words(path: Path) -> int:
    return sum(len(tokens) for tokens in kt.tokenize(path, tok="13a"))


def test_it_scores_by_name(karat: Run, alone: Run, tmp_path: Path) -> None:
    done = alone("score", "drift.txt", "-r", "ref1.txt", "-m", "length-ratio", "-f", "json")
    (row,) = rows(done)
    ratio = words(tmp_path / "drift.txt") / words(tmp_path / "ref1.txt")
    assert (row["metric"], row["score"]) == ("length_ratio", ratio)
    signature = json.loads(done.stdout)["signature"]["length_ratio"]
    plugin = "plugin=karat-length-ratio@0.1.0"
    assert signature == f"length_ratio:tok=13a|nrefs=1|karat={kt.__version__}|{plugin}"
    assert rows(karat("score", "drift.txt", "-r", "ref1.txt", "-m", signature, "-f", "json"))


def test_a_signature_of_another_version_is_refused(karat: Run) -> None:
    done = karat(
        "score", "drift.txt", "-r", "ref1.txt", "-m", "length_ratio|plugin=karat-length-ratio@9"
    )
    assert done.returncode == 2
    assert "and this is karat-length-ratio@0.1.0: install that version" in done.stderr


def test_it_takes_part_in_comparisons_and_pages(karat: Run, tmp_path: Path) -> None:
    arguments = (
        "compare",
        "atlas.txt",
        "drift.txt",
        "-r",
        "ref1.txt",
        "-m",
        "length_ratio",
        "-m",
        "bleu",
    )
    compared_rows = rows(karat(*arguments, "-f", "json"))
    assert [row["system"] for row in compared_rows[:2]] == ["atlas", "drift"]
    assert compared_rows[1]["delta"] < 0
    assert karat(*arguments, "-o", "page.html").returncode == 0
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "<figcaption><h2>Differences from atlas" in page
    assert ">length_ratio</text>" in page


def test_it_takes_part_in_meta_evaluation_and_the_plane(karat: Run) -> None:
    options = ("--resamples", "10", "-f", "json")
    meta_rows = rows(
        karat(
            "meta",
            "demo",
            "-m",
            "length_ratio",
            "-m",
            "bleu",
            "-d",
            "adequacy",
            "--trials",
            "10",
            *options,
        )
    )
    assert {row["metric"] for row in meta_rows} >= {"length_ratio", "bleu"}


def test_help_and_completion_know_it(karat: Run, alone: Run) -> None:
    done = karat("metrics", "-f", "json")
    assert "length_ratio" in {row["metric"] for row in rows(done)}
    (broken,) = (note for note in json.loads(done.stdout)["notes"] if "gone" in note)
    assert broken.startswith("metric gone of the package karat-broken@1.0 cannot be loaded")
    assert "length_ratio" in karat("metrics", "length_ratio").stdout
    completion_request = {"COMP_WORDS": "karat score -m len", "COMP_CWORD": "3"}
    done = alone(_KARAT_COMPLETE="bash_complete", **completion_request)
    assert done.stdout.split() == ["plain,length", "plain,length_ratio"]


PROGRAM = """
import karat as kt
texts, references = ["a b c", "d e"], ["a b", "d e f"]
scored = kt.score({"A": texts}, references, ["length_ratio"], segments=True)
row = scored["A", "length_ratio"]
print(row.score.value, row.score.signature)
print(*scored.segment_scores("A", "length_ratio").tolist())
assert kt.metric("length_ratio") == kt.metric(str(row.metric)) == row.metric
compared = kt.compare({"A": texts, "B": ["a b", "d e f"]}, references, "length_ratio")
print(compared["B", "length_ratio"].delta)
"""


def test_results_are_found_by_its_name_in_python(alone: Run) -> None:
    done = alone(program=[sys.executable, "-c", PROGRAM])
    assert done.stderr == ""
    first, segments, delta = done.stdout.splitlines()
    assert first.split()[0] == "1.0"
    assert segments == f"1.5 {2 / 3}"
    assert float(delta) == 0.0


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("gone", "metric gone of the package karat-broken@1.0 cannot be loaded: ModuleNotFound"),
        ("digits", "metric digits: 3 is no subclass of karat.Metric"),
        ("misnamed", "metric misnamed: its class says name = 'another'; expected 'misnamed'"),
        ("failing", "failing: its rows() failed: RuntimeError: no luck"),
        ("short_rows", "its rows() returned (1, 3), expected an array of (80, 1) (segments, col"),
        ("valueless", "valueless: its measure() returned no `value`"),
        ("leaving", "leaving: its rows() failed: SystemExit"),
        ("infinite", "infinite: its measure() returned for 'value' a number that is not finite"),
        ("wordy", "wordy: its rows() returned an array of <U1, expected numbers"),
        (
            "plain_field",
            "its field least is no setting: write least: … = karat.setting",
        ),
        ("length_ratio:tok=zzz", "length_ratio: tok=zzz is not one of"),
        ("length_ratio:token=13a", "length_ratio has no setting 'token'; did you mean tok?"),
        ("lenght_ratio", "unknown metric 'lenght_ratio'; did you mean length_ratio?"),
    ],
)
def test_a_broken_plugin_gets_a_sentence(karat: Run, name: str, message: str) -> None:
    done = karat("score", "drift.txt", "-r", "ref1.txt", "-m", name)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_an_unforeseen_error_names_the_packages_in_use(karat: Run, alone: Run) -> None:
    done = alone("score", "drift.txt", "-r", "ref1.txt", "-m", "columnless")
    message = (
        "karat: TypeError with karat-broken@1.0 in use: object of type 'NoneType' has no len()\n"
    )
    assert (done.returncode, done.stdout, done.stderr) == (2, "", message)


def test_a_broken_plugin_does_not_hide_the_others(karat: Run) -> None:
    assert karat("score", "drift.txt", "-r", "ref1.txt", "-m", "length_ratio").returncode == 0


def test_no_entry_point_is_read_for_what_is_known(alone: Run) -> None:
    program = (
        "import sys, karat as kt\nkt.metric('bleu').corpus(['a'], ['a'])\n"
        "print('importlib.metadata' in sys.modules)"
    )
    assert alone(program=[sys.executable, "-c", program]).stdout == "False\n"


# ------------------------------------------------------------------------- within a program


@pytest.fixture
def exclamations() -> Any:
    @kt.register
    @dataclass(frozen=True)
    class Exclamations(kt.Metric):
        """Candidates' words over references' words."""

        name = "exclamations"

        def columns(self) -> tuple[str, ...]:
            return ("marks", "segments")

        def rows(self, pairs: Any) -> Any:
            tokens = pairs.candidates.tokens(kt.Recipe("13a", "mixed"))
            return np.column_stack([tokens.lengths, np.ones(len(tokens.lengths))])

        def measure(self, rows: Any) -> Any:
            return {"value": rows[:, 0] / rows[:, 1]}

    yield Exclamations
    del registry.declared("metrics")["exclamations"]


def test_a_metric_of_a_program_is_registered(exclamations: Any) -> None:
    assert kt.metric("exclamations") == exclamations()
    score = kt.score({"A": ["a b!", "c"]}, ["x", "y"], "exclamations")["A", "exclamations"].score
    assert score.value == 2.0
    assert score.signature.endswith(f"|plugin={exclamations.__module__}")


def test_a_name_is_registered_once(exclamations: Any) -> None:
    @dataclass(frozen=True)
    class Other(exclamations):  # type: ignore[misc]
        name = "exclamations"

    with pytest.raises(kt.InputError, match="exclamations is registered already"):
        kt.register(Other)


@pytest.mark.parametrize(
    ("kind", "name"), [("metrics", "BL_EU"), ("tokenizers", "13a"), ("statistics", "pearson")]
)
def test_names_of_karat_are_not_taken(exclamations: Any, kind: str, name: str) -> None:
    with pytest.raises(kt.InputError, match=f"{kind}: {name} is registered already"):
        kt.register(exclamations, kind, name)


def test_a_kind_that_there_is_not_is_refused(exclamations: Any) -> None:
    with pytest.raises(kt.InputError, match="kind 'stemers': expected one of metrics, statistics"):
        kt.register(exclamations, "stemers", "x")


def test_a_signature_without_settings_reads_back(exclamations: Any) -> None:
    signature = exclamations().signature(1)
    assert ":" not in signature
    assert kt.metric(signature) == exclamations()


def test_what_has_no_kind_is_refused() -> None:
    with pytest.raises(kt.InputError, match="cannot be registered: give its kind and its name"):
        kt.register(3)
