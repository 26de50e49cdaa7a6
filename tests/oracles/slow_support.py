"""Entailment of references and support by contexts, sentence by sentence."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from oracles.tiny_cross_encoder import slow_judgement, slow_probabilities, slow_windows


def slow_sentences(text: str) -> list[str]:
    """The sentences of a text whose every sentence ends with `. ` or a line end."""
    parts = (part.strip(" .") for line in text.split("\n") for part in line.split(". "))
    return [part for part in parts if part]


def slow_runs(text: str, most: int) -> list[str]:
    """All runs of 1 to `most` sentences; 0: the whole text."""
    parts = slow_sentences(text)
    if not most:
        return [text] if text.strip() else []
    return [
        " ".join(parts[start:end])
        for start in range(len(parts))
        for end in range(start + 1, min(start + most, len(parts)) + 1)
    ]


def slow_entail(output: str, references: Sequence[str], most: int = 2) -> tuple[float, float]:
    """P(entailment) of the best reference, and the lowest P(contradiction)."""
    rows = []
    for reference in references:
        entailments, contradictions = [], []
        for sentence in slow_sentences(reference):
            judged = [
                slow_probabilities(*window)
                for premise in slow_runs(output, most)
                for window in slow_windows(premise, sentence)
            ]
            entailments.append(max((p[1] for p in judged), default=0.0))
            telling = min(judged, key=lambda p: 1 - p[0] - p[1], default=(0.0, 0.0, 1.0))
            contradictions.append(telling[0])
        rows.append((_mean(entailments), _mean(contradictions)))
    return max(e for e, _ in rows), min(c for _, c in rows)


def slow_support(text: str, passages: Sequence[str], threshold: float, most: int = 0) -> float:
    """The share of a text's sentences that follow from a passage; 0: the mean probability."""
    premises = [run for passage in passages for run in slow_runs(passage, most)]
    best = [
        max((slow_judgement(premise, sentence)[0] for premise in premises), default=0.0)
        for sentence in slow_sentences(text)
    ]
    return _mean([p >= threshold for p in best] if threshold else best)


def _mean(values: Sequence[float]) -> float:
    return fmean(values) if values else 0.0
