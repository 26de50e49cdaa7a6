"""Finding out what a folder of an embedding model is, loading it once, and its digest."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from itertools import islice
from pathlib import Path

from karat.errors import InputError, quoted
from karat.metrics.embedding.embedder import Embedder
from karat.metrics.embedding.model2vec import (
    Model2VecEmbedder,
    model2vec_damage,
    model2vec_files,
)
from karat.metrics.embedding.onnx import OnnxEmbedder, onnx_files
from karat.metrics.embedding.sentence_transformers import TransformerEmbedder, transformer_files
from karat.metrics.embedding.wordllama import NAME, WordLlamaEmbedder, wordllama_files
from karat.storage.digests import files_digest

LOADERS: Mapping[str, str] = {
    "auto": "by the files of the folder: model2vec, else onnx, else sentence-transformers",
    "model2vec": "config.json, model.safetensors and tokenizer.json",
    "onnx": "model.onnx or onnx/model.onnx, and tokenizer.json",
    "sentence-transformers": "modules.json; needs that package",
}
"""Name of a loader -> the files that it looks for."""

_Kind = tuple[Callable[[Path], list[Path]], Callable[[Path], Embedder]]
_FOLDERS: Mapping[str, _Kind] = {
    "model2vec": (model2vec_files, Model2VecEmbedder),
    "onnx": (onnx_files, OnnxEmbedder),
    "sentence-transformers": (transformer_files, TransformerEmbedder),
}
_WANTED = (
    f"expected the folder of an embedding model on this machine, or {NAME} (nothing is downloaded)"
)
_MOST = 10_000  # files of a folder that no output may overwrite

Stamp = tuple[tuple[str, int, int], ...]
"""Names, sizes and times of files."""


def load_embedder(model: str, loader: str = "auto") -> Embedder:
    """Return a model, loaded once for as long as its files do not change."""
    return _loaded(model, _chosen(model, loader), _stamp(_files(model)))


@lru_cache(maxsize=4)
def _loaded(model: str, loader: str, _stamp: Stamp) -> Embedder:
    return WordLlamaEmbedder() if loader == NAME else _FOLDERS[loader][1](_folder(model))


def embedder_files(model: str) -> list[str]:
    """Return the places of a model's files, and of others in its folder (not all of very many)."""
    others = () if model == NAME else islice(_inside(_folder(model)), _MOST)
    return list(dict.fromkeys([*map(str, _files(model)), *others]))


def _inside(folder: Path) -> Iterator[str]:
    for place, folders, names in os.walk(folder):
        folders.sort()
        yield from (os.path.join(place, name) for name in sorted(names))


def embedder_digest(model: str) -> str:
    """Return eight digits that differ with the content of a model's files."""
    return files_digest(_files(model))


def _stamp(files: list[Path]) -> Stamp:
    return tuple((str(f), f.stat().st_size, f.stat().st_mtime_ns) for f in files)


def _files(model: str) -> list[Path]:
    """Return the files of a model, whichever loader reads them."""
    if model == NAME:
        return wordllama_files()
    folder = _folder(model)
    found = [file for files, _ in _FOLDERS.values() for file in files(folder)]
    return sorted(set(found), key=lambda file: file.relative_to(folder).as_posix())


def _chosen(model: str, loader: str) -> str:
    """Return the loader of a model."""
    if model == NAME:
        if loader != "auto":
            told = f"loader={loader} is for folders, and {NAME} is a package"
            raise InputError(f"model {NAME}: {told}; leave loader out")
        return NAME
    folder = _folder(model)
    fits = [name for name, (files, _) in _FOLDERS.items() if files(folder)]
    wanted = fits[:1] if loader == "auto" else [name for name in fits if name == loader]
    if wanted:
        return wanted[0]
    if not fits and loader in ("auto", "model2vec") and (damage := model2vec_damage(folder)):
        raise InputError(f"model {model}: {damage}")
    looked = [name for name in _FOLDERS if loader in ("auto", name)]
    files = "; ".join(f"{name}: {LOADERS[name]}" for name in looked)
    raise InputError(f"model {model}: the folder has no embedding model that is known ({files})")


def _folder(model: str) -> Path:
    if not model:
        raise InputError(f"model {quoted(model)}: no name; {_WANTED}")
    try:
        folder = Path(model).expanduser()
    except RuntimeError as error:  # there is no user of that name
        told = f"the home folder {Path(model).parts[0]} is not known"
        raise InputError(f"model {quoted(model)}: {told}; {_WANTED}") from error
    if folder.is_dir():
        return folder
    found = "a file" if folder.exists() else "no such folder"
    raise InputError(f"model {quoted(model)}: {found}; {_WANTED}")
