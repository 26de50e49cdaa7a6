"""Sets by name and by place."""

from __future__ import annotations

from pathlib import Path

import pytest

import karat as kt
from karat.evalset.catalogue import VARIABLE
from karat.evalset.loading import FORMATS, KNOWN, load_evalset


def test_the_bundled_set_needs_no_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    demo = load_evalset("demo")
    assert (len(demo.systems), len(demo), len(demo.judgements)) == (4, 12, 320)
    assert "do not exist" in demo.description
    assert {len(group) for group in demo.references} == {3}


@pytest.mark.parametrize(
    "name", [name for name, is_labelled in KNOWN.items() if not is_labelled.bundled]
)
def test_known_sets_that_are_not_there(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    with pytest.raises(kt.InputError, match=f"{name} is a known set, and KARAT_DATA is not set"):
        load_evalset(name)
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    with pytest.raises(kt.InputError, match=f"{name} is a known set, and KARAT_DATA has no"):
        load_evalset(name)


def test_neither_a_name_nor_a_place(tmp_path: Path) -> None:
    with pytest.raises(
        kt.InputError,
        match=r"no such folder or file, nor a known set \(demo, demo-l",
    ):
        load_evalset(tmp_path / "nowhere")
    with pytest.raises(kt.InputError, match="demo: no such folder"):
        load_evalset(Path("demo"))  # a path is never a name


def test_what_is_not_recognised(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello\n")
    (tmp_path / "numbers.tsv").write_text("a\tb\n1\t2\n")
    for place in (tmp_path, tmp_path / "notes.txt"):
        with pytest.raises(kt.InputError, match=r"not recognised .* name the format \(dir, "):
            load_evalset(place)
    with pytest.raises(kt.InputError, match=r"no column is known to have outputs or ratings"):
        load_evalset(tmp_path / "numbers.tsv")
    with pytest.raises(kt.InputError, match="format 'xml': expected one of dir, "):
        load_evalset(tmp_path, "xml")


@pytest.mark.parametrize("format", [*FORMATS])
def test_every_reader_refuses_an_empty_folder(tmp_path: Path, format: str) -> None:
    with pytest.raises(kt.InputError):
        load_evalset(tmp_path, format)


@pytest.mark.parametrize("format", [*FORMATS])
def test_every_reader_refuses_a_file_of_noise(tmp_path: Path, format: str) -> None:
    path = tmp_path / "noise"
    path.write_bytes(bytes(range(256)))
    with pytest.raises(kt.InputError):
        load_evalset(path, format)


def test_progress_is_reported(tmp_path: Path) -> None:
    rows = "".join(f"s\tr\tc{i}\t1\n" for i in range(10_000))
    path = tmp_path / "p.tsv"
    path.write_text(f"source\treference\tcandidate\tscore\n{rows}")
    calls: list[tuple[int, int, str]] = []
    load_evalset(path, progress=lambda *call: calls.append(call))
    assert calls == [(4096, 10001, "reading p.tsv"), (8192, 10001, "reading p.tsv")]


def test_a_known_set_is_read_as_it_is() -> None:
    with pytest.raises(kt.InputError, match="demo is a known set, read as dir, not as jsonl"):
        kt.load_evalset("demo", "jsonl")
    assert kt.load_evalset("demo", "dir") == kt.load_evalset("demo")
    with pytest.raises(kt.InputError, match=r"format dir has no option 'x' \(it has none\)"):
        kt.load_evalset("demo", x=1)
