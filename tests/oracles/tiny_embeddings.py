"""Tiny embedding models of known vectors, written in the formats that Karat loads."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

VECTORS = {
    "[UNK]": (0.0, 0.0, 1.0),
    "cat": (1.0, 0.0, 0.0),
    "dog": (0.0, 1.0, 0.0),
    "sat": (1.0, 1.0, 0.0),
    "not": (-1.0, 0.0, 0.0),
}
"""Word -> its vector; words are separated by white space."""


def slow_cosine(a: str, b: str) -> float:
    """The cosine of the mean vectors of two texts, number by number."""
    x, y = _mean(a.split()), _mean(b.split())
    dot, lengths = (
        sum(map(_times, x, y)),
        math.sqrt(sum(map(_times, x, x)) * sum(map(_times, y, y))),
    )
    return dot / lengths if lengths else 0.0


def _times(a: float, b: float) -> float:
    return a * b


def _mean(words: Sequence[str]) -> list[float]:
    rows = [VECTORS.get(word, VECTORS["[UNK]"]) for word in words]
    return [sum(column) / len(rows) for column in zip(*rows, strict=True)] if rows else [0.0] * 3


def word_tokenizer() -> Any:
    """A tokeniser of words, by the package tokenizers."""
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    words = {word: i for i, word in enumerate(VECTORS)}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    return tokenizer


def write_model2vec(folder: Path) -> Path:
    """A static model; it leaves unknown words out."""
    model2vec = pytest.importorskip("model2vec", reason="model2vec is not installed")
    import numpy as np

    vectors = np.array([*VECTORS.values()], np.float32)
    model = model2vec.StaticModel(vectors, word_tokenizer(), max_length=8)
    model.save_pretrained(folder)
    return folder


def write_onnx(folder: Path, *, axes: int = 3, pooling: str | None = None) -> Path:
    """A model that looks up vectors of tokens; with two axes it gives those of the first token."""
    onnx = pytest.importorskip("onnx", reason="onnx is not installed")
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    import numpy as np

    make, integer_type, float_type = onnx.helper, onnx.TensorProto.INT64, onnx.TensorProto.FLOAT
    inputs = [
        make.make_tensor_value_info(name, integer_type, ["texts", "tokens"])
        for name in ("input_ids", "attention_mask")
    ]
    table = onnx.numpy_helper.from_array(np.array([*VECTORS.values()], np.float32), "table")
    end = onnx.numpy_helper.from_array(np.array([-1], np.int64), "end")
    first = onnx.numpy_helper.from_array(np.array(0, np.int64), "first")
    nodes = [
        make.make_node("Gather", ["table", "input_ids"], ["looked"]),
        make.make_node("Cast", ["attention_mask"], ["mask"], to=float_type),
        make.make_node("Unsqueeze", ["mask", "end"], ["wide"]),
        make.make_node("Mul", ["looked", "wide"], ["tokens_out"]),
    ]
    shape: list[Any] = ["texts", "tokens", 3]
    if axes == 2:
        nodes.append(make.make_node("Gather", ["tokens_out", "first"], ["out"], axis=1))
        shape = ["texts", 3]
    else:
        nodes.append(make.make_node("Identity", ["tokens_out"], ["out"]))
    output = make.make_tensor_value_info("out", float_type, shape)
    graph = make.make_graph(nodes, "tiny", inputs, [output], [table, end, first])
    opset = [make.make_opsetid("", 17)]
    folder.mkdir(exist_ok=True)
    onnx.save(make.make_model(graph, opset_imports=opset, ir_version=9), folder / "model.onnx")
    word_tokenizer().save(str(folder / "tokenizer.json"))
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 8}')
    if pooling:
        (folder / "1_Pooling").mkdir()
        (folder / "1_Pooling" / "config.json").write_text(json.dumps({pooling: True}))
    return folder


def write_bert(folder: Path) -> Path:
    """A BERT of random weights as transformers saves it: two layers, eight numbers."""
    pytest.importorskip("transformers", reason="transformers is not installed")
    import torch
    import transformers

    torch.manual_seed(1)
    words = [*VECTORS, "[PAD]", "[CLS]", "[SEP]"]
    small: dict[str, Any] = {"hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = transformers.BertConfig(
        vocab_size=len(words), intermediate_size=16, max_position_embeddings=32, **small
    )
    transformers.BertModel(config).save_pretrained(folder)
    (folder / "vocab.txt").write_text("\n".join(words))
    vocab = str(folder / "vocab.txt")
    tokenizer = transformers.BertTokenizerFast(vocab=vocab, model_max_length=32)
    tokenizer.save_pretrained(folder)
    return folder


def write_transformer(folder: Path) -> Path:
    """A neural model of random weights, with mean pooling."""
    library = pytest.importorskip("sentence_transformers", reason="it is not installed")
    model = library.SentenceTransformer(str(write_bert(folder.with_name("base"))))
    model.max_seq_length = 16
    model.save(str(folder))
    return folder
