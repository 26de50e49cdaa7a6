"""Facts: the share of segments whose numbers, negation and names agree with the reference.

A flag is a hint with evidence, such as "numbers: reference 17, output 71", and no penalty: a
segment is 1 without a flag, else 0. `karat.facts` has the rules.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

from karat.arrays import Floats, NDArray, np
from karat.errors import MetricError, quoted
from karat.facts.comparing import CHECKS, FactChange, fact_changes
from karat.facts.languages import has_other_language
from karat.facts.rules import LANGUAGES, rules_for
from karat.metrics.base import Metric
from karat.metrics.pairs import Pairs
from karat.metrics.set_texts import (
    ADVICE,
    CONTEXTS,
    SOURCE,
    SetTexts,
    set_texts_of,
    texts_of_set,
)
from karat.progress import Progress, silent
from karat.settings import setting

if TYPE_CHECKING:
    from karat.evalset.sets import EvalSet

REFERENCES = "references"
AGAINST = {
    REFERENCES: "all references together",
    SOURCE: "the source, which an evaluation set has",
    CONTEXTS: "the passages that systems were given, which a set has; only what they lack counts",
}
"""Text -> what it is."""
_NOTED_SHARE = 0.2
"""Share of outputs in another language above which a note says so."""
_STOP_INTERVAL = 256  # segments between two checks whether to stop


@dataclass(frozen=True)
class FactsExplanation:
    """The facts in which one output differs from its references."""

    value: float
    signature: str
    changes: tuple[FactChange, ...]
    candidate: str
    references: tuple[str, ...]


@dataclass(frozen=True)
class FactAgreement(Metric):
    """Facts: the share of segments whose numbers, negation and names agree with the reference.

        score = segments without a flag / segments

    A number or name is flagged if no reference has it, or if all have it and the output lacks it;
    negation if there is more or less of it than in every reference. An output may leave out what
    its contexts say; without contexts, all its numbers, names and negations are flagged.
    """

    name: ClassVar[str] = "facts"
    is_share: ClassVar[bool] = True
    set_texts: ClassVar[SetTexts | None] = None
    """The sources or contexts of a set; not part of the metric's value."""

    lang: str = setting("en", "Language of the outputs.", choices=LANGUAGES)
    check: str = setting(
        "+".join(CHECKS), f"What is compared, with + between: {', '.join(CHECKS)}."
    )
    against: str = setting(REFERENCES, "What outputs are compared with.", choices=AGAINST)
    source_lang: str | None = setting(
        None,
        "Language of what outputs are compared with, if it is not `lang`. Names are then not "
        "compared.",
        kind=str,
        choices=LANGUAGES,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        names = self.check.split("+")
        unknown = [name for name in names if name not in CHECKS]
        if unknown or len({*names}) < len(names):
            problem = f"{quoted(unknown[0])} is unknown" if unknown else "a name occurs twice"
            expected = f"some of {', '.join(CHECKS)}, with + between them"
            raise MetricError(f"facts: check={self.check}: {problem}; expected {expected}")
        if not self.checks:
            reason = "between languages" if self._is_translation else f"in {LANGUAGES[self.lang]}"
            raise MetricError(f"facts: check={self.check}: names are not compared {reason}")
        if self.against == SOURCE and self.source_lang is None:
            raise MetricError(
                "facts: against=source needs the language of the source: add source_lang=en"
            )

    @property
    def _is_translation(self) -> bool:
        return self.source_lang not in (None, self.lang)

    @cached_property
    def checks(self) -> tuple[str, ...]:
        """The kinds of facts that are compared, in the order of `CHECKS`."""
        has_names = not self._is_translation and not rules_for(self.lang).is_han
        chosen = self.check.split("+")
        return tuple(name for name in CHECKS if name in chosen and (has_names or name != "names"))

    @property
    def needs_references(self) -> bool:
        """False if outputs are compared with the source or the contexts."""
        return not self.reads_set

    @property
    def reads_set(self) -> bool:
        """True if outputs are compared with the source or the contexts."""
        return self.against != REFERENCES

    def components(self) -> Mapping[str, Metric]:
        """Return the metric of each kind of facts."""
        return {name: replace(self, check=name) for name in self.checks}

    def for_evalset(
        self, evalset: EvalSet | None, threads: int | None = None, progress: Progress = silent
    ) -> Sequence[Metric]:
        """Return the metric with the sources or contexts of the set, if it compares with them."""
        if not self.reads_set:
            return (self,)
        advice = ADVICE[self.against]
        if self.against == SOURCE:
            by_reference = f"-r source.txt -m {replace(self, against=REFERENCES)}"
            advice = f"{advice}, or give the source as the reference, {by_reference}"
        metric = copy.copy(self)
        texts = texts_of_set(evalset, self.against, self, advice)
        object.__setattr__(metric, "set_texts", texts)
        return (metric,)

    def columns(self) -> tuple[str, ...]:
        """Return the columns: flags of each segment, and whether it has another language."""
        return ("clean", *CHECKS, "other_language", "segments")

    def rows(self, pairs: Pairs) -> NDArray[Any]:
        texts = pairs.candidates.views("mixed").strings()
        rows = np.zeros((len(texts), len(self.columns())), np.int64)
        rows[:, -1] = 1
        columns = {name: k for k, name in enumerate(CHECKS, 1)}
        for at, (text, against) in enumerate(zip(texts, self._compared(pairs), strict=True)):
            if pairs.check is not None and at % _STOP_INTERVAL == 0:
                pairs.check()
            rows[at, -2] = has_other_language(text, self.lang)
            for change in self._changes(text, against):
                rows[at, columns[change.check]] = 1
        rows[:, 0] = ~rows[:, 1:-2].any(axis=1)
        return rows

    def _compared(self, pairs: Pairs) -> Iterator[Sequence[str]]:
        """Yield the texts that each output is compared with."""
        if self.reads_set:
            yield from set_texts_of(self, self.set_texts).of_batch(pairs.outputs)
            return
        references = pairs.references.views("mixed").strings()
        starts = pairs.starts.tolist()
        for start, end in pairwise(starts):
            yield references[start:end]

    def _changes(self, text: str, against: Sequence[str]) -> tuple[FactChange, ...]:
        return fact_changes(
            text,
            against,
            self.lang,
            check=self.checks,
            reference_lang=self.source_lang,
            added_only=self.against == CONTEXTS,
        )

    def _against(
        self, references: Sequence[str], system: str | None, segment: str | None
    ) -> Sequence[str]:
        """Return the texts that one output is compared with."""
        if not self.reads_set:
            return references
        return set_texts_of(self, self.set_texts).of_output(str(system), segment)

    def changes(
        self,
        candidate: str,
        references: Sequence[str],
        system: str | None = None,
        segment: str | None = None,
    ) -> tuple[FactChange, ...]:
        """Return the facts in which an output differs, with their words.

        `system` and `segment` are the name and id of the output, whose source or contexts count if
        outputs are compared with them.
        """
        return self._changes(candidate, self._against(references, system, segment))

    def evidence(
        self, candidate: str, references: Sequence[str], system: str, segment: str
    ) -> Iterator[tuple[str, str]]:
        """Yield each kind of facts in which an output differs, with the words of both texts."""
        changes = self.changes(candidate, references, system, segment)
        return describe_changes(changes, self.against_text)

    def explain(
        self,
        candidate: str,
        references: Sequence[str],
        system: str | None = None,
        segment: str | None = None,
    ) -> FactsExplanation:
        """Return the changed, missing and added facts of one output."""
        against = self._against(references, system, segment)
        changes = self._changes(candidate, against)
        signature, value = self.signature(len(references)), float(not changes)
        return FactsExplanation(value, signature, changes, candidate, tuple(against))

    @property
    def against_text(self) -> str:
        """A word for evidence: `reference`, `source` or `contexts`."""
        if self.against == CONTEXTS:
            return CONTEXTS
        return SOURCE if self.against == SOURCE or self._is_translation else "reference"

    def measure(self, rows: NDArray[Any]) -> dict[str, Floats]:
        counts = np.asarray(rows, np.float64)
        segments = np.maximum(counts[:, -1], 1)
        value = counts[:, 0] / segments
        if len(self.checks) == 1:  # also from the rows of a metric with more kinds
            value = 1 - counts[:, 1 + CHECKS.index(self.checks[0])] / segments
        parts = {name: counts[:, k] for k, name in enumerate(CHECKS, 1) if name in self.checks}
        return {"value": value, **parts, "segments": counts[:, -1]}

    def notes(self, row: NDArray[Any]) -> tuple[str, ...]:
        """Return a note if many outputs seem to be in another language."""
        n_other, segments = int(row[-2]), int(row[-1])
        if n_other <= _NOTED_SHARE * segments:
            return ()
        seem = "seems" if n_other == 1 else "seem"
        outputs = f"{segments:,} output{'s' * (segments != 1)}"
        share = f"{n_other:,} of {outputs} {seem} to be in another language"
        advice = "give it, as in facts:lang=de, or lang=other if there are no rules for it"
        return (f"{share} than {LANGUAGES[self.lang]}: {advice}",)

    def remarks(self) -> tuple[str, ...]:
        """Return a note if names are left out."""
        if "names" in self.check.split("+") and "names" not in self.checks:
            reason = "between languages" if self._is_translation else f"in {LANGUAGES[self.lang]}"
            return (f"{self}: names are not compared {reason}.",)
        return ()


def describe_changes(changes: Sequence[FactChange], against: str) -> Iterator[tuple[str, str]]:
    """Yield each kind of facts with its changes in words: `numbers`, `reference 17, output 71`."""
    for check in CHECKS:
        texts = [change.evidence(against) for change in changes if change.check == check]
        if texts:
            yield check, "; ".join(texts)
