"""Training in little memory: the same bytes, a bounded peak, and errors that are sentences."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import lm_whole_arrays

import karat as kt
from karat import _kernel
from karat.errors import InputError, OutputError
from karat.lm import train_model, training
from karat.lm.training import MIN_MEMORY, Memory, train_ngrams
from karat.storage.output import temporary_file

SMOOTHING = ["kneser-ney", "katz"]
WORDS = st.sampled_from(["a", "a", "a", "a", "b", "b", "c", "d", "e", "f", "g"])
TEXT = st.lists(st.lists(WORDS, max_size=7), min_size=1, max_size=25)


class Tiny(Memory):
    """So little memory that every step has several runs, and nothing stays in it."""

    def __init__(self, sorting: int, piece: int) -> None:
        super().__init__(MIN_MEMORY)
        self.bytes, self.piece, self.sequences, self.tables = sorting, piece, 0, 0

    def sorting(self, words: int, vocabulary: int) -> int:
        return self.bytes

    def batch(self, threads: int) -> int:
        return 256


TINY = st.builds(Tiny, st.sampled_from([1, 700, 3000]), st.sampled_from([1, 100, 4000]))


def arrays(text: Sequence[str], memory: Memory | None, **settings: object) -> dict[str, bytes]:
    with train_ngrams(text, memory=memory, **settings) as trained_model:  # type: ignore[arg-type]
        return {name: array.tobytes() for name, array in trained_model.arrays().items()}


@pytest.mark.parametrize("smoothing", SMOOTHING)
@given(data=st.data(), text=TEXT, memory=TINY, threads=st.integers(1, 3))
def test_memory_changes_no_bit(
    smoothing: str, data: st.DataObject, text: list[list[str]], memory: Memory, threads: int
) -> None:
    order = data.draw(st.integers(1, 8))
    least = sorted(data.draw(st.lists(st.integers(1, 3), min_size=order, max_size=order)))
    settings = {
        "order": order,
        "smoothing": smoothing,
        "min_counts": data.draw(st.sampled_from([None, [1, *least[1:]]])),
        "vocabulary": data.draw(st.sampled_from([None, 1, 3])),
        "min_count": data.draw(st.sampled_from([1, 2])),
    }
    lines = [" ".join(sentence) for sentence in text]
    assert arrays(lines, memory, threads=threads, **settings) == arrays(lines, None, **settings)


@pytest.mark.parametrize("smoothing", SMOOTHING)
@given(text=TEXT, order=st.integers(1, 5), memory=st.none() | TINY, more=st.integers(1, 3))
def test_every_bit_is_that_of_whole_arrays(
    smoothing: str, text: list[list[str]], order: int, memory: Memory | None, more: int
) -> None:
    least = [1, *[more] * (order - 1)]
    settings = {"order": order, "smoothing": smoothing, "min_counts": least}
    trained_arrays = arrays([" ".join(sentence) for sentence in text], memory, **settings)
    numbers = {word: i for i, word in enumerate(dict.fromkeys(w for s in text for w in s), 3)}
    ids = [[numbers[word] for word in sentence] for sentence in text]
    expected = lm_whole_arrays.train(ids, len(numbers) + 3, smoothing, least)
    assert {name: trained_arrays[name] for name in expected} == {
        name: array.tobytes() for name, array in expected.items()
    }


def long_text(words: int) -> list[str]:
    """Sentences of words whose ranks have a Zipf distribution."""
    ranks = np.random.default_rng(7).zipf(1.3, words) % 50_000
    return [" ".join(f"w{i}" for i in part) for part in np.array_split(ranks, words // 15)]


@pytest.mark.parametrize("name", ["model.lm", "model.arpa", "model.arpa.gz"])
def test_files_are_the_same(tmp_path: Path, name: str) -> None:
    text = long_text(20_000)
    for memory, folder in ((None, "much"), (Tiny(100_000, 5000), "little")):
        (tmp_path / folder).mkdir()
        trained_model = train_model(text, tmp_path / folder / name, 4, memory=memory)
        assert trained_model.rows[3].ngrams > 10_000
    large, little = (tmp_path / folder / name for folder in ("much", "little"))
    assert large.read_bytes() == little.read_bytes()
    model = kt.LanguageModel.open(large)
    assert model.counts == [row.ngrams for row in trained_model.rows]
    if name == "model.lm":
        model.write_arpa(tmp_path / "again.arpa")
        kt.LanguageModel.train(text, 4).write_arpa(tmp_path / "trained.arpa")
        train_model(text, tmp_path / "direct.arpa", 4)
        texts = {(tmp_path / f"{n}.arpa").read_bytes() for n in ("again", "trained", "direct")}
        assert len(texts) == 1


def test_files_are_used_only_where_memory_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    opened = []

    def counted(purpose: str) -> IO[bytes]:
        opened.append(purpose)
        return temporary_file(purpose)

    monkeypatch.setattr(training, "temporary_file", counted)
    arrays(long_text(20_000), None)
    assert not opened
    arrays(long_text(20_000), Tiny(100_000, 5000))
    assert len(opened) > 10


def test_one_long_segment_is_sorted_piece_by_piece() -> None:
    text = [" ".join(long_text(30_000))]
    assert arrays(text, Tiny(50_000, 5000), order=3) == arrays(text, None, order=3)


_PEAK = """
import sys
from pathlib import Path
from karat.lm import train_model

def peak():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))

train_model(Path(sys.argv[1]), sys.argv[2], 5, memory=int(sys.argv[3]), tok="none", threads=2)
print(peak() * 1024)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc to see the peak in")
def test_the_peak_is_bounded(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("\n".join(long_text(1_200_000)), "utf-8")
    memory = 48 << 20
    argv = [sys.executable, "-c", _PEAK, str(tmp_path / "text"), str(tmp_path / "m"), str(memory)]
    done = subprocess.run(argv, check=True, capture_output=True)
    assert int(done.stdout) < 1.15 * memory + 100e6
    assert (tmp_path / "m").stat().st_size > memory  # the model itself would not fit


# ------------------------------------------------------------------------------ what goes wrong


def test_too_little_memory_is_refused() -> None:
    with pytest.raises(InputError, match=r"1,000 bytes\): expected at least 0.032 GB"):
        kt.LanguageModel.train(["a b"], memory=1000)


def test_a_vocabulary_that_does_not_fit_is_refused() -> None:
    text = [f"word{i}" for i in range(400_000)]
    with pytest.raises(InputError, match=r"words are too many for 0\.03 GB: allow more memory"):
        kt.LanguageModel.train(text, 2, memory=MIN_MEMORY)


MAX_NGRAMS = 2_863_311_529  # n-grams of a length, so that places of a table have 32 bits


def test_more_ngrams_than_a_table_has_places_for_are_refused(tmp_path: Path) -> None:
    assert _kernel.lm_table_slots(MAX_NGRAMS) == 2**32 - 2
    with pytest.raises(ValueError, match=r"more than 2,863,311,529 n-grams of a length"):
        _kernel.lm_table_slots(MAX_NGRAMS + 1)
    with train_ngrams(["a b c"], 3) as trained_model:
        trained_model.counts[2] = MAX_NGRAMS + 1
        with pytest.raises(InputError, match=r"more than 2,863,311,529 .*: write ARPA text, raise"):
            trained_model.save(tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("name", ["model.lm", "model.arpa"])
def test_a_full_disk_is_told_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    def full(purpose: str) -> IO[bytes]:
        return open("/dev/full", "r+b", buffering=0)

    monkeypatch.setattr(training, "temporary_file", full)
    with pytest.raises(OutputError, match=r"n-grams are sorted there\): No space left on device"):
        train_model(long_text(3000), tmp_path / name, 3, memory=Tiny(1000, 1000))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("step_name", ["counting", "merging", "estimating 3-grams", "writing"])
def test_it_stops_in_every_pass(tmp_path: Path, step_name: str) -> None:
    class Stopped(Exception):
        """What progress raises."""

    def stop(done: int, total: int, current_step: str) -> None:
        if current_step == step_name:
            raise Stopped

    with pytest.raises(Stopped):
        train_model(long_text(400_000), tmp_path / "m", 3, progress=stop, threads=1)
    assert list(tmp_path.iterdir()) == []


def opened_files(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of all files that training opens from now on."""
    numbers: list[int] = []
    opened = training.Scratch.open

    def told() -> int:
        numbers.append(opened())
        return numbers[-1]

    monkeypatch.setattr(training.Scratch, "open", staticmethod(told))
    return numbers


def test_files_of_others_stay_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = opened_files(monkeypatch)
    with train_ngrams(long_text(3000), 3, memory=Tiny(1000, 1000)) as trained_model:
        mapped = trained_model.arrays()
        before = {name: array.tobytes() for name, array in mapped.items()}
    with ExitStack() as held:
        files = [held.enter_context(open(tmp_path / str(i), "wb")) for i in range(len(numbers))]
        for file in files:
            file.write(b"whole")
            file.flush()
        assert set(numbers) & {file.fileno() for file in files}
        del trained_model
        gc.collect()
        assert {(tmp_path / str(i)).read_bytes() for i in range(len(files))} == {b"whole"}
        for file in files:
            file.write(b", and open")
    assert before == {name: array.tobytes() for name, array in mapped.items()}


def test_files_are_closed_with_the_scratch(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = opened_files(monkeypatch)
    with train_ngrams(long_text(3000), 3, memory=Tiny(1000, 1000)) as trained_model:
        trained_model.arrays()
        os.fstat(numbers[-1])  # the file of the last table
    for number in set(numbers):
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(number)
    with pytest.raises(OutputError, match="Bad file descriptor"):
        trained_model.arrays()  # an error, and no other file is read or written
