"""ARPA files: a model as text, which all tools for n-gram models read and write."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from karat import _kernel
from karat.arrays import NDArray
from karat.errors import InputError, OutputError
from karat.lm.memory import not_too_many
from karat.lm.tables import Logs, Rows, count_rows, list_rows, make_tables
from karat.progress import Progress, silent
from karat.storage.output import FilePath, write_atomically
from karat.storage.store import Arrays
from karat.text.segments import map_file
from karat.text.word_table import WordTable, word_table

_PIECE = 1 << 24  # bytes read between two looks at the clock and the keyboard
_ROWS = 1 << 16  # n-grams written at a time


def read_arpa(
    path: FilePath, progress: Progress = silent
) -> tuple[_kernel.Vocab, dict[str, NDArray[Any]], int]:
    """Return the words, the tables and the order of a file.

    A missing back-off is 0; a missing `<unk>` has a log10 p of -100, as with KenLM. Shorter n-grams
    that a longer one contains may be missing: they are what backing off makes of them.
    """
    name, vocab = os.fspath(path), _kernel.Vocab()
    buffer, reader = map_file(path, name), _kernel.ArpaReader(vocab)
    at = 3 if buffer[:3] == b"\xef\xbb\xbf" else 0
    while at < len(buffer) and not reader.fault:
        with not_too_many(f"{name} is too large for a model"):
            at = reader.feed(buffer, at, _PIECE)
        progress(at, len(buffer), f"reading {name}")
    reader.finish()
    if reader.fault:
        raise InputError(f"{name}, line {reader.line}: {reader.fault}: is it an ARPA file?")
    levels = [Logs(*reader.ngrams(n), *reader.logs(n)) for n in range(2, reader.order + 1)]
    with not_too_many(f"{name} is too large for a model"):
        return vocab, make_tables(*reader.logs(1), levels), reader.order


def write_arpa(path: FilePath, arrays: Arrays, order: int, progress: Progress = silent) -> None:
    """Write a model whole or not at all, its n-grams in the order of its words."""
    counts = [count_rows(arrays, n) for n in range(1, order + 1)]

    def rows(n: int, most: int) -> Iterator[Rows]:
        found = list_rows(arrays, n)
        for start in range(0, len(found.p), most):
            part = slice(start, start + most)
            yield Rows(found.ids[part], found.p[part], found.backoff[part])

    write_rows(path, word_table(arrays, "words"), counts, rows, progress)


def write_rows(
    path: FilePath,
    words: WordTable,
    counts: Sequence[int],
    rows: Callable[[int, int], Iterable[Rows]],
    progress: Progress = silent,
) -> None:
    """Write a model whole or not at all.

    `rows(n, most)` are the n-grams of a length, sorted, about so many at a time; `counts` says how
    many there are of each length.
    """
    pieces = _pieces(words, counts, rows, progress)
    write_atomically(path, _packed(pieces) if os.fspath(path).endswith(".gz") else pieces)


def _packed(pieces: Iterable[bytes]) -> Iterator[bytes]:
    packer = zlib.compressobj(wbits=31)  # with gzip's header, and no clock in it
    for piece in pieces:
        yield packer.compress(piece)
    yield packer.flush()


def _pieces(
    words: WordTable,
    counts: Sequence[int],
    rows: Callable[[int, int], Iterable[Rows]],
    progress: Progress,
) -> Iterator[bytes]:
    said = "".join(f"ngram {n}={count}\n" for n, count in enumerate(counts, 1))
    yield f"\\data\\\n{said}".encode()
    done = 0
    for n in range(1, len(counts) + 1):
        yield f"\n\\{n}-grams:\n".encode()
        for some in rows(n, _ROWS):
            lines = _kernel.arpa_lines(words, *some, n == len(counts))
            if n == 1:
                _check_text(lines)
            yield lines
            done += len(some.p)
            progress(done, sum(counts), "writing")
    yield b"\n\\end\\\n"


def _check_text(lines: bytes) -> None:
    try:
        lines.decode()
    except UnicodeDecodeError as error:
        raise OutputError(
            "a word of the model has a lone surrogate, which ARPA cannot hold: save the binary form"
        ) from error
