"""Encoders: models that turn a text into one vector for each of its tokens, in context.

Texts are encoded in groups that have exactly the same number of tokens, without padding, so that
the vectors of a text do not depend on the texts beside it. Where the processor or the model (such
as one of 8-bit integers, whose scale is that of the whole group) gives other bits in groups, each
text is encoded alone.
"""

from __future__ import annotations

import logging
import tempfile
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from karat.arrays import Flags, Ints, NDArray, np
from karat.errors import InputError, MissingExtra, quoted
from karat.metrics.embedders import (
    NO_LENGTH_LIMIT,
    ONNX_INPUTS,
    WORDLLAMA,
    OnnxSession,
    Stamp,
    explain_errors,
    files_stamp,
    folder_files,
    hide_progress_bar,
    import_package,
    load_tokenizer,
    model2vec_files,
    model_folder,
    read_json,
)
from karat.storage.digests import files_digest

_GROUP_TOKENS = 4096
"""Most tokens of a group of texts."""
_PROBE_LENGTHS = (3, 8, 21)
_PROBE_TEXTS = (2, 5)
"""Tokens of texts, and texts of groups, for which groups and single texts are compared."""


class TokenIds(NamedTuple):
    """The tokens of a text, and whether the text was truncated because it is too long."""

    ids: Ints
    cut: bool


class Encoded(NamedTuple):
    """The tokens of a text with their vectors, one row each."""

    vectors: NDArray[np.float32]
    ids: Ints
    is_word: Flags
    """False for tokens that only mark the beginning and the end of a text."""
    cut: bool
    """Whether the text was truncated because it is too long."""


class Encoder(ABC):
    """A loaded model; its methods may be called from several threads."""

    def __init__(self, subject: str, folder: Path) -> None:
        self.subject, self._folder = subject, folder
        self.longest: int | None = None
        """The most tokens of a text, with the special ones; None if there is no limit."""
        self.marks: frozenset[int] = frozenset()
        """Tokens of the beginning and the end of a text."""
        self.takes_groups = False
        """Whether texts are encoded in groups; else one by one."""
        self._dim = 0  # until it is known

    @abstractmethod
    def tokenize(self, texts: Sequence[str]) -> list[TokenIds]:
        """Return the tokens of texts, truncated if they are too long."""

    @abstractmethod
    def _run(self, ids: Ints) -> NDArray[Any]:
        """Return the vectors of texts x tokens."""

    def encode(self, texts: Sequence[str]) -> list[Encoded]:
        """Return the vectors of each text, which do not depend on the other texts."""
        tokens_of_texts = self.tokenize(texts)
        encoded: dict[int, Encoded] = {}
        lengths = [len(tokens.ids) for tokens in tokens_of_texts]
        for group in equal_length_groups(lengths, self.takes_groups):
            ids = np.array([tokens_of_texts[i].ids for i in group], np.int64)
            for i, vectors in zip(group, self._vectors(ids), strict=True):
                tokens = tokens_of_texts[i]
                is_word = np.array([n not in self.marks for n in tokens.ids.tolist()], bool)
                encoded[i] = Encoded(vectors, tokens.ids, is_word, tokens.cut)
        return [encoded[i] for i in range(len(texts))]

    def _vectors(self, ids: Ints) -> NDArray[np.float32]:
        """Return the vectors of texts x tokens, checked."""
        if not ids.shape[1]:
            return np.zeros((*ids.shape, self._dim), np.float32)
        # Numbers that overflow are rejected below, and need no warning.
        problem = "the model failed (are its files of one model?)"
        with explain_errors(self.subject, problem), np.errstate(all="ignore"):
            output = self._run(ids)
        if output.ndim != 3 or output.shape[:2] != ids.shape or not output.shape[2]:
            problem = f"it gave numbers of shape {output.shape} for {ids.shape[1]} tokens"
            raise InputError(f"{self.subject}: {problem}; expected a vector for each token")
        if self._dim and output.shape[2] != self._dim:
            problem = f"it gave {output.shape[2]} numbers for one token and {self._dim} for another"
            raise InputError(f"{self.subject}: {problem}; expected vectors of one length")
        with np.errstate(over="ignore"):
            vectors = output.astype(np.float32)
        if not np.isfinite(vectors).all():
            problem = "it gave numbers that are not finite: is it damaged?"
            raise InputError(f"{self.subject}: {problem}")
        return vectors

    def _probe(self) -> None:
        """Find out the length of vectors, and whether groups have the bits of single texts."""
        text = " ".join(["a token and the next of them"] * max(_PROBE_LENGTHS))
        sample = self.tokenize([text])[0].ids
        self._dim = self._vectors(sample[None, : min(_PROBE_LENGTHS)]).shape[2]
        hidden_size = read_json(self._folder / "config.json", dict).get("hidden_size")
        if isinstance(hidden_size, int) and hidden_size != self._dim:
            problem = f"its vectors have {self._dim} numbers, and config.json says {hidden_size}"
            raise InputError(f"{self.subject}: {problem}: are the files of one model?")
        self.takes_groups = groups_are_exact(self._vectors, sample)


def equal_length_groups(lengths: Sequence[int], takes_groups: bool) -> Iterator[list[int]]:
    """Yield groups of texts, by index, that have the same number of tokens, the shortest first."""
    order = sorted(range(len(lengths)), key=lambda i: lengths[i])
    for length, equal in groupby(order, key=lambda i: lengths[i]):
        members = list(equal)
        size = max(_GROUP_TOKENS // max(length, 1), 1) if takes_groups else 1
        for start in range(0, len(members), size):
            yield members[start : start + size]


def groups_are_exact(run: Callable[[Ints], NDArray[Any]], sample: Ints) -> bool:
    """Return whether a model gives groups of texts the bits that it gives single ones.

    `run` returns the outputs of a group. The last axis of the sample and of groups is tokens.
    """
    return all(_group_is_exact(run, sample, length) for length in _PROBE_LENGTHS)


def _group_is_exact(run: Callable[[Ints], NDArray[Any]], sample: Ints, length: int) -> bool:
    most, size = max(_PROBE_TEXTS), sample.shape[-1]
    if size < length:
        return True  # longer texts do not exist
    starts = [i % (size - length + 1) for i in range(most)]
    texts = np.array([sample[..., start : start + length] for start in starts])
    single = np.concatenate([run(text[None]) for text in texts])
    return all(np.array_equal(run(texts[:n]), single[:n]) for n in _PROBE_TEXTS)


# ------------------------------------------------------------------------------ length, marks


def max_tokens(folder: Path, truncation: Any) -> int | None:
    """Return the most tokens of a text: the limit of the tokenizer or, if lower, of positions."""
    limits = [read_json(folder / "tokenizer_config.json", dict).get("model_max_length")]
    config = read_json(folder / "config.json", dict)
    positions = config.get("max_position_embeddings")
    if _is_limit(positions):
        # RoBERTa numbers positions from the one after the padding.
        is_roberta = "roberta" in str(config.get("model_type")) or "camembert" in str(config)
        offset = int(config.get("pad_token_id") or 0) + 1 if is_roberta else 0
        limits.append(int(positions) - offset)
    if tokens := [int(limit) for limit in limits if _is_limit(limit)]:
        return min(tokens)
    return int(truncation["max_length"]) if truncation else None


def _is_limit(limit: object) -> bool:
    is_number = isinstance(limit, int | float) and not isinstance(limit, bool)
    return is_number and 1 <= limit < NO_LENGTH_LIMIT  # type: ignore[operator]


_MARKS = ("cls_token", "sep_token")
_SPECIAL_FILES = ("special_tokens_map.json", "tokenizer_config.json")


def _named_marks(folder: Path) -> list[str] | None:
    """Return the tokens that the tokenizer names as marks; None if it names no special tokens."""
    names: dict[str, Any] = {}
    for file in _SPECIAL_FILES:
        names |= read_json(folder / file, dict)
    if not any(key.endswith("_token") for key in names):
        return None
    tokens = [names.get(key) for key in _MARKS]
    texts = [token.get("content") if isinstance(token, dict) else token for token in tokens]
    return [text for text in texts if isinstance(text, str)]


# ------------------------------------------------------------------------------------- onnx

_MODELS = ("model.onnx", "onnx/model.onnx")
_SMALL_MODELS = (
    *("model_int8.onnx", "model_quantized.onnx"),
    *("onnx/model_int8.onnx", "onnx/model_quantized.onnx"),
)
_WEIGHTS = ("model.safetensors", "pytorch_model.bin")
_SETTINGS = ("config.json", "tokenizer.json", *_SPECIAL_FILES)
_TOKEN_OUTPUTS = ("last_hidden_state", "token_embeddings")
_HIDDEN_STATES = ("hidden_states.", "hidden_states_")

PRECISIONS: Mapping[str, str] = {
    "fp32": "32-bit floats",
    "int8": "8-bit integers, faster: model_int8.onnx or model_quantized.onnx, else made in memory",
}
"""Numbers that an encoder computes with."""


class OnnxEncoder(Encoder):
    """A model run by onnxruntime on the CPU, one thread per call."""

    def __init__(self, subject: str, folder: Path, layer: int | None, precision: str) -> None:
        super().__init__(subject, folder)
        self._tokenizer, self.longest = open_tokenizer(subject, folder)
        names = _named_marks(folder)
        if names is None:
            self.marks = frozenset(self._tokenizer.encode("").ids)
        else:
            ids = map(self._tokenizer.token_to_id, names)
            self.marks = frozenset(n for n in ids if n is not None)
        if self.longest is not None:
            with explain_errors(subject, "its texts cannot be truncated"):
                self._tokenizer.enable_truncation(self.longest)
        _begin_with_space(self._tokenizer)
        self._session = OnnxSession(subject, model_content(subject, folder, precision))
        self._output = _token_output(subject, folder, layer, self._session.outputs)
        self._probe()

    def tokenize(self, texts: Sequence[str]) -> list[TokenIds]:
        encodings = self._tokenizer.encode_batch([text.strip() for text in texts])
        return [TokenIds(np.array(e.ids, np.int64), bool(e.overflowing)) for e in encodings]

    def _run(self, ids: Ints) -> NDArray[Any]:
        arrays = dict(zip(ONNX_INPUTS, (ids, np.ones_like(ids), np.zeros_like(ids)), strict=True))
        return self._session.run(self._output, arrays)


def open_tokenizer(subject: str, folder: Path) -> tuple[Any, int | None]:
    """Return the tokenizer of an ONNX model, without truncation, and the most tokens of a text."""
    if not (folder / "tokenizer.json").is_file():
        problem = "the folder has an ONNX file but no tokenizer.json"
        raise InputError(f"{subject}: {problem}: add the one of the model")
    tokenizer = load_tokenizer(subject, folder)
    tokenizer.no_padding()
    longest = max_tokens(folder, tokenizer.truncation)
    tokenizer.no_truncation()
    return tokenizer, longest


def _begin_with_space(tokenizer: Any) -> None:
    """Treat the first word of a text as those after a space, as bert-score does for RoBERTa."""
    if type(tokenizer.pre_tokenizer).__name__ == "ByteLevel":
        tokenizer.pre_tokenizer.add_prefix_space = True


def _existing(folder: Path, names: Iterable[str]) -> list[str]:
    return [name for name in names if (folder / name).is_file()]


def model_content(subject: str, folder: Path, precision: str) -> Path | bytes:
    """Return the ONNX file of a folder, or the bytes of a model with smaller numbers."""
    small_models = _existing(folder, _SMALL_MODELS)
    if precision == "int8" and small_models:
        return folder / _only_file(subject, small_models)
    models = _existing(folder, _MODELS)
    if not models:
        problem = f"the folder has only {small_models[0]}, with 8-bit integers"
        raise InputError(f"{subject}: {problem}: give precision=int8, or add model.onnx")
    model = folder / _only_file(subject, models)
    return model if precision == "fp32" else _quantized(subject, model)


def _only_file(subject: str, names: Sequence[str]) -> str:
    if len(names) > 1:
        problem = f"the folder has several models, {' and '.join(names)}"
        raise InputError(f"{subject}: {problem}: keep one of them")
    return names[0]


@contextmanager
def _hide_logging() -> Iterator[None]:
    """Hide warnings, and undo the setup of logging for the whole program."""
    root = logging.getLogger()
    handlers, disabled = root.handlers[:], logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(disabled)
        root.handlers[:] = handlers


def _quantized(subject: str, model: Path) -> bytes:
    """Return a model with 8-bit weights, by onnxruntime's dynamic quantization."""
    try:
        onnx = import_package("onnx", subject)
    except MissingExtra as error:
        needs = "precision=int8 needs the package onnx or a file model_int8.onnx in the folder"
        raise MissingExtra(f"{subject}: {needs}: pip install onnx") from error
    with explain_errors(subject, "onnxruntime cannot quantize it"), _hide_logging():
        library = import_package("onnxruntime.quantization", subject)
        with tempfile.TemporaryDirectory() as place:
            path = Path(place) / "model.onnx"
            # Of a file, it would write a copy into the folder of the model.
            weights = onnx.load(str(model))
            library.quantize_dynamic(weights, str(path), weight_type=library.QuantType.QInt8)
            return path.read_bytes()


def _token_output(subject: str, folder: Path, layer: int | None, outputs: Mapping[str, int]) -> str:
    """Return the name of the output with the vectors of tokens; `outputs` has numbers of axes."""
    layers = read_json(folder / "config.json", dict).get("num_hidden_layers")
    for_tokens = [name for name, axes in outputs.items() if axes not in (1, 2)]
    last = [name for name in _TOKEN_OUTPUTS if name in for_tokens]
    last += [name for name in for_tokens if not name.startswith(_HIDDEN_STATES)]
    if layer is not None:
        names = [f"{prefix}{layer}" for prefix in _HIDDEN_STATES if f"{prefix}{layer}" in outputs]
        if not names and layer != layers:
            problem = f"its ONNX file has no output of layer {layer} (hidden_states.{layer})"
            advice = "leave layer out, export it with hidden states, or use loader=transformers"
            raise InputError(f"{subject}: {problem}: {advice}")
        last = names or last
    if not last:
        listed = ", ".join(outputs)
        problem = f"its ONNX file has no vectors of tokens (outputs: {listed})"
        expected = "expected last_hidden_state, of texts x tokens x numbers"
        raise InputError(f"{subject}: {problem}; {expected}")
    return last[0]


# ------------------------------------------------------------------------------ transformers


class TransformersEncoder(Encoder):
    """A model run by transformers and torch."""

    def __init__(self, subject: str, folder: Path, layer: int | None, precision: str) -> None:
        super().__init__(subject, folder)
        if precision != "fp32":
            problem = f"precision={precision} needs an ONNX file in the folder"
            raise InputError(f"{subject}: {problem}: export one, or leave precision out")
        self._torch = import_package("torch", subject)
        library = import_package("transformers", subject)
        with explain_errors(subject, "transformers cannot load it"), hide_progress_bar():
            self._tokenizer = library.AutoTokenizer.from_pretrained(
                str(folder), local_files_only=True, add_prefix_space=True
            )
            model = library.AutoModel.from_pretrained(str(folder), local_files_only=True).eval()
        self._model = _with_layers(subject, model, layer)
        self.longest = max_tokens(folder, None)
        tokens = self._tokenizer.cls_token_id, self._tokenizer.sep_token_id
        self.marks = frozenset(n for n in tokens if n is not None)
        self._lock = threading.Lock()  # settings of the tokenizer change with every call
        self._probe()

    def tokenize(self, texts: Sequence[str]) -> list[TokenIds]:
        stripped = [text.strip() for text in texts]
        with self._lock:
            ids_of_texts = self._tokenizer(stripped, verbose=False)["input_ids"]
            if self.longest is None:
                return [TokenIds(np.array(ids, np.int64), cut=False) for ids in ids_of_texts]
            limit = {"truncation": True, "max_length": self.longest, "verbose": False}
            shortened = self._tokenizer(stripped, **limit)["input_ids"]
        return [
            TokenIds(np.array(short, np.int64), len(short) < len(full))
            for short, full in zip(shortened, ids_of_texts, strict=True)
        ]

    def _run(self, ids: Ints) -> NDArray[Any]:
        with self._torch.no_grad():
            tensor = self._torch.from_numpy(np.ascontiguousarray(ids))
            output = self._model(tensor, attention_mask=self._torch.ones_like(tensor))
        return np.asarray(output[0].float().numpy())


def _with_layers(subject: str, model: Any, layer: int | None) -> Any:
    """Return a model with its first layers alone, as the package bert-score makes it."""
    encoder = model.encoder if hasattr(model, "encoder") and hasattr(model, "decoder") else model
    if layer is None:
        return encoder
    for place, name in (
        (encoder, "layer"),
        (getattr(encoder, "encoder", None), "layer"),
        (getattr(encoder, "encoder", None), "block"),
        (getattr(encoder, "transformer", None), "layer"),
        (encoder, "layers"),
    ):
        layers = getattr(place, name, None)
        if layers is None:
            continue
        if layer > len(layers):
            problem = f"layer={layer}, and the model has {len(layers)} layers"
            raise InputError(f"{subject}: {problem}: give at most that, or leave layer out")
        setattr(place, name, layers[:layer])
        return encoder
    problem = f"the layers of {type(model).__name__} are not where they are expected"
    raise InputError(f"{subject}: {problem}: leave layer out")


# ---------------------------------------------------------------------------------- loading

LOADERS: Mapping[str, str] = {
    "auto": "onnx if the folder has an ONNX file, else transformers",
    "onnx": "model.onnx or onnx/model.onnx, and tokenizer.json",
    "transformers": "config.json and weights; needs the packages transformers and torch",
}
"""Loader -> the files that it needs."""


def encoder_folder(model: str) -> Path:
    """Return the folder of a model, which must exist."""
    return model_folder(
        model, "expected the folder of an encoder on this machine (nothing is downloaded)"
    )


def load_encoder(
    model: str, layer: int | None = None, precision: str = "fp32", loader: str = "auto"
) -> Encoder:
    """Return a model, cached until its files change."""
    stamp = files_stamp(model_files(model))
    return _load(model, layer, precision, choose_loader(model, loader), stamp)


@lru_cache(maxsize=2)
def _load(model: str, layer: int | None, precision: str, loader: str, _stamp: Stamp) -> Encoder:
    kind = OnnxEncoder if loader == "onnx" else TransformersEncoder
    return kind(f"model {model}", encoder_folder(model), layer, precision)


def choose_loader(model: str, loader: str) -> str:
    """Return the name of the loader for a folder."""
    folder = encoder_folder(model)
    fits = []
    if _existing(folder, (*_MODELS, *_SMALL_MODELS)):
        fits.append("onnx")
    elif model2vec_files(folder):
        raise InputError(_static_model_problem(model))
    if (folder / "config.json").is_file() and _existing(folder, _WEIGHTS):
        fits.append("transformers")
    loaders = fits[:1] if loader == "auto" else [name for name in fits if name == loader]
    if loaders:
        return loaders[0]
    other_models = sorted(path.name for path in folder.glob("*.onnx")) if loader != "onnx" else []
    if len(other_models) > 1:
        problem = f"the folder has several models, {' and '.join(other_models[:3])}"
        raise InputError(f"model {model}: {problem}: name the one to use model.onnx")
    looked = [name for name in LOADERS if name != "auto" and loader in ("auto", name)]
    files = "; ".join(f"{name}: {LOADERS[name]}" for name in looked)
    raise InputError(f"model {model}: the folder has no encoder of a known kind ({files})")


def _static_model_problem(model: str) -> str:
    problem = "a static model has the same vector for a word in every text"
    return f"model {model}: {problem}, and vectors in context are needed: use cosine"


def model_files(model: str) -> list[Path]:
    """Return the files of a model for all loaders."""
    if model == WORDLLAMA:
        raise InputError(_static_model_problem(model))
    folder = encoder_folder(model)
    models = (*_MODELS, *_SMALL_MODELS)
    names = (*models, *(f"{name}_data" for name in models), *_WEIGHTS, *_SETTINGS)
    return [folder / name for name in sorted(_existing(folder, names))]


def encoder_files(model: str) -> list[str]:
    """Return the paths of a model's files and of others in its folder (up to a limit)."""
    return list(dict.fromkeys([*map(str, model_files(model)), *folder_files(model)]))


def encoder_digest(model: str) -> str:
    """Return the digest of a model's files."""
    return files_digest(model_files(model))


def encoder_layers(model: str) -> int | None:
    """Return the number of layers of a model by its config.json; None if it does not say."""
    layers = read_json(encoder_folder(model) / "config.json", dict).get("num_hidden_layers")
    return layers if isinstance(layers, int) else None


def check_text(subject: str, text: str) -> None:
    """Raise if a text has a lone surrogate, which no tokenizer reads."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        problem = f"the text {quoted(error.object)} has a lone surrogate"
        raise InputError(f"{subject}: {problem}; remove it") from error
