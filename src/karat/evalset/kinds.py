"""Kinds of sets beside evaluation sets: what the core must know of each, declared by its app."""

from __future__ import annotations

from typing import NamedTuple

from karat.registry import Registry


class SetKind(NamedTuple):
    """What the core knows of a kind; functions as "module:function".

    `karat data judges` needs the first three.
    """

    agreement: str
    """From a set and the controls that are left out to a `JudgeAgreement`."""
    options: str
    """Adds the kind's own options to the command."""
    read: str
    """From name, dimensions, progress and options to a set; None if it is of another kind."""
    is_one: str
    """From a name or path to whether it is a set of this kind."""
    load: str
    """From a name or path to a set."""
    told: str
    """What is said of such a set where an evaluation set is expected."""


SET_KINDS: Registry[SetKind] = Registry("set_kinds", "kind of set", {})
"""Kinds by the names of their classes."""
