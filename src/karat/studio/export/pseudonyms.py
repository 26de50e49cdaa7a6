"""Pseudonyms of systems, for what an owner sees before the reveal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256

from karat.studio.export.contents import Output
from karat.studio.store.projects import Project


def pseudonyms(systems: Iterable[str], project: Project) -> dict[str, str]:
    """Return `system 1` and so on, in an order that tells nothing of the set's order or names."""

    def drawn(system: str) -> bytes:
        return sha256(f"{project.seed}\n{project.set_digest}\n{system}".encode()).digest()

    ordered = sorted({*systems}, key=drawn)
    width = len(str(len(ordered)))
    return {name: f"system {k:0{width}}" for k, name in enumerate(ordered, 1)}


def masked(outputs: Mapping[int, Output], project: Project) -> dict[int, Output]:
    """Return outputs with pseudonyms, in the order of these."""
    known = pseudonyms((one.system for one in outputs.values()), project)
    found = [one._replace(system=known[one.system]) for one in outputs.values()]
    return {one.id: one for one in sorted(found, key=lambda one: (one.system, one.item))}
