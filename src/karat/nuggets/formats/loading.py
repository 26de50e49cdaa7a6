"""`load_nuggets` and `save_nuggets`: key, runs and judgements, by name or place, in any format."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from karat.errors import InputError, quoted
from karat.evalset import catalogue
from karat.evalset.catalogue import Catalogue, GivenPath, KnownSet, SetFormat
from karat.evalset.conversion import save_as
from karat.evalset.loading import evalset_advice
from karat.evalset.reading import Reading
from karat.nuggets.formats.text_files import JUDGED, KEY, is_importance
from karat.nuggets.sets.judgements import HALF
from karat.nuggets.sets.nugget_set import NuggetDraft, NuggetSet
from karat.progress import Progress, silent
from karat.registry import Registry

LISTER = "karat nuggets describe"
_JSON = "karat.nuggets.formats.json_lines"
_TEXT_FILES = "karat.nuggets.formats.text_files"
FORMATS = Registry(
    "nugget_formats",
    "format",
    {
        "jsonl": SetFormat(f"{_JSON}:read_jsonl", writer=f"{_JSON}:jsonl_lines"),
        "rag": SetFormat(f"{_JSON}:read_rag", members=("qid",), writer=f"{_JSON}:rag_lines"),
        "trec": SetFormat(
            f"{_TEXT_FILES}:read_folder", holds=(KEY,), writer=f"{_TEXT_FILES}:trec_files"
        ),
        "units": SetFormat(
            f"{_TEXT_FILES}:read_units", holds=("SCUs.txt",), writer=f"{_TEXT_FILES}:units_files"
        ),
        "units-run": SetFormat(f"{_TEXT_FILES}:read_summary"),
        "units-labels": SetFormat(f"{_TEXT_FILES}:read_label"),
        "trec-key": SetFormat(f"{_TEXT_FILES}:read_key"),
        "trec-run": SetFormat(f"{_TEXT_FILES}:read_runs"),
        "trec-judged": SetFormat(f"{_TEXT_FILES}:read_judgements"),
    },
    check=catalogue.check_format,
)
_ENDINGS = {("runs", ".summary"): "units-run", ("judgements", ".label"): "units-labels"}
"""Formats of files that are recognized by part and ending."""
_TEXT = {"key": "trec-key", "runs": "trec-run", "judgements": "trec-judged"}
"""Format of a text file, by the part that is read from it."""
DEMO = "demo-nuggets"
KNOWN = {
    DEMO: KnownSet("trec", "nuggets", "bundled: 2 questions, 14 nuggets, 4 runs", bundled=True),
    "realsumm": KnownSet("units", "nuggets-realsumm", "25 summarisers, 1,056 content units"),
    "rag24": KnownSet(
        "rag", "nuggets-rag24/nugget_assignment.20241108.jl", "45 runs answer 21 topics"
    ),
}
NUGGET_SETS = Catalogue(FORMATS, KNOWN, object, evalset_advice)


def load_nuggets(
    key: GivenPath,
    runs: GivenPath | Sequence[GivenPath] = (),
    judgements: GivenPath | Sequence[GivenPath] = (),
    *,
    format: str | None = None,
    skip_unknown: bool = False,
    model_judges: Sequence[str] = (),
    ties: str = HALF,
    progress: Progress = silent,
) -> NuggetSet:
    """Load a nugget set.

    Args:
        key: name of a known set, or path of a key or a whole set.
        runs, judgements: paths of runs and judgements to use instead of those of the key.
        format: format of the key; by default detected.
        skip_unknown: ignore responses and judgements of questions that the key does not have; else
            they are errors.
        model_judges: names of judges that are models (`-` for judgements without a name).
        ties: value of a tie between assessors: `half`, `yes` or `no`.
        progress: function that is called with the progress.
    """
    runs, judgements = (
        [paths] if isinstance(paths, str | os.PathLike) else paths for paths in (runs, judgements)
    )
    draft = NuggetDraft(set_name(key), Reading(progress, LISTER), skip_unknown, model_judges, ties)
    return read_nuggets(key, runs, judgements, draft, format)


def open_runs(runs: tuple[str, ...], key: str, guess: bool = True, **given: Any) -> NuggetSet:
    """Return the key with the named runs: files, or else tags of runs that come with the key.

    Unless a classifier may `guess`, there must be judgements: every score would be 0.
    """
    files = [run for run in runs if os.path.exists(run)]
    tags = [run for run in runs if run not in files]
    if files and tags:
        raise InputError(f"{tags[0]}: no such file")
    nuggets = load_nuggets(key, files, **given)
    if not files and not nuggets.runs:
        raise InputError(f"{tags[0]}: no such file, and {key} comes without runs")
    chosen = nuggets if files else nuggets.select(*tags)
    if guess or nuggets.judgements.deciding:
        return chosen
    if nuggets.judgements.rows:
        raise InputError(
            f"all judgements of {key} are labels of models, which are evidence for guesses alone: "
            "leave out --no-guess, or give judgements of people"
        )
    raise InputError(
        f"{key} comes without judgements, and nothing else says which response carries "
        "which nugget: name some with --judgements"
    )


def as_nuggets(source: NuggetSet | GivenPath, progress: Progress = silent) -> NuggetSet:
    """Return a set as it is, or load it by name or path."""
    return source if isinstance(source, NuggetSet) else load_nuggets(source, progress=progress)


def read_nuggets(
    key: GivenPath,
    runs: Sequence[GivenPath],
    judgements: Sequence[GivenPath],
    draft: NuggetDraft,
    format: str | None = None,
) -> NuggetSet:
    """Return a set as `load_nuggets` does; problems are recorded in the draft's reading."""
    if format is not None:
        _ = FORMATS[format]  # raises for an unknown format
    other_files = (("runs", runs), ("judgements", judgements))
    draft.take = ("key", *(part for part, paths in other_files if not paths))
    _read(key, "key", draft, format)
    for part, paths in other_files:
        draft.take = (part,)
        for path in paths:
            before = draft.responses
            _read(path, part, draft)
            if part == "runs" and draft.responses == before and not draft.reading.problems:
                raise InputError(f"{path}: no response in it, expected a run of at least one")
    return draft.finish()


def save_nuggets(nuggets: NuggetSet | GivenPath, path: GivenPath, format: str = "jsonl") -> None:
    """Save a set in a format that `load_nuggets` reads back.

    Args:
        nuggets: the set.
        path: folder or file to write.
        format: `jsonl`, which keeps everything, `rag`, `trec` or `units`.
    """
    save_as(NUGGET_SETS, as_nuggets(nuggets), path, format)


def set_name(source: GivenPath) -> str:
    """Return the name of a known set, or that of a file or folder."""
    return str(source) if NUGGET_SETS.known_set(source) else Path(source).name or str(source)


def _read(source: GivenPath, part: str, draft: NuggetDraft, format: str | None = None) -> None:
    known_set, path = NUGGET_SETS.known_set(source), NUGGET_SETS.path(source)
    format = format or (known_set.format if known_set else None)
    NUGGET_SETS.read(path, format, lambda place: (detect(place, part), place), draft)


def detect(path: Path, part: str = "key") -> str:
    """Return the format of a folder or file; a text file has the format of `part`."""
    NUGGET_SETS.check_place(path)
    if ending_format := _ENDINGS.get((part, path.suffix)):
        return ending_format
    if recognized := NUGGET_SETS.recognise(path):
        return recognized
    if path.is_dir():
        raise InputError(f"{path}: expected a folder with {KEY} (and perhaps {JUDGED}) or SCUs.txt")
    if part == "key" and not _is_key(line := catalogue.first_line(path)):
        raise InputError(
            f"{path}, line 1: found {quoted(line)}, expected a key: QID NUGGET vital|okay "
            "DESCRIPTION, or JSON lines"
        )
    return _TEXT[part]


def is_nuggets(name: GivenPath) -> bool:
    """Return whether this is a nugget set rather than a set of ratings, by name or content."""
    path = Path(name)
    if not path.exists() or path.is_dir():
        return (path / KEY).exists() if path.is_dir() else name == DEMO
    try:
        line = catalogue.first_line(path)
    except (OSError, InputError):  # the reader reports the problem
        return False
    if line.startswith("{"):
        members = {"qid", "nugget", "nuggets", "drafted_by"}
        return not members.isdisjoint(catalogue.json_object(line))
    return _is_key(line) or any(set_format.is_detected(path) for _, set_format in FORMATS.usable())


def nugget_set_advice(name: GivenPath) -> str:
    """Return advice for commands that expect another kind of set; "" if this is no nugget set."""
    message = "this is a nugget set: give it to karat nuggets, in Python to load_nuggets"
    return message if is_nuggets(name) else ""


def _is_key(line: str) -> bool:
    """Return whether a line can be part of a TREC key."""
    fields = line.split(None, 3)
    return len(fields) > 2 and is_importance(fields[2].partition("/")[0])
