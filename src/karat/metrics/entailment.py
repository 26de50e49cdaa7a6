"""Entailment: what follows from what, by a cross-encoder (`cross_encoders`) on the user's machine.

`entail` asks whether the sentences of the reference follow from the output, `support` whether the
sentences of the output, or of the reference, follow from the passages that systems were given.
Sentences are those of `text.sentences.statements`.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice, pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from karat.arrays import Floats, NDArray, np
from karat.errors import InputError, MetricError
from karat.metrics.base import Metric
from karat.metrics.cross_encoders import (
    CrossEncoder,
    Entailed,
    Pair,
    best_of,
    load_cross_encoder,
    read_labels,
)
from karat.metrics.encoders import LOADERS, PRECISIONS, encoder_digest, encoder_files
from karat.metrics.pairs import Pairs, SegmentNames
from karat.metrics.set_texts import ADVICE, CONTEXTS, SetTexts, set_texts_of, texts_of_set
from karat.progress import Progress, silent
from karat.settings import setting
from karat.text.sentences import statements

if TYPE_CHECKING:
    from karat.evalset.sets import EvalSet

_BATCH_SEGMENTS = 16
"""Segments of a batch: a pair takes a thousand times as long as the counts of a segment."""


class JudgedSentence(NamedTuple):
    """A sentence with the best of its premises."""

    sentence: str
    premise: str | None
    """The premise with the highest P(entailment); None if there is none."""
    entailed: Entailed


def premises_of(text: str, most: int) -> list[str]:
    """Return the runs of 1 to `most` consecutive sentences of a text; 0: the text as a whole."""
    if not most:
        return [text] if text.strip() else []
    parts = statements(text)
    ends = range(1, len(parts) + 1)
    return [" ".join(parts[e - n : e]) for n in range(1, most + 1) for e in ends if e >= n]


class _Texts(NamedTuple):
    """Sentences, and the premises that they may follow from."""

    sentences: Sequence[str]
    premises: Sequence[str]

    def pairs(self) -> Iterator[Pair]:
        return ((premise, text) for text in self.sentences for premise in self.premises)

    def judged(self, judgements: Mapping[Pair, Entailed]) -> list[JudgedSentence]:
        judged = []
        for text in self.sentences:
            best = best_of(judgements[premise, text] for premise in self.premises)
            premise = self.premises[best.premise] if self.premises else None
            judged.append(JudgedSentence(text, premise, best))
        return judged


def judge_sentences(
    model: CrossEncoder, texts: Iterable[_Texts], check: Callable[[], None] | None = None
) -> list[list[JudgedSentence]]:
    """Judge all sentences in one call of the model, which judges each distinct pair once.

    `check` is called from time to time, and raises to stop.
    """
    listed = list(texts)
    judgements = model.judge([pair for part in listed for pair in part.pairs()], check)
    return [part.judged(judgements) for part in listed]


@dataclass(frozen=True)
class _CrossEncoderMetric(Metric):
    """Settings and checks of metrics that need a cross-encoder."""

    digests: ClassVar[Any] = MappingProxyType({"model": encoder_digest})
    batch_segments: ClassVar[int] = _BATCH_SEGMENTS

    model: str | None = setting(
        None,
        "Folder of a cross-encoder whose labels include entailment; needed.",
        kind=str,
        place=True,
    )
    precision: str = setting("fp32", "Numbers that the model computes with.", choices=PRECISIONS)
    loader: str = setting("auto", "Library that loads the folder.", choices=LOADERS)

    @property
    def encoder(self) -> CrossEncoder:
        """The model, loaded."""
        return load_cross_encoder(self._folder, self.precision, self.loader)

    @property
    def _folder(self) -> str:
        if self.model is None:
            raise MetricError(f"{self.name} needs a cross-encoder: write {self.name}:model=FOLDER")
        return self.model

    def input_files(self) -> list[str]:
        """Return the files of the model."""
        return [] if self.model is None else encoder_files(self.model)

    def check_outputs(self, systems: Sequence[str], segments: SegmentNames) -> None:
        """Raise if the model cannot be loaded, before any work."""
        _ = self.encoder

    def _length_notes(self, in_windows: int, cut: int, segments: int) -> tuple[str, ...]:
        """Return notes on segments with texts that are too long for the model."""
        limit = (
            f"than the model takes ({self.encoder.longest:,} tokens)" if in_windows or cut else ""
        )
        notes = []
        if in_windows:
            share = _count_segments(in_windows, segments)
            notes.append(f"{share} a premise longer {limit}: it is read in overlapping windows")
        if cut:
            share = _count_segments(cut, segments)
            notes.append(
                f"{share} a sentence of more than half {limit[5:]}: its end does not count"
            )
        return tuple(notes)


def _count_segments(count: int, segments: int) -> str:
    return f"{count:,} of {segments:,} segments {'has' if count == 1 else 'have'}"


def _has_long_texts(judged: Iterable[Sequence[JudgedSentence]]) -> tuple[bool, bool]:
    """Return whether a premise was read in windows, and whether a sentence was truncated."""
    entailed = [sentence.entailed for sentences in judged for sentence in sentences]
    return any(e.in_windows for e in entailed), any(e.cut for e in entailed)


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else 0.0


ENTAILMENT_PARTS = {
    "entailment": "probability that the reference follows from the output",
    "contradiction": "probability that the output contradicts the reference; lower is better",
}
"""Parts of `entail` that can be its value."""


@dataclass(frozen=True)
class Entailment(_CrossEncoderMetric):
    """Entailment of the reference by the output, by a cross-encoder; mean over segments.

        score = mean over the sentences s of the reference of  max over p of P(entailment | p, s)

    p are the runs of up to `sentences` consecutive sentences of the output. The contradiction of s
    is that given the run that is least neutral to s. Several references: the best, for each part
    by itself. A text without sentences scores 0.
    """

    name: ClassVar[str] = "entail"
    title: ClassVar[str] = "Entailment"

    part: str = setting("entailment", "The value.", choices=ENTAILMENT_PARTS)
    sentences: int = setting(
        2,
        "Most consecutive sentences of the output that are read together (0: the whole output).",
        low=0,
        high=100,
    )

    @property
    def sign(self) -> int:
        """-1 for contradiction: lower is better."""
        return -1 if self.part == "contradiction" else 1

    def check_outputs(self, systems: Sequence[str], segments: SegmentNames) -> None:
        """Raise if the model cannot be loaded or has no label for the part, before any work."""
        if self.part == "contradiction" and read_labels(self._folder).contradiction is None:
            problem = "the model has no label of contradiction in config.json"
            raise InputError(f"{self}: {problem}: leave part out, or use another model")
        super().check_outputs(systems, segments)

    def columns(self) -> tuple[str, ...]:
        """Return the columns: sums of the parts, numbers of segments and of those with a note.

        `contradicting` counts segments whose contradiction is known to the model.
        """
        return "entailment", "contradiction", "contradicting", "segments", "windows", "cut"

    def rows(self, pairs: Pairs) -> NDArray[Any]:
        """Return the highest P(entailment) and the lowest P(contradiction) of each segment."""
        candidates, references = (
            side.views("mixed").strings() for side in (pairs.candidates, pairs.references)
        )
        encoder, starts = self.encoder, pairs.starts.tolist()
        texts = []
        for candidate, (start, end) in zip(candidates, pairwise(starts), strict=True):
            premises = premises_of(candidate, self.sentences)
            texts += [_Texts(statements(text), premises) for text in references[start:end]]
        judged = judge_sentences(encoder, texts, pairs.check)
        has_label = encoder.labels.contradiction is not None
        rows = [self._row(judged[start:end], has_label) for start, end in pairwise(starts)]
        return np.array(rows, np.float64).reshape(len(rows), len(self.columns()))

    def _row(
        self, judged: Sequence[Sequence[JudgedSentence]], has_label: bool
    ) -> tuple[float, ...]:
        """Return the row of a segment by the sentences of each of its references."""
        entailment = max(_mean([s.entailed.entailment for s in part]) for part in judged)
        contradiction = min(_mean([s.entailed.contradiction for s in part]) for part in judged)
        lowest = contradiction if has_label else 0.0
        return entailment, lowest, has_label, 1, *_has_long_texts(judged)

    def measure(self, rows: NDArray[Any]) -> dict[str, Floats]:
        """Return the means of the parts, one of them as the value."""
        parts = {"entailment": rows[:, 0] / np.maximum(rows[:, 3], 1)}
        if self.part == "contradiction" or rows[:, 2].any():
            parts["contradiction"] = rows[:, 1] / np.maximum(rows[:, 2], 1)
        return {"value": parts[self.part], **parts}

    def notes(self, row: NDArray[Any]) -> tuple[str, ...]:
        """Return notes on texts that are too long for the model."""
        segments, in_windows, cut = map(int, row[3:].tolist())
        return self._length_notes(in_windows, cut, segments)


THRESHOLD = 0.5
"""Lowest P(entailment) of a sentence that counts as supported."""
SUPPORT_PARTS = {
    "precision": "the output's sentences that follow from a passage",
    "recall": "the reference's sentences that follow from a passage",
    "f": "harmonic mean of precision and recall",
}
"""Parts of `support` that can be its value."""


@dataclass(frozen=True)
class SupportExplanation:
    """The sentences of one output, or of its references, with the best passage of each."""

    value: float
    signature: str
    sentences: Mapping[str, tuple[JudgedSentence, ...]]
    """Sentences of the `output`, of `reference` and of `reference 2`, as the part needs them."""
    threshold: float
    """Lowest P(entailment) of a sentence that counts as supported."""
    candidate: str
    references: tuple[str, ...]
    contexts: tuple[str, ...]

    def is_supported(self, sentence: JudgedSentence) -> bool:
        """Return whether a sentence follows from a passage."""
        return sentence.entailed.entailment >= self.threshold

    def evidence(self) -> Iterator[tuple[str, str]]:
        """Yield the sentences that no passage supports, each with its best P."""
        for owner, judged in self.sentences.items():
            label = "unsupported" if owner == "output" else f"unsupported {owner}"
            for sentence in judged:
                if not self.is_supported(sentence):
                    has_premise = sentence.premise is not None
                    p = f"P {sentence.entailed.entailment:.2f}" if has_premise else "no passages"
                    yield label, f"{sentence.sentence} ({p})"


@dataclass(frozen=True)
class Support(_CrossEncoderMetric):
    """Support by contexts: the share of sentences that follow from a passage; mean over segments.

        precision = supported sentences of the output / its sentences
        recall    = supported sentences of the reference / its sentences
        f         = 2 precision recall / (precision + recall)

    A sentence s is supported if max over p of P(entailment | p, s) >= threshold, where p are the
    passages that the system was given for the segment. With threshold=0, the mean of the
    highest P replaces the share. Several references: the one with the highest recall. A text
    without sentences, and a segment without passages, scores 0.
    """

    name: ClassVar[str] = "support"
    title: ClassVar[str] = "Support by contexts"
    reads_set = True
    contexts: ClassVar[SetTexts | None] = None
    """The passages of each output, from an evaluation set; not part of the metric's value."""

    part: str = setting("precision", "The value.", choices=SUPPORT_PARTS)
    threshold: float = setting(
        THRESHOLD,
        "Lowest P(entailment) of a sentence that counts as supported (0: the mean of P instead).",
        low=0,
        high=1,
    )
    sentences: int = setting(
        0,
        "Most consecutive sentences of a passage that are read together (0: the whole passage).",
        low=0,
        high=100,
    )

    @property
    def needs_references(self) -> bool:
        """False for precision, which compares the output with its contexts alone."""
        return self.part != "precision"

    def for_evalset(
        self, evalset: EvalSet | None, threads: int | None = None, progress: Progress = silent
    ) -> Sequence[Metric]:
        """Return the metric with the contexts of the set."""
        copied = copy.copy(self)
        contexts = texts_of_set(evalset, CONTEXTS, self, ADVICE[CONTEXTS])
        object.__setattr__(copied, "contexts", contexts)
        return (copied,)

    def columns(self) -> tuple[str, ...]:
        """Return the columns: sums over segments of shares, and counts.

        `without_passages`, `windows` and `cut` count segments.
        """
        shares = "precision", "recall", "f"
        counts = "sentences", "unsupported", "reference_sentences", "unsupported_reference"
        return (*shares, *counts, "segments", "without_passages", "windows", "cut")

    def rows(self, pairs: Pairs) -> NDArray[Any]:
        """Return the shares of supported sentences of each segment."""
        candidates, references = (
            side.views("mixed").strings() for side in (pairs.candidates, pairs.references)
        )
        passages = list(set_texts_of(self, self.contexts).of_batch(pairs.outputs))
        ends = pairwise(pairs.starts.tolist())
        texts = [
            self._texts(text, references[start:end], contexts)
            for text, (start, end), contexts in zip(candidates, ends, passages, strict=True)
        ]
        judged = iter(judge_sentences(self.encoder, chain.from_iterable(texts), pairs.check))
        rows = [
            self._row(*islice(judged, len(parts)), contexts=contexts)
            for parts, contexts in zip(texts, passages, strict=True)
        ]
        return np.array(rows, np.float64).reshape(len(rows), len(self.columns()))

    def _texts(
        self, candidate: str, references: Sequence[str], contexts: Sequence[str]
    ) -> list[_Texts]:
        """Return the sentences of the output, and of each reference, as far as the part needs."""
        premises = [part for text in contexts for part in premises_of(text, self.sentences)]
        texts = [_Texts(statements(candidate) if self.part != "recall" else (), premises)]
        if self.part != "precision":
            texts += [_Texts(statements(reference), premises) for reference in references]
        return texts

    def _row(
        self,
        output: Sequence[JudgedSentence],
        *references: Sequence[JudgedSentence],
        contexts: Sequence[str],
    ) -> tuple[float, ...]:
        """Return the row of a segment by the sentences of its output and of each reference."""
        best = max(references, key=self._share, default=())
        p, r = self._share(output), self._share(best)
        f = 2 * p * r / (p + r) if p + r else 0.0
        return (
            *(p, r, f, len(output), self._count_unsupported(output)),
            *(len(best), self._count_unsupported(best), 1, not any(map(str.strip, contexts))),
            *_has_long_texts([output, *references]),
        )

    def _share(self, judged: Sequence[JudgedSentence]) -> float:
        """Return the share of sentences that are supported, or the mean of their probabilities."""
        if not self.threshold:
            return _mean([sentence.entailed.entailment for sentence in judged])
        return 1 - self._count_unsupported(judged) / len(judged) if judged else 0.0

    def _count_unsupported(self, judged: Sequence[JudgedSentence]) -> int:
        return sum(sentence.entailed.entailment < self._lowest for sentence in judged)

    @property
    def _lowest(self) -> float:
        """The threshold; without one, that of the counts and of unsupported sentences."""
        return self.threshold or THRESHOLD

    def measure(self, rows: NDArray[Any]) -> dict[str, Floats]:
        """Return the means over segments, one of them as the value, and counts of sentences."""
        counts = np.asarray(rows, np.float64)
        means = counts[:, :3] / np.maximum(counts[:, 7:8], 1)
        value = means[:, list(self.columns()).index(self.part)]
        if self.part == "f":
            return {"value": value, "precision": means[:, 0], "recall": means[:, 1], "f": value}
        first = 3 if self.part == "precision" else 5
        return {
            "value": value,
            "sentences": counts[:, first],
            "unsupported": counts[:, first + 1],
        }

    def evidence(
        self, candidate: str, references: Sequence[str], system: str, segment: str
    ) -> Iterator[tuple[str, str]]:
        """Yield the sentences of one output that no passage supports, each with its best P."""
        return self.explain(candidate, references, system, segment).evidence()

    def explain(
        self, candidate: str, references: Sequence[str], system: str, segment: str
    ) -> SupportExplanation:
        """Return the sentences of one output, or of its references, with their best passages."""
        contexts = set_texts_of(self, self.contexts).of_output(system, segment)
        texts = self._texts(candidate, references, contexts)
        output, *judged = judge_sentences(self.encoder, texts)
        row = np.array([self._row(output, *judged, contexts=contexts)])
        sentences: dict[str, tuple[JudgedSentence, ...]] = {}
        if self.part != "recall":
            sentences["output"] = tuple(output)
        for number, listed in enumerate(judged, 1):
            sentences["reference" if number == 1 else f"reference {number}"] = tuple(listed)
        return SupportExplanation(
            float(self.measure(row)["value"][0]),
            self.signature(len(references)),
            sentences,
            self._lowest,
            candidate,
            tuple(references),
            contexts,
        )

    def notes(self, row: NDArray[Any]) -> tuple[str, ...]:
        """Return notes on segments without passages, and on texts that are too long."""
        segments, without_passages, in_windows, cut = map(int, row[7:].tolist())
        notes = self._length_notes(in_windows, cut, segments)
        if not without_passages:
            return notes
        return (f"{_count_segments(without_passages, segments)} no passages and score 0", *notes)
