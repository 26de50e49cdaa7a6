"""A run beside its baseline: the same items, references and settings, or a refusal."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from karat.arrays import NDArray, np
from karat.errors import InputError, quoted, short
from karat.gating.baseline_file import Baseline, StoredMetric
from karat.gating.items import ItemScores, Measured, items_of


class Paired(NamedTuple):
    """The statistics of a run and of its baseline by one measure, item by item."""

    run: Measured
    baseline: NDArray[Any]

    @property
    def before(self) -> Measured:
        """The baseline by the same measure."""
        return self.run._replace(rows=self.baseline)


def matched(items: ItemScores, baseline: Baseline) -> tuple[ItemScores, list[Paired]]:
    """Return the run in the order of the baseline, and both by every measure of the run.

    Other items, another digest of what they are scored against and other signatures are refused.
    """
    check_source(items.source, baseline)
    ordered = items.ordered(_places(items, baseline))
    stored = [_stored(one, baseline) for one in ordered.measures]
    if items.against != baseline.against:
        told = "the items were scored against something else then (other references, or another key"
        raise _differs(baseline, f"{told}: digest {baseline.against}, now {items.against})")
    pairs = [_paired(run, own.rows) for run, own in zip(ordered.measures, stored, strict=True)]
    return ordered, pairs


def _paired(run: Measured, baseline: NDArray[Any]) -> Paired:
    """Return both, without the items that only one of them has a score of."""
    before = run._replace(rows=baseline)
    alone = np.isnan(run.item_values()) != np.isnan(before.item_values())
    if not alone.any():
        return Paired(run, baseline)
    rows, others = (np.where(alone[:, None], 0, own) for own in (run.rows, baseline))
    return Paired(run._replace(rows=rows), others)


def check_source(source: str, baseline: Baseline) -> None:
    """Refuse a baseline of another source."""
    if source != baseline.source:
        told = f"the baseline has scores from {baseline.source}, the run from {source}"
        raise InputError(f"{baseline.path}: {told}: name another baseline")


def _differs(baseline: Baseline, told: str) -> InputError:
    return InputError(f"{baseline.path}: {told}; if that is wanted, write it anew with --update")


def _places(items: ItemScores, baseline: Baseline) -> list[int]:
    """Return where the items of the baseline are in the run; both must have the same."""
    if items.ids == baseline.ids:
        return list(range(len(items.ids)))
    places = {id: at for at, id in enumerate(items.ids)}
    missing = [id for id in baseline.ids if id not in places]
    known = set(baseline.ids)
    extra = [id for id in items.ids if id not in known]
    if missing or extra:
        counts = f"the baseline has {items_of(baseline.ids)} and the run {len(items.ids):,}"
        told = [f"{_some(missing)} not in the run"] if missing else []
        told += [f"{_some(extra)} not in the baseline"] if extra else []
        raise _differs(baseline, f"{counts}: {', '.join(told)}")
    return [places[id] for id in baseline.ids]


def _some(ids: Sequence[str]) -> str:
    shown = ", ".join(quoted(id) for id in ids[:3])
    return f"{shown} {'is' if len(ids) == 1 else 'are'}" + (
        "" if len(ids) <= 3 else f", with {len(ids) - 3:,} more,"
    )


def _stored(run: Measured, baseline: Baseline) -> StoredMetric:
    """Return the statistics of the baseline with the signature of the run."""
    for one in baseline.metrics:
        if one.signature == run.signature:
            if one.columns != run.measure.columns():
                told = f"{one.name} has the columns {', '.join(one.columns)}"
                raise _differs(baseline, f"{told}, expected {', '.join(run.measure.columns())}")
            return one
    alike = [one for one in baseline.metrics if _head(one.signature) == _head(run.signature)]
    if not alike:
        names = short(", ".join(one.name for one in baseline.metrics))
        raise _differs(baseline, f"there are no scores by {run.name}, but by {names}")
    changed = setting_changes(alike[0].signature, run.signature)
    raise _differs(baseline, f"{run.name} has another signature: {changed}")


def _head(signature: str) -> str:
    return re.split(r"[:|]", signature, maxsplit=1)[0]


def setting_changes(old: str, new: str) -> str:
    """Return the settings in which two signatures differ, in words."""
    before, after = _settings(old), _settings(new)
    names = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    told = (f"{n}={before.get(n, 'unset')}, now {n}={after.get(n, 'unset')}" for n in names)
    return "; ".join(told) or f"{short(old)}, now {short(new)}"


def _settings(signature: str) -> dict[str, str]:
    items = re.split(r"[,|:]", signature)[1:]
    return {name: value for name, _, value in (item.partition("=") for item in items)}
