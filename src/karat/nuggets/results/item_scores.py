"""Nuggets as a source of scores per item: scores of questions, and the vital nuggets carried."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from karat.arrays import Floats, NDArray, np
from karat.errors import InputError, quoted
from karat.evalset.catalogue import GivenPath
from karat.gating.items import ItemScores, ItemText, MeasuredItems, digest
from karat.nuggets.formats.loading import open_runs
from karat.nuggets.results.scoring import NuggetScoring, score_nuggets
from karat.nuggets.scores.official import OfficialSettings
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.progress import Progress, silent
from karat.settings import NamedSettings

MEASURES = ("f", "A", "V", "W")
"""Scores that are means over questions: the official F, and shares of nuggets."""


@dataclass(frozen=True)
class QuestionMean:
    """The mean of a score over the questions that have it."""

    score: str
    sign: int = 1
    full_scale: float = 1.0
    bounded: bool = True

    def __str__(self) -> str:
        return self.score

    def columns(self) -> tuple[str, ...]:
        """Return the names of the numbers in a row: a score, and 1 if there is one."""
        return "sum", "questions"

    def measure(self, rows: NDArray[Any]) -> dict[str, Floats]:
        """Return sums divided by numbers of questions."""
        total, count = np.asarray(rows, dtype=np.float64).T
        return {"value": np.divide(total, count, out=np.full(len(rows), np.nan), where=count > 0)}

    def of_segments(self) -> QuestionMean:
        """Return itself: the score of a question is a mean of one."""
        return self


def read_questions(
    run: Any,
    key: Any = None,
    measures: Sequence[str] | str | None = None,
    *,
    judgements: GivenPath | Sequence[GivenPath] | None = None,
    model_judges: Sequence[str] | None = None,
    ties: str | None = None,
    skip_unknown: bool | None = None,
    official_settings: OfficialSettings | None = None,
    guess: bool = True,
    classifier: NamedSettings | str | None = None,
    corrected: bool = True,
    judged_as: Mapping[str, str] | None = None,
    progress: Progress = silent,
) -> ItemScores:
    """Return the scores of a run, question by question, and the vital nuggets of each answer.

    `run` is a file or the tag of a run that comes with the key, or a `NuggetSet` with one run.
    `judgements`, `model_judges`, `ties` and `skip_unknown` are arguments of `load_nuggets`, the
    others of `score_nuggets`.
    """
    names = [measures] if isinstance(measures, str) else list(measures or ("f",))
    for name in names:
        if name not in MEASURES:
            expected = f"expected one of {', '.join(MEASURES)}"
            raise InputError(f"measure {quoted(str(name))} of nuggets: {expected}")
    options: dict[str, Any] = {"judgements": judgements, "model_judges": model_judges}
    options |= {"ties": ties, "skip_unknown": skip_unknown}
    inputs = {name: value for name, value in options.items() if value is not None}
    nuggets = _open_single_run(run, key, guess, inputs, progress)
    done = score_nuggets(
        nuggets,
        official_settings,
        guess=guess,
        classifier=classifier,
        corrected=corrected,
        judged_as=judged_as,
        progress=progress,
    )
    return _items(done, names)


def _open_single_run(
    run: Any, key: Any, guess: bool, inputs: Mapping[str, Any], progress: Progress
) -> NuggetSet:
    """Return the set of one run."""
    if isinstance(run, NuggetSet):
        if key is not None or inputs:
            reason = "it is loaded with its key and judgements"
            raise InputError(
                f"a NuggetSet was given: {reason}: leave {next(iter(inputs), 'key')} out"
            )
        nuggets = run
    elif key is None:
        raise InputError("no key was given: nuggets are scored against one")
    elif not isinstance(run, str | os.PathLike):
        reason = "expected a file, the tag of a run of the key, or a NuggetSet"
        raise InputError(f"run {quoted(run)} of nuggets: {reason}")
    else:
        nuggets = open_runs((os.fspath(run),), key, guess, progress=progress, **inputs)
    if len(nuggets.runs) != 1:
        raise InputError(f"{nuggets.name} has {len(nuggets.runs)} runs: a gate takes one")
    return nuggets


def _items(done: NuggetScoring, names: Sequence[str]) -> ItemScores:
    (scored_run,), rows = done.scored, done.questions
    key, strict = done.nuggets.key, done.official_settings.strict
    tables = {name: [_cells(getattr(row, name)) for row in rows] for name in names}
    # `responses` is a count, not a setting
    signed = re.sub(r",responses=\d+|\|interval=[^|]*", "", done.signature)
    measures = [
        MeasuredItems(QuestionMean(name), f"{name}:{signed}", np.array(table))
        for name, table in tables.items()
    ]
    carried = []
    for row in rows:
        credits = scored_run.decisions[row.question].credit(strict)
        nuggets = zip(key.questions[row.question].nuggets, credits, strict=True)
        carried.append(tuple(n.id for n, credit in nuggets if n.vital and credit is not None))

    def item_texts(places: Sequence[int]) -> list[ItemText]:
        ids = [rows[at].question for at in places]
        answers = (" / ".join(r.text for r in scored_run.run.responses(id)) for id in ids)
        questions = (key.questions[id].text for id in ids)
        pairs = zip(answers, questions, strict=True)
        return [ItemText(answer, question, references=()) for answer, question in pairs]

    return ItemScores(
        *(scored_run.run.tag, tuple(row.question for row in rows), tuple(measures)),
        *(_key_and_judgements_digest(done.nuggets), item_texts, "nuggets"),
        *(tuple(carried), "vital nugget", done.gate_notes),
    )


def _cells(value: float | None) -> tuple[float, int]:
    has_value = value is not None and not math.isnan(value)
    return (float(value), 1) if has_value and value is not None else (0.0, 0)


def _key_and_judgements_digest(nuggets: NuggetSet) -> str:
    """Return the digest of the key and of the judgements."""
    parts: list[tuple[str, Any]] = [
        (f"question {id}", [(n.id, n.descriptions, n.vital, n.votes) for n in question.nuggets])
        for id, question in nuggets.key.questions.items()
    ]
    rows = nuggets.judgements.rows
    judged = sorted([*row.pair_key, str(row.value), row.judge, row.kind] for row in rows)
    return digest([*parts, ("judgements", judged)])
