"""Disputes: what assessors disagree on, the largest disagreement first; no system is named."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import combinations
from statistics import fmean
from typing import Any, NamedTuple

from karat.studio.export.contents import Answer, Contents, read_item
from karat.studio.export.decided import CHOICE, SPANS, pair_name
from karat.studio.live.state import remembered
from karat.studio.store.settings import ProjectSettings
from karat.studio.store.store import Store
from karat.studio.tasks import TASKS
from karat.studio.tasks.nuggets import LABELS
from karat.studio.tasks.task import overlap_f1


class Said(NamedTuple):
    """The answer of one assessor."""

    assessor: str
    """A pseudonym."""
    value: Any
    """A rating, a label of a nugget, spans with their score, or the better output (None: tie)."""
    comment: str
    judgement: int


class Dispute(NamedTuple):
    """A thing on which assessors disagree, named as an adjudication names it."""

    task: str
    item: int
    segment: str
    output: int | None
    """None for a pair."""
    about: str
    outputs: tuple[int, ...]
    amount: float
    """From 0 to 1: the range over the scale, or the share of marked characters not shared,
    each with its severity."""
    said: tuple[Said, ...]
    settled: bool
    """Whether an adjudicator has decided."""


def disputes(store: Store, settled: bool = False) -> list[Dispute]:
    """Return the disputes, largest first; those that are `settled` only if asked for."""
    found = remembered(store, "disputes", _disputes)
    return [one for one in found if settled or not one.settled]


def disputes_on(store: Store, item: int) -> list[Dispute]:
    """Return the disputes on one item, settled or not: quick, however much was judged."""
    return _disputes(read_item(store, item))


_Target = tuple[str, int, int | None, str]


def _disputes(contents: Contents) -> list[Dispute]:
    said: dict[_Target, list[Said]] = defaultdict(list)
    outputs: dict[_Target, tuple[int, ...]] = {}
    for answer in contents.answers:
        for target, value in _parts(answer):
            comment, name = answer.value.get("comment", ""), contents.names[answer.assessor]
            said[target].append(Said(name, value, comment, answer.id))
            outputs[target] = tuple(sorted(answer.outputs))
    decided = {(one.task, one.item, one.output, one.about) for one in contents.decisions}
    amounts = _amounts(contents.project.settings)
    found = []
    for target, own in said.items():
        amount = _amount(target, [one.value for one in own], amounts)
        if amount > 0:
            task, item, output, about = target
            place = contents.items[item].segment
            settled = target in decided or (task, item, None, CHOICE) in decided
            at = task, item, place, output, about, outputs[target]
            found.append(
                Dispute(*at, amount, tuple(sorted(own, key=lambda one: one.judgement)), settled)
            )
    return sorted(found, key=lambda one: (-one.amount, one.item, one.task, one.outputs, one.about))


def _parts(answer: Answer) -> list[tuple[_Target, Any]]:
    """Return what an answer says of what."""
    task, item, value = answer.task, answer.item, answer.value
    output = answer.outputs[0]
    if task == "pairs":
        chosen = {"first": answer.outputs[0], "second": answer.outputs[1]}.get(value["choice"])
        return [((task, item, None, pair_name(answer.outputs)), chosen)]
    if task == "spans":
        return [((task, item, output, SPANS), _marks(value))]
    if task == "nuggets":
        labels = value["nuggets"].items()
        return [((task, item, output, id), one["label"]) for id, one in labels]
    rows = TASKS[task].to_judgements(value, answer.outputs)
    return [((task, item, output, about), found) for output, about, found in rows]


def _marks(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return spans and their score, which are decided together."""
    return {name: value[name] for name in (SPANS, "score") if name in value}


_Measure = Callable[[Sequence[Any]], float]


def _amounts(settings: ProjectSettings) -> dict[tuple[str, str], _Measure]:
    """Return how disagreement is measured, by task and dimension."""
    scored = settings.tasks.get("spans", {}).get("scale")
    found: dict[tuple[str, str], _Measure] = {("spans", SPANS): partial(_of_marks, scored)}
    for scale in settings.tasks.get("ratings", {}).get("scales", ()):
        found["ratings", scale["dimension"]] = partial(_range, scale)
    return found


def _amount(
    target: _Target, values: Sequence[Any], known: Mapping[tuple[str, str], _Measure]
) -> float:
    task, about = target[0], target[3]
    if len(values) < 2:
        return 0.0
    if task == "pairs":
        shares = {0.5 if one is None else float(one == min(filter(None, values))) for one in values}
        return max(shares) - min(shares) if len({*values}) > 1 else 0.0
    if task == "nuggets":
        labels = [LABELS[one] for one in values]
        return max(labels) - min(labels)
    return known[task, about](values)


def _range(scale: Mapping[str, Any], values: Sequence[float]) -> float:
    return float((max(values) - min(values)) / (scale["high"] - scale["low"]))


def _of_marks(scale: Mapping[str, Any] | None, values: Sequence[Mapping[str, Any]]) -> float:
    """Return the larger disagreement: on the places of errors, or on the score."""
    places = _unshared([one[SPANS] for one in values])
    return max(places, _range(scale, [one["score"] for one in values])) if scale else places


def _unshared(values: Sequence[Sequence[Mapping[str, Any]]]) -> float:
    """Return 1 less the mean F1 of characters with their severities over pairs of assessors."""
    if all(not one for one in values):
        return 0.0
    places = [_weighed(one) for one in values]
    return 1 - fmean(overlap_f1(a, b) for a, b in combinations(places, 2))


def _weighed(spans: Sequence[Mapping[str, Any]]) -> set[tuple[int, str]]:
    """Return the places of marked characters, each with its severity."""
    return {(at, one["severity"]) for one in spans for at in range(one["start"], one["end"])}
