"""Formats of others: registered by a program, or declared by an installed package."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import karat as kt
from karat import registry
from karat.evalset.catalogue import first_line
from karat.evalset.loading import FORMATS, detect

PACKAGE = """\
import karat as kt

def read_pairs(path, reading, *, system="A"):
    lines = (path / "pairs.txt").read_text().splitlines()
    rows = [line.split("=") for line in lines]
    return kt.make_evalset("pairs", {system: [a for a, _ in rows]}, references=[b for _, b in rows])

PAIRS = kt.SetFormat(read_pairs, holds=("pairs.txt",))
"""


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "pairs.txt").write_text("a b=a c\nd=d\n")
    return tmp_path / "set"


def test_a_registered_format_is_found_by_name_and_by_content(
    pairs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "_DECLARED", {})
    names: dict[str, Any] = {}
    exec(PACKAGE, names)
    with pytest.raises(kt.InputError, match="not recognised"):
        detect(pairs)
    kt.register(names["PAIRS"], "formats", "pairs")
    assert detect(pairs) == ("pairs", pairs)
    assert kt.load_evalset(pairs, "pairs", system="B").systems == {"B": ("a b", "d")}
    assert FORMATS.names()[-1] == "pairs"
    (pairs / "pairs.txt").write_text("no sign\n")
    with pytest.raises(kt.InputError, match="the reader of the format pairs failed: ValueError"):
        kt.load_evalset(pairs)
    (pairs / "pairs.txt").write_text("a b=a c\nd=d\n")
    with pytest.raises(kt.InputError, match="format pairs has no option 'x'"):
        kt.load_evalset(pairs, x=1)
    with pytest.raises(kt.InputError, match="format 'pairs': expected one of dir, jsonl"):
        kt.save_evalset(kt.load_evalset("demo"), pairs / "new", "pairs")


def test_a_format_of_an_installed_package_works_everywhere(pairs: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    (site / "pairs_format-1.5.dist-info").mkdir(parents=True)
    (site / "pairs_format.py").write_text(PACKAGE)
    about = site / "pairs_format-1.5.dist-info"
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: pairs-format\nVersion: 1.5\n")
    (about / "entry_points.txt").write_text("[karat.formats]\npairs = pairs_format:PAIRS\n")
    paths = os.pathsep.join([str(site), *sys.path])

    def karat(*args: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", "from karat.cli.main import run; run()", *args],
            env={**os.environ, "PYTHONPATH": paths},
            capture_output=True,
            text=True,
            check=False,
        )

    for more in ((), ("--read-as", "pairs"), ("--option", "system=A")):
        done = karat("data", "check", str(pairs), "-f", "json", *more)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["systems"][0]["system"] == "A"
    done = karat("score", "--set", str(pairs), "-m", "bleu", "-f", "json")
    assert json.loads(done.stdout)["rows"][0]["system"] == "A"
    unknown = karat("score", "--set", str(pairs), "--read-as", "pair")
    assert (unknown.returncode, "jsonl, table, studio, pairs; did you mean pairs?" in unknown.stderr) == (
        2,
        True,
    )


def test_the_first_line_that_is_not_blank(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'\xef\xbb\xbf\n \r\n {"id": \xff}\nmore\n')
    assert first_line(path) == '{"id": \ufffd}'
    path.write_bytes(b"\n\n")
    assert first_line(path) == ""


def test_the_list_of_sets_has_every_format() -> None:
    listed = kt.known_evalsets()
    assert (
        {row.format for row in listed.formats} == {*FORMATS} >= {"appraise", "inspect", "lm-eval"}
    )
    assert all(row.about for row in listed.formats)
    (_, formats) = listed.document().tables
    assert [row.format for row in formats.rows] == [row.format for row in listed.formats]
