"""Broken things of other packages: a sentence where they are used, and no harm elsewhere."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from interpreter import interpreter

import karat as kt
from karat import registry

Run = Callable[..., "subprocess.CompletedProcess[str]"]
KINDS = {
    "metrics": "metric",
    "statistics": "statistic",
    "levels": "level",
    "formats": "format",
    "nugget_formats": "format",
    "classifiers": "classifier",
    "tokenizers": "tokeniser",
    "stemmers": "stemmer",
    "renderers": "format",
    "reproductions": "paper",
}
"""Kind -> what one of it is called."""
MODULE = """
import karat as kt

NUMBER = 3

def fails(*given, **more):
    raise RuntimeError("no luck")

def leaves(document):
    yield "first"
    raise SystemExit(0)

def number(*given):
    return 3

def numbers(document):
    yield "first"
    yield 3

FAILS = kt.SetFormat(fails, holds=("fails.txt",))
THREE = kt.SetFormat(number, holds=("three.txt",))
"""
SLIPS = """\
[karat.renderers]
fails = slips:fails
leaves = slips:leaves
three = slips:number
threes = slips:numbers
[karat.formats]
fails = slips:FAILS
three = slips:THREE
[karat.tokenizers]
fails = slips:fails
three = slips:number
[karat.stemmers]
fails = slips:fails
three = slips:number
[karat.levels]
fails = slips:fails
three = slips:number
"""


def install(site: Path, name: str, version: str, points: str) -> None:
    """Leave behind what an installer does."""
    about = site / f"{name}-{version}.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (about / "entry_points.txt").write_text(points)


@pytest.fixture(scope="module")
def karat(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """The command line where of each kind one thing cannot be imported and one is a number."""
    site = tmp_path_factory.mktemp("site")
    (site / "slips.py").write_text(MODULE)
    lines = [f"[karat.{kind}]\ngone = nowhere:x\nodd = slips:NUMBER\n" for kind in KINDS]
    install(site, "broken", "1.0", "".join(lines))
    for name in ("first", "second"):
        install(site, name, "1.0", f"[karat.tokenizers]\nboth = {name}:cut\n")
    with interpreter(site) as run:
        yield run


@pytest.mark.parametrize(
    "args",
    [
        ("metrics", "bleu"),
        ("score", "--help"),
        ("meta", "--help"),
        ("data", "check", "--help"),
        ("nuggets", "score", "--help-all"),
        ("nuggets", "tune", "--help-all"),
        ("data", "check", "demo"),
        ("nuggets", "describe", "demo-nuggets"),
    ],
)
def test_commands_that_do_not_use_them_run(karat: Run, args: tuple[str, ...]) -> None:
    done = karat(*args)
    assert (done.returncode, done.stderr) == (0, "")


def test_lists_say_what_cannot_be_loaded(karat: Run) -> None:
    done = karat("metrics", "-f", "json")
    listing = json.loads(done.stdout)
    assert {row["metric"] for row in listing["rows"]} >= {"bleu", "wer"}
    for problem in ("gone of the package broken@1.0 cannot be loaded", "odd: 3 is no subclass of"):
        assert any(note.startswith(f"metric {problem}") for note in listing["notes"])
    tok = next(row["values"] for row in listing["rows"] if row["setting"] == "tok")
    assert "tokeniser gone of the package broken@1.0 cannot be loaded" in tok
    assert "tokeniser odd: found 3, expected a function" in tok
    help_text = " ".join(karat("nuggets", "score", "--help-all").stdout.split())
    assert "classifier gone of the package broken@1.0 cannot be loaded" in help_text
    assert (
        karat(program="import karat as kt; print(len(kt.list_metrics().rows) > 50)").stdout
        == "True\n"
    )


def test_sets_are_recognised_beside_broken_formats(karat: Run, tmp_path: Path) -> None:
    place = tmp_path / "demo.jsonl"
    kt.save_evalset(kt.load_evalset("demo"), place, "jsonl")
    assert karat("data", "check", str(place)).returncode == 0
    place = tmp_path / "nuggets.jsonl"
    kt.save_nuggets(kt.load_nuggets("demo-nuggets"), place)
    assert karat("nuggets", "describe", str(place)).returncode == 0
    unknown = karat("data", "convert", "demo", str(tmp_path / "new"), "--format", "jsonl")
    assert unknown.returncode == 0


USES = {
    "metrics": "kt.metric({!r})",
    "statistics": "kt.statistic({!r})",
    "levels": "kt.Experiment('demo', ('bleu',), levels=({!r},))",
    "formats": "kt.load_evalset('.', {!r})",
    "nugget_formats": "kt.load_nuggets('.', format={!r})",
    "classifiers": "kt.score_nuggets(kt.load_nuggets('demo-nuggets'), classifier={!r})",
    "tokenizers": "kt.tokenize(['a'], tok={!r})",
    "stemmers": "kt.tokenize(['a'], stem={!r})",
    "reproductions": "kt.reproduce({!r})",
    "renderers": "kt.list_metrics('bleu').document() and "
    "__import__('karat.report.render.renderers').report.render.renderers.render(None, {!r})",
}
PROGRAM = """
import karat as kt
for name in {names}:
    try:
        {use}
    except kt.InputError as error:
        print(error)
"""


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_such_thing_is_refused_where_it_is_used(karat: Run, kind: str) -> None:
    program = PROGRAM.format(names=("gone", "odd"), use=USES[kind].replace("{!r}", "name"))
    done = karat(program=program)
    assert done.stderr == ""
    gone, odd = done.stdout.splitlines()
    assert gone.startswith(f"{KINDS[kind]} gone of the package broken@1.0 cannot be loaded: ")
    assert odd.startswith(f"{KINDS[kind]} odd: ")
    assert odd.endswith(" (package broken@1.0)")


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_such_thing_is_not_registered(kind: str) -> None:
    with pytest.raises(kt.InputError, match=f"^{KINDS[kind]} odd: .*3 is no|{KINDS[kind]} odd: f"):
        kt.register(3, kind, "odd")
    assert "odd" not in registry.declared(kind)


def test_a_format_needs_a_reader() -> None:
    with pytest.raises(kt.InputError, match=r"format odd: found SetFormat\(reader=3"):
        kt.register(kt.SetFormat(3), "formats", "odd")  # type: ignore[arg-type]


def test_a_name_of_two_packages_is_refused_where_it_is_used(karat: Run) -> None:
    done = karat(program=PROGRAM.format(names=("both",), use="kt.tokenize(['a'], tok=name)"))
    message = "tokenizers: both is in two packages, first and second: uninstall one"
    assert message in done.stdout


# ------------------------------------------------------------------------- when they are called


@pytest.fixture(scope="module")
def slips(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """The command line where things are installed that fail when they are called."""
    site = tmp_path_factory.mktemp("site")
    (site / "slips.py").write_text(MODULE)
    install(site, "slips", "2.1", SLIPS)
    with interpreter(site) as run:
        yield run


ITEM = "failed: TypeError: sequence item 1: expected str"
LUCK = "failed: RuntimeError: no luck (package slips@2.1)"
THREE = "returned 3, expected"


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("metrics", "-f", "fails"), f"the renderer of the format fails {LUCK}"),
        (("metrics", "-f", "leaves"), "the renderer of the format leaves failed: SystemExit: 0"),
        (("metrics", "-f", "three"), f"the renderer of the format three {THREE} text"),
        (
            ("metrics", "-f", "threes"),
            f"the renderer of the format threes {ITEM}",
        ),
        (("data", "judges", "fails"), f"the reader of the format fails {LUCK}"),
        (("data", "judges", "three"), f"the reader of the format three {THREE} karat.EvalSet"),
        (("score", "s=x", "-r", "x", "-m", "bleu:tok=fails"), f"tokeniser fails {LUCK}"),
        (("score", "s=x", "-r", "x", "-m", "bleu:tok=three"), f"tokeniser three {THREE} a list"),
        (("score", "s=x", "-r", "x", "-m", "rouge1:stem=fails"), f"stemmer fails {LUCK}"),
        (("score", "s=x", "-r", "x", "-m", "rouge1:stem=three"), f"stemmer three {THREE} a str"),
        (("meta", "demo", "-m", "bleu", "-l", "fails"), f"level fails {LUCK}"),
        (("meta", "demo", "-m", "bleu", "-l", "three"), f"level three {THREE} a karat.View"),
    ],
)
def test_what_fails_is_named_with_its_package(
    slips: Run, args: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("fails", "three"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.txt").touch()
    (tmp_path / "x").write_text("a b\n")
    monkeypatch.chdir(tmp_path)
    done = slips(*args)
    assert done.returncode == 2
    assert message in done.stderr
    assert "(package slips@2.1)" in done.stderr
    assert done.stderr.count("\n") == 1
