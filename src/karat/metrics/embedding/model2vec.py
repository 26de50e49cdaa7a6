"""Model2Vec: folders of static embeddings of tokens."""

from __future__ import annotations

import json
import logging
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from karat.arrays import np
from karat.errors import InputError
from karat.metrics.embedding.embedder import Embedded, Embedder, package, said_of

_FILES = ("config.json", "model.safetensors", "tokenizer.json")
_HEAD = 1 << 16  # bytes of names that are looked at
_BYTES = 4  # of a character, so that a text of few characters has few tokens


def model2vec_files(folder: Path) -> list[Path]:
    """Return the files of a model; none if the folder holds no model of this kind."""
    files = [folder / name for name in _FILES]
    there = all(file.is_file() for file in files)
    return files if there and (_says_so(files[0]) or _has_embeddings(files[1])) else []


def model2vec_damage(folder: Path) -> str | None:
    """Return what is wrong with a folder that has all files of a model but is none; else None."""
    files = [folder / name for name in _FILES]
    if not all(file.is_file() for file in files):
        return None
    if not isinstance(_config(files[0]), dict):
        return "its config.json is not a JSON object: is it damaged?"
    if not _head(files[1]).lstrip().startswith(b"{"):
        return "its model.safetensors does not begin with the names of tensors: is it damaged?"
    return None  # a model of another kind, perhaps


def _says_so(config: Path) -> bool:
    found = _config(config)
    said = found if isinstance(found, dict) else {}
    return said.get("model_type") == "model2vec" or "embedding_dtype" in said


def _config(config: Path) -> Any:
    """Return what the settings of a model are; None if they are not JSON."""
    try:
        return json.loads(config.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return None


def _has_embeddings(weights: Path) -> bool:
    return b'"embeddings"' in _head(weights)


def _head(weights: Path) -> bytes:
    """Return the beginning of a file of tensors, which is their names."""
    with weights.open("rb") as file:
        (length,) = struct.unpack("<Q", file.read(8).ljust(8, b"\0"))
        return file.read(min(length, _HEAD))


class Model2VecEmbedder(Embedder):
    """A static model: the mean of the vectors of tokens."""

    def __init__(self, folder: Path) -> None:
        what = f"model {folder}"
        static = package("model2vec", what).StaticModel
        if damage := model2vec_damage(folder):
            raise InputError(f"{what}: model2vec cannot load it: {damage}")
        with said_of(what, "model2vec cannot load it"), _no_card():
            self._model = static.from_pretrained(folder)
        _check_vectors(what, self._model.embedding)
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


def _check_vectors(what: str, vectors: Any) -> None:
    if vectors.ndim != 2:
        told = f"its vectors have shape {vectors.shape}"
        raise InputError(f"{what}: {told}; expected tokens x numbers: is it damaged?")
    if vectors.size and not vectors.any():
        raise InputError(f"{what}: all its vectors are zero: is it damaged?")


@contextmanager
def _no_card() -> Iterator[None]:
    """Hide the warning that README.md does not describe the model: nobody reads it here."""
    logger = logging.getLogger("huggingface_hub.repocard")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(before)
