"""Contents and problems of a set, and the commands that make sense for it (`karat data check`)."""

from __future__ import annotations

import os
import re
import shlex
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import lru_cache
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from karat.arrays import np
from karat.errors import short
from karat.evalset.directions import direction_of_name
from karat.evalset.sets import EvalSet
from karat.registry import load

SAMPLE = 200
"""Texts of each kind whose scripts are counted."""
MIN_SHARE = 0.1
"""Smallest share of letters at which a script is listed."""
MAX_COMMANDS = 3
MIN_LABELLED = 10
"""Labelled segments of a system that an estimate needs."""
_SCRIPTS = {"CJK": "Han", "HANGUL": "Hangul"}


class TextCount(NamedTuple):
    """Texts of one kind: outputs, references, sources or contexts."""

    texts: str
    number: int
    characters: float
    """Median number of characters."""
    longest: int
    scripts: str
    """Scripts of the letters, the most frequent first."""


class SetIssue(NamedTuple):
    """A kind of problem that does not prevent the use of a set, and where it occurs first."""

    problem: str
    number: int
    first: str


class NextCommand(NamedTuple):
    """A command that makes sense for a set, and what it does."""

    command: str
    purpose: str


# --------------------------------------------------------------------------------------- texts


@lru_cache(maxsize=1 << 14)
def _script(letter: str) -> str:
    """Return the script of a letter by its Unicode name: Latin, Cyrillic, Han."""
    name = unicodedata.name(letter, "").partition(" ")[0]
    return _SCRIPTS.get(name, name.capitalize())


def main_scripts(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the scripts of at least a tenth of the letters, the most frequent first."""
    counts = Counter(_script(c) for text in texts for c in text if c.isalpha())
    total = counts.total()
    return tuple(name for name, n in counts.most_common() if name and n >= MIN_SHARE * total)


def count_texts(evalset: EvalSet) -> tuple[TextCount, ...]:
    """Return the number, length and scripts of the texts of each kind."""
    kinds: dict[str, list[str]] = {
        "outputs": [text for outputs in evalset.systems.values() for text in outputs if text],
        "references": [text for group in evalset.references for text in group],
        "sources": [text for text in evalset.sources or () if text],
        "contexts": [
            text
            for contexts in [evalset.contexts or (), *(evalset.system_contexts or {}).values()]
            for group in contexts
            for text in group
        ],
    }
    rows = []
    for kind, texts in kinds.items():
        if texts:
            sizes = [len(text) for text in texts]
            step = max(1, len(texts) // SAMPLE)
            scripts = ", ".join(main_scripts(texts[::step])) or "no letters"
            rows.append(TextCount(kind, len(texts), float(median(sizes)), max(sizes), scripts))
    return tuple(rows)


# -------------------------------------------------------------------------------------- issues


def find_issues(evalset: EvalSet) -> tuple[SetIssue, ...]:
    """Return each kind of problem of a usable set once, with its number and first place."""
    places = _issue_places(evalset)
    places_by_problem: dict[str, list[str]] = {}
    for problem, place in places:
        places_by_problem.setdefault(problem, []).append(place)
    return tuple(
        SetIssue(problem, len(items), items[0]) for problem, items in places_by_problem.items()
    )


def _issue_places(evalset: EvalSet) -> Iterator[tuple[str, str]]:
    """Yield problems with their places."""
    has_texts, has_references = evalset.has_texts, any(evalset.references)
    inputs: dict[object, str] = {}
    for at, segment in enumerate(evalset.segments):
        location = f"segment {short(segment)}"
        references = evalset.references[at]
        if has_references and not references:
            yield "segment without a reference", location
        if any(not text.strip() for text in references):
            yield "empty reference", location
        source = evalset.sources[at] if evalset.sources else ""
        content = source, references
        group = evalset.groups[at] if evalset.groups else segment
        if (source or references) and inputs.setdefault(content, group) != group:
            yield "segment with the source and references of an earlier one", location
    expected = [main_scripts(group) for group in evalset.references]
    for system, outputs in evalset.systems.items():
        for at, text in enumerate(outputs):
            location = f"{short(system)}, segment {short(evalset.segments[at])}"
            if text is None:
                if has_texts:
                    yield "missing output", location
            elif not text.strip():
                yield "empty output", location
            elif _is_other_script(main_scripts([text]), expected[at]):
                yield "output in another script than its references", location
    yield from _rating_issues(evalset)


def _is_other_script(scripts: Sequence[str], expected: Sequence[str]) -> bool:
    return bool(scripts and expected) and {*scripts}.isdisjoint(expected)


def _rating_issues(evalset: EvalSet) -> Iterator[tuple[str, str]]:
    rows = evalset.judgements
    for title, dimension in evalset.dimensions.items():
        of_dimension = rows.select_dimension(title)
        for i, value in enumerate(of_dimension.value.tolist()):
            if dimension.off_scale(value):
                system, segment = of_dimension.system[i], of_dimension.segment[i]
                place = f"{short(rows.systems[system])}, segment {short(rows.segments[segment])}"
                yield "value off its scale", f"{short(title)} of {place}: {value:g}"


# ------------------------------------------------------------------------------ next commands


def next_commands(
    evalset: EvalSet, source: Any, format: str | None, options: Mapping[str, Any], is_table: bool
) -> tuple[NextCommand, ...]:
    """Return at most three commands that make sense for a set; none for a set in memory."""
    if not isinstance(source, str | os.PathLike) or os.fspath(source) == "-":
        return ()
    path = os.fspath(source)
    reading = _reading_options(format, options)
    needs_skip = is_table and not _is_complete(evalset) and "--skip-missing" not in reading
    arguments = [path, *reading]
    complete_arguments = [*arguments, "--skip-missing"] if needs_skip else arguments
    suggestions = _suggestions(evalset, Path(path), arguments, complete_arguments, needs_skip)
    commands = (
        NextCommand(shlex.join(["karat", *words]), purpose) for words, purpose in suggestions
    )
    return tuple(commands)[:MAX_COMMANDS]


def _reading_options(format: str | None, options: Mapping[str, Any]) -> list[str]:
    """Return the options of a reader as words of a command line."""
    settings = {f.name: f for f in fields(load("karat.tables.options:ReadingOptions"))}
    words = [] if format is None else ["--read-as", format]
    for name, value in options.items():
        option = settings[name].metadata["option"].split()[0] if name in settings else "--option"
        if isinstance(value, Mapping):
            words += [word for key, text in value.items() for word in (option, f"{key}={text}")]
        elif name not in settings:
            words += [option, f"{name}={value}"]
        elif name == "skip_missing":
            words += [option] if value in (True, "yes") else []
        elif value is not None:
            words += [option, str(value)]
    return words


def _is_complete(evalset: EvalSet) -> bool:
    """Return whether every system has an output for every segment, and these have references."""
    outputs = (text for texts in evalset.systems.values() for text in texts)
    return all(evalset.references) and all(text is not None for text in outputs)


def _suggestions(
    evalset: EvalSet,
    path: Path,
    arguments: Sequence[str],
    complete_arguments: Sequence[str],
    skips_missing: bool,
) -> Iterator[tuple[list[str], str]]:
    """Yield the words of commands, the most useful first, with their purpose."""
    stem = path.name.split(".")[0] or "set"
    people = evalset.judgements.without_models()
    dimensions = list(evalset.human_dimensions)
    has_references = any(evalset.references)
    can_score = evalset.has_texts and has_references and (skips_missing or _is_complete(evalset))
    n_systems = len(evalset.systems)
    can_rank = can_score and len(people) > 0 and len(evalset) >= MIN_LABELLED
    if (can_score or evalset.model_judges) and _can_estimate(evalset, dimensions):
        judge = [] if evalset.model_judges else ["-J", "chrf"]
        words = complete_arguments if can_score else arguments
        purpose = "human scores of all outputs from these labels"
        yield ["estimate", *words, "-d", dimensions[0], *judge], purpose
    if can_rank:
        purpose = "which metric agrees with these ratings"
        yield ["meta", *complete_arguments, "-m", "bleu", "-m", "chrf"], purpose
    if len(people.judges) > 1:
        yield ["data", "judges", *arguments], "how well the judges agree"
    if can_score and n_systems > 1:
        yield ["compare", *complete_arguments, "-m", "chrf"], "which system is better"
    if not evalset.has_texts and len(people) > 0 and n_systems > 1:
        yield ["compare", *arguments], "which system the judges prefer"
    if can_score and n_systems == 1:
        yield ["score", *complete_arguments, "-m", "bleu", "-m", "chrf"], "scores of the system"
    names = (name for name in evalset.offered if re.fullmatch(r"\w+", name))
    measure = next((name for name in names if direction_of_name(name) > 0), None)
    if measure and n_systems > 1 and (can_score or not evalset.has_texts):
        words = [
            "compare",
            *(complete_arguments if can_score else arguments),
            "-m",
            f"given:metric={measure}",
        ]
        yield words, f"which system differs in {measure}"
    yield from _model_suggestions(evalset, arguments, stem)
    if can_score:
        system = ["--system", next(iter(evalset.systems))] if n_systems > 1 else []
        words = ["grid", *complete_arguments, *system, "--worst", "1"]
        yield words, "the segment with the lowest score, word by word"
    if len(evalset) > 1:
        count = str(min(50, len(evalset) // 2))
        yield ["data", "draw", *arguments, count], "segments for people to label, drawn at random"
    if not evalset.has_texts:
        yield ["data", "convert", *arguments, f"{stem}-set"], "the same as text files"


def _model_suggestions(
    evalset: EvalSet, arguments: Sequence[str], stem: str
) -> Iterator[tuple[list[str], str]]:
    """Yield commands that ask a language model."""
    if evalset.contexts:
        words = ["nuggets", "draft", *arguments, "--endpoint", "demo", "-o", f"{stem}.key.jsonl"]
        yield words, "an answer key from the documents; demo stands for your model's server"
    if evalset.has_texts and evalset.sources and not evalset.judgements:
        words = [*("judge", "ratings", *arguments, "-d", "quality", "--scale", "1-5")]
        words += ["--endpoint", "demo", "-o", f"{stem}.ratings.jsonl"]
        yield words, "ratings by a model; demo stands for your model's server"
    if evalset.has_texts and len(evalset.systems) > 1 and not any(evalset.references):
        words = ["judge", "pairs", *arguments, "--endpoint", "demo", "-o", f"{stem}.pairs.jsonl"]
        yield words, "comparisons by a model; demo stands for your model's server"


def _can_estimate(evalset: EvalSet, dimensions: Sequence[str]) -> bool:
    """Return whether some, not all, segments of the first dimension are labelled."""
    if not dimensions:
        return False
    labelled = np.isfinite(evalset.human(dimensions[0])).sum(axis=1)
    return bool((labelled >= MIN_LABELLED).any() and (labelled < len(evalset)).all())
