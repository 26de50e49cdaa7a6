"""Limits of training: how much memory there is, and for what; numbers that 32 bits hold."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from karat.errors import InputError
from karat.storage.arrays import as_memory

LEAST = 1 << 25
"""The least memory that training is allowed, in bytes, and the least for sorting."""

_PIECE = 1 << 18  # bytes written to a temporary file, or read from one, at a time
_BATCH = 1 << 22  # bytes of text that are cut into words at a time, at most
_CUT = 10  # bytes that a byte of such text takes: ids, a vocabulary, copies


class Memory:
    """The memory that training may take, the interpreter left out.

    Where nothing is given it is a quarter of this machine's, and the tables of the model are held
    in memory besides, as far as there is as much again.
    """

    def __init__(self, given: int | None = None) -> None:
        self.total = as_memory(given, LEAST)
        self.sequences = self.total // (4 if given is None else 16)
        """Bytes of what is read from beginning to end that need not be in a file."""
        self.tables = self.total // (1 if given is None else 16)
        """Bytes of the model's tables that need not be in a file."""
        self.piece = _PIECE

    def threads(self, asked: int) -> int:
        """Return how many threads cut text into words, so that a quarter of memory is enough."""
        return max(1, min(asked, self.total // 4 // (2 * _CUT * (_BATCH >> 4))))

    def batch(self, threads: int) -> int:
        """Return the bytes of text that are cut into words at a time."""
        return max(1, min(_BATCH, self.total // 8 // (2 * _CUT * threads)))

    def sorting(self, words: int, vocabulary: int) -> int:
        """Return the bytes for sorting, beside a vocabulary of so many words and bytes."""
        found = self.total - self.total // 8 - self.sequences - 2 * vocabulary - 64 * words
        if found < min(LEAST, self.total) // 4:
            raise InputError(
                f"{words:,} words are too many for {self.total / 2**30:.2f} GB: "
                f"allow more memory or limit the vocabulary"
            )
        return found


@contextmanager
def not_too_many(advice: str) -> Iterator[None]:
    """Turn the kernel's refusal into a sentence that ends with what to do."""
    try:
        yield
    except InputError:
        raise  # it is a sentence
    except ValueError as error:
        raise InputError(f"{error}: {advice}") from error
