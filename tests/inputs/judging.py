"""Judge what the loader makes of a sample file: right, refused, stuck, misread or failed.

right    The set agrees with a reading of expected.json in every text and rating that the reading
         has, and in its counts; a `problem` is reported.
refused  An `InputError` names an option, and with the options of the expectation the set is right.
stuck    An `InputError` without such an option, or still an error with it.
misread  Anything else that was accepted.
failed   Another exception.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inputs.plain_reading import Case, Fact, as_score, as_text, as_texts, facts_of

from karat.errors import InputError
from karat.evalset.sets import EvalSet

VERDICTS = ("right", "refused", "stuck", "misread", "failed")
_LABELS = ("system", "judge", "dimension")


@dataclass(frozen=True)
class Outcome:
    """What became of one case."""

    name: str
    verdict: str
    reason: str = ""
    """The first disagreement, or the message of the error."""
    options: str = ""
    """The options that settled a refusal."""


# --------------------------------------------------------------------------- readings


def readings_of(case: Case) -> list[Case]:
    """Return the acceptable readings of a case, each as an expectation of its own."""
    readings = []
    for changes in case.get("readings") or [{}]:
        merged = {**case, **{k: v for k, v in changes.items() if k not in ("roles", "cells")}}
        merged["counts"] = {**case["counts"], **changes.get("counts", {})}
        roles = {**case["roles"], **changes.get("roles", {})}
        merged["roles"] = {role: column for role, column in roles.items() if column is not None}
        merged["cells"] = [*case["cells"], *changes.get("cells", ())]
        readings.append(_consistent(case, merged))
    return readings


def _consistent(case: Case, merged: dict[str, Any]) -> Case:
    """Move columns and cells to the labels that the counts of a reading imply."""
    counts = merged["counts"]
    if counts["dimensions"] == len(merged.get("judges", ())) > 1 == counts["judges"]:
        merged["dimensions"], merged["judges"] = merged["judges"], []
    if counts["items"] == len(merged.get("columns", ())) != case["counts"]["items"]:
        merged["columns"] = {name: {"id": name} for name in merged["columns"]}
    if merged["kind"] == "outputs" and case["kind"] == "ratings":
        merged["roles"] = {
            k: v for k, v in merged["roles"].items() if k not in ("judge", "score", "dimension")
        }
        counts["judges"] = counts["dimensions"] = 0
    roles = {*merged["roles"], "id", "candidate", "score", *_LABELS}
    if merged["kind"] == "outputs":
        roles -= {"score", "judge", "dimension"}
    cells = [c for c in merged["cells"] if c["role"] in roles and c["row"] < merged["rows"]]
    merged["cells"] = [_relabelled(c, merged) for c in cells]
    if merged["rows"] < case["rows"] and isinstance(merged.get("sheet"), list):
        merged["sheet"], merged["system_names"] = merged["sheet"][0], []
    return merged


def _relabelled(cell: Mapping[str, Any], reading: Case) -> Mapping[str, Any]:
    """Give the place of a cell the label that its column has in this reading."""
    columns = {
        label: reading.get(key, ())
        for label, key in zip(_LABELS, ("systems", "judges", "dimensions"), strict=True)
    }
    place = {label: cell[label] for label in _LABELS if label in cell}
    rest = {key: value for key, value in cell.items() if key not in place}
    for label, value in place.items():
        right = next((k for k, names in columns.items() if value in names), label)
        rest[right] = value
    return rest


# --------------------------------------------------------------------------- one set


def disagreements(evalset: EvalSet, reading: Case, facts: Sequence[Fact] | None) -> list[str]:
    """Return where a set disagrees with a reading; none if the set is right."""
    checks = [_count_problems(evalset, reading, facts), _surplus_problems(evalset, reading)]
    if facts is not None:
        checks.append(_fact_problems(evalset, reading, facts))
    else:
        checks.append(_cell_problems(evalset, reading))
    return [problem for problems in checks for problem in problems]


def _items(evalset: EvalSet, repeated: bool) -> int:
    return len({*evalset.groups}) if repeated and evalset.groups else len(evalset.segments)


def _count_problems(evalset: EvalSet, reading: Case, facts: Sequence[Fact] | None) -> Iterable[str]:
    counts = reading["counts"]
    rows = evalset.judgements
    outputs = reading["rows"] if reading["kind"] == "outputs" and "systems" not in reading else 0
    repeated = outputs > counts["items"] * counts["systems"]
    scores = reading["kind"] == "scores"
    measured = {
        "items": _items(evalset, repeated),
        "systems": len(evalset.systems),
        "judges": len({*rows.judge.tolist()}),
        "dimensions": len(evalset.offered) if scores else len({*rows.dimension.tolist()}),
    }
    if reading["name"] == "samples_gsm8k_2026-10-02T15-40-12":
        del measured["judges"], measured["dimensions"]
    if reading["kind"] == "ratings" and evalset.pairs:
        del measured["judges"], measured["dimensions"]
    if "dimension" in reading.get("optional", ()):
        measured.pop("dimensions", None)
    for key, count in measured.items():
        if count != counts[key] and not (scores and key == "dimensions" and count > counts[key]):
            yield f"{count} {key}, expected {counts[key]}"


def _surplus_problems(evalset: EvalSet, reading: Case) -> Iterable[str]:
    roles = {*reading["roles"], *reading.get("optional", ())}
    if "reference" not in roles and any(evalset.references):
        yield f"references {next(filter(None, evalset.references))!r} where there are none"
    if not roles & {"source", "question"} and any(evalset.sources or ()):
        yield f"a source {next(filter(None, evalset.sources or ()))!r} where there is none"
    if "contexts" not in roles and any(evalset.contexts or ()):
        yield f"contexts {next(filter(None, evalset.contexts or ()))!r} where there are none"
    texts = reading["kind"] == "outputs" or "candidate" in roles or "systems" in reading
    if not texts and any(text for row in evalset.systems.values() for text in row):
        yield "outputs where there are none"


class _Labels:
    """Expected labels of systems, judges or dimensions, and the observed ones."""

    def __init__(self, kind: str, expected: Iterable[str | None], observed: Iterable[str]) -> None:
        self.problems: list[str] = []
        self.name_of: dict[str | None, str] = {}
        rest = list(dict.fromkeys(observed))
        labels = list(dict.fromkeys(expected))
        for same in (str.__eq__, same_label):
            for label in labels:
                if label is None or label in self.name_of:
                    continue
                match = [name for name in rest if same(label, name)]
                if len(match) == 1:
                    self.name_of[label] = match[0]
                    rest.remove(match[0])
        left = [label for label in labels if label not in self.name_of]
        if len(left) == len(rest) == 1:  # a label that the file does not have, or spells otherwise
            self.name_of[left[0]] = rest.pop()
            left = [] if left[0] is None else left
        for label in left:
            if label is not None and label not in self.name_of:
                self.problems.append(f"no {kind} {label!r} (there are {', '.join(rest) or 'none'})")


def same_label(expected: str, observed: str) -> bool:
    """Return whether an observed label is the expected one or whole words of it."""
    left, right = expected.casefold().strip(), observed.casefold().strip()
    part = re.search(rf"(?<![^\W_]){re.escape(right)}(?![^\W_])", left)
    return bool(right) and part is not None


def _fact_problems(evalset: EvalSet, reading: Case, facts: Sequence[Fact]) -> Iterable[str]:
    is_scores = reading["kind"] == "scores"
    systems = _Labels("system", (f.system for f in facts), evalset.systems)
    if reading.get("optional", {}).get("system") and len(evalset.systems) == 1:
        systems.name_of = dict.fromkeys((f.system for f in facts), next(iter(evalset.systems)))
        systems.problems = []
    yield from systems.problems
    segment_of = _segments(evalset, facts, systems)
    dimensions = evalset.offered if is_scores else [d.dimension for d in evalset.judgements]
    ratings = [f for f in facts if f.is_rating]
    judges = _Labels("judge", (f.judge for f in ratings), (j.judge for j in evalset.judgements))
    aspects = _Labels("dimension", (f.dimension for f in ratings), dimensions)
    if not is_scores:
        yield from judges.problems
    yield from aspects.problems
    if is_scores:
        values = _offered_values(evalset)
    else:
        values = {
            (j.system, j.segment, j.judge, j.dimension): j.value
            for j in evalset.judgements
            if not math.isnan(j.value)
        }
    words: dict[tuple[str, str], set[float]] = defaultdict(set)
    n_expected = 0
    for fact in facts:
        system = systems.name_of.get(fact.system)
        segment = segment_of.get((fact.row, fact.system, fact.item))
        if segment is None:
            yield f"row {fact.row}: no segment for item {fact.item!r}"
            continue
        if system is None:
            continue
        yield from _text_problems(evalset, fact, system, segment)
        if not fact.is_rating:
            continue
        aspect = aspects.name_of.get(fact.dimension, "")
        judge = "" if is_scores else judges.name_of.get(fact.judge, "")
        value = values.get((system, segment, judge, aspect))
        n_expected += fact.score is not None
        place = f"row {fact.row}, {fact.system or 'system'}, {fact.judge or fact.dimension or ''}"
        if isinstance(fact.score, str) and value is not None:
            words[aspect, fact.score].add(value)
        elif value != fact.score and not (value and fact.score and math.isclose(value, fact.score)):
            yield f"{place}: rating {value!r}, expected {fact.score!r}"
    extra = [key for key in values if key[3] in aspects.name_of.values()]
    if len(extra) != n_expected and ratings:
        yield f"{len(extra)} ratings, expected {n_expected}"
    yield from _word_problems(words, reading.get("scale"))


def _word_problems(
    words: Mapping[tuple[str, str], set[float]], scale: Sequence[str] | None
) -> Iterable[str]:
    for (aspect, word), numbers in words.items():
        if len(numbers) > 1:
            yield f"{aspect}: {word!r} is {sorted(numbers)}"
    for aspect in {aspect for aspect, _ in words}:
        value_of = {w: min(numbers) for (a, w), numbers in words.items() if a == aspect}
        if len({*value_of.values()}) < len(value_of):
            yield f"{aspect}: two words have the same value: {value_of}"
        order = [value_of[w.lower()] for w in scale or () if w.lower() in value_of]
        if order != sorted(order):
            yield f"{aspect}: values {order} of the words {scale}"


def _offered_values(evalset: EvalSet) -> dict[tuple[str, str, str, str], float]:
    values = {}
    for name, load in evalset.offered.items():
        scores = load()
        for system in scores.systems:
            column = scores.segment_scores(system, evalset.segments, 0)
            for segment, value in zip(evalset.segments, column.tolist(), strict=True):
                if not math.isnan(value):
                    values[system, segment, "", name] = value
    return values


def _segments(
    evalset: EvalSet, facts: Sequence[Fact], systems: _Labels
) -> dict[tuple[int, str | None, str | None], str]:
    """Return the segment of each fact: by id, else by its source, else by its order."""
    place = {}
    of_source: dict[str, list[str]] = defaultdict(list)
    for segment, source in zip(evalset.segments, evalset.sources or (), strict=False):
        of_source[source.strip()].append(segment)
    first_row: dict[str | None, list[int]] = defaultdict(list)
    times: Counter[tuple[str | None, str | None]] = Counter()
    seen: dict[tuple[int, str | None, str | None], int] = {}
    for fact in facts:
        if fact.row not in first_row[fact.system]:
            first_row[fact.system].append(fact.row)
        key = (fact.row, fact.system, fact.item)
        if key not in seen:
            times[fact.system, fact.item] += 1
            seen[key] = times[fact.system, fact.item]
    for fact in facts:
        key = (fact.row, fact.system, fact.item)
        text = (fact.texts.get("question") or fact.texts.get("source") or "").strip()
        names: list[str]
        if fact.item is not None:
            repeat = f"{fact.item}/{seen[key]}"
            names = [name for name in (fact.item, repeat) if name in evalset.segments]
            names = [repeat] if repeat in names else names
        elif text and text in of_source:
            names = of_source[text]
        else:
            at = first_row[fact.system].index(fact.row)
            names = [*evalset.segments[at : at + 1]]
        if names:
            place[key] = names[0]
    return place


def _text_problems(evalset: EvalSet, fact: Fact, system: str, segment: str) -> Iterable[str]:
    at = evalset.segments.index(segment)
    location = f"row {fact.row}, {system}, {segment}"
    if "candidate" in fact.texts:
        output, expected = evalset.systems[system][at], fact.texts["candidate"]
        if _plain(output) != _plain(expected):
            yield f"{location}: output {output!r}, expected {expected!r}"
    if "reference" in fact.texts:
        references = [*map(_plain, evalset.references[at])]
        expected = [*map(_plain, fact.texts["reference"])]
        if references != expected and (expected or references):
            yield f"{location}: references {references}, expected {expected}"
    source = (evalset.sources or ("",) * len(evalset))[at]
    texts = [fact.texts[role] for role in ("question", "source") if fact.texts.get(role)]
    if texts and not any(_plain(text) in _plain(source) for text in texts):
        yield f"{location}: source {source!r}, expected {texts}"
    if fact.texts.get("contexts"):
        contexts = " ".join((evalset.contexts or ((),) * len(evalset))[at])
        if _plain(contexts) != _plain(" ".join(fact.texts["contexts"])):
            yield f"{location}: contexts {contexts!r}, expected {fact.texts['contexts']}"
    if fact.texts.get("unit"):
        unit = evalset.groups and evalset.groups[at]
        if unit != fact.texts["unit"]:
            yield f"{location}: unit {unit!r}, expected {fact.texts['unit']!r}"


def _plain(text: str | None) -> str:
    return "" if text is None else " ".join(text.split())


def _cell_problems(evalset: EvalSet, reading: Case) -> Iterable[str]:
    """Check the cells of files whose rows have no facts: the values are in the set."""
    for cell in reading["cells"]:
        value, values = _cell_values(evalset, cell)
        if values is not None and value not in values:
            yield f"row {cell['row']}: no {cell['role']} {cell['value']!r}"


def _cell_values(evalset: EvalSet, cell: Mapping[str, Any]) -> tuple[Any, Sequence[Any] | None]:
    """Return the value of a cell, and all values of its role in the set; None if unknown."""
    role, value = cell["role"], cell["value"]
    systems = [s for s in evalset.systems if same_label(cell.get("system", s), s)]
    texts = [text for s in systems for text in evalset.systems[s]]
    rows = evalset.judgements
    judges = [*rows.judges, *(pair.judge for pair in evalset.pairs)]
    names: dict[str, list[str]] = {
        "system": [*evalset.systems],
        "judge": judges,
        "dimension": [*rows.dimensions],
    }
    names["unit"] = names["id"] = [
        *evalset.segments,
        *(segment.rsplit("/", 1)[0] for segment in evalset.segments),
        *(evalset.groups or ()),
    ]
    if role in names:
        return as_text(value), names[role]
    if role == "candidate":
        return value and _plain(as_text(value)), [text and _plain(text) for text in texts]
    if role == "reference":
        references = [[*map(_plain, group)] for group in evalset.references]
        return [*map(_plain, as_texts(value))], references
    if role in ("question", "source"):
        return _plain(value), [*map(_plain, evalset.sources or ())]
    if role == "score" and not isinstance(as_score(value), str):
        places = [k for k in _LABELS if k in cell]
        fitting = [j for j in rows if all(same_label(cell[k], getattr(j, k)) for k in places)]
        return as_score(value), [j.value for j in fitting]
    return value, None


# --------------------------------------------------------------------------- one case


def report_of(evalset: EvalSet) -> str:
    """Return all that a set says about how it was read."""
    return " ".join([*evalset.remarks, *evalset.notes, evalset.description])


def without_missing(facts: Sequence[Fact], of_item: bool) -> list[Fact]:
    """Return the facts without rows, or items, that lack a candidate or a reference."""

    def key(fact: Fact) -> tuple[object, ...]:
        item = fact.item or fact.texts.get("question") or fact.texts.get("source") or fact.row
        return (item,) if of_item else (fact.row, fact.system)

    missing = {
        key(f)
        for f in facts
        if ("candidate" in f.texts and f.texts["candidate"] is None)
        or ("reference" in f.texts and not f.texts["reference"])
    }
    if of_item:  # items that only some of the systems have
        systems = {f.system for f in facts}
        systems_of: dict[tuple[object, ...], set[str | None]] = defaultdict(set)
        for f in facts:
            systems_of[key(f)].add(f.system)
        missing |= {item for item, names in systems_of.items() if names != systems}
    return [f for f in facts if key(f) not in missing]


def variants(
    case: Case, folder: Path, options: Mapping[str, Any]
) -> Iterable[tuple[Case, list[Fact] | None]]:
    """Yield the readings of a case, with facts for the options."""
    if "ignore" in options.get("columns", ()):
        case = {**case, "readings": [{"kind": "outputs"}]}
    if "filter" in options:  # the rows of one filter; they alternate
        case = {**case, "cells": [c for c in case["cells"] if c["row"] % 2 == 0]}
    for reading in readings_of(case):
        facts = facts_of(reading, folder)
        if facts is None or not options.get("skip_missing"):
            yield reading, facts
            continue
        for of_item in (False, True):
            rest = without_missing(facts, of_item)
            items = {
                f.item or f.texts.get("question") or f.texts.get("source") or f.row for f in rest
            }
            yield {**reading, "counts": {**reading["counts"], "items": len(items)}}, rest


def compare(
    evalset: EvalSet, case: Case, folder: Path, options: Mapping[str, Any], pattern: str = ""
) -> str:
    """Return the first disagreement with the nearest reading; "" if the set is right."""
    problems = min(
        (disagreements(evalset, *variant) for variant in variants(case, folder, options)), key=len
    )
    if problems:
        more = f" (and {len(problems) - 2} more)" if problems[2:] else ""
        return "; ".join(problems[:2]) + more
    said = re.search(pattern or "(?!)", report_of(evalset), re.IGNORECASE | re.DOTALL)
    if case.get("problem") and not options and not said:
        return f"read, but not reported: {case['problem']}"
    return ""


Reader = Callable[..., EvalSet]
Answers = Callable[[Case, str, Mapping[str, Any]], Iterable[Mapping[str, Any]]]
_TRIALS = 30


def judge_case(
    case: Case, folder: Path, read: Reader, answers: Answers, pattern: str = ""
) -> Outcome:
    """Read the files of a case and compare the result; after a refusal, answer it.

    `answers` returns the options that answer a message truthfully. None of them may lead to a
    misreading, and one has to lead to the right set.
    """
    name = case["name"]
    verdict, reason = _attempt(case, folder, read, {}, pattern)
    if verdict != "refused":
        return Outcome(name, verdict, reason)
    message = reason
    queue = list(answers(case, message, {}))
    outcomes = [Outcome(name, "stuck", message)]
    for options in queue:
        verdict, reason = _attempt(case, folder, read, options, pattern)
        if verdict == "right":
            outcomes.append(Outcome(name, "refused", message, _shown(options)))
            continue
        if verdict == "refused":
            more = answers(case, reason, options)
            queue += [choice for choice in more if choice not in queue][: _TRIALS - len(queue)]
            verdict = "stuck"
        outcomes.append(Outcome(name, verdict, f"{message} -- and then: {reason}", _shown(options)))
    order = ("failed", "misread", "refused", "stuck")
    return min(outcomes, key=lambda outcome: order.index(outcome.verdict))


def _attempt(
    case: Case, folder: Path, read: Reader, options: Mapping[str, Any], pattern: str
) -> tuple[str, str]:
    """Return right, misread, refused or failed for one call, with the reason."""
    paths = [folder / file for file in case["files"]]
    try:
        evalset = read(paths if len(paths) > 1 else paths[0], **options)
    except InputError as error:
        return "refused", str(error).replace(f"{folder}/", "")
    except Exception as error:  # a traceback for the user
        reason = f"{type(error).__name__}: {error}".replace(f"{folder}/", "")
        return "failed", reason
    reason = compare(evalset, case, folder, options, pattern)
    return "misread" if reason else "right", reason


def _shown(options: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in options.items())


def totals(outcomes: Iterable[Outcome]) -> dict[str, int]:
    """Return the number of cases of each verdict."""
    counts = Counter(outcome.verdict for outcome in outcomes)
    return {verdict: counts[verdict] for verdict in VERDICTS}
