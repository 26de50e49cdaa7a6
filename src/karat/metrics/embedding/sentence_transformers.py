"""Folders of the package sentence-transformers."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from karat.arrays import np
from karat.metrics.embedding.embedder import Embedded, Embedder, package, said_of

_KEPT = {".json", ".txt", ".model", ".safetensors", ".bin"}
_OTHER = {"onnx", "openvino"}  # folders of the same model for other libraries
_ENDLESS = 1 << 20  # tokenisers without a length say that they take 1e30 tokens


def transformer_files(folder: Path) -> list[Path]:
    """Return the files of a model; none if the folder holds no model of this kind."""
    if not (folder / "modules.json").is_file():
        return []
    found = (file for file in folder.rglob("*") if file.suffix in _KEPT and file.is_file())
    return sorted(file for file in found if not _OTHER & {*file.relative_to(folder).parts})


class TransformerEmbedder(Embedder):
    """A neural model."""

    def __init__(self, folder: Path) -> None:
        library = package("sentence_transformers", f"model {folder}")
        with said_of(f"model {folder}", "sentence-transformers cannot load it"), _no_bar():
            self._model = library.SentenceTransformer(str(folder), local_files_only=True)
        longest: Any = self._model.max_seq_length  # None or infinite: any number of tokens
        self.longest = None if longest is None or longest >= _ENDLESS else int(longest)
        # The tokeniser's settings change with every call.
        self._lock = threading.Lock()

    def embed(self, texts: list[str], batch: int) -> Embedded:
        """Return vectors; with `batch` above 1, last digits depend on the texts of a batch."""
        with self._lock:
            vectors = self._model.encode(texts, batch_size=batch, show_progress_bar=False)
            cut = np.array([self._is_cut(text) for text in texts], np.bool_)
        return Embedded(vectors, cut)

    def _is_cut(self, text: str) -> bool:
        if self.longest is None:
            return False
        found = self._model.tokenizer(text, verbose=False)  # else it warns of long texts
        return len(found["input_ids"]) > self.longest


@contextmanager
def _no_bar() -> Iterator[None]:
    """Hide the bar that transformers shows while it loads weights."""
    logging = import_module("transformers.utils.logging")
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()
