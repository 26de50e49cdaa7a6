"""Values of outputs: each current answer and decision as rows of judge, output, dimension, value.

Error spans give a penalty by the weights of MQM files (`mqm`) or of Appraise (`penalty`), and the
score of ESA; where an owner's severity has no weight there is no penalty. Comparisons give the
share of pairs that an output won.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from statistics import fmean
from typing import Any, NamedTuple

from karat.errors import InputError, quoted
from karat.evalset.formats.appraise import WEIGHTS as ESA_WEIGHTS
from karat.evalset.formats.wmt import WEIGHTS, weight_of
from karat.evalset.judgements import ADJUDICATED, PERSON, Dimension
from karat.evalset.reading import json_line
from karat.studio.export.contents import Contents, ExportedAnswer, ExportedDecision
from karat.studio.store.settings import ProjectSettings
from karat.studio.tasks import TASKS
from karat.studio.tasks.nuggets import LABELS
from karat.studio.tasks.pairs import CHOICES, FIRST_SHARES
from karat.studio.tasks.task import is_number

SPANS, CHOICE = "spans", "choice"


def pair_name(outputs: Sequence[int]) -> str:
    """Return what a decision on a pair is about, such as `3-17`."""
    return "-".join(map(str, sorted(outputs)))


def decided_rating(one: ExportedDecision) -> float:
    """Return the value of a decision on a dimension."""
    value: Any = one.value.get("value") if isinstance(one.value, dict) else one.value
    if not is_number(value):
        raise _wrong(one, "a number")
    return float(value)


def decided_label(one: ExportedDecision) -> float:
    """Return 1, 0.5 or 0 for a decision on a nugget."""
    value: Any = one.value.get("label") if isinstance(one.value, dict) else one.value
    if isinstance(value, str) and value in LABELS:
        return LABELS[value]
    if is_number(value) and value in LABELS.values():
        return float(value)
    raise _wrong(one, ", ".join(LABELS))


def decided_spans(one: ExportedDecision) -> dict[str, Any]:
    """Return a decision on error spans as an answer."""
    found = {SPANS: one.value} if isinstance(one.value, list) else one.value
    if not isinstance(found, dict) or not isinstance(found.get(SPANS), list):
        raise _wrong(one, "spans")
    return found


def decided_pair(
    one: ExportedDecision, known: Sequence[Sequence[int]]
) -> tuple[tuple[int, int], float]:
    """Return the two outputs, the smaller id first, and the share of the win of the first."""
    pairs = {pair_name(pair): (min(pair), max(pair)) for pair in known}
    pair = pairs.get(one.about)
    if one.about == CHOICE and len(pairs) == 1:
        (pair,) = pairs.values()
    if pair is None:
        raise InputError(
            f"adjudication {one.id}: found a decision about {quoted(one.about)}, expected two "
            f"outputs of the item, such as {next(iter(pairs), '1-2')}"
        )
    choice = one.value.get(CHOICE) if isinstance(one.value, dict) else one.value
    if choice not in CHOICES:
        raise _wrong(one, ", ".join(CHOICES))
    return pair, FIRST_SHARES[choice]


def _wrong(one: ExportedDecision, expected: str) -> InputError:
    return InputError(
        f"adjudication {one.id}: found {quoted(one.value)} for {quoted(one.about)}, "
        f"expected {expected}"
    )


WON = "win"
MAJORITY, TIE = "majority", "tie"


class ExportedPreference(NamedTuple):
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


def preferences(contents: Contents) -> list[ExportedPreference]:
    """Return what each assessor said."""
    found = []
    for one in contents.of_task("pairs"):
        shares = {id: x for id, _, x in TASKS["pairs"].to_judgements(one.value, one.outputs)}
        first, second = sorted(shares)
        judge = contents.names[one.assessor]
        found.append(ExportedPreference(one.item, first, second, judge, shares[first]))
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


def counted(contents: Contents) -> list[ExportedPreference]:
    """Return what each assessor said, and the labels of items with an adjudicated pair.

    An adjudicated value of an output counts instead of all of people's. So where one pair of an
    item was adjudicated, the labels of its other pairs stand beside it.
    """
    labels = pair_labels(contents)
    settled = {one.item for one in labels if one.basis == ADJUDICATED}
    decider = contents.decider
    return preferences(contents) + [
        ExportedPreference(one.item, one.first, one.second, decider, one.share, ADJUDICATED)
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


WIN = Dimension("win", "higher", 0.0, 1.0, "Share of the comparisons that the output won.")
_PENALTY = "Sum of the weights of the marked errors."
_MQM = {name.lower(): weight for name, weight in WEIGHTS.items()}


class Value(NamedTuple):
    """A value of an output by a judge."""

    output: int
    judge: str
    dimension: str
    value: float
    kind: str = PERSON


def dimensions_of(settings: ProjectSettings) -> list[Dimension]:
    """Return the dimensions of a project's ratings, spans and pairs."""
    found: list[Dimension] = []
    for task, given in settings.tasks.items():
        if task == "ratings":
            found += [_dimension(one) for one in given["scales"]]
        elif task == "spans":
            found += [_dimension(given["scale"])] if given["scale"] else []
            found += [penalty_dimension(given)] if has_weights(given) else []
        elif task == "pairs":
            found.append(WIN)
    return list({one.name: one for one in found}.values())


def _dimension(scale: Mapping[str, Any]) -> Dimension:
    ends = float(scale["low"]), float(scale["high"])
    return Dimension(scale["dimension"], scale["better"], *ends, scale["guideline"])


def penalty_dimension(spans: Mapping[str, Any]) -> Dimension:
    """Return the dimension of penalties: `mqm`, or `penalty` for ESA."""
    return Dimension(_penalty_name(spans), "lower", 0.0, guideline=_PENALTY)


def _penalty_name(spans: Mapping[str, Any]) -> str:
    return "mqm" if spans["scheme"] == "mqm" else "penalty"


def has_weights(spans: Mapping[str, Any]) -> bool:
    """Return whether all severities have a weight."""
    known = _MQM if spans["scheme"] == "mqm" else ESA_WEIGHTS
    return all(name.lower() in known for name in spans["severities"])


def penalty(spans: Iterable[Mapping[str, Any]], scheme: str) -> float:
    """Return the sum of the weights of marked errors."""
    return float(sum(_weight(one, scheme) for one in spans))


def _weight(span: Mapping[str, Any], scheme: str) -> float:
    severity = str(span["severity"]).lower()
    if scheme == "esa":
        return ESA_WEIGHTS[severity]
    return weight_of(severity, str(span.get("category", "")), _MQM) or 0.0


def values_of(contents: Contents) -> Iterator[Value]:
    """Yield the values of all judges, with the shares of comparisons that outputs won."""
    yield from rated_values(contents)
    for output, judge, share, kind in wins(contents):
        yield Value(output, judge, WIN.name, share, kind)


def rated_values(contents: Contents) -> Iterator[Value]:
    """Yield ratings, penalties and scores, people's before what was adjudicated."""
    settings, decider = contents.project.settings, contents.decider
    for answer in contents.answers:
        yield from own_values(answer, contents.names[answer.assessor], settings)
    for decision in contents.decisions:
        yield from _decided_values(decision, decider, settings)


def own_values(answer: ExportedAnswer, judge: str, settings: ProjectSettings) -> list[Value]:
    """Return the ratings of an answer; a comparison has none by itself."""
    if answer.task == "ratings":
        rated = answer.value["ratings"].items()
        return [Value(answer.outputs[0], judge, name, float(x)) for name, x in rated]
    if answer.task == "spans":
        return _of_spans(answer.outputs[0], answer.value, judge, settings, PERSON)
    return []


def _decided_values(
    one: ExportedDecision, judge: str, settings: ProjectSettings
) -> Sequence[Value]:
    if one.output is None:
        return ()
    if one.task == "ratings":
        return (Value(one.output, judge, one.about, decided_rating(one), ADJUDICATED),)
    if one.task == "spans":
        return _of_spans(one.output, decided_spans(one), judge, settings, ADJUDICATED)
    return ()


def _of_spans(
    output: int, value: Mapping[str, Any], judge: str, settings: ProjectSettings, kind: str
) -> list[Value]:
    own = settings.tasks["spans"]
    found = []
    if own["scale"] and "score" in value:
        name = own["scale"]["dimension"]
        found.append(Value(output, judge, name, float(value["score"]), kind))
    if has_weights(own):
        total = penalty(value["spans"], own["scheme"])
        found.append(Value(output, judge, _penalty_name(own), total, kind))
    return found
