"""Alignment, phrase tables and training under limits of memory: the same bits as without."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sizes import examples

from karat import _kernel
from karat.errors import InputError, OutputError
from karat.paraphrase.align import alignment, parallel_text
from karat.paraphrase.align.aligner import Aligner
from karat.paraphrase.align.alignment import align_words
from karat.paraphrase.align.parallel_text import (
    Parallel,
    StoredTokens,
    parallel_tokens,
    pharaoh_lines,
)
from karat.paraphrase.generate import rewrites
from karat.paraphrase.pem import training as pem_training
from karat.paraphrase.pem.training import Pivot, train_pem
from karat.paraphrase.table import training
from karat.paraphrase.table.phrase_table import PhraseTable
from karat.paraphrase.table.training import build_table, extract_phrases, train_pivot
from karat.storage import arrays
from karat.storage.arrays import ArrayFile
from karat.storage.stages import Stages
from karat.text.segments import Strings
from karat.text.tokens import Recipe
from karat.text.word_table import StoredStrings

Karat = Callable[..., "subprocess.CompletedProcess[bytes]"]
WORDS = ["the", "a", "man", "dog", "runs", "sits", "red", "in", "on", "with", "two", ".", "old"]


@pytest.fixture(autouse=True)
def any_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Allow limits that are smaller than any text."""
    monkeypatch.setattr(arrays, "MIN_MEMORY", 1)
    monkeypatch.setattr(alignment, "_PAIRS", 7)
    monkeypatch.setattr(parallel_text, "_SENTENCES", 5)
    monkeypatch.setattr(training, "_PAIRS", 5)
    monkeypatch.setattr(training, "_VALUES", 3)


def sentences(seed: int, number: int) -> tuple[list[str], list[str]]:
    """Two texts, the second a translation with words moved, dropped and doubled."""
    rng = np.random.default_rng(seed)
    source, pivot = [], []
    for _ in range(number):
        words = [WORDS[int(len(WORDS) * rng.random() ** 2)] for _ in range(rng.integers(0, 9))]
        pivot_words = [f"{word}{rng.integers(2)}" for word in words if rng.random() < 0.9]
        if len(pivot_words) > 1 and rng.random() < 0.4:
            k = int(rng.integers(len(pivot_words) - 1))
            pivot_words[k], pivot_words[k + 1] = pivot_words[k + 1], pivot_words[k]
        source.append(" ".join(words))
        pivot.append(" ".join(pivot_words))
    return source, pivot


def parallel(seed: int, number: int) -> Parallel:
    return Parallel(*map(Strings, sentences(seed, number)))


def same_links(first: Any, other: Any) -> None:
    part = other.part(0, len(other))
    for name in ("source", "pivot", "offsets"):
        np.testing.assert_array_equal(getattr(first, name), getattr(part, name))


# ------------------------------------------------------------------------------ alignment


@examples(12, 40)
@given(
    st.integers(0, 1000),
    st.integers(1, 40),
    st.integers(1, 40_000),
    st.sampled_from(["posterior", "grow-diag-final-and"]),
    st.sampled_from(["min", "root", "product"]),
    st.sampled_from(["fertility", "hmm"]),
    st.integers(1, 3),
    st.integers(2, 200),
)
def test_links_do_not_depend_on_memory(
    seed: int,
    number: int,
    limit: int,
    decoding: str,
    agreement: str,
    model: str,
    threads: int,
    longest: int,
) -> None:
    arrays.MIN_MEMORY = 1
    texts = parallel_tokens([parallel(seed, number)], Recipe("none"), Recipe("none"))
    aligner = Aligner(2, 3, agreement, decoding, longest=longest, model=model)
    in_memory = align_words(*texts, aligner)
    parts = align_words(*texts, aligner, memory=limit, threads=threads)
    same_links(in_memory.links, parts.links)
    assert (in_memory.rows, in_memory.pairs, in_memory.notes) == (
        parts.rows,
        parts.pairs,
        parts.notes,
    )
    stored = parallel_tokens([parallel(seed, number)], Recipe("none"), Recipe("none"), memory=1)
    assert isinstance(stored[0], StoredTokens) == any(map(len, sentences(seed, number)[0]))
    same_links(in_memory.links, align_words(*stored, aligner, memory=limit).links)


def test_a_word_without_counts_keeps_its_probabilities() -> None:
    pairs = np.array([[0, 0], [0, 1], [1, 1]], np.int32)
    held = np.array([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]], np.float32)
    counts, source, pivot = (np.array(x, np.int64) for x in ([0, 0, 4], [0, 4], [0, 4]))
    entries = _kernel.estimate_pairs(pairs, counts, source, pivot, held)
    expected = np.array([[0.1, 0.2], [0.3, 0.0], [1.0, 1.0]], np.float32)
    np.testing.assert_array_equal(entries, expected)


rows = st.lists(st.lists(st.tuples(st.integers(0, 4), st.integers(-1, 4)), unique=True), max_size=5)


@given(rows, st.integers(1, 9))
def test_a_union_of_sorted_rows(parts: list[list[tuple[int, int]]], enough: int) -> None:
    parts = [sorted(part) for part in parts]
    given_rows = [np.array(part, np.int32).reshape(-1, 2) for part in parts]
    union = _kernel.SortedUnion(given_rows, 2)
    united: list[tuple[int, ...]] = []
    numbers: list[list[int]] = [[] for _ in parts]
    while not union.done:
        piece, new_numbers = union.next(enough)
        for part_numbers, new in zip(numbers, new_numbers, strict=True):
            part_numbers.extend((new + len(united)).tolist())
        united += map(tuple, piece.tolist())
    assert united == sorted({row for part in parts for row in part})
    assert numbers == [[united.index(row) for row in part] for part in parts]


def test_links_as_text_come_part_by_part() -> None:
    texts = parallel_tokens([parallel(1, 30)], Recipe("none"), Recipe("none"))
    in_memory, parts = align_words(*texts), align_words(*texts, memory=1000)
    assert list(pharaoh_lines(in_memory.links)) == list(pharaoh_lines(parts.links))
    assert in_memory.links[3] == parts.links[3]


# ------------------------------------------------------------------------------ tables


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 1000), st.integers(1, 30), st.integers(1, 20_000), st.integers(1, 5))
def test_tables_do_not_depend_on_memory(seed: int, number: int, limit: int, longest: int) -> None:
    arrays.MIN_MEMORY = 1
    words = Recipe("none"), Recipe("none")
    source, pivot = parallel_tokens([parallel(seed, number)], *words)
    links = align_words(source, pivot, Aligner(1, 1)).links
    counts = extract_phrases(source, pivot, links, longest)
    about = {"source": {"tok": "none", "case": "mixed", "stem": "none"}}
    about["pivot"] = about["source"]
    if not len(counts):
        with pytest.raises(InputError, match="no phrase pair"):
            build_table(source, pivot, links, about, longest, memory=limit)
        return
    expected = PhraseTable.from_counts(
        counts, source.vocab, pivot.vocab, {**about, "longest": longest}
    )
    phrase_table = build_table(source, pivot, links, about, longest, memory=limit)
    assert phrase_table.about == expected.about
    assert list(phrase_table.arrays) == list(expected.arrays)
    for name, array in expected.arrays.items():
        np.testing.assert_array_equal(phrase_table.arrays[name], array, name)
        assert phrase_table.arrays[name].dtype == array.dtype


def test_a_table_of_a_text_in_files(tmp_path: Path) -> None:
    for limit in (None, 3000):
        train_pivot([parallel(5, 60)], memory=limit).save(tmp_path / f"{limit}.npz")
    assert (tmp_path / "None.npz").read_bytes() == (tmp_path / "3000.npz").read_bytes()


# ------------------------------------------------------------------------------ lines


@given(st.lists(st.lists(st.text(max_size=2), max_size=30), max_size=3), st.integers(1, 5000))
@examples(8, 25)
def test_each_line_once(texts: list[list[str]], limit: int) -> None:
    arrays.MIN_MEMORY = 1
    lines = pem_training.distinct_lines([Strings(text) for text in texts], limit)
    expected = list(dict.fromkeys(line for text in texts for line in text))
    assert lines.views(0, len(lines)).strings() == expected


def test_any_string_is_kept_in_files() -> None:
    strings = ["a", "", "b\nc\r", "é\ud800", *map(str, range(600))]
    lines = StoredStrings(strings).done()
    assert lines.views(0, len(lines)).strings() == strings
    assert lines.views(512, 604).strings() == strings[512:]
    np.testing.assert_array_equal(lines.sizes(), Strings(strings).sizes())


def test_rows_in_a_file() -> None:
    file = ArrayFile("int32", "a test", 2)
    file.append(np.arange(6).reshape(3, 2))
    file.write(1, np.array([[9, 8]]))
    np.testing.assert_array_equal(file.read(), [[0, 1], [9, 8], [4, 5]])
    np.testing.assert_array_equal(file.memory_map()[1:], file.read(1, 9))
    assert len(file) == 3
    assert not len(ArrayFile("int64", "a test").memory_map())


# ------------------------------------------------------------------------------ stages

PIVOTS = {"fr": Pivot([parallel(1, 50)]), "de": Pivot([parallel(2, 50)])}
STAGES = [
    *("phrase table of fr", "written phrases of fr"),
    *("phrase table of de", "written phrases of de"),
    *("language model", "rewrites", "language model of written words", "case of words"),
]
"""Those that a second run asks for: links only where something is to be made of them."""


def trained(path: Path, pivots: dict[str, Pivot] = PIVOTS, **how: Any) -> list[str]:
    """Train a model into a file; the stages that were done already."""
    notes: list[str] = []
    train_pem(pivots, notes=notes, **how).save(path)
    return [note.removesuffix(": done already") for note in notes]


def test_finished_stages_are_not_done_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    work, plain, again = tmp_path / "work", tmp_path / "plain.npz", tmp_path / "again.npz"
    assert trained(plain) == []
    assert trained(again, work=work) == []
    assert again.read_bytes() == plain.read_bytes()
    assert trained(again, work=work) == STAGES
    assert again.read_bytes() == plain.read_bytes()
    other, limit = tmp_path / "bounded.npz", 1 << 25  # the language model takes a part of it
    monkeypatch.setattr(alignment, "_BYTES_OF_CELL", limit // 100)
    for module in (training, rewrites):
        monkeypatch.setattr(module, "_BYTES_OF_PAIR", limit // 50)
    monkeypatch.setattr(parallel_text, "_SHARE", limit)
    monkeypatch.setattr(pem_training, "_BYTES_OF_LINE", limit // 10)
    assert trained(other, work=tmp_path / "work2", memory=limit, threads=1) == []
    assert other.read_bytes() == plain.read_bytes()


def test_a_changed_text_changes_what_depends_on_it(tmp_path: Path) -> None:
    model = tmp_path / "model.npz"
    trained(model, work=tmp_path)
    source, pivot = sentences(2, 50)
    changed = {**PIVOTS, "de": Pivot([Parallel(Strings(source), Strings([*pivot[:-1], "x y"]))])}
    unchanged = [*STAGES[:2], "language model", "language model of written words"]
    assert trained(model, changed, work=tmp_path) == unchanged
    plain = tmp_path / "plain.npz"
    trained(plain, changed)
    assert model.read_bytes() == plain.read_bytes()
    assert trained(model, changed, work=tmp_path, smoothing="katz") == [
        stage for stage in STAGES if stage != "language model"
    ]


@pytest.mark.parametrize("damage", ["manifest", "result", "no result"])
def test_damaged_stages_are_done_again(tmp_path: Path, damage: str) -> None:
    trained(tmp_path / "model.npz", work=tmp_path)
    expected = (tmp_path / "model.npz").read_bytes()
    place = tmp_path / ("alignment-of-fr.json" if damage == "manifest" else "alignment-of-fr.npz")
    data = place.read_bytes()
    place.write_bytes(data[: len(data) // 2])
    if damage == "no result":
        place.unlink()
    (tmp_path / "phrase-table-of-fr.json").write_text("[]")
    left = [stage for stage in STAGES if stage != "phrase table of fr"]
    assert trained(tmp_path / "model.npz", work=tmp_path) == left
    assert (tmp_path / "model.npz").read_bytes() == expected


def test_stages_have_files_of_their_own(tmp_path: Path) -> None:
    stages = Stages(tmp_path)
    for name in ("of a/b", "of a b", "of A b", "of ../../c", "of " + "x" * 300):
        stages.result(name, {}, lambda path, n=name: path.write_text(n), lambda path: None)
    stage_names = {json.loads(path.read_text())["stage"] for path in tmp_path.glob("*.json")}
    assert len(stage_names) == 5


def test_folders_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="it is a file, expected a folder"):
        train_pem(PIVOTS, work=tmp_path / "file")
    with pytest.raises(OutputError, match="create it first"):
        train_pem(PIVOTS, work=tmp_path / "no" / "folder")
    if os.getuid():
        (tmp_path / "shut").mkdir(0o500)
        with pytest.raises(OutputError, match="no permission"):
            train_pem(PIVOTS, work=tmp_path / "shut")


def test_too_little_memory(karat: Karat, folder: Path) -> None:
    write_texts(folder, 5)
    for command in (["align", "a", "b"], ["table", "a", "b"], ["train", "fr=a,b"]):
        done = karat("paraphrase", *command, "-o", "out", "--memory", "0.01")
        assert done.returncode == 2
        assert b"expected at least 0.063 GB (67,108,864" in done.stderr
        assert not (folder / "out").exists()


def test_the_table_command_makes_tables(karat: Karat, folder: Path) -> None:
    write_texts(folder, 50)
    done = karat("paraphrase", "table", "a", "b", "-o", "t.npz", "--stem", "porter")
    expected = train_pivot([Parallel(*map(Strings, sentences(1, 50)))])
    expected_text = f"t.npz: {expected.pairs:,} pairs of {len(expected):,} phrases\n"
    assert (done.returncode, done.stdout.decode(), done.stderr) == (0, expected_text, b"")
    assert PhraseTable.open(folder / "t.npz").pairs == expected.pairs


def test_folds_beside_a_fixed_split_are_refused(karat: Karat) -> None:
    done = karat(
        *["paraphrase", "evaluate", "demo-paraphrases", "--train-first", "27", "--folds", "3"]
    )
    assert done.returncode == 2
    assert b"--folds and --train-first exclude each other: give one" in done.stderr


def write_texts(folder: Path, number: int) -> None:
    for name, text in zip("ab", sentences(1, number), strict=True):
        (folder / name).write_text("\n".join(text) + "\n")


@pytest.mark.parametrize("stop_signal", [signal.SIGKILL, signal.SIGINT])
def test_killed_training_goes_on(
    karat: Karat, command: list[str], folder: Path, stop_signal: signal.Signals
) -> None:
    write_texts(folder, 2500)
    training = ["paraphrase", "train", "fr=a,b", "-o"]
    assert karat(*training, "plain.npz").returncode == 0
    training += ["again.npz", "--work", "work"]
    killed = subprocess.Popen([*command, *training], cwd=folder, stderr=subprocess.PIPE, text=True)
    while killed.poll() is None and not (folder / "work/alignment-of-fr.json").exists():
        time.sleep(0.005)
    killed.send_signal(stop_signal)
    message = killed.communicate()[1]
    assert killed.returncode != 0
    assert not (folder / "again.npz").exists()
    assert "Traceback" not in message
    ended = karat(*training)
    assert ended.returncode == 0
    assert b"alignment of fr: done already" in ended.stderr
    assert (folder / "again.npz").read_bytes() == (folder / "plain.npz").read_bytes()
    assert not list(folder.glob("work/karat-*"))
