"""Training a language model into a file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from karat.lm.model import LanguageModel
from karat.progress import Progress, silent
from karat.results import Result
from karat.text.segments import Segments, Texts


class NgramCount(NamedTuple):
    """The number of n-grams of one length in a model, and the smallest count of those kept."""

    length: int
    ngrams: int
    min_count: int


@dataclass(frozen=True, eq=False, repr=False)
class TrainedModel(Result):
    """A language model that was written to a file: how many n-grams it has of each length."""

    path: str
    rows: tuple[NgramCount, ...]
    settings: Mapping[str, object]
    notes: tuple[str, ...]
    signature: str


def train_model(
    texts: Texts | Sequence[os.PathLike[str]] | Sequence[Segments],
    path: str | os.PathLike[str],
    order: int = 5,
    *,
    arpa: bool = False,
    progress: Progress = silent,
    **settings: Any,
) -> TrainedModel:
    """Train a model, with the settings of `LanguageModel.train`, and write it to a file.

    ARPA text is written if `arpa` is set or the name ends in `.arpa` or `.arpa.gz`.
    """
    model = LanguageModel.train(texts, order, progress=progress, **settings)
    place = os.fspath(path)
    if arpa or os.path.splitext(place.removesuffix(".gz"))[1] == ".arpa":
        model.write_arpa(place, progress=progress)
    else:
        model.save(place)
    counts = zip(model.counts, model.about["min_counts"], strict=True)
    rows = tuple(NgramCount(n, *found) for n, found in enumerate(counts, 1))
    return TrainedModel(place, rows, model.about, model.notes, model.signature)
