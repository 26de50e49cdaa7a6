"""Claims of a signature besides its metric's settings: references, resampling and version.

A metric that was read from a signature keeps them. They are checked where the metric is used: what
the signature says must be what is given and asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from karat import __version__
from karat.errors import MetricError

_WAYS = {
    "nrefs": "give the references that the signature is of",
    "bootstrap": "use as many resamples (--resamples)",
    "seed": "use that seed (--seed)",
    "test": "use that test (compare --test)",
    "trials": "use as many trials (compare --trials; --resamples for the bootstrap test)",
    "buckets": "resample as many buckets (--buckets)",
}
"""For every claim, how to make it true."""


@dataclass(frozen=True)
class Claims:
    """Claims by name: nrefs, bootstrap, seed, buckets, test, trials."""

    said: tuple[tuple[str, str], ...] = ()

    def check(self, metric: object, facts: Mapping[str, object], only: str = "") -> None:
        """Refuse claims that are not among the facts; with `only`, look at that claim alone."""
        for name, value in self.said:
            if value == "unknown" or (only and name != only):
                continue
            found = facts.get(name)
            if str(found) != value:
                raise MetricError(
                    f"{metric}: its signature says {name}={value}, but {_found(name, found)}: "
                    f"{_WAYS[name]}, or leave {name} out of the signature"
                )

    def joined(self, metric: object, other: Claims) -> Claims:
        """The claims of two signatures of one metric, which must agree."""
        mine = dict(self.said)
        for name, value in other.said:
            if mine.setdefault(name, value) != value:
                both = f"{name}={mine[name]} and {name}={value}"
                raise MetricError(f"{metric} is given twice, with {both}: leave one of them out")
        return Claims(tuple(mine.items()))


def references_fact(number: int | str | None) -> dict[str, object]:
    """The number of references as signatures write it."""
    return {"nrefs": "var" if number is None else number}


def _found(name: str, value: object) -> str:
    if name == "nrefs":
        some = "the number of references varies" if value == "var" else f"there are {value}"
        return "every segment has 1 reference" if value == 1 else some
    return f"{name}={value} is asked for" if value is not None else f"no {name} is asked for"


def is_count(value: str) -> bool:
    """Return whether a value is a whole number as signatures print it."""
    return value.isascii() and value.isdigit() and (value == "0" or not value.startswith("0"))


def check_version(signature: str, version: str) -> None:
    """Refuse a signature of another version of Karat: its numbers may be others."""
    if version != __version__:
        raise MetricError(
            f"{signature}: a signature of Karat {version}, and this is {__version__}, whose "
            f"numbers may differ: install that version, or leave karat={version} out to score "
            f"with this one"
        )


def check_plugin(signature: str, said: str, installed: str) -> None:
    """Refuse a signature of a plugin's other version, or of a plugin that is not the one here."""
    if said and said != installed:
        here = f"this is {installed}" if installed else "the metric here is Karat's own"
        raise MetricError(
            f"{signature}: a signature of {said}, and {here}: install that version, or leave "
            f"plugin={said} out to score with what is here"
        )
