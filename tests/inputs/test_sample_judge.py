"""The judge of sample files accepts a right set and notices every kind of misreading."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from inputs.judging import compare, disagreements, readings_of
from inputs.plain_reading import Case, Fact, facts_of

import karat as kt
from karat.evalset.sets import EvalSet

for package in ("openpyxl", "pyarrow"):
    pytest.importorskip(package)

FOLDER = Path(__file__).parent
FILES = FOLDER / "files"
CASES: list[Case] = json.loads((FOLDER / "expected.json").read_text("utf-8"))["cases"]


def right_set(case: Case, facts: Sequence[Fact]) -> EvalSet:
    """Return the set that the facts of a case describe."""
    keys = [f.item or f.texts.get("question") or f.texts.get("source") for f in facts]
    systems = list(dict.fromkeys(f.system or "system" for f in facts))
    if any(key is None for key in keys) or case["name"] == "review_log":
        keys = [f.item or str(f.row) for f in facts]
    times: dict[tuple[str, str, Any], list[int]] = {}
    for key, fact in zip(keys, facts, strict=True):
        rows = times.setdefault((key, fact.system or "system", fact.judge), [])
        if fact.row not in rows:
            rows.append(fact.row)
    repeated = case["kind"] == "outputs" and any(len(rows) > 1 for rows in times.values())
    names = list(dict.fromkeys(keys))
    pairs = zip(keys, facts, strict=True)
    ids = {key: fact.item or str(names.index(key) + 1) for key, fact in pairs}
    segments: dict[str, Fact] = {}
    outputs: dict[str, dict[str, str | None]] = {system: {} for system in systems}
    judgements, scores = [], {}
    words = [word.lower() for word in case.get("scale", ())]
    for key, fact in zip(keys, facts, strict=True):
        system = fact.system or "system"
        number = times[key, system, fact.judge].index(fact.row) + 1
        name = f"{ids[key]}/{number}" if repeated else ids[key]
        segments.setdefault(name, fact)
        outputs[system][name] = fact.texts.get("candidate", "")
        if fact.score is None or not fact.is_rating:
            continue
        value = fact.score
        if isinstance(value, str):
            value = float(words.index(value) if value in words else value == "yes")
        if case["kind"] == "scores":
            scores.setdefault(fact.dimension, {}).setdefault(system, {})[name] = value
        else:
            row = system, name, fact.judge or "rater", fact.dimension or "score", value
            judgements.append(row)
    evalset = kt.make_evalset(
        "right",
        {system: [texts.get(name) for name in segments] for system, texts in outputs.items()},
        references=[f.texts.get("reference") or () for f in segments.values()],
        segments=list(segments),
        groups=_groups(segments, repeated),
        sources=[f.texts.get("question") or f.texts.get("source") or "" for f in segments.values()],
        contexts=_contexts(segments),
        judgements=judgements,
        dimensions=list(dict.fromkeys(row[3] for row in judgements)),
        description=case.get("problem", ""),
    )
    for dimension, by_system in scores.items():
        evalset = evalset.with_scores(dimension, by_system)
    return evalset


def _groups(segments: dict[str, Fact], repeated: bool) -> list[str] | None:
    if repeated:
        return [name.rsplit("/", 1)[0] for name in segments]
    units = [fact.texts.get("unit") for fact in segments.values()]
    return None if None in units else [str(unit) for unit in units]


def _contexts(segments: dict[str, Fact]) -> list[list[str]] | None:
    passages = [fact.texts.get("contexts") for fact in segments.values()]
    return None if None in passages else [list(texts or ()) for texts in passages]


PLAIN = [(case, facts) for case in CASES if (facts := facts_of(readings_of(case)[0], FILES))]
NAMES = [case["name"] for case, _ in PLAIN]


@pytest.mark.parametrize(("case", "facts"), PLAIN, ids=NAMES)
def test_a_right_set_is_right(case: Case, facts: list[Fact]) -> None:
    evalset = right_set(case, facts)
    assert compare(evalset, case, FILES, {}, ".") == ""
    if case.get("problem"):
        silent = replace(evalset, description="")
        assert "not reported" in compare(silent, case, FILES, {}, "[a-z]")


@pytest.mark.parametrize(("case", "facts"), PLAIN, ids=NAMES)
def test_a_lost_row_is_a_misreading(case: Case, facts: list[Fact]) -> None:
    lost = [fact for fact in facts if fact.row != facts[0].row]
    assert disagreements(right_set(case, lost), readings_of(case)[0], facts)


@pytest.mark.parametrize(("case", "facts"), PLAIN, ids=NAMES)
def test_texts_of_another_row_are_a_misreading(case: Case, facts: list[Fact]) -> None:
    for role in ("candidate", "reference", "contexts"):
        by_item = {(f.system, f.item or f.row): f.texts.get(role) for f in facts}
        items = list(dict.fromkeys(f.item or f.row for f in facts))
        next_item = dict(zip(items, [*items[1:], items[0]], strict=True))
        if role not in facts[0].texts or len({*map(str, by_item.values())}) == 1:
            continue
        moved = []
        for fact in facts:
            place = fact.system, next_item[fact.item or fact.row]
            text = by_item.get(place, "another text")
            text = [text] if role != "candidate" and isinstance(text, str) else text
            moved.append(replace(fact, texts={**fact.texts, role: text}))
        assert disagreements(right_set(case, moved), readings_of(case)[0], facts)


@pytest.mark.parametrize(("case", "facts"), PLAIN, ids=NAMES)
def test_wrong_ratings_are_a_misreading(case: Case, facts: list[Fact]) -> None:
    if case["kind"] == "outputs":
        evalset = right_set(case, facts)
        system, segment = next(iter(evalset.systems)), evalset.segments[0]
        rated = evalset.with_judgements([(system, segment, "x", "y", 1.0)], dimensions=["y"])
        assert disagreements(rated, readings_of(case)[0], facts)
        return
    at = next(k for k, fact in enumerate(facts) if fact.score is not None)
    changed = [*facts]
    if isinstance(facts[at].score, float):
        changed[at] = replace(facts[at], score=facts[at].score + 1)
    else:
        word = next(f.score for f in facts if f.score not in (None, facts[at].score))
        changed[at] = replace(facts[at], score=word)
    assert disagreements(right_set(case, changed), readings_of(case)[0], facts)
    changed[at] = replace(facts[at], score=None)
    assert disagreements(right_set(case, changed), readings_of(case)[0], facts)


def test_columns_with_other_roles_are_a_misreading() -> None:
    case, facts = next((c, f) for c, f in PLAIN if c["name"] == "ratings")
    as_systems = [replace(f, system=f.judge, judge=None, item=str(f.row)) for f in facts]
    assert disagreements(right_set(case, as_systems), readings_of(case)[0], facts)
    case, facts = next((c, f) for c, f in PLAIN if c["name"] == "phoenix_qa")
    as_reference = []
    for fact in facts:
        texts = {**fact.texts, "reference": fact.texts["contexts"]}
        del texts["contexts"]
        as_reference.append(replace(fact, texts=texts))
    evalset = right_set(case, as_reference)
    assert disagreements(evalset, readings_of(case)[0], facts)
    assert compare(evalset, case, FILES, {}) == ""  # the second reading
