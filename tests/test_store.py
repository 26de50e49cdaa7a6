"""Stores: what is written is what is mapped; what is no store is refused with a sentence."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest

from karat import _kernel
from karat.errors import InputError
from karat.storage import store
from karat.storage.store import (
    ALIGNMENT,
    is_store,
    read_store,
    with_prefix,
    without_prefix,
    write_store,
)
from karat.text.word_table import word_arrays, word_table

ARRAYS = {
    "ids": np.arange(7, dtype=np.int32),
    "p": np.linspace(0, 1, 5),
    "table": np.arange(6, dtype=np.float32).reshape(2, 3),
    "none": np.empty(0, dtype=np.int64),
}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    path = tmp_path / "model.npz"
    write_store(path, "test model", 3, {"words": 7, "name": "é"}, ARRAYS)
    return path


def test_a_store_is_told_from_text(place: Path, tmp_path: Path) -> None:
    text = tmp_path / "model.arpa"
    text.write_text("\\data\\\n")
    assert is_store(place)
    assert not is_store(text)
    with pytest.raises(InputError, match=r"none\.npz: No such file"):
        is_store(tmp_path / "none.npz")


def test_parts_of_a_store_have_names_of_their_own() -> None:
    both = with_prefix("a.", ARRAYS) | with_prefix("b.", {"p": ARRAYS["ids"]})
    assert list(both) == ["a.ids", "a.p", "a.table", "a.none", "b.p"]
    assert without_prefix("a.", both) == ARRAYS
    assert list(without_prefix("b.", both)) == ["p"]


def test_what_is_written_is_read(place: Path) -> None:
    stored = read_store(place, "test model", 3)
    assert stored.about["words"] == 7
    assert stored.about["name"] == "é"
    assert list(stored.arrays) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert stored.arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(stored.arrays[name], array)
        assert not stored.arrays[name].flags.writeable


def test_arrays_are_aligned(place: Path) -> None:
    for array in read_store(place, "test model", 3).arrays.values():
        assert array.ctypes.data % ALIGNMENT == 0 or array.size == 0


def test_numpy_opens_it(place: Path) -> None:
    with np.load(place) as archive:
        np.testing.assert_array_equal(archive["ids"], ARRAYS["ids"])


def test_packed_arrays_take_less_room_and_are_the_same(place: Path, tmp_path: Path) -> None:
    arrays = ARRAYS | {"zeros": np.zeros(100_000, dtype=np.int8)}
    about = {"words": 7}
    for name, packed in (("plain", ()), ("packed", ("zeros", "table", "none"))):
        write_store(tmp_path / name, "test model", 3, about, arrays, packed=packed)
    assert (tmp_path / "plain").stat().st_size > 100_000
    assert (tmp_path / "packed").stat().st_size < 10_000
    for name, array in read_store(tmp_path / "packed", "test model", 3).arrays.items():
        assert array.dtype == arrays[name].dtype
        assert not array.flags.writeable
        np.testing.assert_array_equal(array, arrays[name])


def test_damaged_packed_arrays_are_refused(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    arrays = {"noise": rng.integers(0, 9, 5000).astype(np.int8)}
    write_store(tmp_path / "a", "test model", 3, {}, arrays, packed=["noise"])
    content = (tmp_path / "a").read_bytes()
    middle = content.index(b"noise.npy") + 500
    (tmp_path / "a").write_bytes(content[:middle] + b"\xff" * 300 + content[middle + 300 :])
    with pytest.raises(InputError, match="damaged"):
        read_store(tmp_path / "a", "test model", 3)


def test_the_same_model_is_the_same_bytes(place: Path, tmp_path: Path) -> None:
    write_store(tmp_path / "again.npz", "test model", 3, {"words": 7, "name": "é"}, ARRAYS)
    assert (tmp_path / "again.npz").read_bytes() == place.read_bytes()


@pytest.mark.parametrize(
    ("kind", "version", "words"),
    [("phrase table", 3, "found test model"), ("test model", 4, "of version 3")],
)
def test_another_kind_or_version(place: Path, kind: str, version: int, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_store(place, kind, version)


@pytest.mark.parametrize("bad", [b"", b"hello", b"PK\x03\x04" + bytes(100)])
def test_what_is_no_store(tmp_path: Path, bad: bytes) -> None:
    (tmp_path / "x").write_bytes(bad)
    with pytest.raises(InputError, match="expected a test model of Karat"):
        read_store(tmp_path / "x", "test model", 3)


def test_any_cut_is_refused(place: Path, tmp_path: Path) -> None:
    content = place.read_bytes()
    for size in range(0, len(content), 97):
        (tmp_path / "cut").write_bytes(content[:size])
        with pytest.raises(InputError):
            read_store(tmp_path / "cut", "test model", 3)


def test_any_changed_byte_is_refused_or_changes_nothing(place: Path, tmp_path: Path) -> None:
    content, other = place.read_bytes(), tmp_path / "other"
    refused = 0
    for at in range(0, len(content), 11):
        other.write_bytes(content[:at] + bytes([content[at] ^ 0x10]) + content[at + 1 :])
        try:
            stored = read_store(other, "test model", 3)
        except InputError:
            refused += 1
            continue
        assert stored.about == read_store(place, "test model", 3).about
        for name, array in ARRAYS.items():
            np.testing.assert_array_equal(stored.arrays[name], array)
    assert refused > len(content) // 11 // 4  # the rest is padding, and what zip says twice


@pytest.mark.parametrize("packed", [(), ("ids",)])
def test_a_changed_number_is_refused(tmp_path: Path, packed: tuple[str, ...]) -> None:
    arrays = {"ids": np.arange(1000, dtype=np.int32)}
    write_store(tmp_path / "a", "test model", 3, {}, arrays, packed=packed)
    write_store(tmp_path / "b", "test model", 3, {}, {"ids": arrays["ids"] + 1}, packed=packed)
    sums = [entry.CRC for name in "ab" for entry in zipfile.ZipFile(tmp_path / name).infolist()]
    changed_checksum, original_checksum = (sums[i].to_bytes(4, "little") for i in (3, 1))
    (tmp_path / "b").write_bytes(
        (tmp_path / "b").read_bytes().replace(changed_checksum, original_checksum)
    )
    with pytest.raises(InputError, match=r"damaged \(ids\.npy: its checksum differs\): create it"):
        read_store(tmp_path / "b", "test model", 3)


def test_large_arrays_of_a_large_store_are_left_to_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arrays = {"large": np.arange(1000, dtype=np.int32), "small": np.arange(9, dtype=np.int32)}
    write_store(tmp_path / "a", "test model", 3, {}, arrays)
    content = (tmp_path / "a").read_bytes()
    for name, value in arrays.items():
        at = content.rindex(value.tobytes()) + 8
        (tmp_path / name).write_bytes(content[:at] + b"\x07" + content[at + 1 :])
    monkeypatch.setattr(store, "VERIFIED", 1000)
    monkeypatch.setattr(store, "SMALL", 500)
    assert read_store(tmp_path / "large", "test model", 3).arrays["large"][2] == 7
    with pytest.raises(InputError, match="its checksum differs"):
        read_store(tmp_path / "small", "test model", 3)
    with zipfile.ZipFile(tmp_path / "large") as archive:
        assert archive.testzip() == "large.npy"


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        read_store(tmp_path / "none", "test model", 3)


def test_an_array_of_another_type(place: Path) -> None:
    stored = read_store(place, "test model", 3)
    assert len(stored.array("ids", "int32")) == 7
    for name, kind in (("ids", "int64"), ("table", "float32"), ("more", "int32")):
        with pytest.raises(InputError, match="damaged"):
            stored.array(name, kind)


def test_words_are_found_again() -> None:
    vocab = _kernel.Vocab()
    words = ["the", "", "café", "x" * 40, *[f"w{i}" for i in range(500)]]
    vocab.add(words)
    table = word_table(word_arrays(vocab, "source"), "source")
    assert len(table) == len(words)
    assert table.words(np.arange(len(words), dtype=np.int32)) == words
    other = _kernel.Vocab()
    other.add(["nobody", "café", "w499", "the"])
    assert table.find(other).tolist() == [-1, 2, len(words) - 1, 0]
    assert table.find(other, 2).tolist() == [len(words) - 1, 0]


@pytest.mark.parametrize("part", ["bytes", "offsets", "slots"])
def test_damaged_words_are_refused(part: str) -> None:
    vocab = _kernel.Vocab()
    vocab.add(["a", "bc", "d"])
    arrays = word_arrays(vocab, "s")
    arrays[f"s_{part}"] = arrays[f"s_{part}"][:-1].copy()
    with pytest.raises(ValueError, match="word"):
        word_table(arrays, "s")


def test_slots_that_point_outside_are_refused() -> None:
    vocab = _kernel.Vocab()
    vocab.add(["a", "bc", "d"])
    arrays = word_arrays(vocab, "s")
    arrays["s_slots"] = np.where(arrays["s_slots"] == 2, 9, arrays["s_slots"]).astype(np.int32)
    with pytest.raises(ValueError, match="outside"):
        word_table(arrays, "s")
