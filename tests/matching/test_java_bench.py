"""The row of the benchmarks against the original tool: it is right, or it is not there."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import karat as kt
from karat.evalset.aligned_texts import load_texts

pytest.importorskip("resource", reason="the processor time of children needs POSIX")
BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
OUTPUTS = {"one": ["a b c", "d\u00a0e  x", ""], "two": ["a c b", "é d", "f"]}
REFERENCES = ["a b c d", "é d e", "f g"]

# What stands in for `java`: Karat's own values, each plus a difference.
STAND_IN = """#!{python}
import subprocess, sys
assert sys.argv[1:8] == ["-Dfile.encoding=UTF-8", "-jar", {jar!r}, "+s", "+d", "-e", "2"], sys.argv
argv = [sys.executable, {script!r}, *sys.argv[8:]]
done = subprocess.run(argv, check=True, stdout=subprocess.PIPE, encoding="utf-8")
for line in done.stdout.splitlines():
    *key, value = line.split()
    print(*key, float(value) + {difference})
"""


@pytest.fixture
def java_gtm(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    monkeypatch.delenv("KARAT_GTM_JAR", raising=False)
    import java_gtm

    yield java_gtm
    for name in ("java_gtm", "table"):
        sys.modules.pop(name, None)


def texts(module: ModuleType) -> list[object]:
    return [module.Text("small", OUTPUTS, REFERENCES)]


def stand_in(folder: Path, monkeypatch: pytest.MonkeyPatch, difference: float) -> None:
    """A `java` on the PATH, and a jar."""
    jar, java = folder / "gtm.jar", folder / "java"
    jar.touch()
    script = str(BENCHMARKS / "java_gtm.py")
    java.write_text(
        STAND_IN.format(python=sys.executable, jar=str(jar), script=script, difference=difference),
        encoding="utf-8",
    )
    java.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("KARAT_GTM_JAR", str(jar))


def test_without_a_jar_the_row_says_so(
    java_gtm: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (row,) = java_gtm.measure(texts(java_gtm), 1)
    assert row.ratio is None
    assert row.note == "not measured: KARAT_GTM_JAR is not set to the jar of GTM 1.4"
    monkeypatch.setenv("KARAT_GTM_JAR", str(tmp_path / "no.jar"))
    (row,) = java_gtm.measure(texts(java_gtm), 1)
    assert row.note.endswith("no.jar is not there")
    (tmp_path / "no.jar").touch()
    monkeypatch.setenv("PATH", str(tmp_path))
    (row,) = java_gtm.measure(texts(java_gtm), 1)
    assert row.note == "not measured: there is no java on the PATH"


def test_a_tool_that_agrees_is_measured(
    java_gtm: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    stand_in(tmp_path, monkeypatch, 4e-6)
    (row,) = java_gtm.measure(texts(java_gtm), 1)
    assert row.ratio is not None
    assert row.ratio > 0
    assert "every F the same to 1e-05" in row.note


def test_a_tool_that_disagrees_is_not(
    java_gtm: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    stand_in(tmp_path, monkeypatch, 2e-5)
    with pytest.raises(RuntimeError, match="one 1: karat says"):
        list(java_gtm.measure(texts(java_gtm), 1))


def test_what_is_written_reads_back(java_gtm: ModuleType, tmp_path: Path) -> None:
    (text,) = texts(java_gtm)
    candidates, references = java_gtm.write(text, tmp_path)
    actual_texts = load_texts({"system": candidates}, [references])
    assert actual_texts.documents == ("one",) * 3 + ("two",) * 3
    assert actual_texts.systems["system"] == ("a b c", "d e x", "", "a c b", "é d", "f")
    assert actual_texts.references == [(text,) for text in REFERENCES * 2]
    with pytest.raises(RuntimeError, match="segment 1 holds a tag"):
        java_gtm.write(java_gtm.Text("bad", {"one": ["a </seg> b"]}, ["a"]), tmp_path)


def test_what_karat_prints_is_its_score(
    java_gtm: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (text,) = texts(java_gtm)
    java_gtm._print_scores(*map(str, java_gtm.write(text, tmp_path)))
    actual = java_gtm.parse(capsys.readouterr().out)
    metric = kt.GTM(e=2)
    for system, outputs in OUTPUTS.items():
        assert actual[system,] == metric.corpus(outputs, REFERENCES).value
        values = [actual[system, str(n)] for n in (1, 2, 3)]
        assert values == metric.segments(outputs, REFERENCES).tolist()
    assert len(actual) == 8


@pytest.mark.parametrize(
    ("printed", "problem"),
    [
        ("a 1 0.5\na 1 0.5", "line 2: .* there before"),
        ("a b 1 0.5", "line 1: .* is no score"),
        ("Exiting...", "line 1: .* is no score"),
        ("a 0.5\n\n", "line 2: '' is no score"),
        ("No content found", "line 1: .* has no number"),
    ],
)
def test_other_output_is_refused(java_gtm: ModuleType, printed: str, problem: str) -> None:
    with pytest.raises(RuntimeError, match=problem):
        java_gtm.parse(printed)


def test_scores_that_are_missing_are_refused(java_gtm: ModuleType) -> None:
    item = java_gtm.parse("a 1 0.5\na 0.5")
    with pytest.raises(RuntimeError, match="karat printed 2 scores and the tool 1"):
        java_gtm.check(item, java_gtm.parse("a 0.5"))
    with pytest.raises(RuntimeError, match="karat printed 0 scores"):
        java_gtm.check({}, {})
    with pytest.raises(RuntimeError, match="the tool nan"):
        java_gtm.check(item, java_gtm.parse("a 1 NaN\na 0.5"))
