"""Pseudo-documents (Melamed, Green and Turian 2003, section 3): texts of so many random segments.

Segments are shuffled and cut into documents of k segments; a document's human score is the mean of
its segments', its metric score that of its segments together: of their statistics summed, or of
their texts joined into one, as in the paper. All documents of all systems are the points of one
correlation. Shuffling is repeated, the same way for all metrics and references, so that these are
compared on the same documents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from karat.arrays import Flags, Floats, Ints, np
from karat.evalset.sets import EvalSet
from karat.meta.documents.joined import score_joined
from karat.meta.scores import ScoredSet
from karat.metrics.base import Metric
from karat.stats.correlation import Statistic, quotient

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
        kept = cells[:, shuffle[: self.documents * self.length]]
        return kept.reshape(len(cells), self.documents, self.length, cells.shape[2])


def shuffled_cut(segments: int, length: int, repeats: int, seed: int) -> Cut:
    """Return shuffles of segments, to be cut into documents; a length has its own draws."""
    rng = np.random.default_rng([seed, length])
    return Cut(length, [rng.permutation(segments) for _ in range(repeats)])


DocumentScores = Callable[[Cut, Flags], Mapping[Metric, list[Floats]]]
"""From a cut and the cells that count to the scores of all documents, a row for each shuffle."""


def summed_scores(scored: ScoredSet) -> DocumentScores:
    """Return what scores documents by the sums of their segments' statistics."""

    def score(cut: Cut, known: Flags) -> dict[Metric, list[Floats]]:
        return {metric: list(_summed(scored, metric, cut, known)) for metric in scored.metrics}

    return score


def _summed(scored: ScoredSet, metric: Metric, cut: Cut, known: Flags) -> Iterator[Floats]:
    rows = scored.rows[metric] * known[:, :, None]
    for shuffle in cut.shuffles:
        sums = cut.part(rows, shuffle).sum(axis=2).reshape(-1, rows.shape[2])
        yield metric.sign * metric.of_documents().measure(sums)["value"][None]


def joined_scores(
    evalset: EvalSet,
    metrics: Sequence[Metric],
    tick: Callable[[], None] = lambda: None,
    threads: int | None = None,
) -> DocumentScores:
    """Return what scores documents as joined texts; `tick` is called after each shuffle.

    Dimensions in which the same outputs were judged share what was scored last.
    """
    kept: dict[bytes, dict[Metric, list[Floats]]] = {}
    last: list[Cut] = []

    def score(cut: Cut, known: Flags) -> dict[Metric, list[Floats]]:
        if not last or last[0] is not cut:
            last[:] = [cut]
            kept.clear()
        key = known.tobytes()
        if key not in kept:
            kept[key] = {metric: [] for metric in metrics}
            for shuffle in cut.shuffles:
                documents = list(cut.places(shuffle))
                found = score_joined(evalset, metrics, documents, known, threads)
                for metric, values in found.items():
                    kept[key][metric].append(values.reshape(1, -1))
                tick()
        return kept[key]

    return score


def document_agreement(
    cut: Cut, human: Floats, scores: Mapping[Metric, list[Floats]], by: Statistic
) -> dict[Metric, Floats]:
    """Return the statistic over all documents of all systems, in each shuffle, by each metric."""
    people = [_means(cut.part(human[:, :, None], shuffle)) for shuffle in cut.shuffles]
    return {
        metric: np.array([by(h, m) for h, m in zip(people, own, strict=True)])
        for metric, own in scores.items()
    }


def _means(cells: Floats) -> Floats:
    """The mean human score of each document, one vector for all systems; NaN if nobody judged."""
    known = ~np.isnan(cells)
    return quotient(np.nansum(cells, axis=(2, 3)), known.sum(axis=(2, 3))).reshape(1, -1)
