"""WordLlama: a static embedding of tokens whose weights come with its package."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from karat.arrays import np
from karat.errors import InputError
from karat.metrics.embedding.embedder import Embedded, Embedder, package, said_of

NAME = "wordllama"
_FILES = ("weights/l2_supercat_256.safetensors", "tokenizers/l2_supercat_tokenizer_config.json")


def wordllama_files() -> list[Path]:
    """Return the files of the model inside the package."""
    home = Path(_package().__file__).parent
    files = [home / name for name in _FILES]
    for file in files:
        if not file.is_file():
            told = f"the package has no {file.name}, which its wheels carry"
            raise InputError(f"model {NAME}: {told}: install it anew")
    return files


def _package() -> Any:
    """Import the package; it sets up logging for the whole program, which is undone."""
    root = logging.getLogger()
    before = root.level, root.handlers[:]
    try:
        return package("wordllama", f"model {NAME}")
    finally:
        root.setLevel(before[0])
        root.handlers[:] = before[1]


class WordLlamaEmbedder(Embedder):
    """The model of the package: the mean of the vectors of tokens."""

    def __init__(self) -> None:
        home = wordllama_files()[0].parents[1]
        with said_of(f"model {NAME}", "cannot be loaded"):
            # As a cache the package's own folder is searched under the names that it has there.
            load = _package().WordLlama.load
            self._model = load(cache_dir=home, disable_download=True)

    def embed(self, texts: list[str], batch: int) -> Embedded:
        """Return vectors; they do not depend on which texts are embedded together."""
        return Embedded(self._model.embed(texts), np.zeros(len(texts), np.bool_))
