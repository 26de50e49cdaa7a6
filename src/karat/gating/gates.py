"""`gate`: compare a run with a committed baseline and decide."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any

from karat.arrays import np
from karat.errors import InputError, quoted, short
from karat.evalset.sets import EvalSet
from karat.gains import GainRow, gain_rows
from karat.gating.baseline_file import (
    BaselineFile,
    StoredMetric,
    check_replaceable,
    make_baseline,
    read_baseline,
    save_baseline,
)
from karat.gating.decisions import (
    FAIL,
    UNDECIDED,
    VERDICTS,
    GateRow,
    GuardChange,
    GuardRow,
    PairedItems,
    decide,
    describe_guard,
    describe_row,
    item_deltas,
    item_guards,
    loss_guard,
    score_guards,
    worst_changes,
)
from karat.gating.items import ItemScores, MeasuredItems, count_items, item_scores, source_reader
from karat.headings import NUGGETS, OUTPUT
from karat.metrics.base import Metric
from karat.metrics.limits import Limit, resolve_limits
from karat.progress import Progress, silent
from karat.results import Result
from karat.score_settings import CORRECTIONS, correction_setting, kind_setting, units_setting
from karat.scoring import Inference, UnitLabels
from karat.settings import Settings, check_settings, setting, split_unquoted
from karat.storage.output import FilePath


def match_baseline(
    items: ItemScores, baseline: BaselineFile
) -> tuple[ItemScores, list[PairedItems]]:
    """Return the run in the order of the baseline, and the pairs of both by every measure.

    Raise if the items, the digest of the references or the signatures differ.
    """
    check_source(items.source, baseline)
    ordered = items.ordered(_baseline_order(items, baseline))
    stored = [_stored_metric(run, baseline).rows for run in ordered.measures]
    if items.against != baseline.against:
        digests = f"digest {baseline.against}, now {items.against}"
        problem = "the items were scored against something else then"
        raise _mismatch_error(baseline, f"{problem} (other references, or another key: {digests})")
    pairs = []
    for run, rows in zip(ordered.measures, stored, strict=True):
        pair = PairedItems(run, rows)
        alone = np.isnan(run.item_values()) != np.isnan(pair.before.item_values())
        if alone.any():  # leave out items with only one score
            left, right = (np.where(alone[:, None], 0, table) for table in (run.rows, rows))
            pair = PairedItems(run._replace(rows=left), right)
        pairs.append(pair)
    return ordered, pairs


def check_source(source: str, baseline: BaselineFile) -> None:
    """Raise if the scores of the baseline have another source."""
    if source != baseline.source:
        problem = f"the baseline has scores from {baseline.source}, the run from {source}"
        raise InputError(f"{baseline.path}: {problem}: name another baseline")


def _mismatch_error(baseline: BaselineFile, problem: str) -> InputError:
    return InputError(
        f"{baseline.path}: {problem}; if this is intended, write it again with --update"
    )


def _baseline_order(items: ItemScores, baseline: BaselineFile) -> list[int]:
    """Return the positions of the baseline's items in the run; raise if the items differ."""
    if items.ids == baseline.ids:
        return list(range(len(items.ids)))
    places = {id: at for at, id in enumerate(items.ids)}
    missing = [id for id in baseline.ids if id not in places]
    baseline_ids = set(baseline.ids)
    extra = [id for id in items.ids if id not in baseline_ids]
    if missing or extra:
        counts = f"the baseline has {count_items(baseline.ids)} and the run {len(items.ids):,}"
        problems = [f"{_list_ids(missing)} not in the run"] if missing else []
        problems += [f"{_list_ids(extra)} not in the baseline"] if extra else []
        raise _mismatch_error(baseline, f"{counts}: {', '.join(problems)}")
    return [places[id] for id in baseline.ids]


def _list_ids(ids: Sequence[str]) -> str:
    more = f", with {len(ids) - 3:,} more," if len(ids) > 3 else ""
    return f"{', '.join(map(quoted, ids[:3]))} {'is' if len(ids) == 1 else 'are'}{more}"


def _stored_metric(run: MeasuredItems, baseline: BaselineFile) -> StoredMetric:
    for metric in baseline.metrics:
        if metric.signature == run.signature:
            if metric.columns != run.measure.columns():
                columns, expected = map(", ".join, (metric.columns, run.measure.columns()))
                problem = f"{metric.name} has the columns {columns}, expected {expected}"
                raise _mismatch_error(baseline, problem)
            return metric
    name = re.split(r"[:|]", run.signature)[0]
    for metric in baseline.metrics:
        if re.split(r"[:|]", metric.signature)[0] == name:
            changed = setting_changes(metric.signature, run.signature)
            raise _mismatch_error(baseline, f"{run.name} has another signature: {changed}")
    names = short(", ".join(metric.name for metric in baseline.metrics))
    raise _mismatch_error(baseline, f"there are no scores by {run.name}, but by {names}")


def setting_changes(old: str, new: str) -> str:
    """Return the settings in which two signatures differ, in words."""
    before, after = (
        {name: value for name, _, value in (item.partition("=") for item in items[1:])}
        for items in (split_unquoted(text, ",|:") for text in (old, new))
    )
    names = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    changes = (f"{n}={before.get(n, 'unset')}, now {n}={after.get(n, 'unset')}" for n in names)
    return "; ".join(changes) or f"{short(old)}, now {short(new)}"


@dataclass(frozen=True, eq=False, repr=False)
class GateResult(Result):
    """The verdict on a run: by metrics (`rows`) and by guards, and the items that lost most."""

    rows: tuple[GateRow, ...]
    guards: tuple[GuardRow, ...]
    changes: tuple[GuardChange, ...]
    """The items that lost most by `changes_by`."""
    changes_by: str
    system: str
    baseline: str
    """The file of the baseline."""
    items: int
    signatures: Mapping[str, str]
    decision_settings: Mapping[str, object]
    """Settings of intervals and limits."""
    unit: str = "unit"
    """The noun for what items carry."""
    remarks: tuple[str, ...] = ()
    kind: str | None = None
    """Kind of task of the outputs, if it is known."""

    @property
    def gains(self) -> tuple[GainRow, ...]:
        """Agreement of people with differences of these sizes, if the kind of task is known."""
        deltas = (
            (self.system, row.metric, row.delta)
            for row in self.rows
            if isinstance(row.metric, Metric)
        )
        return gain_rows(deltas, self.kind)

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
        guards = (describe_guard(row, self.unit) for row in self.guards)
        return (*map(describe_row, self.rows), *guards)

    @property
    def settings(self) -> Mapping[str, object]:
        """The baseline, the limits and the settings of the intervals."""
        about = {"baseline": self.baseline, "metrics": tuple(self.signatures)}
        task = {} if self.kind is None else {"kind": self.kind}
        return {**about, **self.decision_settings, **task}

    @property
    def signature(self) -> str:
        """The signatures of all metrics, a line each."""
        return "\n".join(self.signatures.values())

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on the method."""
        settings = self.decision_settings
        correction = CORRECTIONS[str(settings["correction"])]
        corrected = f", {correction}" if len(self.rows) > 1 else ""
        interval_note = (
            f"Intervals of the difference: 95%, paired, Student's t with the jackknife error by "
            f"{settings.get('unit', 'item')} and a correction of skewness{corrected}. A metric "
            "fails if the whole interval is a loss of more than the tolerated drop, and passes if "
            "no part of it is."
        )
        return (interval_note, *self.remarks)

    def __repr__(self) -> str:
        return f"<GateResult: {self.verdict}; {'; '.join(self.sentences)}>"


@dataclass(frozen=True)
class GateSettings(Settings):
    """Settings of `gate`, except limits."""

    no_loss: bool = setting(
        False,
        "Fail if an answer lost a vital nugget that the baseline has.",
        option="--no-loss",
        heading=NUGGETS,
    )
    kind: str | None = kind_setting()
    units: str | None = units_setting()
    correction: str = correction_setting()
    examples: int = setting(
        10,
        "Show the N items with the largest losses.",
        low=0,
        option="--examples",
        heading=OUTPUT,
    )


def gate(
    output: Any,
    references: Any = None,
    metrics: Sequence[Any] | str | None = None,
    *,
    baseline: FilePath,
    max_drop: Limit = 0.0,
    min_score: Limit = None,
    max_item_drop: Limit = None,
    no_loss: bool = GateSettings.no_loss,
    kind: str | None = GateSettings.kind,
    units: UnitLabels = GateSettings.units,
    correction: str = GateSettings.correction,
    examples: int = GateSettings.examples,
    source: str = "texts",
    progress: Progress = silent,
    **settings: Any,
) -> GateResult:
    """Compare a run with a baseline file, and decide: pass, fail or undecided.

    Args:
        output, references: as for `score` (texts, a set, a table or a frame), or for another
            `source`; or `ItemScores`.
        metrics: by default those of the baseline.
        baseline: path of the baseline file.
        max_drop, min_score, max_item_drop: largest loss, lowest score, largest loss of any item;
            each a number, or numbers by metric. `no_loss` forbids the loss of any vital nugget.
        kind: kind of task, as for `compare`.
        units: what intervals are computed from, as for `score`; only for texts and sets.
        correction: `simultaneous` or `none`, for several metrics.
        examples: number of items to show.
        source, progress, settings: kind of the run, progress callback, settings of the source.
    """
    GateSettings(no_loss, kind, None, correction, examples)
    if kind is None and isinstance(output, EvalSet):
        kind = output.task_kind
    if units is not None:
        if "units" not in signature(source_reader(source)).parameters:
            raise InputError(f"scores from {source} are compared item by item: leave out units")
        settings["units"] = units
    check_settings(gate, [source_reader(source)], settings)
    stored = read_baseline(baseline)
    if metrics is None and not isinstance(output, ItemScores):
        check_source(source, stored)
        metrics = [metric.name for metric in stored.metrics]
    scored = item_scores(output, references, metrics, source=source, progress=progress, **settings)
    items, pairs = match_baseline(scored, stored)
    names = [pair.run.name for pair in pairs]
    limits = {"max_drop": max_drop, "min_score": min_score, "max_item_drop": max_item_drop}
    limits_by_metric = {name: resolve_limits(name, limit, names) for name, limit in limits.items()}
    rows = decide(pairs, limits_by_metric["max_drop"], correction, items.units)
    guards = score_guards(rows, limits_by_metric["min_score"])
    guards += item_guards(pairs, items.ids, limits_by_metric["max_item_drop"])
    guards += [loss_guard(items, stored)] if no_loss else []
    notes = [*items.notes]
    for pair in pairs:
        if count := int(np.isnan(item_deltas(pair)).sum()):
            have = "item has" if count == 1 else "items have"
            notes.append(f"{count:,} {have} no score by {pair.run.name}, now or in the baseline.")
    worst_row = min(rows, key=lambda row: VERDICTS.index(row.verdict))
    shown_pair = pairs[rows.index(worst_row)]  # the first metric with the worst verdict
    intervals = Inference(items.units).fields()
    signed = "".join(f"|{name}={value}" for name, value in intervals.items())
    return GateResult(
        rows,
        tuple(guards),
        worst_changes(shown_pair, items, stored, examples),
        shown_pair.run.name,
        items.system,
        stored.path,
        len(items.ids),
        {pair.run.name: f"{pair.run.signature}{signed}" for pair in pairs},
        {**intervals, "correction": correction, **limits_by_metric, "no_loss": no_loss},
        items.unit,
        tuple(notes),
        kind,
    )


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
) -> BaselineFile:
    """Score a run and write it to a baseline file; return the baseline.

    An existing file is replaced only if it is a baseline.

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
    written = make_baseline(items, baseline, texts)
    save_baseline(written)
    return written


def baseline_metrics(path: FilePath, source: str = "texts") -> list[str] | None:
    """Return the metrics of a baseline file of this source; None if it cannot be read."""
    try:
        stored = read_baseline(path)
    except InputError:
        return None
    return [metric.name for metric in stored.metrics] if stored.source == source else None
