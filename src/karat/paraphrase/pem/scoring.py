"""Scores of paraphrases by PEM, for systems and for every paraphrase."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from karat.errors import InputError
from karat.metrics.pairs import Outputs
from karat.paraphrase.pem.features import MetricNames
from karat.paraphrase.pem.model import BUNDLED, PEM, PEMScores, as_pem
from karat.progress import Progress, silent
from karat.results import Result
from karat.scoring import interval_fields
from karat.stats.resampling import SEED
from karat.text.segments import Texts, as_segments

Candidates: TypeAlias = "Mapping[str, Texts] | Sequence[tuple[str, Texts]] | Texts"
"""Paraphrases by system, as a mapping or as pairs; or those of one system."""


class SystemRow(NamedTuple):
    """A system: the means over its paraphrases, and the 95% interval of PEM."""

    system: str
    paraphrases: int
    low: float | None
    """None without an interval."""
    high: float | None
    pem: float
    pivot_f1: float
    fluency: float
    target_f1: float


class ParaphraseRow(NamedTuple):
    """A paraphrase, PEM from 1 to 5, and its three parts."""

    system: str
    segment: int
    original: str
    paraphrase: str
    pem: float
    pivot_f1: float
    fluency: float
    target_f1: float


@dataclass(frozen=True, eq=False, repr=False)
class ParaphraseScores(Result):
    """Scores of systems in `rows` and, if asked for, of every paraphrase in `segments`."""

    rows: tuple[SystemRow, ...]
    segments: tuple[ParaphraseRow, ...]
    settings: Mapping[str, object]
    notes: tuple[str, ...]
    signature: str


_NO_SCORE = "The model has parts, but no PEM score: train it with --judged or --combine mean."


def score_paraphrases(
    candidates: Candidates,
    originals: Texts,
    model: PEM | str | os.PathLike[str] = BUNDLED,
    *,
    form: str | None = None,
    features: MetricNames = (),
    segments: bool = True,
    resamples: int = 1000,
    seed: int = SEED,
    threads: int | None = None,
    progress: Progress = silent,
) -> ParaphraseScores:
    """Score paraphrases by PEM, from 1 (bad) to 5 (same meaning, fluent, other words).

    Args:
        candidates: paraphrases of one system, or of several by name, in the order of `originals`.
        originals: texts.
        model: a model or its file; by default the bundled one.
        form: features; chooses the bundled model that has them. Another model must have them.
        features: metrics that the model has as features, with files that are elsewhere now.
        segments: keep the score of every paraphrase.
        resamples: number of bootstrap resamples for the intervals; 0 for no intervals.
        seed: seed of the random numbers.
        threads: number of threads; by default all processors.
        progress: function that is called with the progress.
    """
    pem = as_pem(model, form).taking(features)
    if form is not None and pem.form != form:
        raise InputError(
            f"{pem.name} has the form {pem.form}, and its regression needs the features of that "
            f"form: train a model with --form {form}"
        )
    original_texts = as_segments(originals, "originals")
    notes: tuple[str, ...] = ()
    rows: list[SystemRow] = []
    paraphrase_scores: list[ParaphraseRow] = []
    for name, candidate_texts in _systems(candidates):
        texts = as_segments(candidate_texts, "candidates")
        work: dict[str, Any] = {"threads": threads, "progress": progress}
        parts = pem.features(original_texts, texts, Outputs((name,)), **work)
        scores = PEMScores(pem.combine(parts), *parts.parts)
        notes += tuple(f"{name}, {note}" for note in parts.notes)
        rows.append(_system_row(name, scores, resamples, seed))
        if segments:
            both = (side.views(0, len(side)).strings() for side in (original_texts, texts))
            paraphrase_scores += paraphrase_rows(name, scores, *both)
    notes += pem.cautions
    if pem.combination is None:
        notes += (_NO_SCORE,)
    settings: dict[str, object] = {"model": pem.name, "model_settings": pem.description}
    settings |= {"resamples": resamples, "seed": seed}
    signature = pem.signature_of_scores(interval_fields(resamples, seed))
    return ParaphraseScores(tuple(rows), tuple(paraphrase_scores), settings, notes, signature)


def _system_row(system: str, scores: PEMScores, resamples: int, seed: int) -> SystemRow:
    """Return the means of a system, and the interval of PEM if there is one."""
    low, high = scores.interval(resamples, seed) or (None, None)
    means = (float(column.mean()) for column in scores)
    return SystemRow(system, len(scores.pem), low, high, *means)


def paraphrase_rows(
    system: str,
    scores: PEMScores,
    originals: Sequence[str],
    paraphrases: Sequence[str],
) -> Iterator[ParaphraseRow]:
    """Yield the rows of the paraphrases of a system."""
    columns = [column.tolist() for column in scores]
    for i, row in enumerate(zip(originals, paraphrases, *columns, strict=True), 1):
        yield ParaphraseRow(system, i, *row)


def _systems(candidates: Candidates) -> Sequence[tuple[str, Texts]]:
    if isinstance(candidates, Mapping):
        return list(candidates.items())
    if isinstance(candidates, list | tuple) and candidates and isinstance(candidates[0], tuple):
        return candidates
    return [("candidate", candidates)]  # type: ignore[list-item]
