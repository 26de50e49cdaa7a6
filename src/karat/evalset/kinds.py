"""Kinds of sets beside evaluation sets: what the core must know of each, declared by its app."""

from __future__ import annotations

from typing import NamedTuple

from karat.registry import Registry


class SetKind(NamedTuple):
    """The functions that the core needs, each as "module:function"."""

    agreement: str
    """From a set and the controls that are left out to a `JudgeAgreement`."""
    options: str
    """Adds the kind's own options to the command."""
    read: str
    """From name, dimensions, progress and options to a set; None if it is of another kind."""
    estimate: str
    """From a set, a dimension, judges, systems that are left out and settings to an `Estimate`."""
    draws: str
    """From a set and a file to the draws of its units."""
    told: str
    """From a name or path to what is said of such a set elsewhere; "" if it is of another kind."""


SET_KINDS: Registry[SetKind] = Registry("set_kinds", "kind of set", {})
"""Kinds by the names of their classes."""
