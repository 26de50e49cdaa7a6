"""The file that an assessor's work goes to: one line for each decision, written at once.

Lines are those of `jsonl`: judgements, nuggets that were missing, and further words for one. Every
line is on the disk before the next is asked for, and what a crash left of the last one is cut off
when the file is opened again. One session at a time: the file is locked as long as it is open.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from io import FileIO
from pathlib import Path

from karat.errors import InputError, OutputError, quoted
from karat.nuggets.formats.jsonl import addition_line, description_line, judgement_line
from karat.nuggets.sets.judgements import Judged
from karat.nuggets.sets.keys import Nugget, Question

_START = b'{"question": '  # of every line that is written here


class Log:
    """An open file to append to; the lines of this session can be taken back, the last first."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._new = not self.path.exists()
        self._file = _opened(self.path)
        self._ends: list[int] = []
        self._end = self._size()
        try:
            self.mended = self._mend()
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Log:
        return self

    def __exit__(self, *error: object) -> None:
        with self._file:
            if self._new and not self._size() and _is_at(self._file, self.path):
                self.path.unlink()  # nothing was judged: leave nothing behind

    def judge(self, row: Judged) -> None:
        """Keep a judgement."""
        self._append(judgement_line(row))

    def describe(self, question: Question, nugget: Nugget, words: str) -> None:
        """Keep further words for a nugget."""
        self._append(description_line(question.id, nugget.id, words))

    def add(self, question: Question, nugget: Nugget, row: Judged) -> None:
        """Keep a nugget that the key lacks, and the judgement that a response carries it."""
        self._append(addition_line(question.id, nugget) + judgement_line(row))

    def undo(self) -> bool:
        """Take back what this session wrote last; whether there was anything."""
        if not self._ends:
            return False
        self._check_unchanged()
        self._cut(self._ends.pop())
        return True

    def _mend(self) -> bool:
        """Cut off what a crash left of a last line; whether there was any."""
        data = self._file.readall()
        whole = data.rfind(b"\n") + 1
        for number, line in enumerate(data[:whole].split(b"\n"), 1):
            if line.strip() and not _is_line(line):
                raise _foreign(self.path, number, line)
        torn = data[whole:].rstrip(b"\0")  # zeros are what some file systems leave
        if not data[whole:]:
            return False
        if _is_line(torn):  # whole but for its end
            self._cut(whole + len(torn))
            self._write(b"\n")
            return False
        if not (torn.startswith(_START) or _START.startswith(torn)):
            raise _foreign(self.path, data.count(b"\n") + 1, torn)
        self._cut(whole)
        return True

    def _append(self, line: str) -> None:
        self._check_unchanged()
        end = self._size()
        # A lone surrogate has no UTF-8 form; its backslash escape is the one of JSON.
        self._write(line.encode("utf-8", "backslashreplace"))
        self._ends.append(end)

    def _write(self, data: bytes) -> None:
        """All of it at the end of the file and on the disk, or none of it."""
        end = self._size()
        try:
            while data:
                data = data[self._file.write(data) or 0 :]
            os.fsync(self._file.fileno())
        except OSError as error:
            with suppress(OSError):
                self._file.truncate(end)
            raise OutputError(f"cannot write {self.path}: {error.strerror}") from error
        self._end = self._size()

    def _cut(self, end: int) -> None:
        self._file.truncate(end)
        os.fsync(self._file.fileno())
        self._end = end

    def _check_unchanged(self) -> None:
        """Refuse to go on if someone else wrote to the file, or put another in its place."""
        if not _is_at(self._file, self.path) or self._size() != self._end:
            raise OutputError(
                f"{self.path}: another program has changed it; what was judged before is kept, "
                "start again to go on"
            )

    def _size(self) -> int:
        return os.fstat(self._file.fileno()).st_size


def _opened(path: Path) -> FileIO:
    """The file, locked; one that went away meanwhile is made again."""
    if path.suffix == ".gz":
        raise OutputError(f"cannot write {path}: a log is not compressed; name it without .gz")
    if path.exists() and not path.is_file():
        raise OutputError(f"cannot write {path}: it is no file; name one")
    while True:
        try:
            file = open(path, "ab+", buffering=0)  # noqa: SIM115 - open for the whole session
        except OSError as error:
            raise OutputError(f"cannot write {path}: {error.strerror}") from error
        file.seek(0)
        _lock(file, path)
        if _is_at(file, path):
            return file
        file.close()


def _lock(file: FileIO, path: Path) -> None:
    """Two sessions in one file would ask for the same, and undo each other's answers."""
    try:
        import fcntl
    except ImportError:  # a system without such locks
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        file.close()
        raise OutputError(
            f"{path}: another session writes to it; end that one first, or name another file"
        ) from error
    except OSError:  # a file system without locks: better unguarded than not at all
        return


def _is_at(file: FileIO, path: Path) -> bool:
    """Return whether the open file is still the one at the path."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except OSError:
        return False


def _is_line(data: bytes) -> bool:
    """Return whether this is about a nugget of a question; the reader looks at the rest."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and {"question", "nugget"} <= set(found)


def _foreign(path: Path, number: int, line: bytes) -> InputError:
    return InputError(
        f"{path}, line {number}: found {quoted(line.decode('utf-8', 'replace'))}, expected a "
        "judgement as karat nuggets judge writes it; nothing was changed, name another "
        "file for the log"
    )
