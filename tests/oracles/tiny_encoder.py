"""A tiny encoder of known vectors as an ONNX file, and BERTScore as loops over its tokens."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

WORDS = {
    "[UNK]": (0.1, 0.2, -0.9, 0.3),
    "[CLS]": (0.5, -0.5, 0.5, 0.5),
    "[SEP]": (-0.5, 0.5, 0.25, 1.0),
    "cat": (1.0, 0.0, 0.0, 0.5),
    "dog": (0.75, 0.5, 0.0, 0.5),
    "sat": (0.0, 1.0, 0.25, 0.0),
    "ran": (0.0, 0.75, -0.5, 0.25),
    "not": (-1.0, 0.25, 0.0, -0.5),
    "red": (0.25, 0.0, 1.0, -0.25),
}
"""Word -> its vector; words are separated by white space."""
MOST_TOKENS = 12
"""With the two special ones."""
CONTEXT = 0.5
"""Share of the vector of the first word that layer 1 adds to each token."""


def text_tokens(text: str) -> list[str]:
    """The tokens of a text, cut to the length that the model takes; none of white space."""
    words = text.split()[: MOST_TOKENS - 2]
    known = [word if word in WORDS else "[UNK]" for word in words]
    return ["[CLS]", *known, "[SEP]"] if words else []


def text_vectors(text: str, layer: int = 1) -> list[list[float]]:
    """The vectors of a text's tokens, number by number."""
    rows = [list(WORDS[token]) for token in text_tokens(text)]
    if layer == 0 or not rows:
        return rows
    return [[x + CONTEXT * c for x, c in zip(row, rows[1], strict=True)] for row in rows]


def slow_cosine(x: Sequence[float], y: Sequence[float]) -> float:
    dot = sum(a * b for a, b in zip(x, y, strict=True))
    return dot / math.sqrt(sum(a * a for a in x) * sum(b * b for b in y))


def slow_idf(texts: Sequence[str]) -> dict[str, float]:
    """idf of each token; a token in no text has that of the key ""."""
    documents = [{"[CLS]", "[SEP]", *text_tokens(text)} for text in texts]
    counts = {token: sum(token in document for document in documents) for token in [*WORDS, ""]}
    return {token: math.log((len(texts) + 1) / (n + 1)) for token, n in counts.items()}


def slow_bertscore(
    candidate: str, reference: str, layer: int = 1, idf: Mapping[str, float] | None = None
) -> tuple[float, float, float]:
    """P, R and F of two texts, token by token."""
    if not (candidate.split() and reference.split()):
        return 0.0, 0.0, 0.0
    x, y = text_vectors(candidate, layer), text_vectors(reference, layer)
    p = _mean_of_best(text_tokens(candidate), x, y, idf)
    r = _mean_of_best(text_tokens(reference), y, x, idf)
    return p, r, 2 * p * r / (p + r) if p + r else 0.0


def _mean_of_best(
    tokens: Sequence[str],
    vectors: Sequence[Sequence[float]],
    others: Sequence[Sequence[float]],
    idf: Mapping[str, float] | None,
) -> float:
    total = weights = 0.0
    for token, vector in zip(tokens, vectors, strict=True):
        weight = (token not in ("[CLS]", "[SEP]")) * 1.0 if idf is None else idf[token]
        total += weight * max(slow_cosine(vector, other) for other in others)
        weights += weight
    return total / weights if weights else 0.0


def encoder_tokenizer() -> Any:
    """A tokenizer of words that marks the beginning and the end of a text."""
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    numbers = {word: i for i, word in enumerate(WORDS)}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(numbers, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    marks = [(token, numbers[token]) for token in ("[CLS]", "[SEP]")]
    template = tokenizers.processors.TemplateProcessing
    tokenizer.post_processor = template(single="[CLS] $A [SEP]", special_tokens=marks)
    return tokenizer


def write_encoder(
    folder: Path, *, hidden_states: bool = True, axes: int = 3, matrix: bool = False
) -> Path:
    """An encoder with one layer that adds a share of the first word to each token.

    With two axes it has the vector of the first token alone. With a matrix, it multiplies vectors
    by the identity, as weights that can be quantized.
    """
    onnx = pytest.importorskip("onnx", reason="onnx is not installed")
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    import numpy as np

    make, integer_type, float_type = onnx.helper, onnx.TensorProto.INT64, onnx.TensorProto.FLOAT
    inputs = [
        make.make_tensor_value_info(name, integer_type, ["texts", "tokens"])
        for name in ("input_ids", "attention_mask")
    ]
    arrays = {
        "table": np.array([*WORDS.values()], np.float32),
        "share": np.array(CONTEXT, np.float32),
        "end": np.array([-1], np.int64),
        "middle": np.array([1], np.int64),
        "first_word": np.array([1], np.int64),
        "after_it": np.array([2], np.int64),
        "first": np.array(0, np.int64),
        "identity": np.eye(4, dtype=np.float32),
    }
    nodes = [
        make.make_node("Gather", ["table", "input_ids"], ["hidden_states.0"]),
        make.make_node("Cast", ["attention_mask"], ["mask"], to=float_type),
        make.make_node("Unsqueeze", ["mask", "end"], ["wide"]),
        make.make_node("Mul", ["hidden_states.0", "wide"], ["unmasked"]),
        make.make_node("Slice", ["unmasked", "first_word", "after_it", "middle"], ["word"]),
        make.make_node("Mul", ["word", "share"], ["context"]),
        make.make_node("Add", ["hidden_states.0", "context"], ["layer"]),
    ]
    nodes.append(
        make.make_node("MatMul", ["layer", "identity"], ["last_hidden_state"])
        if matrix
        else make.make_node("Identity", ["layer"], ["last_hidden_state"])
    )
    shape: list[Any] = ["texts", "tokens", 4]
    names = ["last_hidden_state", *(["hidden_states.0"] if hidden_states else [])]
    if axes == 2:
        nodes.append(make.make_node("Gather", ["last_hidden_state", "first"], ["pooled"], axis=1))
        names, shape = ["pooled"], ["texts", 4]
    outputs = [make.make_tensor_value_info(name, float_type, shape) for name in names]
    weights = [onnx.numpy_helper.from_array(value, name) for name, value in arrays.items()]
    graph = make.make_graph(nodes, "tiny", inputs, outputs, weights)
    opset = [make.make_opsetid("", 17)]
    folder.mkdir(exist_ok=True)
    onnx.save(make.make_model(graph, opset_imports=opset, ir_version=9), folder / "model.onnx")
    encoder_tokenizer().save(str(folder / "tokenizer.json"))
    settings = {"model_max_length": MOST_TOKENS, "cls_token": "[CLS]", "sep_token": "[SEP]"}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    config = {"model_type": "bert", "num_hidden_layers": 1, "hidden_size": 4}
    (folder / "config.json").write_text(json.dumps(config))
    return folder
