"""Resources of training: memory, and temporary files that are closed together."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, ExitStack

from karat import _kernel
from karat.lm.memory import Memory
from karat.storage.output import temporary_file, writing_temporary

_PURPOSE = "n-grams are sorted there"


class Scratch:
    """Memory, and files for what does not fit."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self._held = ExitStack()

    @staticmethod
    def open() -> int:
        """Return the number of a new file; whoever asks for it closes it."""
        with temporary_file(_PURPOSE) as file:
            return os.dup(file.fileno())

    def training(self, order: int, nbytes: int) -> _kernel.NgramTraining:
        """Return a training that sorts in so many bytes; its files are closed with the others."""
        made = _kernel.NgramTraining(
            self.open, order, nbytes, self.memory.sequences, self.memory.piece
        )
        self._held.callback(made.close)
        return made

    @staticmethod
    def writing() -> AbstractContextManager[None]:
        """Turn an error of writing to the files into a sentence."""
        return writing_temporary(_PURPOSE)

    def __enter__(self) -> Scratch:
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()
