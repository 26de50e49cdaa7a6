"""Texts of an evaluation set that metrics read besides outputs and references."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from karat.errors import InputError, quoted
from karat.metrics.pairs import Outputs

if TYPE_CHECKING:
    from karat.evalset.sets import EvalSet

SOURCE, CONTEXTS = "source", "contexts"
"""The source of a segment, and the passages that systems were given for it."""
_PLURALS = {SOURCE: "sources", CONTEXTS: "contexts"}
ADVICE = {
    SOURCE: "score a set with sources",
    CONTEXTS: "score a table with a column of contexts, or a set that has them",
}
"""Advice if a set has none."""


@dataclass(frozen=True)
class SetTexts:
    """The source or the contexts of each output, by the id of its segment."""

    kind: str
    by_system: Mapping[str, Mapping[str, tuple[str, ...]]]

    def of_output(self, system: str, segment: object) -> tuple[str, ...]:
        """Return the texts of one output."""
        texts = self.by_system.get(system, {}).get(str(segment))
        if texts is None:
            problem = f"segment {quoted(str(segment))} of {quoted(system)} has no {self.kind}"
            raise InputError(f"{problem}: score the set that has it")
        return texts

    def of_batch(self, outputs: Outputs) -> Iterator[tuple[str, ...]]:
        """Yield the texts of each row of a batch."""
        codes = None if outputs.codes is None else outputs.codes.tolist()
        for row, segment in enumerate(outputs.segments()):
            yield self.of_output(outputs.systems[0 if codes is None else codes[row]], segment)


def texts_of_set(evalset: EvalSet | None, kind: str, subject: object, advice: str) -> SetTexts:
    """Return the sources or contexts of a set; raise if it has none.

    `subject` and `advice` are for the message.
    """
    texts: Mapping[str, Sequence[tuple[str, ...]]] = {}
    if evalset is not None and kind == CONTEXTS:
        texts = {system: evalset.passages(system) for system in evalset.systems}
    elif evalset is not None and evalset.sources is not None:
        sources = [(source,) for source in evalset.sources]
        texts = dict.fromkeys(evalset.systems, sources)
    if evalset is None or not any(map(any, texts.values())):
        owner = "texts have" if evalset is None else f"{evalset.name} has"
        raise InputError(f"{subject}: {owner} no {_PLURALS[kind]}: {advice}")
    by_system = {
        system: dict(zip(evalset.segments, of_segments, strict=True))
        for system, of_segments in texts.items()
    }
    return SetTexts(kind, by_system)


def set_texts_of(subject: object, texts: SetTexts | None) -> SetTexts:
    """Return the texts that a metric reads; raise if it scores no set, which would have them."""
    if texts is None:
        raise InputError(
            f"{subject} reads texts of a set: score a set, or a table that is read whole"
        )
    return texts
