"""Agreement of judges on which response carries which nugget: ratings' measures, and kappa."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

from karat.arrays import Floats, np
from karat.errors import InputError
from karat.evalset.catalogue import SetKind
from karat.evalset.judgements import ADJUDICATED, PERSON
from karat.meta.judge_agreement import JudgeAgreement, agreement_of
from karat.nuggets.sets.judgements import UNNAMED, Judgements, Words
from karat.nuggets.sets.nugget_set import NuggetSet, remarks
from karat.stats.judges import JudgeTable, cohen_kappa, judge_table

NUGGET_KIND = SetKind(
    agreement="karat.nuggets.sets.judge_agreement:nugget_judge_agreement",
    options="karat.nuggets.cli.options:judge_options",
    read="karat.nuggets.cli.options:read_judged",
    estimate="karat.nuggets.estimation.estimates:estimate_nuggets",
    draws="karat.nuggets.estimation.question_samples:read_question_draws",
    advice="karat.nuggets.formats.loading:told_of_nuggets",
)
"""Nugget sets, as `karat data judges` knows them."""


class JudgeKappa(NamedTuple):
    """One judge against the majority of the others and against what was adjudicated.

    Labels say carried (if in part) or not; kappa is Cohen's.
    """

    judge: str
    kind: str
    labels: int
    carried: float
    """The share of labels that say carried."""
    others_units: int
    others_equal: float
    others_kappa: float
    adjudicated_units: int
    adjudicated_equal: float
    adjudicated_kappa: float


class PairKappa(NamedTuple):
    """Two judges on the pairs of response and nugget that both labelled."""

    first: str
    second: str
    units: int
    equal: float
    kappa: float
    note: str


@dataclass(frozen=True, repr=False)
class NuggetJudgeAgreement(JudgeAgreement):
    """Agreement of the judges of a nugget set; `kappa` by judge and `pairs` of judges."""

    kappa: tuple[JudgeKappa, ...] = ()
    pairs: tuple[PairKappa, ...] = ()


def nugget_judge_agreement(
    nuggets: NuggetSet, controls: Sequence[str] = ()
) -> NuggetJudgeAgreement:
    """Return how far the judges of nuggets agree; the judgements of some runs may be left out."""
    for tag in controls:
        nuggets.run(tag)
    found = _labels(nuggets.judgements, controls)
    if not found.table.judges:
        found_only = "found only what was adjudicated, " if nuggets.judgements.rows else ""
        raise InputError(
            f"{nuggets.name}: {found_only}expected judgements of judges; name some with "
            "--judgements"
        )
    base = agreement_of(nuggets.name, [("nuggets", found.table, found.runs)], controls)
    kappa = tuple(_judge(found, k) for k in range(len(found.table.judges)))
    labels = zip(found.table.judges, map(_carried, found.table.values), strict=True)
    both = [(a, b, cohen_kappa(x, y)) for (a, x), (b, y) in combinations(labels, 2)]
    pairs = tuple(
        PairKappa(a, b, one.units, one.equal, one.value, one.reason) for a, b, one in both
    )
    notes = (*base.notes, *remarks(nuggets))
    return NuggetJudgeAgreement(
        base.name, base.rows, base.judges, notes, base.settings, kappa=kappa, pairs=pairs
    )


class _Labels(NamedTuple):
    """The labels of judges for pairs of response and nugget, known by the response's words."""

    table: JudgeTable
    """Without what was adjudicated."""
    runs: tuple[str, ...]
    """The first run in which each pair was judged."""
    kinds: dict[str, str]
    adjudicated: Floats
    """The adjudicated value of each pair, or NaN."""


def _labels(judgements: Judgements, out: Sequence[str]) -> _Labels:
    """Return all labels but those of some runs; of a judge's for one pair the most favourable."""
    found: dict[tuple[str, Words], float] = {}
    runs: dict[Words, str] = {}
    settled: dict[Words, float] = {}
    kinds: dict[str, str] = {}
    for row in judgements.rows:
        words, name = row.words, row.judge or UNNAMED
        if row.run in out:
            continue
        if row.kind == ADJUDICATED:
            settled[words] = max(row.value, settled.get(words, 0.0))
            continue
        kinds.setdefault(name, row.kind or PERSON)
        runs.setdefault(words, row.run)
        found[name, words] = max(row.value, found.get((name, words), 0.0))
    units, names = [words for _, words in found], [name for name, _ in found]
    table = judge_table(units, names, list(found.values()))
    known = np.array([settled.get(words, np.nan) for words in table.units], dtype=np.float64)
    return _Labels(table, tuple(runs[words] for words in table.units), kinds, known)


def _carried(values: Floats) -> Floats:
    return np.where(np.isnan(values), np.nan, (values > 0).astype(np.float64))


def _judge(found: _Labels, k: int) -> JudgeKappa:
    name, mine = found.table.judges[k], _carried(found.table.values[k])
    rest = np.delete(found.table.values, k, axis=0)
    yes, no = (rest > 0).sum(axis=0), (rest == 0).sum(axis=0)
    others = cohen_kappa(mine, np.where(yes == no, np.nan, (yes > no).astype(np.float64)))
    settled = cohen_kappa(mine, _carried(found.adjudicated))
    agreed: list[Any] = [v for one in (others, settled) for v in (one.units, one.equal, one.value)]
    labels, carried = int((~np.isnan(mine)).sum()), float(np.nanmean(mine))
    return JudgeKappa(name, found.kinds[name], labels, carried, *agreed)
