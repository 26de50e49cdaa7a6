"""BERTScore (Zhang et al. 2020): soft matching of tokens by the vectors of an encoder.

Every token of a text is matched with the token of the other text whose vector has the highest
cosine. With candidate tokens x, reference tokens y and weights w, which are 1, or idf weights,

    P = sum over x of  w(x) max over y cos(x, y)  /  sum over x of w(x)
    R = sum over y of  w(y) max over x cos(x, y)  /  sum over y of w(y)
    F = 2 P R / (P + R)

as the package bert-score computes them. Tokens that only mark the beginning and the end of a text
weigh nothing, but can be matched. Several references: the maximum of P, of R and of F. A corpus
score is the mean of its segments. A text without tokens gives 0.
"""

from __future__ import annotations

import copy
import csv
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

from karat.arithmetic import log, product
from karat.arrays import Floats, Ints, NDArray, np
from karat.errors import InputError, MetricError, quoted
from karat.metrics.base import Metric
from karat.metrics.encoders import (
    LOADERS,
    PRECISIONS,
    Encoded,
    Encoder,
    check_text,
    encoder_digest,
    encoder_files,
    encoder_layers,
    load_encoder,
)
from karat.metrics.pairs import Pairs, SegmentNames
from karat.metrics.recent import RecentValues
from karat.settings import setting
from karat.storage.digests import file_digest
from karat.text.references import References
from karat.text.segments import as_segments

MAX_CACHED_BYTES = 1 << 30
"""Bytes of cached vectors."""
_BLOCK_SEGMENTS = 256
_BLOCK_CHARACTERS = 1 << 18
"""Segments and characters whose vectors are in memory at once, besides the cached ones."""
_IDF_TEXTS = 4096  # texts tokenized at once

PARTS: Mapping[str, str] = {
    "f": "harmonic mean of precision and recall",
    "p": "precision: the candidate's tokens",
    "r": "recall: the references' tokens",
}
"""Parts of the score that can be its value."""
OF_REFERENCES = "references"
"""The setting `idf` for weights by the references of the run."""


class TokenMatrix(NamedTuple):
    """The vectors of a text's tokens, and their squared lengths."""

    encoded: Encoded
    squares: Floats

    @property
    def nbytes(self) -> int:
        """Bytes in memory, with Python's overhead."""
        vectors, ids, is_word, _ = self.encoded
        return vectors.nbytes + ids.nbytes + is_word.nbytes + self.squares.nbytes + 512


class TokenVectors:
    """The token vectors of one model, with a cache."""

    def __init__(self, encoder: Encoder, cache_bytes: int = MAX_CACHED_BYTES) -> None:
        self.encoder = encoder
        self._recent = RecentValues[str, TokenMatrix](cache_bytes, _cached_bytes)

    def of(self, texts: Iterable[str]) -> dict[str, TokenMatrix]:
        """Return the vectors of each distinct text; a text of white space has no tokens."""
        distinct = dict.fromkeys(texts)
        matrices = self._recent.of(distinct)
        missing = [text for text in distinct if text not in matrices]
        for text in missing:
            check_text(self.encoder.subject, text)
        encoded = iter(self.encoder.encode([text for text in missing if text.strip()]))
        new = {text: _matrix(next(encoded) if text.strip() else _NO_TOKENS) for text in missing}
        self._recent.keep(new)
        return matrices | new


def _cached_bytes(text: str, matrix: TokenMatrix) -> int:
    return matrix.nbytes + 4 * len(text)


_NO_TOKENS = Encoded(np.zeros((0, 1), np.float32), np.zeros(0, np.int64), np.zeros(0, bool), False)


def _matrix(encoded: Encoded) -> TokenMatrix:
    vectors = encoded.vectors.astype(np.float64)
    return TokenMatrix(encoded, product(vectors[:, None, :], vectors[:, :, None])[:, 0, 0])


@lru_cache(maxsize=2)
def _shared_vectors(encoder: Encoder) -> TokenVectors:
    """Return the vectors of a model, shared by all metrics of this process."""
    return TokenVectors(encoder)


# ---------------------------------------------------------------------------------- weights


@dataclass(frozen=True)
class TokenWeights:
    """Weights of tokens; tokens without a weight have the default."""

    weights: Mapping[int, float]
    default: float

    def of(self, ids: Ints) -> Floats:
        """Return the weight of each token."""
        return np.array([self.weights.get(n, self.default) for n in ids.tolist()], np.float64)


def idf_weights(encoder: Encoder, texts: Iterable[str], smoothing: float = 1.0) -> TokenWeights:
    """Return log((N + 1) / (n + s)) of tokens that n of N texts have, with s the smoothing.

    With s = 1, they are those of the package bert-score.
    """
    count, number = 0, Counter[int]()
    for block in _text_blocks(texts):
        for text in block:
            check_text(encoder.subject, text)
        count += len(block)
        number.update(chain.from_iterable(set(t.ids.tolist()) for t in encoder.tokenize(block)))
    by_number = {n: float(log((count + 1) / (n + smoothing))) for n in {0, *number.values()}}
    return TokenWeights({token: by_number[n] for token, n in number.items()}, by_number[0])


def _text_blocks(texts: Iterable[str]) -> Iterator[list[str]]:
    block: list[str] = []
    for text in texts:
        block.append(text)
        if len(block) == _IDF_TEXTS:
            yield block
            block = []
    if block:
        yield block


def _reference_texts(references: References) -> Iterator[str]:
    for start in range(0, len(references), _IDF_TEXTS):
        yield from references.views(start, min(start + _IDF_TEXTS, len(references)))[0].strings()


@lru_cache(maxsize=4)
def _idf_of_file(encoder: Encoder, path: str, _digest: str) -> TokenWeights:
    lines = as_segments(Path(path), path)
    blocks = (range(i, min(i + _IDF_TEXTS, len(lines))) for i in range(0, len(lines), _IDF_TEXTS))
    return idf_weights(encoder, chain.from_iterable(map(lines.strings, blocks)))


def _idf_digest(text: str) -> str:
    return "" if text == OF_REFERENCES else _digest_of_file("idf", text)


def baseline_digest(text: str) -> str:
    """Return the digest of a file of baselines, which must exist."""
    return _digest_of_file("baseline", text)


def _digest_of_file(name: str, path: str) -> str:
    if not Path(path).is_file():
        expected = {
            "idf": f"none, {OF_REFERENCES}, or a file with one text per line",
            "baseline": "a file with the columns LAYER, P, R and F",
        }
        raise MetricError(f"bertscore: {name}={path}: no such file; expected {expected[name]}")
    return file_digest(path)


_BASELINE_COLUMNS = ["LAYER", "P", "R", "F"]


@lru_cache(maxsize=4)
def read_baseline(path: str, layer: int, _digest: str) -> tuple[float, float, float]:
    """Return the baseline of P, R and F of a layer from a file of the package bert-score."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            header, *rows = csv.reader(file)
    except (ValueError, csv.Error) as error:
        problem = f"expected a line of {','.join(_BASELINE_COLUMNS)} and a line for each layer"
        raise InputError(f"{path}: no baseline: {problem}") from error
    if header != _BASELINE_COLUMNS:
        expected = f"expected {','.join(_BASELINE_COLUMNS)}"
        raise InputError(f"{path}: line 1: found {quoted(','.join(header))}; {expected}")
    for number, row in enumerate(rows, 2):
        if not row or row[0] != str(layer):
            continue
        try:
            p, r, f = map(float, row[1:])
        except ValueError:
            p = r = f = math.nan
        if not all(-math.inf < value < 1 for value in (p, r, f)):
            problem = f"found {quoted(','.join(row))}; expected three finite numbers below 1"
            raise InputError(f"{path}: line {number}: {problem}")
        return p, r, f
    layers = ", ".join(row[0] for row in rows if row)
    raise InputError(f"{path}: there is no line of layer {layer} (layers: {layers})")


# --------------------------------------------------------------------------------- matching


def match_tokens(
    candidate: TokenMatrix, reference: TokenMatrix, weights: TokenWeights | None = None
) -> tuple[float, float, float]:
    """Return P, R and F of two texts; 0 if one of them has no words."""
    x, y = candidate.encoded, reference.encoded
    if not (x.is_word.any() and y.is_word.any()):
        return 0.0, 0.0, 0.0
    lengths = np.sqrt(candidate.squares[:, None] * reference.squares[None, :])
    dots = product(x.vectors, y.vectors.T)
    cosines = np.divide(dots, lengths, out=np.zeros_like(dots), where=lengths > 0).clip(-1.0, 1.0)
    p = _weighted_mean(cosines.max(axis=1), x, weights)
    r = _weighted_mean(cosines.max(axis=0), y, weights)
    return p, r, 2 * p * r / (p + r) if p + r else 0.0


def _weighted_mean(best: Floats, encoded: Encoded, weights: TokenWeights | None) -> float:
    weight = encoded.is_word.astype(np.float64) if weights is None else weights.of(encoded.ids)
    total = float(product(weight, np.ones(len(weight))))
    return float(product(weight, best)) / total if total else 0.0


@dataclass(frozen=True)
class BERTScore(Metric):
    """Token matching by an encoder (BERTScore): P, R and F; mean over segments.

    Several references: the highest P, R and F. A text without tokens scores 0.
    """

    name: ClassVar[str] = "bertscore"
    title: ClassVar[str] = "BERTScore"
    score_range: ClassVar[str] = "-1 to 1"
    bounded: ClassVar[bool] = False
    slow: ClassVar[bool] = True
    digests: ClassVar[Any] = MappingProxyType(
        {"model": encoder_digest, "idf": _idf_digest, "baseline": baseline_digest}
    )
    reference_weights: ClassVar[TokenWeights | None] = None
    """Weights by the references of the run; not part of the metric's value."""

    model: str | None = setting(
        None, "Folder of an encoder such as BERT; needed.", kind=str, place=True
    )
    layer: int | None = setting(
        None,
        "Layer whose vectors count, 0 for the embeddings (none: the last).",
        kind=int,
        low=0,
        high=1000,
    )
    idf: str | None = setting(
        None,
        "Weights of tokens: none (all 1), references (idf in the references of the run) or a file "
        "with one text per line (idf in its texts).",
        kind=str,
        place=True,
    )
    part: str = setting("f", "The value: f, p (precision) or r (recall).", choices=PARTS)
    precision: str = setting("fp32", "Numbers that the model computes with.", choices=PRECISIONS)
    baseline: str | None = setting(
        None,
        "File of baselines by layer, as bert-score has them: scores become (x - b) / (1 - b).",
        kind=str,
        place=True,
    )
    loader: str = setting("auto", "Library that loads the folder.", choices=LOADERS)

    @property
    def vectors(self) -> TokenVectors:
        """The model, loaded."""
        if self.model is None:
            raise MetricError("bertscore needs an encoder: write bertscore:model=FOLDER")
        encoder = load_encoder(self.model, self.layer, self.precision, self.loader)
        return _shared_vectors(encoder)

    def input_files(self) -> list[str]:
        """Return the files of the model, of idf weights and of baselines."""
        files = [] if self.model is None else encoder_files(self.model)
        paths = [path for path in (self.idf, self.baseline) if path not in (None, OF_REFERENCES)]
        return [*files, *(path for path in paths if path)]

    def check_outputs(self, systems: Sequence[str], segments: SegmentNames) -> None:
        """Raise if the model or another file cannot be loaded, before any work."""
        _ = self.vectors, self._baseline()
        if self.idf != OF_REFERENCES:
            self._weights()

    def with_references(self, references: References) -> BERTScore:
        """Return the metric with the weights of tokens in all references of a run.

        Weights that `with_weights` set are kept.
        """
        if self.idf != OF_REFERENCES or self.reference_weights is not None:
            return self
        return self.with_weights(idf_weights(self.vectors.encoder, _reference_texts(references)))

    def with_weights(self, weights: TokenWeights) -> BERTScore:
        """Return the metric with these weights as those of the references."""
        copied = copy.copy(self)
        object.__setattr__(copied, "reference_weights", weights)
        return copied

    def columns(self) -> tuple[str, ...]:
        """Return the columns: sums of P, R and F, numbers of segments and truncated segments."""
        return "precision", "recall", "f", "segments", "cut"

    def rows(self, pairs: Pairs) -> NDArray[Any]:
        """Return the best P, R and F of each segment."""
        candidates, references = (
            side.views("mixed").strings() for side in (pairs.candidates, pairs.references)
        )
        vectors, weights, starts = self.vectors, self._weights(), pairs.starts.tolist()
        rows = np.ones((len(candidates), 5))
        for block in _blocks(candidates, references, starts):
            if pairs.check:
                pairs.check()
            sides = ((candidates[i], references[starts[i] : starts[i + 1]]) for i in block)
            matrices = vectors.of(chain.from_iterable((text, *refs) for text, refs in sides))
            for i in block:
                matrix = matrices[candidates[i]]
                matched = [matrices[text] for text in references[starts[i] : starts[i + 1]]]
                values = np.array([match_tokens(matrix, other, weights) for other in matched])
                rows[i, :3] = values.max(axis=0)
                rows[i, 4] = any(m.encoded.cut for m in (matrix, *matched))
        if (baseline := self._baseline()) is not None:
            low = np.array(baseline)
            rows[:, :3] = (rows[:, :3] - low) / (1 - low)
        return rows

    def _weights(self) -> TokenWeights | None:
        """Return the weights of tokens; None if all weigh 1."""
        if self.idf is None:
            return None
        if self.idf != OF_REFERENCES:
            return _idf_of_file(self.vectors.encoder, self.idf, _idf_digest(self.idf))
        if self.reference_weights is None:
            problem = "weights need all references at once, and this input is read in parts"
            raise MetricError(f"{self}: {problem}: write the references to a file, and idf=FILE")
        return self.reference_weights

    def _baseline(self) -> tuple[float, float, float] | None:
        if self.baseline is None or self.model is None:
            return None
        layer = encoder_layers(self.model) if self.layer is None else self.layer
        if layer is None:
            problem = "config.json of the model does not say how many layers it has"
            raise MetricError(f"{self}: {problem}: give layer for the baseline")
        return read_baseline(self.baseline, layer, baseline_digest(self.baseline))

    def measure(self, rows: NDArray[Any]) -> dict[str, Floats]:
        """Return the means of P, R and F, one of them as the value."""
        p, r, f = (rows[:, :3] / np.maximum(rows[:, 3:4], 1)).T
        value = {"p": p, "r": r, "f": f}[self.part]
        return {"value": value, "precision": p, "recall": r, "f": f}

    def notes(self, row: NDArray[Any]) -> tuple[str, ...]:
        """Return a note on segments with a truncated text."""
        cut = int(row[4])
        if not cut:
            return ()
        texts = f"{cut:,} of {int(row[3]):,} segments {'has' if cut == 1 else 'have'} a text"
        most = f"longer than the model takes ({self.vectors.encoder.longest:,} tokens)"
        return (f"{texts} {most}: only its beginning counts",)


def _blocks(
    candidates: Sequence[str], references: Sequence[str], starts: Sequence[int]
) -> Iterator[list[int]]:
    """Yield blocks of segments whose vectors fit into memory, equal references together."""
    block: list[int] = []
    characters = 0
    for i in sorted(range(len(candidates)), key=lambda i: references[starts[i]]):
        texts = candidates[i], *references[starts[i] : starts[i + 1]]
        size = sum(map(len, texts))
        if block and (len(block) == _BLOCK_SEGMENTS or characters + size > _BLOCK_CHARACTERS):
            yield block
            block, characters = [], 0
        block.append(i)
        characters += size
    if block:
        yield block
