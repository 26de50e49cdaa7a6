"""`score`: any number of systems by any number of metrics in one pass over the text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from karat.arithmetic import exact_sums
from karat.arrays import np
from karat.errors import InputError, quoted
from karat.evalset.sets import EvalSet
from karat.metrics.base import Metric, check_form
from karat.progress import Progress, silent
from karat.scoring.inputs import Systems, as_inputs
from karat.scoring.intervals import Drawn, scored
from karat.scoring.one_pass import Collected, Wanted, collect
from karat.scoring.score_rows import DocumentScore, Scoring
from karat.settings import check_trials, renamed
from karat.stats.resampling import SEED
from karat.text.references import GivenReferences, References
from karat.text.segments import Segments

if TYPE_CHECKING:
    from karat.ranked_segments import TextLookup


@renamed(bootstrap="resamples")
def score(
    systems: Systems | EvalSet | str,
    references: GivenReferences | None = None,
    metrics: Sequence[str | Metric] | str | Metric = ("bleu",),
    *,
    resamples: int = 0,
    seed: int = SEED,
    buckets: int | None = None,
    segments: bool = False,
    level: str = "system",
    threads: int | None = None,
    progress: Progress = silent,
    signature: str = "karat",
) -> Scoring:
    """Score systems; with `resamples` above 0 also a 95% bootstrap interval for each.

    An evaluation set, or its name, brings its own references: `score("demo", metrics=["bleu"])`.
    `buckets` groups segments for resampling (default: 4,096 above two million segments of all
    systems, else none). `signature="sacrebleu"` signs BLEU, chrF and TER in sacreBLEU's form.
    `level="document"` also scores each document, from the sums of its segments' statistics;
    `level="segment"` is the same as `segments=True`.
    """
    segments = as_level(level, segments, resamples) == "segment"
    given = as_inputs(systems, references, metrics, threads, progress)
    check_trials("resamples", resamples, 0)
    check_form(signature)
    drawn = Drawn.of(resamples, seed, given.outputs, buckets)
    documents = _documents(given.systems) if level == "document" else None
    keep_rows = resamples > 0 or documents is not None
    want = Wanted(rows=keep_rows, values=segments, buckets=drawn.buckets)
    found = collect(given, want, threads, progress, drawn.fields)
    made = scored(found, given.references.number, drawn, signature, progress)
    if documents is not None:
        scores = document_scores(found, documents, given.references.number)
        return replace(made, documents=scores)
    if not segments:
        return made
    ids = next(iter(given.systems.values())).ids
    return replace(made, texts=_texts(given.systems, given.references), ids=ids)


LEVELS = ("system", "segment", "document")
"""Levels of scores."""


def as_level(level: str, segments: bool = False, resamples: int = 0) -> str:
    """Return the level of scores; `segments` asks for the level of segments, too."""
    if level not in LEVELS:
        raise InputError(f"level {quoted(level)}: expected one of {', '.join(LEVELS)}")
    if segments and level == "document":
        raise InputError("level document and segments=True exclude each other: leave out one")
    if level == "document" and resamples:
        raise InputError("scores of documents have no intervals: leave out the resamples")
    return "segment" if segments else level


def _documents(systems: Mapping[str, Segments]) -> Sequence[str]:
    """Return the document of each segment."""
    documents = next(iter(systems.values())).documents
    if documents is None:
        raise InputError(
            "the segments have no documents, which level document needs: give an evaluation set "
            "whose segments are grouped, or files that name their documents (--read-as gtm-sgml, "
            "in Python kt.load_texts)"
        )
    return documents


def document_scores(
    collected: Mapping[tuple[str, Metric], Collected],
    documents: Sequence[str],
    references: int | None,
) -> tuple[DocumentScore, ...]:
    """Return the score of each document: that of the sum of its segments' statistics."""
    places: dict[str, list[int]] = {}
    for place, document in enumerate(documents):
        places.setdefault(document, []).append(place)
    scores = []
    for (system, m), part in collected.items():
        rows = np.concatenate(part.rows)
        sums = np.array([exact_sums(rows[members]) for members in places.values()])
        of_documents = m.of_documents()
        values = of_documents.scores(sums, references)
        for (document, members), value in zip(places.items(), values, strict=True):
            scores.append(DocumentScore(system, of_documents, document, len(members), value))
    return tuple(scores)


def _texts(systems: Mapping[str, Segments], references: References) -> TextLookup:
    from karat.ranked_segments import texts_of

    return texts_of(systems, references)
