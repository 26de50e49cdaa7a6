"""`gate`: a run against the baseline that was committed, with a verdict."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from karat.arrays import NDArray, np
from karat.errors import InputError, quoted, short
from karat.gating.baseline_file import (
    Baseline,
    StoredMetric,
    baseline_of,
    check_replaceable,
    read_baseline,
    save_baseline,
)
from karat.gating.decisions import (
    CORRECTIONS,
    FAIL,
    LEAST_RESAMPLES,
    SIMULTANEOUS,
    UNDECIDED,
    VERDICTS,
    Change,
    GateRow,
    GuardRow,
    Limit,
    Paired,
    decide,
    item_deltas,
    item_guards,
    limits_of,
    loss_guard,
    score_guards,
    worst_changes,
)
from karat.gating.items import ItemScores, Measured, item_scores, items_of, source_reader
from karat.progress import Progress, silent
from karat.results import Result
from karat.scoring import interval_fields
from karat.settings import check_count, check_settings, check_trials
from karat.stats.resampling import SEED
from karat.storage.output import FilePath


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


@dataclass(frozen=True, eq=False, repr=False)
class GateResult(Result):
    """The verdict on a run: by metrics (`rows`) and by guards, and the items that lost most."""

    rows: tuple[GateRow, ...]
    guards: tuple[GuardRow, ...]
    changes: tuple[Change, ...]
    """The items that lost most by `changes_by`."""
    changes_by: str
    system: str
    baseline: str
    """The file of the baseline."""
    items: int
    signatures: Mapping[str, str]
    how: Mapping[str, object]
    """Settings of intervals and limits."""
    unit: str = "unit"
    """The word for what items carry."""
    remarks: tuple[str, ...] = ()

    @property
    def verdict(self) -> str:
        """`fail` if any metric or guard fails, else `undecided` if any metric is, else `pass`."""
        return next(verdict for verdict in VERDICTS if verdict in self.verdicts)

    @property
    def verdicts(self) -> tuple[str, ...]:
        """The verdict of each metric and guard, in their order."""
        return (*(row.verdict for row in self.rows), *(row.verdict for row in self.guards))

    @property
    def failed(self) -> bool:
        """True if the verdict is `fail`."""
        return self.verdict == FAIL

    @property
    def undecided(self) -> bool:
        """True if the verdict is `undecided`."""
        return self.verdict == UNDECIDED

    @property
    def sentences(self) -> tuple[str, ...]:
        """A sentence on each metric and guard, in the order of `verdicts`."""
        from karat.gating.decisions import about_guard, about_row

        guards = (about_guard(row, self.unit) for row in self.guards)
        return (*map(about_row, self.rows), *guards)

    @property
    def settings(self) -> Mapping[str, object]:
        """The baseline, the limits, and how intervals were made."""
        return {"baseline": self.baseline, "metrics": tuple(self.signatures), **self.how}

    @property
    def signature(self) -> str:
        """The signatures of all metrics, a line each."""
        return "\n".join(self.signatures.values())

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on how the verdict was made."""
        drawn = f"{self.how['bootstrap']:,} bootstrap resamples of {self.items:,} items"
        many = f", {CORRECTIONS[str(self.how['correction'])]}" if len(self.rows) > 1 else ""
        told = (
            f"Intervals of the difference: 95%, paired, from {drawn}{many}; with few "
            "items they are widened by Student's t. A metric fails if the whole interval is a loss "
            "of more than the tolerated drop, and passes if no part of it is."
        )
        return (told, *self.remarks)

    def __repr__(self) -> str:
        return f"<GateResult: {self.verdict}; {'; '.join(self.sentences)}>"


def gate(
    output: Any,
    references: Any = None,
    metrics: Sequence[Any] | str | None = None,
    *,
    baseline: FilePath,
    max_drop: Limit = 0.0,
    min_score: Limit = None,
    max_item_drop: Limit = None,
    no_loss: bool = False,
    correction: str = SIMULTANEOUS,
    resamples: int = 1000,
    seed: int = SEED,
    examples: int = 10,
    source: str = "texts",
    progress: Progress = silent,
    **settings: Any,
) -> GateResult:
    """Compare a run with a baseline file, and decide: pass, fail or undecided.

    Args:
        output, references: as for `score`, or for another `source`; or `ItemScores`.
        metrics: by default those of the baseline.
        baseline: path of the baseline file.
        max_drop, min_score, max_item_drop: largest loss, lowest score, largest loss of any item;
            each a number, or numbers by metric. `no_loss` forbids the loss of any vital nugget.
        correction: `simultaneous` or `none`. `resamples`, `seed`, `progress` are as for `score`,
            `examples` is the number of items to show, `settings` are those of the source.
    """
    _check(correction, resamples, examples)
    check_settings(gate, [source_reader(source)], settings)
    stored = read_baseline(baseline)
    if metrics is None and not isinstance(output, ItemScores):
        check_source(source, stored)
        metrics = [one.name for one in stored.metrics]
    scored = item_scores(output, references, metrics, source=source, progress=progress, **settings)
    items, pairs = matched(scored, stored)
    names = [pair.run.name for pair in pairs]
    limits = {"max_drop": max_drop, "min_score": min_score, "max_item_drop": max_item_drop}
    found = {name: limits_of(name, given, names) for name, given in limits.items()}
    rows = decide(pairs, found["max_drop"], correction, resamples, seed, progress)
    guards = score_guards(rows, found["min_score"])
    guards += item_guards(pairs, items.ids, found["max_item_drop"])
    guards += [loss_guard(items, stored)] if no_loss else []
    shown = _shown(pairs, rows)
    drawn = interval_fields(resamples, seed)
    how = {**drawn, "correction": correction, **found, "no_loss": no_loss}
    return GateResult(
        rows,
        tuple(guards),
        worst_changes(shown, items, stored, examples),
        shown.run.name,
        items.system,
        stored.path,
        len(items.ids),
        {pair.run.name: _signed(pair.run.signature, drawn) for pair in pairs},
        how,
        items.unit,
        (*items.notes, *_unscored(pairs)),
    )


def _check(correction: str, resamples: int, examples: int) -> None:
    check_count("examples", examples)
    check_trials("resamples", resamples, LEAST_RESAMPLES)
    if correction not in CORRECTIONS:
        expected = f"expected one of {', '.join(CORRECTIONS)}"
        raise InputError(f"correction {quoted(correction)}: {expected}")


def write_baseline(
    output: Any,
    references: Any = None,
    metrics: Sequence[Any] | str | None = None,
    *,
    baseline: FilePath,
    texts: bool = False,
    source: str = "texts",
    progress: Progress = silent,
    **settings: Any,
) -> Baseline:
    """Score a run and write it to a baseline file; return the baseline.

    A file that exists and is no baseline is not replaced.

    Args:
        output, references, source, settings: as for `gate`.
        metrics: by default those of the existing file, or of the source.
        baseline: path of the file.
        texts: store the outputs in the file, for reports.
        progress: function that is called with the progress.
    """
    check_settings(write_baseline, [source_reader(source)], settings)
    check_replaceable(baseline)  # before any work is done
    if metrics is None and not isinstance(output, ItemScores):
        metrics = baseline_metrics(baseline, source)
    items = item_scores(output, references, metrics, source=source, progress=progress, **settings)
    made = baseline_of(items, baseline, texts)
    save_baseline(made)
    return made


def baseline_metrics(path: FilePath, source: str = "texts") -> list[str] | None:
    """Return the metrics of a baseline file, if it can be read.

    One of another source has other metrics.
    """
    try:
        there = read_baseline(path)
    except InputError:
        return None
    return [one.name for one in there.metrics] if there.source == source else None


def _shown(pairs: Sequence[Paired], rows: Sequence[GateRow]) -> Paired:
    """Return the metric whose changes are shown: the first of those with the worst verdict."""
    worst = min(rows, key=lambda row: VERDICTS.index(row.verdict))
    return pairs[rows.index(worst)]


def _signed(signature: str, drawn: Mapping[str, object]) -> str:
    return signature + "".join(f"|{name}={value}" for name, value in drawn.items())


def _unscored(pairs: Sequence[Paired]) -> list[str]:
    """Return sentences on items that have no score in the run or in the baseline."""
    told = []
    for pair in pairs:
        count = int(np.isnan(item_deltas(pair)).sum())
        if count:
            name = pair.run.name
            have = "item has" if count == 1 else "items have"
            told.append(f"{count:,} {have} no score by {name}, now or in the baseline.")
    return told
