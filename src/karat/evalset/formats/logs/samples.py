"""Samples that evaluation tools log: an output of a system for an item, its targets, its scores.

A log is of one system and one task; several logs make a set. A segment is called after its sample,
`TASK/SAMPLE` where there are several tasks, `SAMPLE/N` for the N-th time a sample was answered,
where any was answered again.

The scores in a log are those of the tool's own metrics, not of people. They become judgements only
if they are asked for: `scores=exact_match,ter:lower`; without `:lower` more is better. A score that
a model gave is a judgement of that model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Literal, NamedTuple

from karat.errors import InputError, quoted, short
from karat.evalset.draft import EvalSetDraft
from karat.evalset.judgements import MODEL, Dimension
from karat.evalset.reading import Reading, Where, as_names, check_filled
from karat.evalset.sets import EvalSet, check_known

Better = Literal["higher", "lower"]


class LoggedSample(NamedTuple):
    """One sample of one log."""

    system: str
    task: str
    name: str
    time: int
    """1 for the first answer to this sample, 2 for the second, …"""
    output: str | None
    references: tuple[str, ...]
    source: str
    scores: Mapping[str, object]
    place: Where
    graders: Mapping[str, str] = MappingProxyType({})
    """The model that gave a score, where the log says that one did."""


def set_of_samples(
    path: Path,
    reading: Reading,
    samples: Sequence[LoggedSample],
    *,
    judge: str,
    scores: str | Sequence[str],
    name: str | None,
    description: str,
    remarks: Sequence[str] = (),
) -> EvalSet:
    """Return the set of all samples; `judge` is the name under which scores are judgements."""
    reading.check()
    dimensions = _dimensions(scores, samples, path)
    tasks = list(dict.fromkeys(sample.task for sample in samples))
    again = any(sample.time > 1 for sample in samples)
    cells: dict[tuple[str, str], LoggedSample] = {}
    segments: dict[str, LoggedSample] = {}
    for sample in samples:
        parts = [sample.task] * (len(tasks) > 1) + [sample.name] + [str(sample.time)] * again
        segment = "/".join(parts)
        first = segments.setdefault(segment, sample)
        if first.references != sample.references:
            told = f"sample {quoted(sample.name)} has another target than in {first.place}"
            reading.problem(sample.place, told)
        before = cells.setdefault((sample.system, segment), sample)
        if before is not sample:
            told = f"sample {quoted(sample.name)} of {short(sample.system)} again"
            reading.problem(sample.place, f"{told} (first in {before.place})")
    systems = list(dict.fromkeys(sample.system for sample in samples))
    check_filled(path, len(cells), len(systems), len(segments))
    draft = EvalSetDraft(
        name or path.resolve().stem,
        list(segments),
        {one: [_output(cells.get((one, segment))) for segment in segments] for one in systems},
        reading=reading,
        where=path,
        references=[sample.references for sample in segments.values()],
        groups=_groups(segments, tasks, again),
        sources=[sample.source for sample in segments.values()],
        dimensions=dimensions.values(),
        description=description,
        remarks=[*remarks, *_missing(samples)],
    )
    for (system, segment), sample in cells.items():
        for given in dimensions:
            if (value := sample.scores.get(given)) is not None:
                model = sample.graders.get(given, "")
                kind = MODEL if model else ""
                draft.judge(system, segment, model or judge, given, value, sample.place, kind)
    return draft.finish()


def _output(sample: LoggedSample | None) -> str | None:
    return None if sample is None else sample.output


def _groups(
    segments: Mapping[str, LoggedSample], tasks: Sequence[str], again: bool
) -> list[str] | None:
    """The samples where they were answered again, else the tasks where there are several."""
    several = len(tasks) > 1
    if not (several or again):
        return None
    found = []
    for sample in segments.values():
        found.append("/".join([sample.task] * several + [sample.name] * again))
    return found


def _missing(samples: Sequence[LoggedSample]) -> list[str]:
    lost = sum(sample.output is None for sample in samples)
    return [f"{lost:,} of {len(samples):,} samples have no output."] if lost else []


def _dimensions(
    scores: str | Sequence[str], samples: Sequence[LoggedSample], path: Path
) -> dict[str, Dimension]:
    known = dict.fromkeys(name for sample in samples for name in sample.scores)
    found: dict[str, Dimension] = {}
    for given in as_names(scores):
        name, colon, better = given.partition(":")
        if colon and better not in ("lower", "higher"):
            raise InputError(f"scores={given}: expected NAME, NAME:higher or NAME:lower")
        check_known("score", (name,), known, str(path))
        direction: Better = "lower" if better == "lower" else "higher"
        found[name] = Dimension(name, direction, guideline="A score from the log.")
    return found
