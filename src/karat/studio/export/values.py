"""Values of outputs: each current answer and decision as rows of judge, output, dimension, value.

Comparisons give the share of pairs that an output won. The label of a pair is the adjudicated one,
else that of most assessors; if assessors are equally divided, its basis is `tie` (which is also an
answer).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import partial
from statistics import fmean
from typing import NamedTuple

from karat.evalset.judgements import ADJUDICATED, PERSON
from karat.evalset.reading import format_json_line
from karat.studio.export.contents import Contents
from karat.studio.tasks import PAIRS, TASKS
from karat.studio.tasks.pairs import WIN

MAJORITY, TIE = "majority", "tie"


class JudgedValue(NamedTuple):
    """A value of an output by a judge."""

    output: int
    judge: str
    dimension: str
    value: float
    kind: str = PERSON


def all_values(contents: Contents) -> Iterator[JudgedValue]:
    """Yield the values of all judges, with the shares of comparisons that outputs won."""
    yield from rated_values(contents)
    for output, judge, share, kind in win_shares(contents):
        yield JudgedValue(output, judge, WIN.name, share, kind)


def rated_values(contents: Contents) -> Iterator[JudgedValue]:
    """Yield ratings, penalties and scores: those of people, then adjudicated ones."""
    settings, decider = contents.project.settings, contents.decider
    for answer in contents.answers:
        judge = contents.names[answer.assessor]
        for dimension, value in TASKS[answer.task].rate(answer.value, settings.tasks[answer.task]):
            yield JudgedValue(answer.outputs[0], judge, dimension, value)
    for decision in contents.decisions:
        if decision.output is None:
            continue
        task_settings = settings.tasks[decision.task]
        for dimension, value in TASKS[decision.task].rate_decision(decision, task_settings):
            yield JudgedValue(decision.output, decider, dimension, value, ADJUDICATED)


class PairPreference(NamedTuple):
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


def assessor_preferences(contents: Contents) -> list[PairPreference]:
    """Return the comparisons of all assessors."""
    preferences = []
    for answer in contents.answers_to(PAIRS):
        rows = PAIRS.to_judgements(answer.value, answer.outputs)
        shares = {output: share for output, _, share in rows}
        first, second = sorted(shares)
        judge = contents.names[answer.assessor]
        preferences.append(PairPreference(answer.item, first, second, judge, shares[first]))
    return preferences


def pair_labels(contents: Contents) -> list[PairLabel]:
    """Return one label for each pair that was compared or decided."""
    votes: dict[tuple[int, int, int], list[float]] = defaultdict(list)
    for preference in assessor_preferences(contents):
        votes[preference[:3]].append(preference.share)
    decided_shares = {}
    for decision in contents.decisions_on(PAIRS):
        outputs = [
            output.id for output in contents.outputs.values() if output.item == decision.item
        ]
        (first, second), share = PAIRS.decided_pair(decision, outputs)
        decided_shares[decision.item, first, second] = share
        votes.setdefault((decision.item, first, second), [])  # answers may have been undone
    return [_label_pair(*pair, shares, decided_shares.get(pair)) for pair, shares in votes.items()]


def _label_pair(
    item: int, first: int, second: int, votes: list[float], decided_share: float | None
) -> PairLabel:
    label = partial(PairLabel, item, first, second, votes=tuple(votes))
    if decided_share is not None:
        return label(share=decided_share, basis=ADJUDICATED)
    (share, count), *runners_up = Counter(votes).most_common()
    if runners_up and runners_up[0][1] == count:
        return label(share=0.5, basis=TIE)
    return label(share=share, basis=MAJORITY)


def all_preferences(contents: Contents) -> list[PairPreference]:
    """Return the comparisons of all assessors, and the labels of items with an adjudicated pair.

    An adjudicated value of an output replaces all values of people. So if one pair of an item was
    adjudicated, the labels of its other pairs are added.
    """
    labels = pair_labels(contents)
    adjudicated_items = {label.item for label in labels if label.basis == ADJUDICATED}
    decider = contents.decider
    return assessor_preferences(contents) + [
        PairPreference(label.item, label.first, label.second, decider, label.share, ADJUDICATED)
        for label in labels
        if label.item in adjudicated_items
    ]


def win_shares(contents: Contents) -> Iterator[tuple[int, str, float, str]]:
    """Yield output, judge, share of comparisons won and kind, as readers of comparisons do."""
    shares_won: dict[tuple[int, str, str], dict[str, list[float]]] = {}
    systems = {id: output.system for id, output in contents.outputs.items()}
    for row in all_preferences(contents):
        sides = ((row.first, row.second, row.share), (row.second, row.first, 1 - row.share))
        for output, opponent, share in sides:
            by_opponent = shares_won.setdefault((output, row.judge, row.kind), {})
            by_opponent.setdefault(systems[opponent], []).append(share)
    for (output, judge, kind), by_opponent in shares_won.items():
        means = [sum(shares) / len(shares) for shares in by_opponent.values()]
        yield output, judge, sum(means) / len(means), kind


def preference_lines(contents: Contents) -> Iterator[str]:
    """Yield JSON lines of comparisons, the format of the option `--judgements`."""
    dimension = {"name": WIN.name, "better": "higher", "low": 0.0, "high": 1.0}
    yield format_json_line({"judgements": contents.project.name, "dimensions": [dimension]})
    for row in all_preferences(contents):
        yield format_json_line(
            {
                "segment": contents.items[row.item].segment,
                "system": contents.outputs[row.first].system,
                "other": contents.outputs[row.second].system,
                "judge": row.judge,
                "dimension": WIN.name,
                "value": row.share,
                "kind": row.kind,
            }
        )


def win_lines(contents: Contents) -> Iterator[str]:
    """Yield a table of systems against each other: pairs, wins, losses and ties by label."""
    columns = ("system", "other", "pairs", "won", "lost", "tied", "divided", "share")
    yield "\t".join(columns) + "\n"
    labels_by_pair: dict[tuple[str, str], list[PairLabel]] = defaultdict(list)
    for label in pair_labels(contents):
        first, second = (contents.outputs[id].system for id in (label.first, label.second))
        labels_by_pair[first, second].append(label)
        labels_by_pair[second, first].append(label._replace(share=1 - label.share))
    for pair, labels in sorted(labels_by_pair.items()):
        shares = [label.share for label in labels]
        divided = sum(label.basis == TIE for label in labels)
        counts = (len(shares), shares.count(1.0), shares.count(0.0))
        tied = shares.count(0.5) - divided
        yield "\t".join(map(str, (*pair, *counts, tied, divided, fmean(shares)))) + "\n"
