"""Baseline files: what is written reads back, and what is damaged is refused by its line."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.errors import InputError
from karat.gating.baseline_file import BaselineFile, StoredMetric, read_baseline, save_baseline

WORDS = st.text(st.characters(codec="utf-8") | st.sampled_from("\ud800\udfff"), max_size=6)
NUMBERS = st.one_of(st.integers(-9, 10**6), st.floats(-1e6, 1e6))


@st.composite
def baselines(draw: st.DrawFn) -> BaselineFile:
    size = draw(st.integers(1, 5))
    ids = draw(st.lists(WORDS, min_size=size, max_size=size, unique=True))
    metrics = []
    for name in draw(st.lists(WORDS, min_size=1, max_size=3, unique=True)):
        columns = tuple(f"c{k}" for k in range(draw(st.integers(1, 3))))
        cells = st.lists(NUMBERS, min_size=len(columns), max_size=len(columns))
        rows = np.array([draw(cells) for _ in range(size)], dtype=np.float64)
        metrics.append(StoredMetric(name, draw(WORDS), columns, rows))
    carried = st.lists(WORDS.filter(bool), max_size=3).map(tuple)
    carried_lists = draw(st.none() | st.lists(carried, min_size=size, max_size=size).map(tuple))
    texts = draw(st.none() | st.lists(WORDS, min_size=size, max_size=size).map(tuple))
    about = draw(WORDS), draw(WORDS), draw(WORDS)
    return BaselineFile("", *about, tuple(ids), tuple(metrics), carried_lists, texts)


@given(baselines())
def test_what_is_written_reads_back(
    tmp_path_factory: pytest.TempPathFactory, baseline: BaselineFile
) -> None:
    path = tmp_path_factory.mktemp("baseline") / "gate.tsv"
    object.__setattr__(baseline, "path", str(path))
    save_baseline(baseline)
    stored = read_baseline(path)
    for name in ("path", "source", "system", "against", "ids", "carried", "texts"):
        assert getattr(stored, name) == getattr(baseline, name)
    for written_metric, read_metric in zip(baseline.metrics, stored.metrics, strict=True):
        assert read_metric[:3] == written_metric[:3]
        assert np.array_equal(read_metric.rows, written_metric.rows)
    again = path.read_bytes()
    save_baseline(stored)
    assert path.read_bytes() == again


GOOD = """\
# karat gate baseline 1
# source\ttexts
# system\tmine
# against\tabc
# items\t3
# rows\t0830cfea82661086373ecf2e83bd1426
# metric\tm\tm:n=1|karat=1
id\tm.a\tm.b
1\t5\t0.5
2\t0\t0
x%09y\t7\t1e-7
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "gate.tsv"


def test_numbers_are_what_they_say(path: Path) -> None:
    path.write_text(GOOD)
    stored = read_baseline(path)
    assert stored.ids == ("1", "2", "x\ty")
    assert stored.metrics[0].columns == ("a", "b")
    assert stored.metrics[0].rows.tolist() == [[5, 0.5], [0, 0], [7, 1e-7]]


def test_line_ends_of_windows_are_read(path: Path) -> None:
    path.write_bytes(GOOD.replace("\n", "\r\n").encode())
    assert read_baseline(path).ids == ("1", "2", "x\ty")


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ("baseline 1", "baseline 2", "line 1: its format has version 2, expected 1"),
        ("# karat gate", "# karat gat", "is no baseline of karat gate"),
        ("# against\tabc\n", "", "line 6: the header has no line `# against`"),
        ("# metric\tm\tm:n=1|karat=1\n", "", "line 6: the header has no line `# metric`"),
        ("# items\t3", "# items\tfive", "found 3 rows, expected five"),
        ("# items\t3", f"# items\t{'9' * 5000}", "found 3 rows, expected 999"),
        ("# items\t3", "# items\t٣", "found 3 rows, expected ٣"),
        ("# items\t3", "# item\t3", "line 5: found '# item\\\\t3', expected a line such as"),
        ("2\t0\t0\n", "", "line 10: found 2 rows, expected 3: a part of the file is missing"),
        ("2\t0\t0\n", "1\t0\t0\n", "line 10: the id '1' is also in line 9"),
        ("2\t0\t0\n", "2\t0\n", "line 10: found 2 cells, expected 3 as in its head"),
        ("2\t0\t0\n", "2\tzero\t0\n", "line 10: found 'zero', expected a number"),
        ("2\t0\t0\n", "2\tnan\t0\n", "line 10: found 'nan', expected a number"),
        ("2\t0\t0\n", "<<<<<<< HEAD\n2\t0\t0\n", "line 10: found 1 cell, expected 3"),
        ("2\t0\t0\n", "2\t1e999\t0\n", "a number is too large"),
        ("\tm.b\n", "\tother\n", "line 8: the column 'other' belongs to no metric above"),
        ("# metric\tm\t", "# metric\tm\tm:n=2\n# metric\tm\t", "line 9: found no columns m.…"),
        ("id\tm.a\tm.b\n", "id\tn.a\tn.b\n", "line 8: found no columns m.…"),
    ],
)
def test_damage_is_refused_by_its_line(path: Path, right: str, wrong: str, message: str) -> None:
    assert right in GOOD
    path.write_text(GOOD.replace(right, wrong, 1))
    with pytest.raises(InputError, match=re.escape(message).replace("\\\\\\\\", "\\\\")) as caught:
        read_baseline(path)
    assert "\n" not in str(caught.value)
    assert "--update" in str(caught.value)


def test_files_that_are_no_text(path: Path) -> None:
    with pytest.raises(InputError, match="no such baseline; write it with --update"):
        read_baseline(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="it is not UTF-8 text"):
        read_baseline(path)
    path.write_text("")
    with pytest.raises(InputError, match="is no baseline of karat gate"):
        read_baseline(path)
    with pytest.raises(InputError, match="cannot be read"):
        read_baseline(path.parent)
    path.write_text("\n".join(GOOD.split("\n")[:7]))
    with pytest.raises(InputError, match="line 7: the file ends before its rows"):
        read_baseline(path)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("1e-7\n", "1e-7"),  # no end of the last line
        ("1e-7\n", "1e-"),
        ("2\t0\t0\n", "2\t-3\t0\n"),
        ("2\t0\t0\n", "2\t0.5\t0\n"),
        ("2\t0\t0\n", "3\t0\t0\n"),
        ("1\t5\t0.5\n2\t0\t0\n", "2\t0\t0\n1\t5\t0.5\n"),
        ("m.a\tm.b", "m.b\tm.a"),
        ("# rows\t", "# rows\t0"),
    ],
)
def test_what_was_edited_or_cut_is_refused(path: Path, right: str, wrong: str) -> None:
    assert right in GOOD
    path.write_text(GOOD.replace(right, wrong, 1))
    with pytest.raises(InputError, match=r"gate\.tsv.* with --update$") as caught:
        read_baseline(path)
    if wrong != "1e-":  # no number, which has a sentence of its own
        assert "was edited or cut: write it again" in str(caught.value)
