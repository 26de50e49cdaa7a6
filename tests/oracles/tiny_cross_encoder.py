"""A tiny cross-encoder as an ONNX file, which compares words, and its numbers as slow loops.

With the share s of the hypothesis's distinct-from-`not` words that the premise has, and d = 1 if
only one of them has `not`, else 0, its logits are

    contradiction  12 s d - 6
    entailment     12 s - 9 - 12 d
    neutral         0
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

MARKS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
NOT = "not"
WORDS = (
    *(NOT, "the", "cat", "dog", "sat", "ran", "on", "mat", "red"),
    *("paris", "is", "in", "france", "17", "1889", "tower", "built"),
)
"""Words that the model knows; others are equal to no word."""
LABELS = ("contradiction", "entailment", "neutral")
MOST_TOKENS = 24
"""Of both texts, with the three special ones."""
ROOM = MOST_TOKENS - 3


def words_of(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def slow_logits(
    premise: Sequence[str], hypothesis: Sequence[str], known: Iterable[str] = WORDS
) -> list[float]:
    """The logits of the words of two texts, in the order of `LABELS`."""
    vocabulary = set(known)
    wanted = [word for word in hypothesis if word != NOT]
    hits = sum(word in vocabulary and word in premise for word in wanted)
    share = hits / max(len(wanted), 1)
    differ = (NOT in premise) != (NOT in hypothesis)
    return [12 * share * differ - 6, 12 * share - 9 - 12 * differ, 0.0]


def slow_probabilities(premise: str, hypothesis: str, known: Iterable[str] = WORDS) -> list[float]:
    """P(contradiction), P(entailment), P(neutral) of texts that fit into the model."""
    powers = [math.exp(z) for z in slow_logits(words_of(premise), words_of(hypothesis), known)]
    return [power / sum(powers) for power in powers]


def slow_windows(premise: str, hypothesis: str) -> list[tuple[str, str]]:
    """The windows of a premise that is too long, and the hypothesis, cut if it is too long."""
    second = words_of(hypothesis)[: ROOM // 2]
    first, size, overlap = words_of(premise), ROOM - len(second), ROOM // 4
    windows = [first[:size]]
    at = 0
    while at + size < len(first):
        at += size - overlap
        windows.append(first[at : at + size])
    return [(" ".join(window), " ".join(second)) for window in windows]


def slow_judgement(premise: str, hypothesis: str) -> tuple[float, float]:
    """The highest P(entailment), and P(contradiction) of the least neutral window."""
    rows = [slow_probabilities(*window) for window in slow_windows(premise, hypothesis)]
    return max(row[1] for row in rows), min(rows, key=lambda row: 1 - row[0] - row[1])[0]


def pair_tokenizer(words: Sequence[str] = WORDS) -> Any:
    """A tokenizer of words, without capitals and punctuation, that marks both texts."""
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    numbers = {word: i for i, word in enumerate((*MARKS, *words))}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(numbers, unk_token="[UNK]"))
    tokenizer.normalizer = tokenizers.normalizers.Lowercase()
    pattern = tokenizers.Regex(r"\W+")
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Split(pattern, "removed")
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(token, numbers[token]) for token in ("[CLS]", "[SEP]")],
    )
    return tokenizer


def write_cross_encoder(
    folder: Path,
    words: Sequence[str] = WORDS,
    *,
    labels: Sequence[str] | None = LABELS,
    most_tokens: int | None = MOST_TOKENS,
    output: str = "logits",
) -> Path:
    """Write the model; `words` begin with `not`. With two labels, it has no contradiction."""
    onnx = pytest.importorskip("onnx", reason="onnx is not installed")
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    import numpy as np

    assert words[0] == NOT
    make, integer_type, float_type = onnx.helper, onnx.TensorProto.INT64, onnx.TensorProto.FLOAT
    inputs = [
        make.make_tensor_value_info(name, integer_type, ["pairs", "tokens"])
        for name in ("input_ids", "attention_mask", "token_type_ids")
    ]
    count = 3 if labels is None else len(labels)
    order = {2: [1, 2], 3: [0, 1, 2]}.get(count, [0, 1, 2][:count])
    arrays = {
        "last_mark": np.array(len(MARKS) - 1, np.int64),
        "not": np.array(len(MARKS), np.int64),
        "row_axis": np.array([1], np.int64),
        "column_axis": np.array([2], np.int64),
        "token_axis": np.array([1], np.int64),
        "one": np.array(1, np.float32),
        "six": np.array(6, np.float32),
        "nine": np.array(9, np.float32),
        "twelve": np.array(12, np.float32),
        "zero": np.array(0, np.float32),
        "order": np.array(order, np.int64),
    }
    node = make.make_node

    def cast(name: str) -> Any:
        return node("Cast", [name], [f"{name}_"], to=float_type)

    nodes = [
        node("Greater", ["input_ids", "last_mark"], ["word"]),
        node("Equal", ["input_ids", "not"], ["negated"]),
        *map(cast, ("word", "negated", "token_type_ids", "attention_mask")),
        node("Sub", ["one", "token_type_ids_"], ["first"]),
        node("Mul", ["word_", "first"], ["premise"]),
        node("Sub", ["one", "negated_"], ["stated"]),
        # Tokens of the hypothesis, unknown ones too, without `not` and the last mark.
        node("Equal", ["input_ids", "last_mark"], ["separator"]),
        cast("separator"),
        node("Sub", ["one", "separator_"], ["inner"]),
        node("Mul", ["token_type_ids_", "inner"], ["second"]),
        node("Mul", ["second", "stated"], ["wanted"]),
        node("Unsqueeze", ["input_ids", "column_axis"], ["rows"]),
        node("Unsqueeze", ["input_ids", "row_axis"], ["columns"]),
        node("Equal", ["rows", "columns"], ["equal"]),
        cast("equal"),
        node("Unsqueeze", ["premise", "row_axis"], ["wide_premise"]),
        node("Mul", ["equal_", "wide_premise"], ["hits"]),
        node("ReduceMax", ["hits"], ["present"], axes=[2], keepdims=0),
        node("Mul", ["present", "wanted"], ["covered"]),
        node("ReduceSum", ["covered", "token_axis"], ["n_covered"], keepdims=0),
        node("ReduceSum", ["wanted", "token_axis"], ["n_wanted"], keepdims=0),
        node("Max", ["n_wanted", "one"], ["length"]),
        node("Div", ["n_covered", "length"], ["share"]),
        node("Mul", ["negated_", "first"], ["first_not"]),
        node("Mul", ["negated_", "second"], ["second_not"]),
        node("ReduceMax", ["first_not"], ["in_first"], axes=[1], keepdims=0),
        node("ReduceMax", ["second_not"], ["in_second"], axes=[1], keepdims=0),
        node("Sub", ["in_first", "in_second"], ["difference"]),
        node("Abs", ["difference"], ["differ"]),
        node("Mul", ["share", "twelve"], ["strength"]),
        node("Mul", ["strength", "differ"], ["denial"]),
        node("Sub", ["denial", "six"], ["contradiction"]),
        node("Mul", ["differ", "twelve"], ["penalty"]),
        node("Sub", ["strength", "nine"], ["support"]),
        node("Sub", ["support", "penalty"], ["entailment"]),
        node("Mul", ["share", "zero"], ["neutral"]),
        *(
            node("Unsqueeze", [name, "row_axis"], [f"{name}_column"])
            for name in ("contradiction", "entailment", "neutral")
        ),
        node("Concat", [f"{name}_column" for name in LABELS], ["all_logits"], axis=1),
        node("Gather", ["all_logits", "order"], [output], axis=1),
    ]
    shape: list[Any] = ["pairs", count]
    if output != "logits":
        nodes.append(node("Unsqueeze", [output, "row_axis"], ["last_hidden_state"]))
        output, shape = "last_hidden_state", ["pairs", 1, count]
    outputs = [make.make_tensor_value_info(output, float_type, shape)]
    weights = [onnx.numpy_helper.from_array(value, name) for name, value in arrays.items()]
    graph = make.make_graph(nodes, "tiny", inputs, outputs, weights)
    opset = [make.make_opsetid("", 17)]
    folder.mkdir(exist_ok=True, parents=True)
    onnx.save(make.make_model(graph, opset_imports=opset, ir_version=9), folder / "model.onnx")
    pair_tokenizer(words).save(str(folder / "tokenizer.json"))
    limits = {} if most_tokens is None else {"model_max_length": most_tokens}
    (folder / "tokenizer_config.json").write_text(json.dumps(limits))
    config: dict[str, Any] = {"model_type": "bert"}
    if labels is not None:
        config["id2label"] = {str(i): name for i, name in enumerate(labels)}
    (folder / "config.json").write_text(json.dumps(config))
    return folder
