"""Documents: segments joined into one text, as in section 3 of GTM's paper, or summed statistics.

In a joined document the candidate is one text, and so is each reference: the k-th reference joins
the k-th references of the segments. Words then match across segments, and runs and n-grams cross
their ends. Sums of the segments' statistics never look beyond a segment.
"""

from __future__ import annotations

from collections.abc import Sequence

from karat.arrays import Flags, Floats, Ints, np
from karat.errors import InputError, quoted
from karat.evalset.sets import EvalSet
from karat.meta.scores import ScoredSet
from karat.metrics.base import Metric
from karat.metrics.pairs import SegmentNames
from karat.progress import Progress, silent
from karat.scoring import Keep, TextInputs, compute_statistics
from karat.stats.correlation import quotient
from karat.text.references import VaryingReferences
from karat.text.segments import Strings

JOINT = " "  # text between two segments, which every tokenizer treats as a word boundary


def score_joined(
    evalset: EvalSet,
    metrics: Sequence[Metric],
    documents: Sequence[Ints],
    is_judged: Flags,
    threads: int | None = None,
) -> dict[Metric, Floats]:
    """Return systems x documents for each metric: scores of joined texts, higher being better.

    `documents` has the indices of the segments of each. Only cells that are `is_judged` are joined.
    A document without any has NaN, as have all documents by metrics that read no texts.
    """
    reading = [m for m in metrics if m.reads_texts]
    scores = {m: np.full((len(is_judged), len(documents)), np.nan) for m in metrics}
    systems_by_cells: dict[
        bytes, list[int]
    ] = {}  # systems with the same judged cells share references
    for k, row in enumerate(is_judged):
        systems_by_cells.setdefault(row.tobytes(), []).append(k)
    outputs = list(evalset.systems.values())
    for systems in systems_by_cells.values():
        parts = [inside[is_judged[systems[0], inside]] for inside in documents]
        filled = [d for d, part in enumerate(parts) if len(part)]
        if not filled or not reading:
            continue
        texts = {
            str(k): Strings(
                [JOINT.join(outputs[k][s] or "" for s in parts[d]) for d in filled], f"system {k}"
            )
            for k in systems
        }
        references = VaryingReferences([_joined_references(evalset, parts[d]) for d in filled])
        inputs = TextInputs(texts, references, reading, SegmentNames(len(filled)))
        rows = compute_statistics(inputs, Keep(rows=True), threads, silent)
        for (system, m), part in rows.items():
            scores[m][int(system), filled] = m.sign * m.measure(part.row_table)["value"]
    return scores


def _joined_references(evalset: EvalSet, places: Sequence[int] | Ints) -> list[str]:
    """Return the references of a document; raise unless all segments have the same number."""
    groups = [evalset.references[s] for s in places]
    sizes = [len(group) for group in groups]
    for s, size in zip(places, sizes, strict=True):
        if size != sizes[0] or not size:
            raise InputError(
                f"{evalset.name}: segment {quoted(evalset.segments[s])} has {size:,} references "
                f"and {quoted(evalset.segments[places[0]])} has {sizes[0]:,}: joined documents "
                "need as many for every segment, and at least one; choose some by their numbers"
            )
    return [JOINT.join(texts) for texts in zip(*groups, strict=True)]


def pseudo_documents(segments: int, length: int, repeats: int, seed: int) -> Ints:
    """Return shuffled segments cut into documents: shuffles x documents x segments.

    Segments that do not fill a document are left out. Each length has its own shuffles.
    """
    rng, documents = np.random.default_rng([seed, length]), segments // length
    shuffles = [rng.permutation(segments)[: documents * length] for _ in range(repeats)]
    return np.stack(shuffles).reshape(repeats, documents, length)


def cells_by_document(cells: Floats, documents: Ints) -> Floats:
    """Return systems x documents x segments x columns, from systems x segments x columns."""
    selected = cells[:, documents.reshape(-1)]
    return selected.reshape(len(cells), *documents.shape, cells.shape[2])


def score_summed(scored: ScoredSet, shuffles: Ints, is_judged: Flags) -> dict[Metric, list[Floats]]:
    """Score pseudo-documents by sums of statistics: one vector per shuffle."""
    scores: dict[Metric, list[Floats]] = {metric: [] for metric in scored.metrics}
    for metric, vectors in scores.items():
        rows = scored.rows[metric] * is_judged[:, :, None]
        for documents in shuffles:
            sums = cells_by_document(rows, documents).sum(axis=2).reshape(-1, rows.shape[2])
            vectors.append(metric.sign * metric.of_documents().measure(sums)["value"])
    return scores


def score_joined_shuffles(
    evalset: EvalSet,
    metrics: Sequence[Metric],
    threads: int | None,
    shuffles: Ints,
    is_judged: Flags,
    progress: Progress,
) -> dict[Metric, list[Floats]]:
    """Score pseudo-documents as joined texts: one vector per shuffle."""
    scores: dict[Metric, list[Floats]] = {metric: [] for metric in metrics}
    for done, documents in enumerate(shuffles, 1):
        joined = score_joined(evalset, metrics, [*documents], is_judged, threads)
        for metric, values in joined.items():
            scores[metric].append(values.reshape(-1))
        progress(done, len(shuffles), "pseudo-documents")
    return scores


def mean_human_scores(human_scores: Floats, shuffles: Ints) -> list[Floats]:
    """Return the mean human scores of pseudo-documents: one vector per shuffle, all systems.

    `human_scores` is systems x segments. `shuffles` holds segment indices: shuffles x documents x
    segments.
    """
    vectors = []
    for documents in shuffles:
        scores_by_document = cells_by_document(human_scores[:, :, None], documents)
        counts = (~np.isnan(scores_by_document)).sum(axis=(2, 3))
        vectors.append(quotient(np.nansum(scores_by_document, axis=(2, 3)), counts).reshape(-1))
    return vectors
