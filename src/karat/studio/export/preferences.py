"""Preferences: which of two outputs is better, as each assessor said and as counts.

The label of a pair is what was adjudicated, else what most assessors said; a tie between assessors
is a tie that is named, and `tie` also is an answer.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import partial
from statistics import fmean
from typing import NamedTuple

from karat.evalset.judgements import ADJUDICATED, PERSON
from karat.evalset.reading import json_line
from karat.studio.export.contents import Contents
from karat.studio.export.decided import decided_pair
from karat.studio.tasks import TASKS

WON = "win"
MAJORITY, TIE = "majority", "tie"


class Preference(NamedTuple):
    """A comparison of two outputs; the first has the smaller id."""

    item: int
    first: int
    second: int
    judge: str
    share: float
    """1 if the first is better, 0 if the second is, 0.5 for a tie."""
    kind: str = PERSON


class PairLabel(NamedTuple):
    """The label of a pair."""

    item: int
    first: int
    second: int
    share: float
    basis: str
    """adjudicated, majority, or tie: assessors are equally divided."""
    votes: tuple[float, ...]


def preferences(contents: Contents) -> list[Preference]:
    """Return what each assessor said."""
    found = []
    for one in contents.of_task("pairs"):
        shares = {id: x for id, _, x in TASKS["pairs"].to_judgements(one.value, one.outputs)}
        first, second = sorted(shares)
        judge = contents.names[one.assessor]
        found.append(Preference(one.item, first, second, judge, shares[first]))
    return found


def pair_labels(contents: Contents) -> list[PairLabel]:
    """Return one label for each pair that somebody compared."""
    votes: dict[tuple[int, int, int], list[float]] = defaultdict(list)
    for one in preferences(contents):
        votes[one[:3]].append(one.share)
    decided = {}
    for decision in contents.decided("pairs"):
        own = [one.id for one in contents.outputs.values() if one.item == decision.item]
        (first, second), share = decided_pair(decision, TASKS["pairs"].targets(own))
        decided[decision.item, first, second] = share
        votes.setdefault((decision.item, first, second), [])  # answers may have been undone
    return [_label(*pair, own, decided.get(pair)) for pair, own in votes.items()]


def _label(
    item: int, first: int, second: int, votes: list[float], decided: float | None
) -> PairLabel:
    made = partial(PairLabel, item, first, second, votes=tuple(votes))
    if decided is not None:
        return made(share=decided, basis=ADJUDICATED)
    (most, count), *others = Counter(votes).most_common()
    if others and others[0][1] == count:
        return made(share=0.5, basis=TIE)
    return made(share=most, basis=MAJORITY)


def counted(contents: Contents) -> list[Preference]:
    """Return what each assessor said, and the labels of items with an adjudicated pair.

    An adjudicated value of an output counts instead of all of people's. So where one pair of an
    item was adjudicated, the labels of its other pairs stand beside it.
    """
    labels = pair_labels(contents)
    settled = {one.item for one in labels if one.basis == ADJUDICATED}
    decider = contents.decider
    return preferences(contents) + [
        Preference(one.item, one.first, one.second, decider, one.share, ADJUDICATED)
        for one in labels
        if one.item in settled
    ]


def wins(contents: Contents) -> Iterator[tuple[int, str, float, str]]:
    """Yield output, judge, share of comparisons won and kind, as files of comparisons are read."""
    won: dict[tuple[int, str, str], dict[str, list[float]]] = {}
    system = {id: one.system for id, one in contents.outputs.items()}
    for one in counted(contents):
        sides = ((one.first, one.second, one.share), (one.second, one.first, 1 - one.share))
        for mine, other, share in sides:
            own = won.setdefault((mine, one.judge, one.kind), {})
            own.setdefault(system[other], []).append(share)
    for (output, judge, kind), others in won.items():
        means = [sum(shares) / len(shares) for shares in others.values()]  # as the reader does
        yield output, judge, sum(means) / len(means), kind


def preference_lines(contents: Contents) -> Iterator[str]:
    """Yield JSON lines of comparisons, which `--judgements` of Karat's commands takes."""
    dimension = {"name": WON, "better": "higher", "low": 0.0, "high": 1.0}
    yield json_line({"judgements": contents.project.name, "dimensions": [dimension]})
    for one in counted(contents):
        first, second = contents.outputs[one.first], contents.outputs[one.second]
        found = {
            "segment": contents.items[one.item].segment,
            "system": first.system,
            "other": second.system,
            "judge": one.judge,
            "dimension": WON,
            "value": one.share,
            "kind": one.kind,
        }
        yield json_line(found)


def win_lines(contents: Contents) -> Iterator[str]:
    """Yield a table of systems against each other: pairs, wins, losses and ties by label."""
    columns = ("system", "other", "pairs", "won", "lost", "tied", "divided", "share")
    yield "\t".join(columns) + "\n"
    rows: dict[tuple[str, str], list[PairLabel]] = defaultdict(list)
    for one in pair_labels(contents):
        first, second = contents.outputs[one.first].system, contents.outputs[one.second].system
        rows[first, second].append(one)
        rows[second, first].append(one._replace(share=1 - one.share))
    for pair in sorted(rows):
        labels = rows[pair]
        shares = [one.share for one in labels]
        divided = sum(one.basis == TIE for one in labels)
        counts = (len(shares), shares.count(1.0), shares.count(0.0))
        tied = shares.count(0.5) - divided
        yield "\t".join(map(str, (*pair, *counts, tied, divided, fmean(shares)))) + "\n"
