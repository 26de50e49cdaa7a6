"""Lines of text tables: UTF-8, also `.gz`, read one at a time in bounded memory."""

from __future__ import annotations

import gzip
import io
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO, TypeVar

from karat import _kernel
from karat.arrow.pieces import TablePiece, file_size
from karat.arrow.tables import DataTable
from karat.errors import InputError
from karat.evalset.reading import missing_column
from karat.storage.unpacking import NOT_GZIP, check_unpacked_ratio
from karat.text.sniffing import refuse_binary

MAX_ROW_BYTES = 16 << 20
"""The most bytes of a row, with all its lines if a quoted field has line ends."""

ROWS_PER_BATCH = 4096
BYTES_PER_BATCH = 8 << 20
"""A record batch ends after this many rows or bytes of the file."""

Row = TypeVar("Row")
_BOM = b"\xef\xbb\xbf"
_TABLES = (
    (b"PAR1", "a Parquet table", "name it .parquet"),
    (b"ARROW1\x00\x00", "an Arrow table", "write it as parquet first"),
)


class TextLines:
    """The lines of a file with their line ends, and the position of the reader."""

    def __init__(self, file: IO[bytes], path: str, packed: IO[bytes] | None = None) -> None:
        self._file, self._path = file, path
        self._packed = packed  # the packed file if the table is a gzip file
        self.number = 0  # lines read so far
        self.read = 0  # bytes read so far
        self.row_start = 0  # bytes before the row that is being read

    def __iter__(self) -> Iterator[str]:
        readline, most = self._file.readline, MAX_ROW_BYTES + 1
        while data := readline(most):
            self.number += 1
            self._count(len(data))
            if self.read - self.row_start > MAX_ROW_BYTES:
                problem = f"a row of more than {MAX_ROW_BYTES >> 20} MB ends here or goes on"
                advice = "shorten it, and look for a quote that is not closed"
                raise self.refusal(f"{problem}; {advice}")
            try:
                line = data.decode()
            except UnicodeDecodeError as error:
                convert = "convert the file to UTF-8 (for example with iconv)"
                raise self.refusal(f"not valid UTF-8; {convert}") from error
            yield line

    def read_bytes(self, size: int) -> bytes:
        """Return the next bytes; empty at the end of the file."""
        data = self._file.read(size)
        self._count(len(data))
        return data

    def _count(self, size: int) -> None:
        """Count bytes that were read; reject a gzip file that unpacks to too many."""
        before, self.read = self.read, self.read + size
        if self._packed is not None and before >> 20 != self.read >> 20:
            check_unpacked_ratio(self._path, self._packed.tell(), self.read)

    def end_row(self) -> None:
        """Mark the last line as the end of a row."""
        self.row_start = self.read

    def refusal(self, sentence: str, line: int | None = None) -> InputError:
        """Return the error for a line; by default the last one."""
        return InputError(f"{self._path}, line {line or self.number:,}: {sentence}")


@contextmanager
def text_lines(path: str, kind: str) -> Iterator[TextLines]:
    """Open the lines of a file; `kind` is the expected kind, such as "a CSV table"."""
    check_local(path, kind)
    try:
        with open(path, "rb") as file:
            packed = path.lower().endswith(".gz")
            archive = io.BufferedReader(gzip.GzipFile(fileobj=file)) if packed else file
            _check_text(archive.peek(2048)[:2048], b"" if packed else _last_bytes(file), path, kind)
            if archive.peek(len(_BOM)).startswith(_BOM):
                archive.read(len(_BOM))
            yield TextLines(archive, path, file if packed else None)
    except NOT_GZIP as error:
        raise InputError(f"{path}: not a complete gzip file ({error})") from error
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error


def check_local(path: str, kind: str) -> None:
    """Reject an address: text files are read only from this machine."""
    if "://" in path:
        raise InputError(
            f"{path}: {kind} is read from this machine alone; download it, or store it as parquet"
        )


def whole_file(path: str, format: str, kind: str) -> list[TablePiece]:
    """Return the only piece of a text file."""
    check_local(path, kind)
    return [TablePiece(path, format, file_size(path))]


def _last_bytes(file: io.BufferedReader) -> bytes:
    """Return the last bytes of a file."""
    if not file.seekable():
        return b""
    end = file.seek(0, io.SEEK_END)
    file.seek(max(0, end - 4))
    tail = file.read(4)
    file.seek(0)
    return tail


def _check_text(head: bytes, tail: bytes, path: str, kind: str) -> None:
    """Reject a file that is not text; the message has its format."""
    if not head:
        raise InputError(f"{path} is empty: expected {kind}")
    for magic, name, advice in _TABLES:
        if head.startswith(magic) and (magic != b"PAR1" or tail in (magic, b"")):
            raise InputError(f"{path} is {name}: expected {kind}; {advice}")
    refuse_binary(head + tail, path, kind)


def check_columns(path: str, required: Sequence[str], columns: Sequence[str]) -> None:
    """Require columns in a table."""
    for column in required:
        if column not in columns:
            raise missing_column(path, column, columns)


def row_batches(rows: Iterable[Row], lines: TextLines) -> Iterator[list[Row]]:
    """Yield lists of rows, one for each record batch."""
    batch: list[Row] = []
    last = lines.read + BYTES_PER_BATCH
    for row in rows:
        batch.append(row)
        if len(batch) == ROWS_PER_BATCH or lines.read > last:
            yield batch
            batch, last = [], lines.read + BYTES_PER_BATCH
    if batch:
        yield batch


BYTES_READ = 1 << 20


def regular_rows(
    rows: _kernel.DelimitedFile | _kernel.JsonLinesFile, lines: TextLines, names: Sequence[str]
) -> Generator[DataTable, None, int | None]:
    """Yield record batches; return the number of rows before the first irregular row, or None.

    A file without rows has one batch, so that its columns are checked.
    """
    done = 0
    while True:
        data = lines.read_bytes(BYTES_READ)
        regular = rows.read(data, not data)
        finished = not data or not regular
        if rows.rows() or (finished and not done):
            done += rows.rows()
            yield DataTable(rows.take(), names)
        if finished:
            return None if regular else done
