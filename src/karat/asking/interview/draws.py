"""Random choices by a seed that depend on nothing but the names of things."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from karat.trials import check_count


def shuffled(names: Sequence[str], seed: int, salt: str = "") -> list[str]:
    """Return names in a random order, the same on every machine."""
    return sorted(names, key=lambda name: _hash(f"{seed}\t{salt}\t{name}"))


def drawn(names: Sequence[str], size: int | None, seed: int) -> list[str]:
    """Return a random sample of names in their own order; all if no size is given.

    A larger sample of the same seed contains the smaller one, so no answer is lost to it.
    """
    if size is None:
        return list(names)
    check_count("sample", size, 1)
    kept = set(shuffled(names, seed)[:size])
    return [name for name in names if name in kept]


def _hash(text: str) -> bytes:
    return sha256(text.encode("utf-8", "surrogatepass")).digest()
