"""The file that an assessor's work goes to: one line for each decision, written at once.

Lines are those of `jsonl`: judgements, nuggets that were missing, and further words for one. Every
line is on the disk before the next is asked for, and what a crash left of the last one is cut off
when the file is opened again.
"""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType

from karat.errors import InputError, OutputError
from karat.nuggets.jsonl import addition_line, description_line, judgement_line
from karat.nuggets.judgements import Judged
from karat.nuggets.keys import Nugget, Question


class Log:
    """An open file to append to; the lines of this session can be taken back, the last first."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        try:
            self._file = open(self.path, "ab+")  # noqa: SIM115 - open for as long as the session
        except OSError as error:
            raise OutputError(f"cannot write {self.path}: {error.strerror}") from error
        self.mended = self._mend()
        self._ends: list[int] = []

    def __enter__(self) -> Log:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    def _mend(self) -> bool:
        """Cut off what a crash left of a last line; whether there was any."""
        self._file.seek(0)
        data = self._file.read()
        whole = data.rfind(b"\n") + 1
        if whole == len(data):
            return False
        if not data[whole:].lstrip().startswith(b"{"):
            raise InputError(f"{self.path}: its last line has no end, and is no line of a log")
        self._file.truncate(whole)
        return True

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
        """Take the last line of this session back; whether there was one."""
        if not self._ends:
            return False
        self._file.truncate(self._ends.pop())
        self._sync()
        return True

    def _append(self, line: str) -> None:
        self._file.seek(0, os.SEEK_END)
        self._ends.append(self._file.tell())
        self._file.write(line.encode("utf-8"))
        self._sync()

    def _sync(self) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())
