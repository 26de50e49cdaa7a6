"""Samples: people's labels of some units, judges' values of all, and how the units were drawn.

Every kind of set becomes a `Sample`: evaluation sets here, others by the function that their kind
names in the registry. Values are turned so that more is better.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from karat.arrays import Flags, Floats, Ints, np
from karat.evalset.draws import Draw
from karat.stats.population import Design, Labelled
from karat.storage.digests import data_digest


class Scale(NamedTuple):
    """The scale of the labels: its ends, where they are known, and which is better."""

    low: float | None = None
    high: float | None = None
    sign: int = 1

    @property
    def turned(self) -> tuple[float | None, float | None]:
        """The ends where more is better."""
        if self.sign > 0:
            return self.low, self.high
        low, high = self.high, self.low
        return None if low is None else -low, None if high is None else -high

    @property
    def ends(self) -> tuple[float, float] | None:
        """Both ends where more is better, if both are known."""
        low, high = self.turned
        return None if low is None or high is None else (low, high)


@dataclass(frozen=True, eq=False)
class Sample:
    """Systems x units: labels and judges' values; `unit` is the word for a unit."""

    name: str
    dimension: str
    systems: tuple[str, ...]
    units: tuple[str, ...]
    unit: str
    y: Floats
    """People's value of each labelled unit, the mean of its labelled outputs; NaN without."""
    x: Floats
    """Judges' values of the same outputs, systems x units x judges; 0 where nothing is labelled."""
    every: Floats
    """Judges' values of all outputs of each unit, systems x units x judges."""
    present: Flags
    """Systems x units: whether the system has an output."""
    judges: tuple[str, ...]
    design: Design
    scale: Scale = field(default_factory=Scale)
    labels: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    """Labels of each system, which may be more than its labelled units."""
    notes: tuple[str, ...] = ()
    draws: tuple[Draw, ...] = ()
    """Draws up to now, where there is a record of them."""
    partly: Flags | None = None
    """Systems x units: whether only some outputs of the unit are labelled; None if none is so."""

    outputs: Floats | None = None
    """Systems x units: the number of outputs, where systems lack some; None if none does."""

    at_ends: Floats | None = None
    """Where labels are comparisons: systems x 2, the share of units in which a system lost all of
    its comparisons, and that in which it won all; None for ratings."""

    @cached_property
    def digest(self) -> str:
        """Eight characters that change with labels, judges' values, draws or the scale."""
        outputs = np.zeros(0) if self.outputs is None else self.outputs
        return data_digest(
            [self.systems, self.units, self.unit, self.judges, self.scale],
            *(self.y, self.x, self.every, self.present, outputs),
            *(self.design.probability, self.design.round),
        )

    @property
    def known(self) -> Flags:
        """Systems x units: whether there is a label."""
        return ~np.isnan(self.y)

    def population(self, system: int) -> Ints:
        """Return the numbers of the units that a system has outputs for."""
        return np.flatnonzero(self.present[system])

    def labelled(self, system: int) -> Ints:
        """Return the numbers of the units that people labelled."""
        return np.flatnonzero(self.known[system])

    def wholly(self, system: int, units: Ints) -> bool:
        """Return whether all outputs of some units are labelled, so that nothing is left to know.

        Otherwise a factor 1 - n / N would take units for known that are not.
        """
        return self.partly is None or not self.partly[system, units].any()

    @property
    def compared(self) -> bool:
        """Whether labels are comparisons of outputs, not ratings."""
        return self.at_ends is not None

    def design_of(self, *systems: int) -> Design:
        """Return how units were drawn, with the sizes that all of some systems have."""
        if self.outputs is None:
            return self.design
        sizes: Floats = np.min(self.outputs[list(systems)], axis=0)
        return replace(self.design, sizes=sizes)

    def values(self, judges: Ints | None = None) -> Labelled:
        """Return what predictions are made from, with all judges or some."""
        chosen = np.arange(len(self.judges)) if judges is None else judges
        every = np.where(self.present[:, :, None], self.every[:, :, chosen], 0.0)
        own = self.design.sizes if self.outputs is None else self.outputs
        sizes = np.where(self.present, own, 0.0)
        weights = np.zeros(self.y.shape)
        for k in range(len(self.systems)):
            units = self.labelled(k)
            weights[k, units] = self.design_of(k).weights(units, len(self.population(k)))
        return Labelled(self.y, self.x[:, :, chosen], every, sizes, weights)

    def select(self, systems: Ints) -> Sample:
        """Return some systems."""
        names = tuple(self.systems[k] for k in systems.tolist())
        parts = {k: getattr(self, k)[systems] for k in ("y", "x", "every", "present", "labels")}
        optional = {k: getattr(self, k) for k in ("partly", "outputs", "at_ends")}
        parts |= {k: own if own is None else own[systems] for k, own in optional.items()}
        return replace(self, systems=names, **parts)

    def only(self, judge: int) -> Sample:
        """Return the sample with one of its judges."""
        one = slice(judge, judge + 1)
        parts = {k: getattr(self, k)[:, :, one] for k in ("x", "every")}
        return replace(self, judges=self.judges[one], **parts)

    def with_means(self) -> Sample:
        """Return each judge's values as two: the mean of a unit over systems, and what is left.

        A unit that a judge finds hard for all systems tells something else than an output that it
        finds worse than others. With one system there is nothing to part, nor with comparisons.
        """
        if len(self.systems) < 2 or not self.judges or self.compared:
            return self
        there = self.present[:, :, None]
        count = np.maximum(there.sum(axis=0), 1)
        mean = np.where(there, self.every, 0.0).sum(axis=0) / count
        whole = np.broadcast_to(mean, self.every.shape)
        x = np.concatenate([np.where(self.known[:, :, None], self.x - mean, 0.0), whole], axis=2)
        every = np.concatenate([self.every - mean, whole], axis=2)
        names = (*self.judges, *(f"{name}, mean of the {self.unit}" for name in self.judges))
        return replace(self, x=x, every=every, judges=names)
