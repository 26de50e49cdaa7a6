"""Guards: limits that hold whatever the intervals say, for the score or for every single item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from karat.arithmetic import SLACK
from karat.arrays import Floats, np
from karat.errors import InputError
from karat.gating.baseline_file import Baseline
from karat.gating.decisions import FAIL, PASS, GateRow
from karat.gating.items import ItemScores, Measure
from karat.gating.matching import Paired

MIN_SCORE, MAX_ITEM_DROP, NO_LOSS = "min-score", "max-item-drop", "no-loss"


class GuardRow(NamedTuple):
    """One guard."""

    guard: str
    metric: Measure | None
    verdict: str
    limit: float
    found: float
    """The score, the largest loss of an item, or the number of things that were lost."""
    items: int
    """Number of items that break the guard."""
    item: str | None = None
    """The item that breaks it most."""
    lost: str = ""
    """Names of what was lost, by item."""


class Change(NamedTuple):
    """An item that scores less than it did."""

    item: str
    baseline: float
    score: float
    delta: float
    """Score minus baseline, signed so that a loss is negative."""
    reference: str
    output: str
    baseline_output: str | None
    """None where the baseline does not keep texts."""
    references: tuple[str, ...] = ()
    """All references that the item is scored against."""


def item_deltas(pair: Paired) -> Floats:
    """Return how much every item gained, signed so that a loss is negative; NaN without a score."""
    m = pair.run.measure
    before, after = pair.before.item_values(), pair.run.item_values()
    found: Floats = m.sign * (after - before)
    size = np.maximum(np.abs(before), np.abs(after))
    return np.where(np.abs(found) <= SLACK * size, 0.0, found)


def score_guards(rows: Sequence[GateRow], limits: Mapping[str, float]) -> list[GuardRow]:
    """Return the guards of scores: none may be worse than its limit."""
    found = []
    for row in rows:
        limit = limits.get(str(row.metric))
        if limit is not None:
            short = row.metric.sign * (limit - row.score)
            verdict = FAIL if short > SLACK * max(abs(limit), abs(row.score)) else PASS
            found.append(GuardRow(MIN_SCORE, row.metric, verdict, limit, row.score, 0))
    return found


def item_guards(
    pairs: Sequence[Paired], ids: Sequence[str], limits: Mapping[str, float]
) -> list[GuardRow]:
    """Return the guards of items: none may lose more than its limit."""
    found = []
    for pair in pairs:
        limit = limits.get(pair.run.name)
        if limit is None:
            continue
        losses = np.nan_to_num(-item_deltas(pair), nan=0.0)
        worst, beyond = int(losses.argmax()), int((losses > limit * (1 + SLACK)).sum())
        m, largest = pair.run.measure, max(float(losses[worst]), 0.0)
        item = ids[worst] if largest else None
        verdict = FAIL if beyond else PASS
        found.append(GuardRow(MAX_ITEM_DROP, m, verdict, limit, largest, beyond, item))
    return found


def loss_guard(items: ItemScores, baseline: Baseline) -> GuardRow:
    """Return the guard of what items carry: nothing that the baseline carried may be lost."""
    if items.carried is None or baseline.carried is None:
        told = "its items carry nothing that could be lost, as answers carry nuggets"
        raise InputError(f"no_loss: {items.system} comes from {items.source}: {told}")
    lost = {}
    both = zip(items.ids, baseline.carried, items.carried, strict=True)
    for id, before, after in both:
        if gone := [name for name in before if name not in after]:
            lost[id] = gone
    names = "; ".join(f"{id}: {', '.join(gone)}" for id, gone in lost.items())
    first, count = next(iter(lost), None), sum(map(len, lost.values()))
    return GuardRow(NO_LOSS, None, FAIL if lost else PASS, 0, count, len(lost), first, names)


def worst_changes(
    pair: Paired, items: ItemScores, baseline: Baseline, most: int
) -> tuple[Change, ...]:
    """Return the items that lost most by one metric, with their texts."""
    deltas, before, after = item_deltas(pair), pair.before.item_values(), pair.run.item_values()
    order = np.argsort(np.nan_to_num(deltas, nan=0.0), kind="stable")[:most]
    places = [int(at) for at in order if deltas[at] < 0]
    found = []
    for at, text in zip(places, items.texts(places), strict=True):
        scores = float(before[at]), float(after[at]), float(deltas[at])
        old = None if baseline.texts is None else baseline.texts[at]
        references = (text.reference,) if text.references is None else text.references
        texts = text.reference, text.output
        found.append(Change(items.ids[at], *scores, *texts, old, references))
    return tuple(found)
