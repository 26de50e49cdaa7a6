"""`load_evalset`: a set by its name or its place, in whatever format it is."""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module, resources
from pathlib import Path
from typing import Any, NamedTuple

from karat.errors import InputError, quoted
from karat.evalset.reading import Reading
from karat.evalset.sets import EvalSet, check_known
from karat.progress import Progress, silent

VARIABLE = "KARAT_DATA"
"""The environment variable that names the folder with the known sets."""


_LONGEST = 1 << 24  # bytes of a first line that are looked at


class Format(NamedTuple):
    """A reader, and how its format is known: what a folder holds, or what a first line names."""

    module: str
    function: str
    about: str
    holds: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    def reader(self) -> Callable[..., EvalSet]:
        """The function that reads it."""
        found: Callable[..., EvalSet] = getattr(import_module(self.module), self.function)
        return found


_HERE = "karat.evalset.formats"
FORMATS = {
    "dir": Format(
        f"{_HERE}.directory",
        "read_directory",
        "Karat's folder: karat.toml, systems/NAME.txt, references/, human.tsv",
        holds=("karat.toml",),
    ),
    "mt-metrics-eval": Format(
        f"{_HERE}.mt_metrics_eval",
        "read_mt_metrics_eval",
        "mt-metrics-eval's folder: sources/, references/, system-outputs/, human-scores/",
        holds=("sources", "system-outputs"),
    ),
    "believability": Format(
        f"{_HERE}.believability",
        "read_believability",
        "MT believability: a CSV with a column per annotator",
        holds=("annotations", "text/mt_output"),
    ),
    "e2e": Format(
        f"{_HERE}.e2e",
        "read_e2e",
        "the E2E challenge: primary/, ratings as CSV",
        holds=("primary", "testset_w_refs.csv"),
    ),
    "realsumm": Format(
        f"{_HERE}.realsumm",
        "read_realsumm",
        "summaries with labels of content units",
        holds=("SCUs.txt", "labels", "summaries"),
    ),
    "mqm": Format(
        f"{_HERE}.mqm",
        "read_mqm",
        "WMT's MQM error rows",
        names=("system", "doc", "rater", "category", "severity"),
    ),
    "paraphrases": Format(
        f"{_HERE}.paraphrases",
        "read_paraphrases",
        "a table of source, reference, candidate and score",
        names=("source", "reference", "candidate", "score"),
    ),
    "judged-paraphrases": Format(
        f"{_HERE}.judged_paraphrases",
        "read_judged_paraphrases",
        "a table of source, system, paraphrase, judge and scores from 1 to 5",
        names=("source", "system", "paraphrase", "judge"),
    ),
    "summeval": Format(
        f"{_HERE}.summeval",
        "read_summeval",
        "SummEval as JSON lines",
        names=("id", "references", "systems"),
    ),
    "rag24": Format(
        f"{_HERE}.rag24",
        "read_rag24",
        "TREC RAG 2024 nugget assignments",
        names=("qid", "run_id", "nuggets"),
    ),
    "jsonl": Format(f"{_HERE}.jsonl", "read_jsonl", "Karat's JSON lines"),
}


class Known(NamedTuple):
    """A set that has a name."""

    format: str
    place: str
    about: str
    options: Mapping[str, Any] = {}


DEMO = "demo"
DEMO_PARAPHRASES = "demo-paraphrases"
BUNDLED = (DEMO, DEMO_PARAPHRASES)
KNOWN = {
    DEMO: Known("dir", "judged", "bundled: 4 systems, 12 segments, invented judges"),
    DEMO_PARAPHRASES: Known(
        "judged-paraphrases",
        "paraphrase/judged.tsv",
        "bundled: 40 originals, 4 invented systems and 2 invented judges",
    ),
    "ted-zhen": Known(
        "mqm",
        "mt-ted-zhen/mqm_ted_zhen.tsv",
        "WMT21 TED zh-en: 13 systems, MQM; reference refB",
        {"references": ("refB",), "leave_out": ("ref",), "licence": "Apache-2.0"},
    ),
    "believability": Known(
        "believability", "mt-believability", "3 MT outputs: adequacy, fluency, believability"
    ),
    "summeval": Known(
        "summeval", "summ-summeval/summeval.jsonl", "16 summarisers, 11 references, 4 dimensions"
    ),
    "e2e": Known("e2e", "nlg-e2e", "21 generators: naturalness, quality (relative)"),
    "realsumm": Known("realsumm", "nuggets-realsumm", "25 summarisers: coverage"),
    "rag24": Known(
        "rag24",
        "nuggets-rag24/nugget_assignment.20241108.jl",
        "45 runs answer 21 topics: nugget scores",
    ),
    "paraphrase-twitter": Known(
        "paraphrases", "paraphrase-twitter/twitter.tsv", "7,159 candidates of 761 sources"
    ),
}


def as_options(given: Iterable[str]) -> dict[str, Any]:
    """`NAME=VALUE` as a reader takes it."""
    found: dict[str, Any] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise InputError(f"--option {text}: expected NAME=VALUE")
        if name in found:
            raise InputError(f"--option {text}: {name} is given twice")
        found[name] = value
    return found


def load_evalset(
    name_or_path: str | os.PathLike[str],
    format: str | None = None,
    *,
    progress: Progress = silent,
    **options: Any,
) -> EvalSet:
    """A set by the name of a known one, or by its folder or file.

    The format is found from the content unless it is named; options go to its reader. Known sets
    that are not bundled are looked for in the folder that the variable KARAT_DATA names.
    """
    return read_evalset(name_or_path, Reading(progress), format, **options)


def read_evalset(
    name_or_path: str | os.PathLike[str],
    reading: Reading,
    format: str | None = None,
    **options: Any,
) -> EvalSet:
    """The same, leaving what was found wrong in `reading`."""
    given = os.fspath(name_or_path)
    known = KNOWN.get(given) if isinstance(name_or_path, str) else None
    if known is not None:
        if format not in (None, known.format):
            raise InputError(f"{given} is a known set, read as {known.format}, not as {format}")
        path, format = known_place(given), known.format
        options = {"name": given, **known.options, **options} if format != "dir" else options
    else:
        path = Path(given)
        if not path.exists():
            names = ", ".join(KNOWN)
            raise InputError(f"{given}: no such folder or file, nor a known set ({names})")
    if format is not None and format not in FORMATS:
        raise InputError(f"format {quoted(format)}: expected one of {', '.join(FORMATS)}")
    try:
        format, path = detect(path) if format is None else (format, path)
        reader = FORMATS[format].reader()
        takes = [*inspect.signature(reader).parameters][2:]
        check_known("option", options, takes, f"format {format}")
        return reader(path, reading, **options)
    except OSError as error:  # a folder that cannot be listed
        raise InputError(f"{error.filename or path}: {error.strerror or error}") from error


def known_place(name: str) -> Path:
    """Where a known set is; it must be there."""
    return data_place(name, KNOWN[name].place, bundled=name in BUNDLED)


def data_place(name: str, place: str, *, bundled: bool) -> Path:
    """A place among what comes with Karat, or in the folder of known data."""
    if bundled:
        return Path(str(resources.files("karat") / "data" / place))
    folder = os.environ.get(VARIABLE)
    if not folder:
        raise InputError(
            f"{name} is a known set, and {VARIABLE} is not set: let it name the folder that holds "
            f"{place}"
        )
    path = Path(folder) / place
    if not path.exists():
        raise InputError(f"{name} is a known set, and {VARIABLE} has no {path}")
    return path


def detect(path: Path) -> tuple[str, Path]:
    """The format of a folder or file; of a folder with one readable set in it, that of the set."""
    if path.is_file():
        format = _of_file(path)
        if format is not None:
            return format, path
    if path.is_dir():
        for format, known in FORMATS.items():
            if known.holds and all((path / name).exists() for name in known.holds):
                return format, path
        inside = [(f, file) for file in sorted(path.iterdir()) if (f := _of_file(file))]
        if len(inside) == 1:
            return inside[0]
    raise InputError(
        f"{path}: not recognised as an evaluation set: expected a folder with karat.toml, or name "
        f"the format ({', '.join(FORMATS)})"
    )


def _of_file(path: Path) -> str | None:
    """The format whose names stand in the first line, as columns or as members of an object."""
    if not path.is_file() or path.suffix not in (".tsv", ".jsonl", ".jl", ".json"):
        return None
    with path.open("rb") as file:
        first = file.readline(_LONGEST).decode("utf-8-sig", "replace").strip()
    try:
        found = json.loads(first) if first.startswith("{") else first.split("\t")
    except (ValueError, RecursionError):
        found = []
    for format, known in FORMATS.items():
        if known.names and set(known.names) <= set(found):
            return format
    return "jsonl" if first.startswith("{") else None
