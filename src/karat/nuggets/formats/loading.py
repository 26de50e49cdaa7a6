"""`load_nuggets`: a key with runs and judgements, by name or place, in whatever format they are."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from karat.errors import InputError, quoted
from karat.evalset.loading import data_place
from karat.evalset.reading import Reading
from karat.nuggets.formats.trec import JUDGED, KEY, is_importance
from karat.nuggets.sets.draft import Draft
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.nuggets.sets.voting import HALF
from karat.progress import Progress, silent
from karat.unpacking import unpacked

LISTER = "karat nuggets describe"

_LONGEST = 1 << 20  # bytes of a first line that are looked at
_PATH = str | os.PathLike[str]


class Format(NamedTuple):
    """A reader, which fills a draft."""

    module: str
    function: str
    about: str

    def reader(self) -> Callable[[Path, Draft], None]:
        """The function that reads it."""
        found: Callable[[Path, Draft], None] = getattr(
            import_module(f"karat.nuggets.formats.{self.module}"), self.function
        )
        return found


FORMATS = {
    "jsonl": Format("jsonl", "read_jsonl", "Karat's JSON lines"),
    "rag": Format("rag", "read_rag", "nugget assignments of RAG answers, as JSON lines"),
    "trec": Format("trec", "read_folder", "TREC's files: key.txt, runs/, judged.txt"),
    "units": Format("units", "read_units", "content units: ids.txt, SCUs.txt, summaries/, labels/"),
    "units-run": Format("units", "read_summary", "the summaries of one system (.summary)"),
    "units-labels": Format("units", "read_label", "the labels of one system (.label)"),
    "trec-key": Format("trec", "read_key", "a key of TREC"),
    "trec-run": Format("trec", "read_runs", "runs of TREC"),
    "trec-judged": Format("trec", "read_judged", "judged responses of TREC"),
}
_ENDINGS = {".summary": ("runs", "units-run"), ".label": ("judgements", "units-labels")}
"""Endings of files that are told by them: the part that they are, and their format."""
_TEXT = {"key": "trec-key", "runs": "trec-run", "judgements": "trec-judged"}
"""What a text file is, by the part that is wanted of it."""


class Known(NamedTuple):
    """A set that has a name."""

    format: str
    place: str
    about: str


DEMO = "demo-nuggets"
KNOWN = {
    DEMO: Known("trec", "nuggets", "bundled: 2 questions, 14 nuggets, 4 runs"),
    "realsumm": Known("units", "nuggets-realsumm", "25 summarisers, 1,056 content units"),
    "rag24": Known(
        "rag", "nuggets-rag24/nugget_assignment.20241108.jl", "45 runs answer 21 topics"
    ),
}


def load_nuggets(
    key: _PATH,
    runs: Sequence[_PATH] = (),
    judgements: Sequence[_PATH] = (),
    *,
    format: str | None = None,
    skip_unknown: bool = False,
    log: _PATH | None = None,
    model_judges: Sequence[str] = (),
    ties: str = HALF,
    progress: Progress = silent,
) -> NuggetSet:
    """A set by the name of a known one, or by its folder or file.

    Runs and judgements from further places take the place of those that come with the key. Formats
    are found from the content; `format` names that of the first place. Responses and judgements of
    questions that the key does not have are an error, or left out with `skip_unknown`. A `log` of
    `karat nuggets judge` is read beside whatever judgements there are.

    `model_judges` are the names of judges that are models ("-": judgements without a name), where
    files do not say so. `ties` is the value of a tie between judges: half, yes or no.
    """
    reading = Reading(progress, LISTER)
    given = format, skip_unknown, log, model_judges, ties
    return read_nuggets(key, runs, judgements, reading, *given)


def read_nuggets(
    key: _PATH,
    runs: Sequence[_PATH],
    judgements: Sequence[_PATH],
    reading: Reading,
    format: str | None = None,
    skip_unknown: bool = False,
    log: _PATH | None = None,
    model_judges: Sequence[str] = (),
    ties: str = HALF,
) -> NuggetSet:
    """The same, leaving what was found wrong in `reading`."""
    if format is not None and format not in FORMATS:
        raise InputError(f"format {quoted(format)}: expected one of {', '.join(FORMATS)}")
    draft = Draft(set_name(key), reading, skip_unknown)
    draft.models, draft.ties = tuple(model_judges), ties
    others = (("runs", runs), ("judgements", judgements))
    draft.take = ("key", *(part for part, given in others if not given))
    _read(key, "key", draft, format)
    for part, given in others:
        draft.take = (part,)
        for path in given:
            before = draft.responses
            _read(path, part, draft)
            if part == "runs" and draft.responses == before and not reading.problems:
                raise InputError(f"{path}: no response in it, expected a run of at least one")
    if log is not None:
        _read(Path(log), "judgements", draft, "jsonl")  # a path: never the name of a known set
    return draft.finish()


def set_name(given: _PATH) -> str:
    """What a set is called: the name of a known one, or of its file or folder."""
    return os.fspath(given) if os.fspath(given) in KNOWN else Path(given).name or str(given)


def _read(given: _PATH, part: str, draft: Draft, format: str | None = None) -> None:
    name = os.fspath(given)
    known = KNOWN.get(name) if isinstance(given, str) else None
    path = known_place(name) if known else Path(name)
    try:
        found = format or (known.format if known else detect(path, part))
        FORMATS[found].reader()(path, draft)
    except OSError as error:  # a folder that cannot be listed
        raise InputError(f"{error.filename or path}: {error.strerror or error}") from error


def known_place(name: str) -> Path:
    """Where a known set is; it must be there."""
    return data_place(name, KNOWN[name].place, bundled=name == DEMO)


def detect(path: Path, part: str = "key") -> str:
    """The format of a folder or file; a text file is what is wanted of it."""
    if path.is_dir():
        for name, mark in (("trec", KEY), ("units", "SCUs.txt")):
            if (path / mark).exists():
                return name
        raise InputError(f"{path}: expected a folder with {KEY} (and perhaps {JUDGED}) or SCUs.txt")
    if not path.exists():
        raise InputError(f"{path}: no such folder or file, nor a known set ({', '.join(KNOWN)})")
    told = _ENDINGS.get(path.suffix)
    if told and told[0] == part:
        return told[1]
    first = _first_line(path)
    if first.startswith("{"):
        return _of_object(first)
    if part == "key" and not _is_key(first):
        raise InputError(
            f"{path}, line 1: found {quoted(first)}, expected a key: QID NUGGET vital|okay "
            "DESCRIPTION, or JSON lines"
        )
    return _TEXT[part]


def is_nuggets(name: str) -> bool:
    """Whether this is a nugget set rather than a set of ratings, by its name or content."""
    path = Path(name)
    if not path.exists():
        return name == DEMO
    if path.is_dir():
        return (path / KEY).exists()
    try:
        first = _first_line(path)
    except (OSError, InputError):  # the reader says what is wrong
        return False
    if first.startswith("{"):
        return not {"qid", "nugget", "nuggets"}.isdisjoint(_object(first))
    return _is_key(first)


def _is_key(line: str) -> bool:
    """Whether a line can stand in a key of TREC."""
    fields = line.split(None, 3)
    return len(fields) > 2 and is_importance(fields[2].partition("/")[0])


def _first_line(path: Path) -> str:
    """The first line that is not blank, whatever its bytes: the reader says what is wrong."""
    for line in _first_bytes(path).decode("utf-8-sig", "replace").split("\n"):
        if line.strip():
            return line.strip()
    return ""


def _first_bytes(path: Path) -> bytes:
    with path.open("rb") as file:
        if path.suffix != ".gz":
            return file.read(_LONGEST)
        return next(unpacked(file, str(path)), b"")


def _of_object(line: str) -> str:
    return "rag" if "qid" in _object(line) else "jsonl"


def _object(line: str) -> dict[str, Any]:
    """A JSON object; an empty one where the line is none."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
