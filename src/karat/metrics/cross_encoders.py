"""Cross-encoders for entailment: models that read a premise and a hypothesis together.

With the logits z of a model's labels, P(label) = exp(z of label) / sum over labels of exp(z). A
premise that is longer than the model takes is read in overlapping windows. Of several windows, or
of several premises,

    P(entailment)     is the highest,
    P(contradiction)  is that of the window that is least neutral, the first of equals,

so that a window about something else does not count. As in `encoders`, pairs are run in groups that
have exactly the same number of tokens, so that numbers do not depend on the other pairs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from karat.arithmetic import exp
from karat.arrays import Floats, Ints, NDArray, np
from karat.errors import InputError, short
from karat.metrics.embedders import (
    ONNX_INPUTS,
    OnnxSession,
    Stamp,
    explain_errors,
    files_stamp,
    hide_progress_bar,
    import_package,
    read_json,
)
from karat.metrics.encoders import (
    check_text,
    choose_loader,
    encoder_folder,
    equal_length_groups,
    groups_are_exact,
    max_tokens,
    model_content,
    model_files,
    open_tokenizer,
)
from karat.metrics.recent import RecentValues

MAX_CACHED_BYTES = 1 << 27
"""Bytes of cached judgements and their texts."""
_PAIRS_AT_ONCE = 512
"""Pairs whose tokens are in memory at once."""
_MIN_TOKENS = 4
"""Fewest tokens of both texts, without special ones, that a model must take."""

Pair = tuple[str, str]
"""A premise and a hypothesis."""


class Entailed(NamedTuple):
    """Probabilities of a hypothesis given a premise, or given the best of several."""

    entailment: float
    contradiction: float
    """NaN if the model has no such label."""
    neutral: float
    """The lowest probability that the premise neither entails nor contradicts the hypothesis."""
    premise: int = 0
    """Index of the premise with the highest P(entailment)."""
    in_windows: bool = False
    """Whether a premise was read in windows because it is too long."""
    cut: bool = False
    """Whether the hypothesis was truncated because it is too long."""


WITHOUT_PREMISE = Entailed(0.0, 0.0, 1.0)
"""The judgement of a hypothesis without any premise."""


def best_of(judgements: Iterable[Entailed]) -> Entailed:
    """Return the judgement of a hypothesis given several premises, in their order."""
    listed = list(judgements)
    if not listed:
        return WITHOUT_PREMISE
    premise = max(range(len(listed)), key=lambda i: listed[i].entailment)
    least_neutral = min(listed, key=lambda judgement: judgement.neutral)
    return Entailed(
        listed[premise].entailment,
        least_neutral.contradiction,
        least_neutral.neutral,
        premise,
        any(judgement.in_windows for judgement in listed),
        any(judgement.cut for judgement in listed),
    )


# ----------------------------------------------------------------------------------- labels


class Labels(NamedTuple):
    """The labels of a model: their number, and which mean entailment and contradiction."""

    size: int
    entailment: int
    contradiction: int | None
    """None if the model has no such label."""


def read_labels(model: str) -> Labels:
    """Return the labels of a model by their names in config.json (`id2label`).

    A name that contains `entail` is entailment, unless it also contains `not` or `non`; one that
    contains `contradict` is contradiction. Capitals do not matter.
    """
    file = encoder_folder(model) / "config.json"
    names = read_json(file, dict).get("id2label")
    if not isinstance(names, dict) or not names:
        problem = "config.json does not name its labels (id2label)"
        raise InputError(f"model {model}: {problem}: {_LABEL_ADVICE}")
    if {*names} != {str(i) for i in range(len(names))}:
        problem = f"id2label in config.json has the keys {short(', '.join(names))}"
        raise InputError(f"model {model}: {problem}; expected 0 to {len(names) - 1}")
    folded = [str(names[str(i)]).casefold() for i in range(len(names))]
    entailment = [i for i, name in enumerate(folded) if _means_entailment(name)]
    contradiction = [i for i, name in enumerate(folded) if "contradict" in name]
    if len(entailment) != 1 or len(contradiction) > 1 or len(names) == 1:
        listed = ", ".join(str(names[str(i)]) for i in range(len(names)))
        problem = f"it is no model of entailment by its labels ({short(listed)})"
        raise InputError(f"model {model}: {problem}: {_LABEL_ADVICE}")
    return Labels(len(names), entailment[0], contradiction[0] if contradiction else None)


_LABEL_ADVICE = (
    "expected one named entailment among several, and contradiction if there is one; if its "
    "documentation says which is which, write the names into id2label"
)


def _means_entailment(name: str) -> bool:
    before, is_entailment, _ = name.partition("entail")
    return bool(is_entailment) and not before.rstrip(" _-").endswith(("not", "non", "no"))


# ---------------------------------------------------------------------------------- models


class CrossEncoder(ABC):
    """A loaded model; its methods may be called from several threads."""

    def __init__(self, model: str, tokenizer: Any, longest: int | None) -> None:
        """`longest` is the most tokens of both texts, with the special ones; None: no limit."""
        self.subject, self.labels = f"model {model}", read_labels(model)
        self._tokenizer, self.longest = tokenizer, longest
        self._longest_hypothesis: int | None = None
        if longest is not None:
            room = longest - tokenizer.num_special_tokens_to_add(True)
            if room < _MIN_TOKENS:
                problem = f"it takes {longest} tokens, which is too few for two texts"
                raise InputError(f"{self.subject}: {problem}: check model_max_length")
            self._longest_hypothesis = room // 2
            with explain_errors(self.subject, "its texts cannot be truncated"):
                tokenizer.enable_truncation(longest, stride=room // 4, strategy="only_first")
        self._recent = RecentValues[Pair, Entailed](MAX_CACHED_BYTES, _cached_bytes)
        self._takes_groups = False  # until it is known
        text = "a token and the next of them " * 4
        (sample, *_), _ = self._windows([(text, text)])[0]
        self._takes_groups = groups_are_exact(self._logits, sample)

    @abstractmethod
    def _run(self, ids: Ints, types: Ints) -> NDArray[Any]:
        """Return the logits of pairs x labels; `types` is 1 for tokens of the second text."""

    def judge(
        self, pairs: Sequence[Pair], check: Callable[[], None] | None = None
    ) -> dict[Pair, Entailed]:
        """Return what the model says of each distinct pair of a premise and a hypothesis.

        Neither text may be white space alone. `check` is called from time to time, and raises to
        stop.
        """
        distinct = dict.fromkeys(pairs)
        judgements = self._recent.of(distinct)
        missing = [pair for pair in distinct if pair not in judgements]
        for pair in missing:
            for text in pair:
                check_text(self.subject, text)
        # Of similar lengths, so that many pairs of a group have the same number of tokens.
        missing.sort(key=lambda pair: (len(pair[0]) + len(pair[1]), pair))
        for start in range(0, len(missing), _PAIRS_AT_ONCE):
            if check is not None:
                check()
            part = missing[start : start + _PAIRS_AT_ONCE]
            new = dict(zip(part, self._judge(part), strict=True))
            self._recent.keep(new)
            judgements |= new
        return judgements

    def _judge(self, pairs: Sequence[Pair]) -> list[Entailed]:
        windows_of_pairs = self._windows(pairs)
        windows = [window for pair_windows, _ in windows_of_pairs for window in pair_windows]
        probabilities = np.zeros((len(windows), self.labels.size))
        for group in equal_length_groups([w.shape[-1] for w in windows], self._takes_groups):
            probabilities[group] = _softmax(self._logits(np.array([windows[i] for i in group])))
        judgements, at = [], 0
        for pair_windows, is_cut in windows_of_pairs:
            rows = probabilities[at : at + len(pair_windows)]
            at += len(pair_windows)
            judgement = best_of(map(self._judgement, rows.tolist()))
            judgements.append(
                judgement._replace(premise=0, in_windows=len(pair_windows) > 1, cut=is_cut)
            )
        return judgements

    def _judgement(self, probabilities: Sequence[float]) -> Entailed:
        _, at, other = self.labels
        entailment = probabilities[at]
        if other is None:
            return Entailed(entailment, float("nan"), 1 - entailment)
        contradiction = probabilities[other]
        return Entailed(entailment, contradiction, max(1 - entailment - contradiction, 0.0))

    def _windows(self, pairs: Sequence[Pair]) -> list[tuple[list[Ints], bool]]:
        """Return the windows of each pair, and whether its hypothesis is truncated.

        A window is a row with the ids of tokens and a row with 1 for those of the hypothesis.
        """
        shortened = [(premise.strip(), self._shorten(text.strip())) for premise, text in pairs]
        with explain_errors(self.subject, "its tokenizer failed"):
            encodings = self._tokenizer.encode_batch(shortened)
        windows = [
            [np.array([e.ids, e.type_ids], np.int64) for e in (encoding, *encoding.overflowing)]
            for encoding in encodings
        ]
        is_cut = [
            len(text) < len(hypothesis.strip())
            for (_, text), (_, hypothesis) in zip(shortened, pairs, strict=True)
        ]
        return list(zip(windows, is_cut, strict=True))

    def _shorten(self, hypothesis: str) -> str:
        """Return the beginning of a hypothesis that leaves half of the tokens to the premise."""
        most = self._longest_hypothesis
        if most is None or len(hypothesis) <= most // 4:  # a character has at most 4 tokens
            return hypothesis
        encoding = self._tokenizer.encode(hypothesis, add_special_tokens=False)
        return (
            hypothesis if len(encoding.ids) <= most else hypothesis[: encoding.offsets[most - 1][1]]
        )

    def _logits(self, windows: Ints) -> Floats:
        """Return the logits of windows x labels, checked."""
        # Numbers that overflow are rejected below, and need no warning.
        with explain_errors(self.subject, "the model failed"), np.errstate(all="ignore"):
            logits = self._run(windows[:, 0], windows[:, 1])
        expected = len(windows), self.labels.size
        if logits.shape != expected:
            problem = f"it gave numbers of shape {logits.shape} for {len(windows)} pairs"
            names = f"{self.labels.size} labels in config.json"
            raise InputError(f"{self.subject}: {problem}; expected a number for each of {names}")
        if not np.isfinite(logits).all():
            problem = "it gave numbers that are not finite: is it damaged?"
            raise InputError(f"{self.subject}: {problem}")
        return logits.astype(np.float64)


def _cached_bytes(pair: Pair, judgement: Entailed) -> int:
    return 4 * (len(pair[0]) + len(pair[1])) + 512  # with Python's overhead


def _softmax(logits: Floats) -> Floats:
    powers: Floats = exp(logits - logits.max(axis=1, keepdims=True))
    total = powers[:, 0]
    for column in powers.T[1:]:  # in order, for the same bits in any group
        total = total + column
    return powers / total[:, None]


class OnnxCrossEncoder(CrossEncoder):
    """A model run by onnxruntime on the CPU, one thread per call."""

    def __init__(self, model: str, folder: Path, precision: str) -> None:
        subject = f"model {model}"
        tokenizer, longest = open_tokenizer(subject, folder)
        self._session = OnnxSession(subject, model_content(subject, folder, precision))
        outputs = self._session.outputs
        scores = [name for name, axes in outputs.items() if axes == 2]
        if not scores:
            problem = f"its ONNX file has no scores of labels (outputs: {', '.join(outputs)})"
            advice = "export it as a model of text classification"
            raise InputError(f"{subject}: {problem}; expected logits, of pairs x labels: {advice}")
        self._output = "logits" if "logits" in scores else scores[0]
        super().__init__(model, tokenizer, longest)

    def _run(self, ids: Ints, types: Ints) -> NDArray[Any]:
        arrays = dict(zip(ONNX_INPUTS, (ids, np.ones_like(ids), types), strict=True))
        return self._session.run(self._output, arrays)


class TransformersCrossEncoder(CrossEncoder):
    """A model run by transformers and torch."""

    def __init__(self, model: str, folder: Path, precision: str) -> None:
        subject = f"model {model}"
        if precision != "fp32":
            problem = f"precision={precision} needs an ONNX file in the folder"
            raise InputError(f"{subject}: {problem}: export one, or leave precision out")
        self._torch = import_package("torch", subject)
        library = import_package("transformers", subject)
        place: dict[str, Any] = {"local_files_only": True}
        with explain_errors(subject, "transformers cannot load it"), hide_progress_bar():
            tokenizer = library.AutoTokenizer.from_pretrained(str(folder), **place)
            kind = library.AutoModelForSequenceClassification
            self._model = kind.from_pretrained(str(folder), **place).eval()
        backend = getattr(tokenizer, "backend_tokenizer", None)
        if backend is None:
            problem = f"its tokenizer {type(tokenizer).__name__} has no fast form"
            raise InputError(f"{subject}: {problem}: add a tokenizer.json")
        backend.no_padding()
        backend.no_truncation()
        self._takes_types = "token_type_ids" in tokenizer.model_input_names
        super().__init__(model, backend, max_tokens(folder, None))

    def _run(self, ids: Ints, types: Ints) -> NDArray[Any]:
        tensors = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
        if self._takes_types:
            tensors["token_type_ids"] = types
        with self._torch.no_grad():
            output = self._model(
                **{name: self._torch.from_numpy(np.array(a)) for name, a in tensors.items()}
            )
        return np.asarray(output.logits.float().numpy())


def load_cross_encoder(model: str, precision: str = "fp32", loader: str = "auto") -> CrossEncoder:
    """Return a model, cached until its files change."""
    stamp = files_stamp(model_files(model))
    return _load(model, precision, choose_loader(model, loader), stamp)


@lru_cache(maxsize=2)
def _load(model: str, precision: str, loader: str, _stamp: Stamp) -> CrossEncoder:
    read_labels(model)  # before anything is loaded
    kind = OnnxCrossEncoder if loader == "onnx" else TransformersCrossEncoder
    return kind(model, encoder_folder(model), precision)
