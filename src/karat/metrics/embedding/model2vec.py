"""Model2Vec: folders of static embeddings of tokens."""

from __future__ import annotations

import json
import struct
import threading
from pathlib import Path

from karat.arrays import np
from karat.metrics.embedding.embedder import Embedded, Embedder, package, said_of

_FILES = ("config.json", "model.safetensors", "tokenizer.json")
_HEAD = 1 << 16  # bytes of names that are looked at
_BYTES = 4  # of a character, so that a text of few characters has few tokens


def model2vec_files(folder: Path) -> list[Path]:
    """Return the files of a model; none if the folder holds no model of this kind."""
    files = [folder / name for name in _FILES]
    there = all(file.is_file() for file in files)
    return files if there and (_says_so(files[0]) or _has_embeddings(files[1])) else []


def _says_so(config: Path) -> bool:
    try:
        found = json.loads(config.read_text("utf-8"))
    except (OSError, ValueError):
        return False
    said = found if isinstance(found, dict) else {}
    return said.get("model_type") == "model2vec" or "embedding_dtype" in said


def _has_embeddings(weights: Path) -> bool:
    """Return whether a file of tensors has one of that name; it begins with their names."""
    with weights.open("rb") as file:
        (length,) = struct.unpack("<Q", file.read(8).ljust(8, b"\0"))
        head = file.read(min(length, _HEAD))
    return b'"embeddings"' in head


class Model2VecEmbedder(Embedder):
    """A static model: the mean of the vectors of tokens."""

    def __init__(self, folder: Path) -> None:
        static = package("model2vec", f"model {folder}").StaticModel
        with said_of(f"model {folder}", "model2vec cannot load it"):
            self._model = static.from_pretrained(folder)
        self.longest = self._model.max_length
        # `encode` sets the length in the tokeniser, which another thread may be using.
        self._lock = threading.Lock()

    def embed(self, texts: list[str], batch: int) -> Embedded:
        """Return vectors; they do not depend on which texts are embedded together."""
        with self._lock:
            vectors = self._model.encode(texts, use_multiprocessing=False)
            cut = np.array([self._is_cut(text) for text in texts], np.bool_)
        return Embedded(vectors, cut)

    def _is_cut(self, text: str) -> bool:
        """Return whether the model reads the beginning of a text only, by characters or tokens."""
        if self.longest is None or _BYTES * len(text) <= self.longest:
            return False
        many = len(text) > self.longest * self._model.median_token_length
        return many or bool(self._model.tokenizer.encode(text).overflowing)
