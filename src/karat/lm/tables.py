"""Tables of n-grams in a model's file, and the ARPA format."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from karat import __version__, _kernel
from karat.arrays import Flags, NDArray, np
from karat.errors import InputError, OutputError
from karat.progress import Progress, silent
from karat.storage import schema
from karat.storage.output import FilePath, write_atomically
from karat.storage.store import Arrays
from karat.text.segments import map_file
from karat.text.word_table import WordTable, word_table

if TYPE_CHECKING:
    Logarithms = NDArray[np.float32]

KIND = "language model"
VERSION = 1

_RECIPE = schema.record({"tok": schema.text, "case": schema.text, "stem": schema.text})
ABOUT: schema.Kind = schema.record(
    {"order": schema.integer(1, _kernel.MAX_ORDER), "recipe": _RECIPE},
    smoothing=schema.text,
    vocabulary=schema.nullable(schema.integer(1)),
    min_count=schema.integer(0),
    min_counts=schema.nullable(schema.list_of(schema.integer(0))),
    notes=schema.list_of(schema.text),
)
"""Schema of a model's description."""

RECIPE = ("tok", "case", "stem")  # fields of a model's recipe, which has no stop words

UNK, BOS, EOS = 0, 1, 2
SPECIAL = ("<unk>", "<s>", "</s>")  # the first three words of every model

ZERO = -99.0  # log10 of probability 0, as for `<s>`

_EMPTY = np.uint64(2**64 - 1)


class Logs(NamedTuple):
    """The n-grams of one length with log10 p and log10 of their back-off weights."""

    suffixes: NDArray[np.uint32]
    firsts: NDArray[np.int32]
    contexts: NDArray[np.uint32]
    p: Logarithms
    backoff: Logarithms


class NgramRows(NamedTuple):
    """The n-grams of one length as rows of word ids, sorted."""

    ids: NDArray[np.int32]
    p: Logarithms
    backoff: Logarithms


def model_layouts(order: int) -> dict[str, schema.ModelLayout]:
    """Return the layouts of a model's arrays; the kernel never reads beyond them."""
    layout = schema.ModelLayout
    longer = {f"table_{n}": layout("uint64", f"cells {n}", multiple=2) for n in range(2, order + 1)}
    # Log probabilities may be slightly above 0 because of rounding.
    words = {"p": layout("float32", "words", high=1e-3), "backoff": layout("float32", "words")}
    return words | longer | schema.word_columns("words")


def make_tables(
    p: Logarithms, backoff: Logarithms, levels: Sequence[Logs]
) -> dict[str, NDArray[Any]]:
    """Return the arrays of a model: `p` and `backoff` of words, a table for each longer length."""
    backoffs = []
    for k, weights in enumerate([backoff, *(level.backoff for level in levels)]):
        is_context = np.zeros(len(weights), np.bool_)
        if k < len(levels):
            is_context[levels[k].contexts] = True
        backoffs.append(marked(weights, is_context))
    arrays: dict[str, NDArray[Any]] = {"p": p, "backoff": backoffs[0]}
    places, hashes = np.arange(len(p), dtype=np.uint32), _kernel.lm_word_hashes(len(p))
    for n, level in enumerate(levels, 2):
        arrays[f"table_{n}"], places, hashes = _kernel.lm_table(
            places[level.suffixes], hashes[level.suffixes], level.firsts, level.p, backoffs[n - 1]
        )
    return arrays


def marked(backoff: Logarithms, is_context: Flags) -> Logarithms:
    """Mark n-grams that are not contexts by a back-off of -0.0: states need not include them."""
    zero = np.float32(0)
    return np.asarray(np.where(is_context | (backoff != 0), backoff + zero, -zero))


def count_ngrams(arrays: Arrays, n: int) -> int:
    """Return the number of n-grams of one length."""
    if n == 1:
        return len(arrays["p"])
    return int(np.count_nonzero(arrays[f"table_{n}"][::2] != _EMPTY))


def list_ngrams(arrays: Arrays, n: int) -> NgramRows:
    """Return all n-grams of one length; raise IndexError if the tables are inconsistent."""
    if n == 1:
        ids = np.arange(len(arrays["p"]), dtype=np.int32)[:, None]
        return NgramRows(ids, arrays["p"], arrays["backoff"] + np.float32(0))
    cells = arrays[f"table_{n}"].reshape(-1, 2)
    cells = cells[cells[:, 0] != _EMPTY]
    numbers = np.ascontiguousarray(cells[:, 1]).view("<f4").reshape(-1, 2)
    keys, columns = cells[:, 0], []
    for length in range(n, 1, -1):  # from the first word, by suffixes, to the last
        columns.append((keys & np.uint64(0xFFFFFFFF)).astype(np.int64))
        suffixes = (keys >> np.uint64(32)).astype(np.int64)
        keys = arrays[f"table_{length - 1}"].reshape(-1, 2)[suffixes, 0] if length > 2 else keys
    ids = np.stack([*columns, suffixes], axis=1)
    if len(ids) and (ids.min() < 0 or ids.max() >= len(arrays["p"])):
        raise IndexError("an unknown word")
    ids = ids.astype(np.int32)
    order = np.lexsort(ids.T[::-1])
    return NgramRows(ids[order], numbers[order, 0], numbers[order, 1] + np.float32(0))


def model_signature(about: Mapping[str, Any], digest: str) -> str:
    """Return the signature: the settings of a model, and its digest if there is one."""
    min_counts = about.get("min_counts")
    settings = {
        "order": about["order"],
        "smoothing": about.get("smoothing"),
        **{part: about["recipe"][part] for part in RECIPE},
        "vocabulary": about.get("vocabulary") or "all",
        "min_count": about.get("min_count", 1),
        "min_counts": "/".join(map(str, min_counts)) if min_counts else "all",
    }
    settings_text = ",".join(f"{name}={value}" for name, value in settings.items())
    model = f"|model={digest}" if digest else ""
    return f"lm:{settings_text}{model}|log=10|karat={__version__}"


_PIECE = 1 << 24  # bytes read between two reports of progress
_ROWS = 1 << 16  # n-grams written together


@contextmanager
def explain_limits(advice: str) -> Iterator[None]:
    """Turn a ValueError of the kernel into an InputError that ends with advice."""
    try:
        yield
    except InputError:
        raise
    except ValueError as error:
        raise InputError(f"{error}: {advice}") from error


def read_arpa(
    path: FilePath, progress: Progress = silent
) -> tuple[_kernel.Vocab, dict[str, NDArray[Any]], int]:
    """Return the words, the tables and the order of a file.

    A missing back-off is 0; a missing `<unk>` has a log10 p of -100, as in KenLM. Missing shorter
    n-grams within a longer one get their back-off probability.
    """
    name, vocab = os.fspath(path), _kernel.Vocab()
    buffer, reader = map_file(path, name), _kernel.ArpaReader(vocab)
    at = 3 if buffer[:3] == b"\xef\xbb\xbf" else 0
    while at < len(buffer) and not reader.fault:
        with explain_limits(f"{name} is too large for a model"):
            at = reader.feed(buffer, at, _PIECE)
        progress(at, len(buffer), f"reading {name}")
    reader.finish()
    if reader.fault:
        raise InputError(f"{name}, line {reader.line}: {reader.fault}: is it an ARPA file?")
    levels = [Logs(*reader.ngrams(n), *reader.logs(n)) for n in range(2, reader.order + 1)]
    with explain_limits(f"{name} is too large for a model"):
        return vocab, make_tables(*reader.logs(1), levels), reader.order


def write_arpa(path: FilePath, arrays: Arrays, order: int, progress: Progress = silent) -> None:
    """Write a model in ARPA format (atomic), sorted by word ids."""
    counts = [count_ngrams(arrays, n) for n in range(1, order + 1)]

    def rows(n: int, max_rows: int) -> Iterator[NgramRows]:
        ngrams = list_ngrams(arrays, n)
        for start in range(0, len(ngrams.p), max_rows):
            part = slice(start, start + max_rows)
            yield NgramRows(ngrams.ids[part], ngrams.p[part], ngrams.backoff[part])

    write_rows(path, word_table(arrays, "words"), counts, rows, progress)


def write_rows(
    path: FilePath,
    words: WordTable,
    counts: Sequence[int],
    rows: Callable[[int, int], Iterable[NgramRows]],
    progress: Progress = silent,
) -> None:
    """Write n-grams in ARPA format (atomic).

    `rows(n, max_rows)` yields the sorted n-grams of a length, about `max_rows` at a time; `counts`
    are their numbers.
    """

    def pieces() -> Iterator[bytes]:
        header = "".join(f"ngram {n}={count}\n" for n, count in enumerate(counts, 1))
        yield f"\\data\\\n{header}".encode()
        done = 0
        for n in range(1, len(counts) + 1):
            yield f"\n\\{n}-grams:\n".encode()
            for ngrams in rows(n, _ROWS):
                lines = _kernel.arpa_lines(words, *ngrams, n == len(counts))
                if n == 1:
                    _check_text(lines)
                yield lines
                done += len(ngrams.p)
                progress(done, sum(counts), "writing")
        yield b"\n\\end\\\n"

    packed = os.fspath(path).endswith(".gz")
    write_atomically(path, _gzip_pieces(pieces()) if packed else pieces())


def _check_text(lines: bytes) -> None:
    try:
        lines.decode()
    except UnicodeDecodeError as error:
        raise OutputError(
            "a word of the model has a lone surrogate, which ARPA cannot hold: save the binary form"
        ) from error


def _gzip_pieces(pieces: Iterable[bytes]) -> Iterator[bytes]:
    packer = zlib.compressobj(wbits=31)  # gzip's header without a time stamp
    for piece in pieces:
        yield packer.compress(piece)
    yield packer.flush()
