"""Embedders: one interface to the models that turn texts into vectors, and their errors."""

from __future__ import annotations

import json
import logging
import os
import struct
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from karat.arrays import Flags, Floats, NDArray, np
from karat.errors import InputError, KaratError, MissingExtra, quoted, short
from karat.storage.digests import files_digest


class Embedded(NamedTuple):
    """Vectors of texts, a row each, and which texts were cut because they are too long."""

    vectors: NDArray[Any]
    cut: Flags


class Embedder(ABC):
    """A model that was loaded; `embed` may be called from several threads."""

    longest: int | None = None
    """Tokens that it takes; None: any number."""

    @abstractmethod
    def embed(self, texts: list[str], batch: int) -> Embedded:
        """Return vectors of texts; a neural model takes `batch` texts at once."""


def package(name: str, what: str) -> Any:
    """Import a package that a loader needs; `what` is the model in messages."""
    try:
        return import_module(name)
    except ImportError as error:
        wheel = name.replace("_", "-")
        extra = "karat[embed]" if wheel != "sentence-transformers" else wheel
        needs = f"{what} needs the package {wheel}, which is not installed"
        raise MissingExtra(f"{needs}: pip install '{extra}'") from error


@contextmanager
def said_of(what: str, problem: str) -> Iterator[None]:
    """Turn what a library raises into one sentence: libraries raise anything."""
    try:
        yield
    except KaratError:
        raise
    except Exception as error:
        told = short(" ".join(str(error).split()) or type(error).__name__)
        raise InputError(f"{what}: {problem}: {told}") from error


_MODEL2VEC_FILES = ("config.json", "model.safetensors", "tokenizer.json")
_HEAD = 1 << 16  # bytes of names that are looked at
_BYTES = 4  # of a character, so that a text of few characters has few tokens


def model2vec_files(folder: Path) -> list[Path]:
    """Return the files of a model; none if the folder holds no model of this kind."""
    files = [folder / name for name in _MODEL2VEC_FILES]
    there = all(file.is_file() for file in files)
    return files if there and (_says_so(files[0]) or _has_embeddings(files[1])) else []


def model2vec_damage(folder: Path) -> str | None:
    """Return what is wrong with a folder that has all files of a model but is none; else None."""
    files = [folder / name for name in _MODEL2VEC_FILES]
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


_MODELS = ("model.onnx", "onnx/model.onnx")
_INPUTS = ("input_ids", "attention_mask", "token_type_ids")
_POOLED = {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "cls"}
_HARMLESS = ("Transformer", "Pooling", "Normalize")  # length does not change a cosine
_LENGTHS = (
    ("sentence_bert_config.json", "max_seq_length"),
    ("tokenizer_config.json", "model_max_length"),
    ("config.json", "max_position_embeddings"),
)
"""Files that say how many tokens a model takes; the first that does counts."""
_SETTINGS = ("tokenizer.json", "modules.json", "1_Pooling/config.json")
_FATAL = 4  # what goes wrong is raised, and need not be logged as well
_NO_LENGTH_LIMIT = 1 << 20  # tokenisers without a length say that they take 1e30 tokens


def onnx_files(folder: Path) -> list[Path]:
    """Return the files of a model; none if the folder holds no model of this kind."""
    models = [folder / name for name in _MODELS if (folder / name).is_file()]
    if not (models and (folder / "tokenizer.json").is_file()):
        return []
    data = models[0].with_name(f"{models[0].name}_data")
    more = [folder / name for name in (*_SETTINGS, *(name for name, _ in _LENGTHS))]
    return [models[0], *(file for file in (data, *more) if file.is_file())]


class OnnxEmbedder(Embedder):
    """A neural model, run by onnxruntime on the processor, a thread for each call."""

    def __init__(self, folder: Path) -> None:
        what = f"model {folder}"
        files = onnx_files(folder)
        library, tokenizers = package("onnxruntime", what), package("tokenizers", what)
        options = library.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = _FATAL
        self._quiet = library.RunOptions()
        self._quiet.log_severity_level = _FATAL
        with said_of(what, "onnxruntime cannot load it"):
            given = {"sess_options": options, "providers": ["CPUExecutionProvider"]}
            self._session = library.InferenceSession(str(files[0]), **given)
        with said_of(what, "its tokenizer.json cannot be loaded"):
            self._tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._inputs = _input_names(what, self._session)
        self._output, self._pooling = _choose_output(what, folder, self._session)
        self._tokenizer.no_padding()
        self.longest = _max_tokens(folder, self._tokenizer.truncation)
        if self.longest is not None:
            self._tokenizer.enable_truncation(self.longest)

    def embed(self, texts: list[str], batch: int) -> Embedded:
        """Return vectors; with `batch` above 1, last digits depend on the texts of a batch."""
        encoded = self._tokenizer.encode_batch(texts)
        parts = [self._run(encoded[i : i + batch]) for i in range(0, len(encoded), batch)]
        cut = np.array([bool(one.overflowing) for one in encoded], np.bool_)
        return Embedded(np.concatenate(parts), cut)

    def _run(self, encoded: Sequence[Any]) -> Floats:
        shape = len(encoded), max(len(one.ids) for one in encoded)
        given = {name: np.zeros(shape, np.int64) for name in _INPUTS}
        for i, one in enumerate(encoded):
            columns = one.ids, one.attention_mask, one.type_ids
            for name, column in zip(_INPUTS, columns, strict=True):
                given[name][i, : len(column)] = column
        fed = {name: given[name] for name in self._inputs}
        found = np.asarray(self._session.run([self._output], fed, self._quiet)[0], np.float64)
        return self._pooled(found, given["attention_mask"])

    def _pooled(self, found: Floats, mask: NDArray[Any]) -> Floats:
        if self._pooling == "none":
            return found
        if self._pooling == "cls":
            return found[:, 0]
        weights = mask[:, :, None].astype(np.float64)
        total: Floats = (found * weights).sum(axis=1)  # one token after the other
        count: Floats = np.maximum(weights.sum(axis=1), 1.0)
        return total / count


def _input_names(what: str, session: Any) -> list[str]:
    names = [one.name for one in session.get_inputs()]
    if unknown := [name for name in names if name not in _INPUTS]:
        expected = f"expected inputs among {', '.join(_INPUTS)}"
        raise InputError(f"{what}: its ONNX file takes {unknown[0]}; {expected}")
    return names


def _choose_output(what: str, folder: Path, session: Any) -> tuple[str, str]:
    """Return the output to take, and its pooling."""
    outputs = {one.name: len(one.shape) for one in session.get_outputs()}
    name = "sentence_embedding" if "sentence_embedding" in outputs else next(iter(outputs))
    if outputs[name] == 2:
        return name, "none"
    if outputs[name] == 3:
        return name, _read_pooling(what, folder)
    axes = f"its output {name} has {outputs[name]} axes"
    raise InputError(f"{what}: {axes}; expected texts x numbers or texts x tokens x numbers")


def _read_pooling(what: str, folder: Path) -> str:
    for module in _read_json(folder / "modules.json", list):
        kind = str(module.get("type", "") if isinstance(module, dict) else "").rpartition(".")[2]
        if kind not in _HARMLESS:
            told = f"its ONNX file ends before the module {kind or quoted(module)} of modules.json"
            raise InputError(
                f"{what}: {told}: export the whole model, or use loader=sentence-transformers"
            )
    said = _read_json(folder / "1_Pooling" / "config.json", dict)
    modes = [key for key, value in said.items() if key.startswith("pooling_mode") and value is True]
    if not modes:
        return "mean"
    if len(modes) > 1 or modes[0] not in _POOLED:
        found = f"pooling {', '.join(modes)} in 1_Pooling/config.json"
        raise InputError(f"{what}: {found}; expected one of {', '.join(_POOLED)}")
    return _POOLED[modes[0]]


def _max_tokens(folder: Path, truncation: Any) -> int | None:
    for name, key in _LENGTHS:
        found = _read_json(folder / name, dict).get(key)
        if isinstance(found, int | float) and found is not True and 1 <= found < _NO_LENGTH_LIMIT:
            return int(found)
    return int(truncation["max_length"]) if truncation else None


def _read_json(file: Path, kind: type) -> Any:
    """Return what a JSON file says; nothing if there is none."""
    if not file.is_file():
        return kind()
    try:
        found = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{file}: not valid JSON: {error}") from error
    if not isinstance(found, kind):
        raise InputError(f"{file}: expected a JSON {'list' if kind is list else 'object'}")
    return found


_KEPT = {".json", ".txt", ".model", ".safetensors", ".bin"}
_OTHER = {"onnx", "openvino"}  # folders of the same model for other libraries


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
        self.longest = None if longest is None or longest >= _NO_LENGTH_LIMIT else int(longest)
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


WORDLLAMA = "wordllama"
_WORDLLAMA_FILES = (
    "weights/l2_supercat_256.safetensors",
    "tokenizers/l2_supercat_tokenizer_config.json",
)


def wordllama_files() -> list[Path]:
    """Return the files of the model inside the package."""
    home = Path(_import_wordllama().__file__).parent
    files = [home / name for name in _WORDLLAMA_FILES]
    for file in files:
        if not file.is_file():
            told = f"the package has no {file.name}, which its wheels carry"
            raise InputError(f"model {WORDLLAMA}: {told}: install it anew")
    return files


def _import_wordllama() -> Any:
    """Import the package; it sets up logging for the whole program, which is undone."""
    root = logging.getLogger()
    before = root.level, root.handlers[:]
    try:
        return package("wordllama", f"model {WORDLLAMA}")
    finally:
        root.setLevel(before[0])
        root.handlers[:] = before[1]


class WordLlamaEmbedder(Embedder):
    """The model of the package: the mean of the vectors of tokens."""

    def __init__(self) -> None:
        home = wordllama_files()[0].parents[1]
        with said_of(f"model {WORDLLAMA}", "cannot be loaded"):
            # As a cache the package's own folder is searched under the names that it has there.
            load = _import_wordllama().WordLlama.load
            self._model = load(cache_dir=home, disable_download=True)

    def embed(self, texts: list[str], batch: int) -> Embedded:
        """Return vectors; they do not depend on which texts are embedded together."""
        return Embedded(self._model.embed(texts), np.zeros(len(texts), np.bool_))


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
    "expected the folder of an embedding model on this machine, or "
    f"{WORDLLAMA} (nothing is downloaded)"
)
_MOST = 10_000  # files of a folder that no output may overwrite

Stamp = tuple[tuple[str, int, int], ...]
"""Names, sizes and times of files."""


def load_embedder(model: str, loader: str = "auto") -> Embedder:
    """Return a model, loaded once for as long as its files do not change."""
    return _loaded(model, _chosen(model, loader), _stamp(_files(model)))


@lru_cache(maxsize=4)
def _loaded(model: str, loader: str, _stamp: Stamp) -> Embedder:
    return WordLlamaEmbedder() if loader == WORDLLAMA else _FOLDERS[loader][1](_folder(model))


def embedder_files(model: str) -> list[str]:
    """Return the places of a model's files, and of others in its folder (not all of very many)."""
    others = () if model == WORDLLAMA else islice(_inside(_folder(model)), _MOST)
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
    if model == WORDLLAMA:
        return wordllama_files()
    folder = _folder(model)
    found = [file for files, _ in _FOLDERS.values() for file in files(folder)]
    return sorted(set(found), key=lambda file: file.relative_to(folder).as_posix())


def _chosen(model: str, loader: str) -> str:
    """Return the loader of a model."""
    if model == WORDLLAMA:
        if loader != "auto":
            told = f"loader={loader} is for folders, and {WORDLLAMA} is a package"
            raise InputError(f"model {WORDLLAMA}: {told}; leave loader out")
        return WORDLLAMA
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
