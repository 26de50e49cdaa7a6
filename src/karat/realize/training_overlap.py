"""Training overlap: the sentences of an evaluation that a model was trained on.

A model keeps a number of 64 bits for every training sentence (its words in their order, in lower
case), so that it can tell a sentence it has seen without holding any text.
"""

from __future__ import annotations

from hashlib import blake2b

from karat.arrays import NDArray, np
from karat.realize.input_trees import InputTrees

Fingerprints = NDArray[np.uint64]


def fingerprints(trees: InputTrees) -> Fingerprints:
    """Return the number of every tree's sentence."""
    sentences = (trees.sentence(i, trees.reference(i)).lower() for i in range(len(trees)))
    texts = (sentence.encode("utf-8", "surrogatepass") for sentence in sentences)
    digests = b"".join(blake2b(text, digest_size=8).digest() for text in texts)
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)


def count_seen(trees: InputTrees, trained: Fingerprints) -> int:
    """Return how many of the trees' sentences are among those that were trained on."""
    return int(np.isin(fingerprints(trees), trained).sum())
