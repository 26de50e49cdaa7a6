"""Documents as GTM's paper makes them (section 3): their segments joined into one text.

The candidate is one text, and so is each reference: the k-th of a document joins the k-th of its
segments. Then words match across segments, and runs and n-grams go over their ends. The other way,
sums of the segments' statistics, never looks beyond a segment.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from karat.arrays import Flags, Floats, Ints, np
from karat.errors import InputError, quoted
from karat.evalset.sets import EvalSet
from karat.meta.scores import ScoredSet
from karat.metrics.base import Metric
from karat.metrics.pairs import SegmentNames
from karat.progress import silent
from karat.scoring import Keep, TextInputs, compute_statistics
from karat.stats.correlation import Statistic, quotient
from karat.text.references import VaryingReferences
from karat.text.segments import Strings

JOINT = " "  # the text between two segments: no tokeniser takes it for a part of a word


def score_joined(
    evalset: EvalSet,
    metrics: Sequence[Metric],
    documents: Sequence[Ints],
    is_judged: Flags,
    threads: int | None = None,
) -> dict[Metric, Floats]:
    """Systems x documents by each metric: the scores of joined texts, more being better.

    A document is the places of its segments. Of each system only the cells that are `is_judged` are
    part of it; a document without any has NaN, and so has one by a metric that reads no texts.
    """
    reading = [m for m in metrics if m.reads_texts]
    scores = {m: np.full((len(is_judged), len(documents)), np.nan) for m in metrics}
    systems_by_cells: dict[bytes, list[int]] = {}  # the same judged cells: the same references
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
    """The references of a document; every segment must have as many."""
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


DOCUMENT_KINDS = {
    "summed": "the statistics of the segments are added up: matches stay within segments",
    "joined": "the segments are one text, as in the paper of GTM: matches go across them",
}
"""Ways to score the segments of a document together."""


class Cut(NamedTuple):
    """Shuffles of all segments, and the number of segments that make a document."""

    length: int
    shuffles: list[Ints]

    @property
    def documents(self) -> int:
        """Documents of each system in one shuffle; segments that do not fill one are left out."""
        return len(self.shuffles[0]) // self.length

    def places(self, shuffle: Ints) -> Ints:
        """Documents x segments: the places of one shuffle."""
        return shuffle[: self.documents * self.length].reshape(self.documents, self.length)

    def part(self, cells: Floats, shuffle: Ints) -> Floats:
        """Systems x documents x segments x columns of one shuffle."""
        selected = cells[:, shuffle[: self.documents * self.length]]
        return selected.reshape(len(cells), self.documents, self.length, cells.shape[2])


def shuffled_cut(segments: int, length: int, repeats: int, seed: int) -> Cut:
    """Return shuffles of segments, to be cut into documents; a length has its own draws."""
    rng = np.random.default_rng([seed, length])
    return Cut(length, [rng.permutation(segments) for _ in range(repeats)])


DocumentScores = Callable[[Cut, Flags], Mapping[Metric, list[Floats]]]
"""From a cut and the cells that count to the scores of all documents, a row for each shuffle."""


def summed_scores(scored: ScoredSet) -> DocumentScores:
    """Return what scores documents by the sums of their segments' statistics."""

    def score(cut: Cut, is_judged: Flags) -> dict[Metric, list[Floats]]:
        scores: dict[Metric, list[Floats]] = {metric: [] for metric in scored.metrics}
        for metric, documents in scores.items():
            rows = scored.rows[metric] * is_judged[:, :, None]
            for shuffle in cut.shuffles:
                sums = cut.part(rows, shuffle).sum(axis=2).reshape(-1, rows.shape[2])
                documents.append(metric.sign * metric.of_documents().measure(sums)["value"][None])
        return scores

    return score


def joined_scores(
    evalset: EvalSet,
    metrics: Sequence[Metric],
    tick: Callable[[], None] = lambda: None,
    threads: int | None = None,
) -> DocumentScores:
    """Return what scores documents as joined texts; `tick` is called after each shuffle.

    Dimensions in which the same outputs were judged share what was scored last.
    """
    cached: dict[bytes, dict[Metric, list[Floats]]] = {}
    last: list[Cut] = []

    def score(cut: Cut, is_judged: Flags) -> dict[Metric, list[Floats]]:
        if not last or last[0] is not cut:
            last[:] = [cut]
            cached.clear()
        key = is_judged.tobytes()
        if key not in cached:
            cached[key] = {metric: [] for metric in metrics}
            for shuffle in cut.shuffles:
                documents = list(cut.places(shuffle))
                scores = score_joined(evalset, metrics, documents, is_judged, threads)
                for metric, values in scores.items():
                    cached[key][metric].append(values.reshape(1, -1))
                tick()
        return cached[key]

    return score


def document_agreement(
    cut: Cut, human: Floats, scores: Mapping[Metric, list[Floats]], by: Statistic
) -> dict[Metric, Floats]:
    """Return the statistic over all documents of all systems, in each shuffle, by each metric."""
    people = []  # the mean human score of each document, one vector for all systems
    for shuffle in cut.shuffles:
        cells = cut.part(human[:, :, None], shuffle)
        is_judged = ~np.isnan(cells)
        means = quotient(np.nansum(cells, axis=(2, 3)), is_judged.sum(axis=(2, 3)))
        people.append(means.reshape(1, -1))
    return {
        metric: np.array([by(h, m) for h, m in zip(people, metric_scores, strict=True)])
        for metric, metric_scores in scores.items()
    }
