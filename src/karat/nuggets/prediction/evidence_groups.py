"""Groups of evidence: the sources of the columns from which the calibrated classifier learns.

A group is declared once, in `EVIDENCE_GROUPS`. It is always used, or if a setting of the classifier
has a value, such as the folder of a model. The weights of its columns are learned from judgements.
Without judgements, the built-in weights of a group are used; other columns weigh nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

from karat.arrays import Floats, np
from karat.nuggets.prediction.entailment_evidence import ENTAILMENT_COLUMNS, entailment_evidence
from karat.nuggets.prediction.evidence import NAMES, evidence
from karat.nuggets.prediction.pool import Pool
from karat.nuggets.prediction.token_evidence import TOKEN_COLUMNS, token_evidence
from karat.nuggets.scores.words import IdfTexts, StemIdf
from karat.progress import Progress, silent


class EvidenceInputs(NamedTuple):
    """Texts, weights and settings from which the columns of a group are computed."""

    pool: Pool
    idf: StemIdf
    """Idf of words among `background`."""
    background: IdfTexts
    """Texts that idf comes from; the pool may have a part of the responses."""
    value: str
    """Value of the setting that turns the group on."""
    progress: Progress


@dataclass(frozen=True)
class EvidenceGroup:
    """Columns of evidence that come from one source."""

    columns: tuple[str, ...]
    compute: Callable[[EvidenceInputs], Floats]
    """Function that returns cells x `columns`."""
    setting: str = ""
    """The classifier's setting that turns it on unless it is None; empty: always on."""
    weights: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    """Built-in weights of columns, in units of the column."""


def _word_columns(inputs: EvidenceInputs) -> Floats:
    return evidence(inputs.pool, inputs.idf, inputs.progress)


def _token_columns(inputs: EvidenceInputs) -> Floats:
    return token_evidence(inputs.value, inputs.pool, inputs.background, inputs.progress)


def _entailment_columns(inputs: EvidenceInputs) -> Floats:
    return entailment_evidence(inputs.value, inputs.pool, inputs.progress)


EVIDENCE_GROUPS: Mapping[str, EvidenceGroup] = MappingProxyType(
    {
        "words": EvidenceGroup(
            NAMES,
            _word_columns,
            weights={
                "informative-near": 1.6,
                "informative-whole": 1.6,
                "paper-2": 0.35,
                "characters": 2.0,
            },
        ),
        "tokens": EvidenceGroup(
            TOKEN_COLUMNS, _token_columns, "model", weights={"token-pair-above": 2.0}
        ),
        "entailment": EvidenceGroup(ENTAILMENT_COLUMNS, _entailment_columns, "entail"),
    }
)
"""All groups by name; their columns are in this order. The built-in weight of tokens was chosen on
REALSumm and RAG 2024 with all-MiniLM-L6-v2; a difference between nuggets depends less on the model
than a cosine does."""


@dataclass(frozen=True)
class EvidenceSource:
    """The groups that a classifier uses, each with the value of its setting."""

    values: tuple[tuple[str, str], ...] = (("words", ""),)

    @property
    def groups(self) -> tuple[EvidenceGroup, ...]:
        """The groups, in the order of their columns."""
        return tuple(EVIDENCE_GROUPS[name] for name, _ in self.values)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of all columns."""
        return tuple(name for group in self.groups for name in group.columns)

    @property
    def weights(self) -> Floats:
        """The built-in weights of all columns."""
        return np.array([g.weights.get(name, 0.0) for g in self.groups for name in g.columns])

    def compute(
        self, pool: Pool, idf: StemIdf, background: IdfTexts, progress: Progress = silent
    ) -> Floats:
        """Return cells x `columns`; `idf` and `background` as in `EvidenceInputs`."""
        tables = [
            group.compute(EvidenceInputs(pool, idf, background, value, progress))
            for group, (_, value) in zip(self.groups, self.values, strict=True)
        ]
        return tables[0] if len(tables) == 1 else np.concatenate(tables, axis=1)


def evidence_source(classifier: Any) -> EvidenceSource:
    """Return the groups of evidence that the settings of a classifier turn on."""
    values = []
    for name, group in EVIDENCE_GROUPS.items():
        value = getattr(classifier, group.setting) if group.setting else ""
        if value is not None:
            values.append((name, value))
    return EvidenceSource(tuple(values))
