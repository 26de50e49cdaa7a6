"""Values of outputs: each current answer and decision as rows of judge, output, dimension, value.

Error spans give a penalty by the weights of MQM files (`mqm`) or of Appraise (`penalty`), and the
score of ESA; where an owner's severity has no weight there is no penalty. Comparisons give the
share of pairs that an output won.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from karat.evalset.formats.appraise import WEIGHTS as ESA_WEIGHTS
from karat.evalset.formats.wmt import WEIGHTS, weight_of
from karat.evalset.judgements import ADJUDICATED, PERSON, Dimension
from karat.studio.export.contents import Answer, Contents, Decision
from karat.studio.export.decided import decided_rating, decided_spans
from karat.studio.export.preferences import wins
from karat.studio.store.settings import ProjectSettings

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


def own_values(answer: Answer, judge: str, settings: ProjectSettings) -> list[Value]:
    """Return the ratings of an answer; a comparison has none by itself."""
    if answer.task == "ratings":
        rated = answer.value["ratings"].items()
        return [Value(answer.outputs[0], judge, name, float(x)) for name, x in rated]
    if answer.task == "spans":
        return _of_spans(answer.outputs[0], answer.value, judge, settings, PERSON)
    return []


def _decided_values(one: Decision, judge: str, settings: ProjectSettings) -> Sequence[Value]:
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
