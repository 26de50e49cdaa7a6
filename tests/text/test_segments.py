"""Segments: files and lists give the same text, however the file was written."""

from __future__ import annotations

import gzip
import os
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat import _kernel
from karat.errors import InputError
from karat.text.references import VaryingReferences
from karat.text.segments import STRIDE, Lines, Segments, Strings, as_segments, batches
from karat.text.tokens import tokenize


def everything(segments: Segments) -> list[str]:
    """All texts, stride by stride."""
    actual: list[str] = []
    for start in range(0, len(segments), STRIDE):
        actual += segments.views(start, min(start + STRIDE, len(segments))).strings()
    return actual


def written(folder: Path, data: bytes, name: str = "text.txt") -> Lines:
    """Lines of a file with these bytes."""
    path = folder / name
    path.write_bytes(data)
    return Lines(path)


FILES = {
    b"a b\nc\n": ["a b", "c"],
    b"a b\nc": ["a b", "c"],
    b"a\r\nb\r\n": ["a", "b"],
    b"a\rb\n": ["a\rb"],
    b"\n": [""],
    b"\n\n\na\n\n": ["", "", "", "a", ""],
    b"\r\n\r\n": ["", ""],
    b"\xef\xbb\xbfa\nb\n": ["a", "b"],
    b"\xef\xbb\xbf\n": [""],
    b"a\xef\xbb\xbf\n": ["a\ufeff"],
    b"a\x00b\n": ["a\x00b"],
    "é\u2028b\x85c\x0bd\n中文😀\n".encode(): ["é\u2028b\x85c\x0bd", "中文😀"],
}


@pytest.mark.parametrize(("data", "expected"), FILES.items())
def test_lines_of_a_file(tmp_path: Path, data: bytes, expected: list[str]) -> None:
    lines = written(tmp_path, data)
    assert len(lines) == len(expected)
    assert everything(lines) == expected


@pytest.mark.parametrize(("data", "expected"), FILES.items())
def test_lines_of_a_compressed_file(tmp_path: Path, data: bytes, expected: list[str]) -> None:
    assert everything(written(tmp_path, gzip.compress(data), "text.gz")) == expected


@pytest.mark.parametrize(("data", "expected"), FILES.items())
def test_lines_of_a_pipe(tmp_path: Path, data: bytes, expected: list[str]) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    writer = threading.Thread(target=fifo.write_bytes, args=(data,))
    writer.start()
    assert everything(Lines(fifo)) == expected
    writer.join()


_LINE = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n"), max_size=20)


@given(lines=st.lists(_LINE, min_size=1, max_size=8), data=st.data())
def test_files_and_lists_give_the_same_tokens(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], data: st.DataObject
) -> None:
    end = data.draw(st.sampled_from(["\n", "\r\n"]))
    path = tmp_path_factory.mktemp("lines") / "text.txt"
    path.write_bytes((end.join(lines) + end).encode())
    if not lines[0].startswith("\ufeff"):
        assert everything(Lines(path)) == lines
        for tok in ("13a", "rouge", "char"):
            actual, peer = tokenize(path, tok), tokenize(lines, tok)
            assert actual.ids.tolist() == peer.ids.tolist()
            assert actual.offsets.tolist() == peer.offsets.tolist()


def test_a_line_of_three_megabytes(tmp_path: Path) -> None:
    long = "word, " * 500_000
    lines = written(tmp_path, f"a\n{long}\nb\n".encode())
    assert [len(text) for text in everything(lines)] == [1, len(long), 1]
    tokens = tokenize(tmp_path / "text.txt")
    assert np.diff(tokens.offsets).tolist() == [1, 1_000_000, 1]


def test_many_lines_are_found_by_their_number(tmp_path: Path) -> None:
    texts = [f"line {i}" + " é" * (i % 5) for i in range(3 * STRIDE + 7)]
    lines, strings = written(tmp_path, "\n".join(texts).encode()), Strings(texts)
    indices = [0, 1, STRIDE - 1, STRIDE, 2 * STRIDE + 3, len(texts) - 1, 5]
    assert lines.strings(indices) == strings.strings(indices) == [texts[i] for i in indices]
    assert lines.views(STRIDE, 3 * STRIDE).strings() == texts[STRIDE : 3 * STRIDE]
    assert len(lines.sizes()) == len(strings.sizes()) == 4
    assert lines.sizes().sum() == len("\n".join(texts).encode())
    assert strings.sizes().sum() == sum(map(len, texts))


def test_indexing_in_small_pieces_gives_the_same_index() -> None:
    data = b"".join(b"x" * (i % 9) + b"\n" for i in range(2000))
    full, pieces = _kernel.LineIndex(STRIDE), _kernel.LineIndex(STRIDE)
    assert full.feed(data, 0, 1 << 30) == len(data)
    at = 0
    while at < len(data):
        at = pieces.feed(data, at, 10)
    assert pieces.lines == full.lines == 2000
    assert pieces.starts().tolist() == full.starts().tolist()


BAD_BYTES = [
    *(b"\xff", b"\x80", b"\xc0\x80", b"\xc3", b"\xe4\xb8", b"\xed\xa0\x80", b"\xf4\x90\x80\x80"),
    *(b"\xf8\x88\x80\x80\x80", b"\xe0\x80\x80", b"\xf0\x80\x80\x80"),
]


@pytest.mark.parametrize("bad", BAD_BYTES)
@pytest.mark.parametrize("after", [b"", b"xyz 0123456789\n"])
def test_what_is_not_utf8_is_named(tmp_path: Path, bad: bytes, after: bytes) -> None:
    with pytest.raises(UnicodeDecodeError):
        (bad + after).decode()
    data = "fine\nwell é ".encode() + bad + after
    with pytest.raises(InputError, match=r"text\.txt, line 2, byte 9: not valid UTF-8; convert"):
        written(tmp_path, data)


@given(data=st.binary(min_size=1, max_size=12))
def test_utf8_is_what_python_reads_as_utf8(data: bytes) -> None:
    index = _kernel.LineIndex(STRIDE)
    index.feed(data, 0, len(data))
    try:
        data.decode()
        valid = True
    except UnicodeDecodeError:
        valid = False
    assert (index.invalid_line < 0) == valid


def test_the_first_line_with_a_nul_is_known(tmp_path: Path) -> None:
    assert written(tmp_path, b"a\nb\x00\n\x00\n").nul_line == 2
    assert written(tmp_path, b"a\nb\n").nul_line is None


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"missing\.txt: No such file"):
        Lines(tmp_path / "missing.txt")
    with pytest.raises(InputError, match="is a directory: expected a text file"):
        Lines(tmp_path)
    for data, name in ((b"", "e.txt"), (b"\xef\xbb\xbf", "b.txt"), (gzip.compress(b""), "e.gz")):
        with pytest.raises(InputError, match="is empty: expected one segment a line"):
            written(tmp_path, data, name)
    with pytest.raises(InputError, match=r"not\.gz: not a complete gzip file"):
        written(tmp_path, b"plain text", "not.gz")
    with pytest.raises(InputError, match=r"half\.gz: not a complete gzip file"):
        written(tmp_path, gzip.compress(os.urandom(2000))[:900], "half.gz")
    with pytest.raises(InputError, match="it looks like UTF-16; convert it to UTF-8"):
        written(tmp_path, "text".encode("utf-16"))


def test_strings_are_checked_and_copied() -> None:
    value = ["a", "b"]
    segments = Strings(value)
    value[0] = "changed"
    assert everything(segments) == ["a", "b"]
    assert everything(Strings(text for text in "ab")) == ["a", "b"]
    with pytest.raises(InputError, match="candidates is one str: give a list of strings"):
        Strings("text")
    with pytest.raises(InputError, match="candidates is one bytes"):
        Strings(b"text")  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"candidates\[1\] is NoneType, expected str"):
        Strings(["a", None])  # type: ignore[list-item]


def test_views_hold_on_to_their_strings() -> None:
    def texts() -> list[str]:
        return [f"word {i}" + " é" * (i % 2) for i in range(600)]

    value, fixed = texts(), tuple(texts())
    views = _kernel.Views.from_strings(value, 256, 512)
    more = _kernel.Views.from_strings(fixed, 256, 512)
    value.clear()
    del fixed
    other_texts = [f"else {i}" for i in range(600)]  # would take their place
    assert views.strings() == more.strings() == texts()[256:512]
    assert len(other_texts) == 600


def test_views_are_of_lists_and_tuples_of_strings() -> None:
    for wrong in ({"a"}, iter("a"), "a"):
        with pytest.raises(TypeError, match="expected a list or tuple of str"):
            _kernel.Views.from_strings(wrong, 0, 1)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="every segment must be a str"):
        _kernel.Views.from_strings((1,), 0, 1)  # type: ignore[arg-type]


@given(texts=st.lists(st.text(st.characters(exclude_categories=())), max_size=5))
def test_strings_come_back_as_they_were(texts: list[str]) -> None:
    assert everything(Strings(texts)) == texts
    views = Strings(texts).views(0, len(texts))
    assert views.lower().strings() == [text.lower() for text in texts]
    assert views.nbytes == sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)


def test_what_segments_may_be_given_as(tmp_path: Path) -> None:
    lines = written(tmp_path, b"a\n")
    assert as_segments(lines, "x") is lines
    assert everything(as_segments(tmp_path / "text.txt", "x")) == ["a"]
    assert everything(as_segments(["a"], "x")) == ["a"]


# ----------------------------------------------------------------------------------------- runs


@given(
    lengths=st.lists(st.integers(0, 40), min_size=1, max_size=1500),
    segments=st.integers(1, 5 * STRIDE),
    nbytes=st.integers(1, 30_000),
)
def test_runs_cut_at_strides_and_stay_small(lengths: list[int], segments: int, nbytes: int) -> None:
    sources = [Strings(["x" * n for n in lengths]), Strings(["yy"] * len(lengths))]
    cuts = list(batches(sources, segments, nbytes))
    assert [start for start, _ in cuts] == [0, *(stop for _, stop in cuts[:-1])]
    assert cuts[-1][1] == len(lengths)
    for start, stop in cuts:
        assert start % STRIDE == 0
        one_stride = stop - start <= STRIDE
        assert one_stride or stop - start <= segments
        assert one_stride or sum(lengths[start:stop]) + 2 * (stop - start) <= nbytes


def test_runs_are_as_long_as_they_may_be() -> None:
    source = Strings(["x"] * 2000)
    assert list(batches([source], 512, 1 << 20)) == [
        (0, 512),
        (512, 1024),
        (1024, 1536),
        (1536, 2000),
    ]
    assert list(batches([source], 1 << 20, 768)) == [(0, 768), (768, 1536), (1536, 2000)]
    assert list(batches([source], 1 << 20, 1 << 20)) == [(0, 2000)]
    assert list(batches([Strings([])], 512, 512)) == []


def test_runs_count_all_references() -> None:
    many = VaryingReferences([["x"] * (1 + i // STRIDE) for i in range(3 * STRIDE)])
    assert many.sizes().tolist() == [STRIDE, 2 * STRIDE, 3 * STRIDE]
