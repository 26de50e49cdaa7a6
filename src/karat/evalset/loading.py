"""Loading of evaluation sets by name or path, in any format."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

from karat.errors import InputError, quoted
from karat.evalset.additions import NOTHING, Additions
from karat.evalset.catalogue import (
    SET_KINDS,
    VARIABLE,
    Catalogue,
    GivenPath,
    KnownSet,
    SetFormat,
    check_format,
    first_line,
    json_object,
)
from karat.evalset.judgements import Judgement
from karat.evalset.reading import Reading, read_lines
from karat.evalset.sets import EvalSet, check_known
from karat.progress import Progress, silent
from karat.registry import Registry, load
from karat.results import Result
from karat.settings import NamedTexts

_FORMATS = "karat.evalset.formats"
TABLE = "table"
"""The format of any table, for files that have no other format."""
STANDARD_INPUT = "-"
SetSource: TypeAlias = EvalSet | GivenPath | Any
"""An evaluation set, its name or path, the path of any table, a data frame, or a list of dicts.

Several tables of one system each are a list of paths, or a dict of paths by name of the system.
"""
_SUFFIXES = (".tsv", ".jsonl", ".jl", ".json", ".eval", ".sqlite")

RESERVED_OPTIONS = (
    *("name_or_path", "evalset", "path", "format", "read_as", "progress"),
    *("judgements", "model_judges", "draws"),
)
"""Parameters of functions that also accept the options of readers."""


FORMATS = Registry(
    "formats",
    "format",
    {
        "dir": SetFormat(
            f"{_FORMATS}.directory:read_directory",
            holds=("karat.toml",),
            writer=f"{_FORMATS}.directory:directory_files",
            about="Karat's folder of text files, human.tsv and karat.toml",
        ),
        "mt-metrics-eval": SetFormat(
            f"{_FORMATS}.wmt:read_mt_metrics_eval",
            holds=("sources", "system-outputs"),
            about="folder of mt-metrics-eval, such as wmt23",
            kind="translation",
        ),
        "believability": SetFormat(
            f"{_FORMATS}.rated_tables:read_believability",
            holds=("annotations", "text/mt_output"),
            about="folder with a CSV file per question and a column per annotator",
            kind="translation",
        ),
        "e2e": SetFormat(
            f"{_FORMATS}.rated_tables:read_e2e",
            holds=("primary", "testset_w_refs.csv"),
            about="folder of the E2E NLG challenge",
            kind="data-to-text",
        ),
        "realsumm": SetFormat(
            f"{_FORMATS}.summarization:read_realsumm",
            holds=("SCUs.txt", "labels", "summaries"),
            about="folder of content units and labels",
            kind="summary",
        ),
        "mqm": SetFormat(
            f"{_FORMATS}.wmt:read_mqm",
            columns=("system", "doc", "rater", "category", "severity"),
            about="TSV file of WMT's MQM errors",
            kind="translation",
        ),
        "paraphrases": SetFormat(
            f"{_FORMATS}.rated_tables:read_paraphrases",
            columns=("source", "reference", "candidate", "score"),
            about="TSV file of rated paraphrases",
        ),
        "judged-paraphrases": SetFormat(
            f"{_FORMATS}.rated_tables:read_judged_paraphrases",
            columns=("source", "system", "paraphrase", "judge"),
            about="TSV file of paraphrases, a row per judge",
        ),
        "summeval": SetFormat(
            f"{_FORMATS}.summarization:read_summeval",
            members=("id", "references", "systems"),
            about="SummEval as JSON lines, means of experts",
            kind="summary",
        ),
        "summeval-annotations": SetFormat(
            f"{_FORMATS}.summarization:read_summeval_annotations",
            members=("id", "model_id", "decoded", "expert_annotations"),
            about="SummEval's own JSON lines, with every annotator",
            kind="summary",
        ),
        "rag24": SetFormat(
            f"{_FORMATS}.summarization:read_rag24",
            members=("qid", "run_id", "nuggets"),
            about="TREC RAG 2024 nugget assignments as JSON lines",
            kind="answer",
        ),
        "appraise": SetFormat(
            f"{_FORMATS}.appraise:read_appraise",
            about="CSV exports of Appraise campaigns",
            kind="translation",
        ),
        "lm-eval": SetFormat(
            f"{_FORMATS}.sample_logs:read_lm_eval",
            members=("doc_id", "target", "filtered_resps"),
            files=("samples_*.jsonl",),
            about="samples that lm-evaluation-harness logs",
        ),
        "inspect": SetFormat(
            f"{_FORMATS}.sample_logs:read_inspect_ai",
            detects=f"{_FORMATS}.sample_logs:is_inspect_log",
            files=("*.eval", "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]T*_*.json"),
            about="logs of inspect_ai",
        ),
        "jsonl": SetFormat(
            f"{_FORMATS}.jsonl:read_jsonl",
            writer=f"{_FORMATS}.jsonl:format_jsonl",
            about="one file of JSON lines with segments, outputs and judgements",
        ),
        TABLE: SetFormat(
            "karat.tables.outputs:read_table_set",
            settings="karat.tables.options:ReadingOptions",
            about="any table of outputs or ratings: CSV, JSON, parquet, XLSX, exports of tools",
        ),
    },
    check=check_format,
)
KNOWN = {
    "demo": KnownSet(
        "dir", "judged", "bundled: 4 systems, 12 segments, invented judges", bundled=True
    ),
    "demo-labels": KnownSet(
        "jsonl",
        "labelled.jsonl",
        "bundled: 4 systems, 80 segments, 24 of them labelled by invented judges",
        bundled=True,
    ),
    "demo-paraphrases": KnownSet(
        "judged-paraphrases",
        "paraphrase/judged.tsv",
        "bundled: 40 originals, 4 invented systems and 2 invented judges",
        bundled=True,
    ),
    "ted-zhen": KnownSet(
        "mqm",
        "mt-ted-zhen/mqm_ted_zhen.tsv",
        "WMT21 TED zh-en: 13 systems, MQM; reference refB",
        {"references": ("refB",), "leave_out": ("ref",), "licence": "Apache-2.0"},
    ),
    "believability": KnownSet(
        "believability", "mt-believability", "3 MT outputs: adequacy, fluency, believability"
    ),
    "summeval": KnownSet(
        "summeval", "summ-summeval/summeval.jsonl", "16 summarisers, 11 references, 4 dimensions"
    ),
    "e2e": KnownSet("e2e", "nlg-e2e", "21 generators: naturalness, quality (relative)"),
    "realsumm": KnownSet("realsumm", "nuggets-realsumm", "25 summarisers: coverage"),
    "rag24": KnownSet(
        "rag24",
        "nuggets-rag24/nugget_assignment.20241108.jl",
        "45 runs answer 21 topics: nugget scores",
    ),
    "paraphrase-twitter": KnownSet(
        "paraphrases", "paraphrase-twitter/twitter.tsv", "7,159 candidates of 761 sources"
    ),
}


EVALSETS = Catalogue(
    FORMATS,
    KNOWN,
    EvalSet,
    lambda name: "".join(load(kind.advice)(name) for _, kind in SET_KINDS.usable()),
)


class KnownRow(NamedTuple):
    """A known set, and whether it is available."""

    name: str
    is_available: bool
    format: str
    about: str
    place: str | None


class FormatRow(NamedTuple):
    """A format of sets that can be read."""

    format: str
    about: str


@dataclass(frozen=True, repr=False)
class KnownEvalSets(Result):
    """The known sets, and the formats of others."""

    rows: tuple[KnownRow, ...]
    notes: tuple[str, ...]
    settings: Mapping[str, object]
    formats: tuple[FormatRow, ...] = ()
    signature: str = ""


def known_evalsets() -> KnownEvalSets:
    """Return the known sets, and whether each is available."""
    folder = os.environ.get(VARIABLE, "")
    rows = []
    for name, known_set in KNOWN.items():
        path = os.path.join(folder or os.devnull, known_set.place)
        is_available = known_set.bundled or os.path.exists(path)
        place = None if known_set.bundled else known_set.place
        rows.append(KnownRow(name, is_available, known_set.format, known_set.about, place))
    note = f"{VARIABLE} is {folder}." if folder else f"{VARIABLE} is not set: no data to look for."
    formats = tuple(FormatRow(name, FORMATS[name].about) for name in FORMATS)
    return KnownEvalSets(tuple(rows), (note,), {VARIABLE: folder}, formats)


NAMED_TEXTS = ("columns", "scale")
"""Options of readers with several texts by name, such as `columns=reference=gold`."""


def parse_options(texts: Iterable[str]) -> dict[str, Any]:
    """Return `NAME=VALUE` texts as options of a reader."""
    options: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise InputError(f"--option {text}: expected NAME=VALUE")
        if name in RESERVED_OPTIONS:
            raise InputError(f"--option {text}: {name} is not an option of a reader: leave it out")
        if name in NAMED_TEXTS:
            key, _, item = value.partition("=")
            options[name] = NamedTexts({**options.get(name, {}), key: item})
            continue
        if name in options:
            raise InputError(f"--option {text}: {name} is given twice")
        options[name] = value
    return options


def load_evalset(
    name_or_path: SetSource,
    format: str | None = None,
    *,
    judgements: GivenPath | Sequence[GivenPath] = (),
    model_judges: Sequence[str] = (),
    draws: GivenPath | None = None,
    progress: Progress = silent,
    **options: Any,
) -> EvalSet:
    """Load an evaluation set.

    Known sets that are not bundled are looked for in the folder $KARAT_DATA.

    Args:
        name_or_path: name of a known set; path of a folder, a file or any table (`-` for a table
            on standard input); a data frame or a list of dicts; or several paths of tables, as a
            list or by the name of their system.
        format: name of the format; by default detected.
        judgements: files of judgements to add: JSON lines, or a table like `human.tsv`.
        model_judges: names of judges that are models; human scores are without them.
        draws: file with the draws of segments for judging.
        progress: function that is called with the progress.
        options: options of the format's reader.
    """
    added = as_additions(judgements, model_judges, draws)
    return read_source(name_or_path, Reading(progress), format, options, added)


def read_source(
    source: SetSource,
    reading: Reading,
    format: str | None = None,
    options: Mapping[str, Any] = MappingProxyType({}),
    added: Additions = NOTHING,
) -> EvalSet:
    """Read a set as `load_evalset` does, from any source; problems are recorded in `reading`."""
    if isinstance(source, EvalSet):
        if format or options:
            names = ", ".join([*(["format"] if format else []), *options])
            raise InputError(f"{source.name} is loaded already: leave out {names}")
        return added.add_to(source, reading)
    if isinstance(source, str | os.PathLike):
        return read_evalset(source, reading, format, options, added)
    if not _is_table_source(source):
        raise source_error(source)
    if format not in (None, TABLE):
        raise InputError(f"format {quoted(format)}: this is a table; leave out the format")
    read = load("karat.tables.outputs:read_outputs")
    check_known("option", options, [*signature(read).parameters][1:], "a table")
    return added.add_to(read(source, progress=reading.progress, **options), reading)


def source_error(source: object) -> InputError:
    """Return the error for a value that is not the source of a set."""
    expected = "an evaluation set, its name, a path, a data frame or a list of dicts"
    return InputError(f"found {quoted(source)}, expected {expected}")


def _is_table_source(source: Any) -> bool:
    """Return whether this is a frame or records, or paths of tables in a list or by system."""
    if isinstance(source, Mapping | list | tuple) and source:
        items = [*(source.values() if isinstance(source, Mapping) else source)]
        if all(isinstance(item, str | os.PathLike) for item in items):
            return True
    is_frame: bool = load("karat.tables.frames:is_frame")(source)
    return is_frame


def as_additions(
    judgements: GivenPath | Sequence[GivenPath] = (),
    model_judges: str | Sequence[str] = (),
    draws: GivenPath | None = None,
) -> Additions:
    """Return the additions to a set; a single file or judge need not be in a list."""
    arguments: tuple[Any, Any] = judgements, model_judges
    files, models = (
        tuple(value) if isinstance(value, Sequence) and not isinstance(value, str) else (value,)
        for value in arguments
    )
    additions = Additions(files, models, draws)
    for file in (*additions.judgements, *([] if draws is None else [draws])):
        if not isinstance(file, str | os.PathLike):
            raise InputError(f"found {quoted(file)}, expected the path of a file")
    return additions


def as_evalset(source: SetSource, progress: Progress = silent) -> EvalSet:
    """Return a set unchanged, or load it from a name, a path, a frame or records."""
    return source if isinstance(source, EvalSet) else load_evalset(source, progress=progress)


def evalset_advice(name_or_path: GivenPath) -> str:
    """Return advice on where evaluation sets are accepted; "" if this is not one."""
    path = Path(name_or_path)
    line = first_line(path) if path.is_file() else ""
    is_jsonl = not {"evalset", "outputs"}.isdisjoint(json_object(line))
    if path.exists():
        is_set = is_jsonl or bool(EVALSETS.find_format(path, line))
    else:
        is_set = str(name_or_path) in KNOWN
    advice = "give it to karat meta, karat data or --set, in Python to load_evalset"
    return f"this is an evaluation set: {advice}" if is_set else ""


def read_evalset(
    name_or_path: GivenPath,
    reading: Reading,
    format: str | None = None,
    options: Mapping[str, Any] = MappingProxyType({}),
    added: Additions = NOTHING,
) -> EvalSet:
    """Load a set by name or path; problems are recorded in `reading`."""
    known_set = EVALSETS.known_set(name_or_path)
    if os.fspath(name_or_path) == STANDARD_INPUT:
        if format not in (None, TABLE):
            raise InputError(f"standard input is read as a table, not as {format}: name a file")
        format = TABLE
    elif known_set is not None:
        if format not in (None, known_set.format):
            read = f"read as {known_set.format}, not as {format}"
            raise InputError(f"{name_or_path} is a known set, {read}")
        format = known_set.format
        if format not in ("dir", "jsonl"):  # these contain their names
            options = {"name": name_or_path, **known_set.options, **options}
    else:
        EVALSETS.check_place(name_or_path)
    path = EVALSETS.path(name_or_path)
    evalset: EvalSet = EVALSETS.read(path, format, detect, reading, options)
    return added.add_to(evalset, reading)


def _is_table(path: Path) -> bool:
    is_table: bool = load("karat.tables.files:is_table")(path)
    return is_table


def has_set_format(path: Path) -> bool:
    """Return whether a folder or file has a format other than that of tables."""
    line = "" if path.is_dir() else first_line(path)
    return EVALSETS.find_format(path, line) is not None or is_native_jsonl(path, line)


def is_native_jsonl(path: Path, line: str) -> bool:
    """Return whether a file with this first line is a set in Karat's JSON lines.

    Its first object is a header, a segment with outputs, or a judgement of segments that follow.
    """
    record = json_object(line)
    if "evalset" in record:
        return True
    outputs = record.get("outputs")
    if isinstance(outputs, dict) and "inputs" not in record:
        return all(text is None or isinstance(text, str) for text in outputs.values())
    if "draw" in record or {*Judgement._fields} <= {*record}:
        return any('"outputs"' in text for text in read_lines(path))
    return False


def detect(path: Path) -> tuple[str, Path]:
    """Return the format and path of a set: a file, a folder, or the only set in a folder.

    A file that has no other format is a table if it can be one.
    """
    if path.is_dir() and (format := EVALSETS.recognise(path)):
        return format, path
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    sets = [file for file in files if file.suffix in _SUFFIXES and file.is_file()]
    matches = [(format, file) for file in sets if (format := EVALSETS.recognise(file))]
    if len(matches) == 1:
        format, file = matches[0]
        is_other = format == "jsonl" and not is_native_jsonl(file, first_line(file))
        if not is_other or not _is_table(file):
            return matches[0]
        return TABLE, file
    if not path.is_dir() and _is_table(path):
        return TABLE, path
    advice = f"expected a folder with karat.toml, or name the format ({', '.join(FORMATS)})"
    raise InputError(f"{path}: not recognised as an evaluation set: {advice}")
