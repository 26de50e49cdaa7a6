"""What is saved is read back as it was, and saving never leaves half of anything."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat as kt
from karat.evalset.formats import directory
from karat.evalset.judgements import KINDS

FORMATS = ("dir", "jsonl")
both = pytest.mark.parametrize("format", FORMATS)

characters = st.characters(exclude_categories=["Cs"])
texts = st.one_of(
    st.text(characters, max_size=8),
    st.sampled_from(
        ["", "\\", "\\e", "\n", "a\r", "\ufeff", "\ufeffx", "\x85", "\u2028", "\t", "\0"]
    ),
)
names = st.text(
    st.one_of(characters, st.sampled_from('./\\:%*?"<>| ')), min_size=1, max_size=6
).filter(lambda name: not set(name) & set("\t\n\r"))
numbers = st.floats(allow_nan=False, allow_infinity=False)
ends = st.one_of(st.none(), numbers)


@st.composite
def dimensions(draw: st.DrawFn) -> list[kt.Dimension]:
    actual = []
    for name in draw(st.lists(names, max_size=3, unique=True)):
        low, high = draw(ends), draw(ends)
        if low is not None and high is not None and not low < high:
            high = None
        better = draw(st.sampled_from(["higher", "lower"]))
        actual.append(kt.Dimension(name, better, low, high, draw(texts)))
    return actual


@st.composite
def parsed(draw: st.DrawFn) -> kt.Tree:
    """A tree in which every word hangs from an earlier one."""
    words = draw(st.lists(names, min_size=1, max_size=3))
    heads = [draw(st.integers(1, i)) if i else 0 for i in range(len(words))]
    return kt.Tree(tuple(words), tuple(heads), draw(names.map(str.strip)))


@st.composite
def evalsets(draw: st.DrawFn) -> kt.EvalSet:
    count = draw(st.integers(1, 4))

    def column(of: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
        return st.lists(of, min_size=count, max_size=count)

    segments = draw(st.none() | st.lists(names, min_size=count, max_size=count, unique=True))
    # Names that differ only in case would be one file on some systems.
    system_names = draw(
        st.lists(
            names, min_size=1, max_size=3, unique_by=lambda name: normalize("NFC", name).casefold()
        )
    )
    outputs = {name: draw(column(st.none() | texts)) for name in system_names}
    actual = draw(dimensions())
    ids = segments or [str(i) for i in range(1, count + 1)]
    judged_outputs = [
        (a, ids[i])
        for a, system_scores in outputs.items()
        for i in range(count)
        if system_scores[i] is not None
    ]
    rows: dict[tuple[str, str, str, str], float] = {}
    if judged_outputs and actual:
        keys = st.tuples(st.sampled_from(judged_outputs), names, st.sampled_from(actual)).map(_key)
        rows = draw(st.dictionaries(keys, numbers, max_size=6))
    judges = {judge for _, _, judge, _ in rows}
    kinds = {judge: draw(st.sampled_from(["", *KINDS])) for judge in sorted(judges)}
    references = draw(st.none() | column(st.lists(texts, max_size=3)))
    trees = None
    if references is not None and draw(st.booleans()):
        trees = [[draw(parsed()) for _ in group] for group in references]
        if draw(st.booleans()):
            references = None  # the words of the trees
    return kt.make_evalset(
        draw(texts),
        outputs,
        segments=segments,
        references=references,
        trees=trees,
        groups=draw(st.none() | column(names)),
        sources=draw(st.none() | column(texts)),
        dimensions=actual,
        judgements=[(*key, value) for key, value in rows.items()],
        judge_kinds={judge: kind for judge, kind in kinds.items() if kind},
        description=draw(texts),
        licence=draw(texts),
    )


def _key(parts: tuple[tuple[str, str], str, kt.Dimension]) -> tuple[str, str, str, str]:
    return (*parts[0], parts[1], parts[2].name)


@both
@given(evalset=evalsets())
def test_a_saved_set_is_read_back_as_it_was(format: str, evalset: kt.EvalSet) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"set.{format}"
        kt.save_evalset(evalset, path, format)
        again = kt.load_evalset(path)
        assert os.listdir(folder) == [path.name]
    assert again == evalset
    assert list(again.systems) == list(evalset.systems)
    assert list(again.dimensions) == list(evalset.dimensions)
    assert again.judgements.judges == evalset.judgements.judges
    assert again.judgements.kinds == evalset.judgements.kinds


@both
def test_the_bundled_set_comes_back(tmp_path: Path, format: str) -> None:
    demo = kt.load_evalset("demo")
    kt.save_evalset(demo, tmp_path / "demo", format)
    read_as = "jsonl" if format == "jsonl" else None
    assert kt.load_evalset(tmp_path / "demo", read_as) == demo


def test_plain_texts_are_saved_as_plain_lines(tmp_path: Path) -> None:
    evalset = kt.make_evalset("x", {"A": ["a \\n b", "c"]}, references=["r", ["s", "t"]])
    kt.save_evalset(evalset, tmp_path / "x")
    assert (tmp_path / "x" / "systems" / "A.txt").read_bytes() == b"a \\n b\nc\n"
    assert (tmp_path / "x" / "references" / "2.txt").read_bytes() == b"\nt\n"
    assert (tmp_path / "x" / "karat.toml").read_text("utf-8") == (
        'name = "x"\noptional-references = true\nsystems = ["A"]\n'
    )
    assert sorted(os.listdir(tmp_path / "x")) == ["karat.toml", "references", "systems"]


@both
def test_nothing_is_overwritten(tmp_path: Path, format: str) -> None:
    demo = kt.load_evalset("demo")
    for target in (tmp_path / "folder", tmp_path / "file"):
        if target.name == "folder":
            target.mkdir()
        else:
            target.write_text("mine")
        with pytest.raises(kt.OutputError, match="exists already"):
            kt.save_evalset(demo, target, format)
    assert (tmp_path / "file").read_text() == "mine"
    assert sorted(os.listdir(tmp_path)) == ["file", "folder"]


@both
def test_a_text_that_utf8_cannot_hold_leaves_nothing(tmp_path: Path, format: str) -> None:
    evalset = kt.make_evalset("x", {"A": ["a", "\ud800"]})
    with pytest.raises(kt.OutputError, match="lone surrogate"):
        kt.save_evalset(evalset, tmp_path / "x", format)
    assert os.listdir(tmp_path) == []


@both
def test_an_interruption_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format: str
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(
        directory, "_judgement_lines", interrupted
    )  # while the last file is written
    monkeypatch.setattr(os, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt):
        kt.save_evalset(kt.load_evalset("demo"), tmp_path / "x", format)
    assert os.listdir(tmp_path) == []


def test_places_and_formats_that_are_not_there(tmp_path: Path) -> None:
    demo = kt.load_evalset("demo")
    with pytest.raises(kt.OutputError, match="there is no folder"):
        kt.save_evalset(demo, tmp_path / "no" / "x")
    with pytest.raises(kt.InputError, match="format 'csv': expected one of dir, jsonl"):
        kt.save_evalset(demo, tmp_path / "x", "csv")
