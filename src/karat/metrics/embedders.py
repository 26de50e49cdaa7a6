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
from pathlib import Path
from typing import Any, NamedTuple

from karat.arrays import Flags, Floats, NDArray, np
from karat.errors import InputError, KaratError, MissingExtra, quoted, short
from karat.installation import install_command
from karat.storage.digests import files_digest


class Embedded(NamedTuple):
    """Vectors of texts, one row each, and which texts were truncated because they are too long."""

    vectors: NDArray[Any]
    cut: Flags


class Embedder(ABC):
    """A loaded model; `embed` may be called from several threads."""

    longest: int | None = None
    """The most tokens of a text; None if there is no limit."""

    @abstractmethod
    def embed(self, texts: list[str], batch: int) -> Embedded:
        """Return the vectors of texts; a neural model processes `batch` texts at once."""


_PACKAGES_OF_EXTRA = ("wordllama", "model2vec", "onnxruntime", "tokenizers")


def import_package(name: str, subject: str) -> Any:
    """Import a package that a loader needs; `subject` is the model in messages."""
    try:
        return import_module(name)
    except ImportError as error:
        wheel = name.replace("_", "-")
        is_extra = wheel in _PACKAGES_OF_EXTRA
        command = install_command("embed") if is_extra else f"pip install {wheel}"
        needs = f"{subject} needs the package {wheel}, which is not installed"
        raise MissingExtra(f"{needs}: {command}") from error


@contextmanager
def explain_errors(subject: str, problem: str) -> Iterator[None]:
    """Turn any exception of a library into an InputError with one sentence."""
    try:
        yield
    except KaratError:
        raise
    except Exception as error:
        reason = short(" ".join(str(error).split()) or type(error).__name__)
        raise InputError(f"{subject}: {problem}: {reason}") from error


_MODEL2VEC_FILES = ("config.json", "model.safetensors", "tokenizer.json")
_MAX_NAME_BYTES = 1 << 16  # bytes of tensor names that are read
_BYTES = 4  # the most bytes, and so tokens, of a character


def model2vec_files(folder: Path) -> list[Path]:
    """Return the files of a model; empty if the folder has no model of this kind."""
    files = [folder / name for name in _MODEL2VEC_FILES]
    if not all(file.is_file() for file in files):
        return []
    config = _config(files[0])
    settings = config if isinstance(config, dict) else {}
    is_static = settings.get("model_type") == "model2vec" or "embedding_dtype" in settings
    return files if is_static or b'"embeddings"' in _tensor_names(files[1]) else []


def model2vec_damage(folder: Path) -> str | None:
    """Describe the damage of a folder that has all files of a model; None if there is none."""
    files = [folder / name for name in _MODEL2VEC_FILES]
    if not all(file.is_file() for file in files):
        return None
    if not isinstance(_config(files[0]), dict):
        return "its config.json is not a JSON object: is it damaged?"
    if not _tensor_names(files[1]).lstrip().startswith(b"{"):
        return "its model.safetensors does not begin with the names of tensors: is it damaged?"
    return None  # a model of another kind, perhaps


def _config(config: Path) -> Any:
    """Return the settings of a model; None if they are not JSON."""
    try:
        return json.loads(config.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return None


def _tensor_names(weights: Path) -> bytes:
    """Return the beginning of a file of tensors, which holds their names."""
    with weights.open("rb") as file:
        (length,) = struct.unpack("<Q", file.read(8).ljust(8, b"\0"))
        return file.read(min(length, _MAX_NAME_BYTES))


class Model2VecEmbedder(Embedder):
    """A static model: the mean of the vectors of tokens."""

    def __init__(self, folder: Path) -> None:
        subject = f"model {folder}"
        static = import_package("model2vec", subject).StaticModel
        if damage := model2vec_damage(folder):
            raise InputError(f"{subject}: model2vec cannot load it: {damage}")
        with explain_errors(subject, "model2vec cannot load it"), _hide_model_card_warning():
            self._model = static.from_pretrained(folder)
        vectors = self._model.embedding
        if vectors.ndim != 2:
            problem = f"its vectors have shape {vectors.shape}"
            raise InputError(f"{subject}: {problem}; expected tokens x numbers: is it damaged?")
        if vectors.size and not vectors.any():
            raise InputError(f"{subject}: all its vectors are zero: is it damaged?")
        self.longest = self._model.max_length
        # `encode` sets the length in the tokeniser, which another thread may be using.
        self._lock = threading.Lock()

    def embed(self, texts: list[str], batch: int) -> Embedded:
        """Return vectors; they do not depend on the other texts."""
        with self._lock:
            vectors = self._model.encode(texts, use_multiprocessing=False)
            cut = np.array([self._is_cut(text) for text in texts], np.bool_)
        return Embedded(vectors, cut)

    def _is_cut(self, text: str) -> bool:
        """Return whether the model truncates a text, by characters or by tokens."""
        if self.longest is None or _BYTES * len(text) <= self.longest:
            return False
        many = len(text) > self.longest * self._model.median_token_length
        return many or bool(self._model.tokenizer.encode(text).overflowing)


@contextmanager
def _hide_model_card_warning() -> Iterator[None]:
    """Hide the warning that README.md does not describe the model."""
    logger = logging.getLogger("huggingface_hub.repocard")
    previous_level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(previous_level)


_MODELS = ("model.onnx", "onnx/model.onnx")
ONNX_INPUTS = ("input_ids", "attention_mask", "token_type_ids")
_POOLED = {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "cls"}
_HARMLESS = ("Transformer", "Pooling", "Normalize")  # length does not change a cosine
_LENGTHS = (
    ("sentence_bert_config.json", "max_seq_length"),
    ("tokenizer_config.json", "model_max_length"),
    ("config.json", "max_position_embeddings"),
)
"""Files and keys with the most tokens of a text; the first that exists counts."""
_SETTINGS = ("tokenizer.json", "modules.json", "1_Pooling/config.json")
_FATAL = 4  # errors are raised and need not be logged, too
NO_LENGTH_LIMIT = 1 << 20  # tokenisers without a limit have one of 1e30 tokens


def onnx_files(folder: Path) -> list[Path]:
    """Return the files of a model; empty if the folder has no model of this kind."""
    models = [folder / name for name in _MODELS if (folder / name).is_file()]
    if not (models and (folder / "tokenizer.json").is_file()):
        return []
    data = models[0].with_name(f"{models[0].name}_data")
    more = [folder / name for name in (*_SETTINGS, *(name for name, _ in _LENGTHS))]
    return [models[0], *(file for file in (data, *more) if file.is_file())]


class OnnxSession:
    """A loaded ONNX model, run on the CPU with one thread per call."""

    def __init__(self, subject: str, model: Path | bytes) -> None:
        """Load a file or its bytes; `subject` is the model in messages."""
        library = import_package("onnxruntime", subject)
        if isinstance(model, Path) and _is_lfs_pointer(model):
            problem = f"{model.name} is a pointer of Git LFS, not the model"
            raise InputError(f"{subject}: {problem}: fetch it with git lfs pull")
        options = library.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = _FATAL
        self._run_options = library.RunOptions()
        self._run_options.log_severity_level = _FATAL
        with explain_errors(subject, "onnxruntime cannot load it"):
            content = model if isinstance(model, bytes) else str(model)
            session_options = {"sess_options": options, "providers": ["CPUExecutionProvider"]}
            self._session = library.InferenceSession(content, **session_options)
        self._inputs = [model_input.name for model_input in self._session.get_inputs()]
        if unknown := [name for name in self._inputs if name not in ONNX_INPUTS]:
            expected = f"expected inputs among {', '.join(ONNX_INPUTS)}"
            raise InputError(f"{subject}: its ONNX file takes {unknown[0]}; {expected}")

    @property
    def outputs(self) -> dict[str, int]:
        """The number of axes of each output."""
        return {output.name: len(output.shape) for output in self._session.get_outputs()}

    def run(self, output: str, arrays: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
        """Return one output; inputs that the model does not have are left out."""
        inputs = {name: arrays[name] for name in self._inputs}
        return np.asarray(self._session.run([output], inputs, self._run_options)[0])


def _is_lfs_pointer(file: Path) -> bool:
    with file.open("rb") as content:
        return content.read(40).startswith(b"version https://git-lfs.")


def load_tokenizer(subject: str, folder: Path) -> Any:
    """Load the tokenizer of a model."""
    tokenizers = import_package("tokenizers", subject)
    with explain_errors(subject, "its tokenizer.json cannot be loaded"):
        return tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))


class OnnxEmbedder(Embedder):
    """A neural model, run by onnxruntime on the CPU with one thread per call."""

    def __init__(self, folder: Path) -> None:
        subject = f"model {folder}"
        files = onnx_files(folder)
        self._session = OnnxSession(subject, files[0])
        self._tokenizer = load_tokenizer(subject, folder)
        self._output, self._pooling = _choose_output(subject, folder, self._session.outputs)
        self._tokenizer.no_padding()
        self.longest = _max_tokens(folder, self._tokenizer.truncation)
        if self.longest is not None:
            self._tokenizer.enable_truncation(self.longest)

    def embed(self, texts: list[str], batch: int) -> Embedded:
        """Return vectors; with `batch` above 1, last digits depend on the texts of a batch."""
        encoded = self._tokenizer.encode_batch(texts)
        parts = [self._run(encoded[i : i + batch]) for i in range(0, len(encoded), batch)]
        cut = np.array([bool(encoding.overflowing) for encoding in encoded], np.bool_)
        return Embedded(np.concatenate(parts), cut)

    def _run(self, encoded: Sequence[Any]) -> Floats:
        shape = len(encoded), max(len(encoding.ids) for encoding in encoded)
        arrays = {name: np.zeros(shape, np.int64) for name in ONNX_INPUTS}
        for i, encoding in enumerate(encoded):
            columns = encoding.ids, encoding.attention_mask, encoding.type_ids
            for name, column in zip(ONNX_INPUTS, columns, strict=True):
                arrays[name][i, : len(column)] = column
        output = np.asarray(self._session.run(self._output, arrays), np.float64)
        if self._pooling != "mean":
            return output if self._pooling == "none" else output[:, 0]
        weights = arrays["attention_mask"][:, :, None].astype(np.float64)
        total: Floats = (output * weights).sum(axis=1)  # one token after the other
        count: Floats = np.maximum(weights.sum(axis=1), 1.0)
        return total / count


def _choose_output(subject: str, folder: Path, outputs: Mapping[str, int]) -> tuple[str, str]:
    """Return the name of the output to use, and its pooling; `outputs` has numbers of axes."""
    name = "sentence_embedding" if "sentence_embedding" in outputs else next(iter(outputs))
    if name == "logits":
        problem = "its ONNX file gives scores of labels (logits), not embeddings"
        raise InputError(f"{subject}: {problem}; expected a sentence encoder, not a cross-encoder")
    if outputs[name] == 2:
        return name, "none"
    if outputs[name] == 3:
        return name, _read_pooling(subject, folder)
    axes = f"its output {name} has {outputs[name]} axes"
    raise InputError(f"{subject}: {axes}; expected texts x numbers or texts x tokens x numbers")


def _read_pooling(subject: str, folder: Path) -> str:
    for module in read_json(folder / "modules.json", list):
        kind = str(module.get("type", "") if isinstance(module, dict) else "").rpartition(".")[2]
        if kind not in _HARMLESS:
            raise InputError(
                f"{subject}: its ONNX file ends before the module {kind or quoted(module)} of "
                "modules.json: export the whole model, or use loader=sentence-transformers"
            )
    pooling = read_json(folder / "1_Pooling" / "config.json", dict)
    modes = [key for key in pooling if key.startswith("pooling_mode") and pooling[key] is True]
    if not modes:
        return "mean"
    if len(modes) > 1 or modes[0] not in _POOLED:
        problem = f"pooling {', '.join(modes)} in 1_Pooling/config.json"
        raise InputError(f"{subject}: {problem}; expected one of {', '.join(_POOLED)}")
    return _POOLED[modes[0]]


def _max_tokens(folder: Path, truncation: Any) -> int | None:
    for name, key in _LENGTHS:
        limit = read_json(folder / name, dict).get(key)
        if isinstance(limit, int | float) and limit is not True and 1 <= limit < NO_LENGTH_LIMIT:
            return int(limit)
    return int(truncation["max_length"]) if truncation else None


def read_json(file: Path, kind: type) -> Any:
    """Return the content of a JSON file; empty if there is no file."""
    if not file.is_file():
        return kind()
    try:
        content = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{file}: not valid JSON: {error}") from error
    if not isinstance(content, kind):
        raise InputError(f"{file}: expected a JSON {'list' if kind is list else 'object'}")
    return content


_MODEL_SUFFIXES = {".json", ".txt", ".model", ".safetensors", ".bin"}
_OTHER_FORMATS = {"onnx", "openvino"}  # folders of the same model for other libraries


def transformer_files(folder: Path) -> list[Path]:
    """Return the files of a model; empty if the folder has no model of this kind."""
    if not (folder / "modules.json").is_file():
        return []
    files = (
        file for file in folder.rglob("*") if file.suffix in _MODEL_SUFFIXES and file.is_file()
    )
    return sorted(file for file in files if not _OTHER_FORMATS & {*file.relative_to(folder).parts})


class TransformerEmbedder(Embedder):
    """A neural model, run by sentence-transformers."""

    def __init__(self, folder: Path) -> None:
        library = import_package("sentence_transformers", f"model {folder}")
        with (
            explain_errors(f"model {folder}", "sentence-transformers cannot load it"),
            hide_progress_bar(),
        ):
            self._model = library.SentenceTransformer(str(folder), local_files_only=True)
        longest: Any = self._model.max_seq_length  # None or infinite: any number of tokens
        self.longest = None if longest is None or longest >= NO_LENGTH_LIMIT else int(longest)
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
        encoding = self._model.tokenizer(text, verbose=False)  # else it warns of long texts
        return len(encoding["input_ids"]) > self.longest


@contextmanager
def hide_progress_bar() -> Iterator[None]:
    """Hide the progress bar of transformers while it loads weights."""
    logging = import_module("transformers.utils.logging")
    was_enabled = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if was_enabled:
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
            problem = f"the package has no {file.name}, which its wheels carry"
            raise InputError(f"model {WORDLLAMA}: {problem}: reinstall it")
    return files


def _import_wordllama() -> Any:
    """Import the package, and undo its setup of logging for the whole program."""
    root = logging.getLogger()
    before = root.level, root.handlers[:]
    try:
        return import_package("wordllama", f"model {WORDLLAMA}")
    finally:
        root.setLevel(before[0])
        root.handlers[:] = before[1]


class WordLlamaEmbedder(Embedder):
    """The model of the package: the mean of the vectors of tokens."""

    def __init__(self) -> None:
        home = wordllama_files()[0].parents[1]
        with explain_errors(f"model {WORDLLAMA}", "cannot be loaded"):
            # Its own folder as cache: the package finds its files there by name.
            load = _import_wordllama().WordLlama.load
            self._model = load(cache_dir=home, disable_download=True)

    def embed(self, texts: list[str], batch: int) -> Embedded:
        """Return vectors; they do not depend on the other texts."""
        return Embedded(self._model.embed(texts), np.zeros(len(texts), np.bool_))


LOADERS: Mapping[str, str] = {
    "auto": "by the files of the folder: model2vec, else onnx, else sentence-transformers",
    "model2vec": "config.json, model.safetensors and tokenizer.json",
    "onnx": "model.onnx or onnx/model.onnx, and tokenizer.json",
    "sentence-transformers": "modules.json; needs that package",
}
"""Loader -> the files that it needs."""

_Kind = tuple[Callable[[Path], list[Path]], Callable[[Path], Embedder]]
_FOLDERS: Mapping[str, _Kind] = {
    "model2vec": (model2vec_files, Model2VecEmbedder),
    "onnx": (onnx_files, OnnxEmbedder),
    "sentence-transformers": (transformer_files, TransformerEmbedder),
}
_EXPECTED_MODEL = (
    "expected the folder of an embedding model on this machine, or "
    f"{WORDLLAMA} (nothing is downloaded)"
)
MAX_LISTED_FILES = 10_000  # files of a folder that no output may overwrite

Stamp = tuple[tuple[str, int, int], ...]
"""Names, sizes and times of files."""


def files_stamp(files: Sequence[Path]) -> Stamp:
    """Return the names, sizes and times of files, which change with their content."""
    return tuple((str(f), f.stat().st_size, f.stat().st_mtime_ns) for f in files)


def load_embedder(model: str, loader: str = "auto") -> Embedder:
    """Return a model, cached until its files change."""
    return _load(model, _choose_loader(model, loader), files_stamp(_files(model)))


@lru_cache(maxsize=4)
def _load(model: str, loader: str, _stamp: Stamp) -> Embedder:
    return WordLlamaEmbedder() if loader == WORDLLAMA else _FOLDERS[loader][1](model_folder(model))


def embedder_files(model: str) -> list[str]:
    """Return the paths of a model's files and of others in its folder (up to a limit)."""
    files = [*map(str, _files(model))]
    if model != WORDLLAMA:
        files += folder_files(model)
    return list(dict.fromkeys(files))


def folder_files(model: str) -> list[str]:
    """Return the paths of all files in the folder of a model (up to a limit)."""
    files: list[str] = []
    for place, folders, names in os.walk(model_folder(model)):
        folders.sort()
        files += (os.path.join(place, name) for name in sorted(names))
        if len(files) > MAX_LISTED_FILES:
            break
    return files


def embedder_digest(model: str) -> str:
    """Return the digest of a model's files."""
    return files_digest(_files(model))


def _files(model: str) -> list[Path]:
    """Return the files of a model for all loaders."""
    if model == WORDLLAMA:
        return wordllama_files()
    folder = model_folder(model)
    matching_files = [file for files, _ in _FOLDERS.values() for file in files(folder)]
    return sorted(set(matching_files), key=lambda file: file.relative_to(folder).as_posix())


def _choose_loader(model: str, loader: str) -> str:
    """Return the name of the loader for a model."""
    if model == WORDLLAMA:
        if loader != "auto":
            problem = f"loader={loader} is for folders, and {WORDLLAMA} is a package"
            raise InputError(f"model {WORDLLAMA}: {problem}; leave loader out")
        return WORDLLAMA
    folder = model_folder(model)
    fits = [name for name, (files, _) in _FOLDERS.items() if files(folder)]
    loaders = fits[:1] if loader == "auto" else [name for name in fits if name == loader]
    if loaders:
        return loaders[0]
    if not fits and loader in ("auto", "model2vec") and (damage := model2vec_damage(folder)):
        raise InputError(f"model {model}: {damage}")
    looked = [name for name in _FOLDERS if loader in ("auto", name)]
    files = "; ".join(f"{name}: {LOADERS[name]}" for name in looked)
    raise InputError(f"model {model}: the folder has no embedding model of a known kind ({files})")


def model_folder(model: str, expected: str = _EXPECTED_MODEL) -> Path:
    """Return the folder of a model, which must exist; `expected` is for messages."""
    if not model:
        raise InputError(f"model {quoted(model)}: no name; {expected}")
    try:
        folder = Path(model).expanduser()
    except RuntimeError as error:  # there is no user of that name
        reason = f"the home folder {Path(model).parts[0]} is not known"
        raise InputError(f"model {quoted(model)}: {reason}; {expected}") from error
    if folder.is_dir():
        return folder
    problem = "a file" if folder.exists() else "no such folder"
    raise InputError(f"model {quoted(model)}: {problem}; {expected}")
