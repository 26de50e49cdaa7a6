"""ONNX files with a `tokenizer.json`, as exporters of sentence embedding models write them.

An output `sentence_embedding`, or the first one if it has two axes, is the vector. Vectors of
tokens are pooled as `1_Pooling/config.json` says, else by their mean.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from karat.arrays import Floats, NDArray, np
from karat.errors import InputError, quoted
from karat.metrics.embedding.embedder import Embedded, Embedder, package, said_of

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
_ENDLESS = 1 << 20  # tokenisers without a length say that they take 1e30 tokens


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
        self._inputs = _inputs(what, self._session)
        self._output, self._pooling = _output(what, folder, self._session)
        self._tokenizer.no_padding()
        self.longest = _longest(folder, self._tokenizer.truncation)
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


def _inputs(what: str, session: Any) -> list[str]:
    names = [one.name for one in session.get_inputs()]
    if unknown := [name for name in names if name not in _INPUTS]:
        expected = f"expected inputs among {', '.join(_INPUTS)}"
        raise InputError(f"{what}: its ONNX file takes {unknown[0]}; {expected}")
    return names


def _output(what: str, folder: Path, session: Any) -> tuple[str, str]:
    """Return the output to take, and its pooling."""
    outputs = {one.name: len(one.shape) for one in session.get_outputs()}
    name = "sentence_embedding" if "sentence_embedding" in outputs else next(iter(outputs))
    if outputs[name] == 2:
        return name, "none"
    if outputs[name] == 3:
        return name, _pooling(what, folder)
    axes = f"its output {name} has {outputs[name]} axes"
    raise InputError(f"{what}: {axes}; expected texts x numbers or texts x tokens x numbers")


def _pooling(what: str, folder: Path) -> str:
    for module in _read(folder / "modules.json", list):
        kind = str(module.get("type", "") if isinstance(module, dict) else "").rpartition(".")[2]
        if kind not in _HARMLESS:
            told = f"its ONNX file ends before the module {kind or quoted(module)} of modules.json"
            raise InputError(
                f"{what}: {told}: export the whole model, or use loader=sentence-transformers"
            )
    said = _read(folder / "1_Pooling" / "config.json", dict)
    modes = [key for key, value in said.items() if key.startswith("pooling_mode") and value is True]
    if not modes:
        return "mean"
    if len(modes) > 1 or modes[0] not in _POOLED:
        found = f"pooling {', '.join(modes)} in 1_Pooling/config.json"
        raise InputError(f"{what}: {found}; expected one of {', '.join(_POOLED)}")
    return _POOLED[modes[0]]


def _longest(folder: Path, truncation: Any) -> int | None:
    for name, key in _LENGTHS:
        found = _read(folder / name, dict).get(key)
        if isinstance(found, int | float) and found is not True and 1 <= found < _ENDLESS:
            return int(found)
    return int(truncation["max_length"]) if truncation else None


def _read(file: Path, kind: type) -> Any:
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
