"""Meaning: cosines of the sentence embeddings of a response and a nugget, as further evidence.

Off unless a classifier names an embedding model. For every cell, of the nugget's descriptions the
best:

    cosine-sentence  the highest cosine of a sentence of the response
    cosine-pair      the highest cosine of two neighbouring sentences together
    cosine-above     the first less its mean over the question's nuggets
"""

from __future__ import annotations

from itertools import pairwise

from karat.arithmetic import product
from karat.arrays import Floats, Ints, np
from karat.metrics.cosine import AnyVectors, units
from karat.nuggets.guess.pool import Pool
from karat.nuggets.guess.words import sentences
from karat.progress import Progress, silent

NAMES = ("cosine-sentence", "cosine-pair", "cosine-above")
"""The columns."""
TEXTS = "Sentences, pairs of sentences and descriptions of nuggets"
"""The texts that are embedded, in notes."""


def meaning(pool: Pool, vectors: AnyVectors, progress: Progress = silent) -> Floats:
    """Return cells x `NAMES`."""
    tables = [np.zeros((0, len(NAMES)))]
    asked = zip(pairwise(pool.starts.tolist()), pairwise(pool.nugget_starts.tolist()), strict=True)
    for (start, end), (first, last) in asked:
        progress(start, len(pool.texts), "embedding sentences")
        if start == end or first == last:
            continue
        bounds = pool.description_starts[first : last + 1]
        described = units(vectors.of(pool.descriptions[bounds[0] : bounds[-1]]).vectors)
        parts = [sentences(text) for text in pool.texts[start:end]]
        together = [[f"{a} {b}" for a, b in pairwise(some)] or some for some in parts]
        own = bounds[:-1] - bounds[0]
        one, two = (_highest(some, vectors, described, own) for some in (parts, together))
        above = one - one.mean(axis=1, keepdims=True)
        tables.append(np.stack([table.ravel() for table in (one, two, above)], axis=1))
    return np.concatenate(tables)


def _highest(
    parts: list[list[str]], vectors: AnyVectors, described: Floats, nuggets: Ints
) -> Floats:
    """Return responses x nuggets: the highest cosine of any part and any description."""
    flat = [part for some in parts for part in some]
    table = product(units(vectors.of(flat).vectors), described.T)
    starts = np.cumsum([0, *map(len, parts)])[:-1]
    of_nuggets = np.maximum.reduceat(table, nuggets, axis=1)
    return np.maximum.reduceat(of_nuggets, starts, axis=0)
