"""WMT sets: files of MQM errors, and folders of mt-metrics-eval."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from karat.errors import InputError, quoted, short
from karat.evalset.draft import EvalSetDraft
from karat.evalset.formats.score_files import read_metric_scores
from karat.evalset.given_scores import GivenScores, Offered
from karat.evalset.judgements import Dimension
from karat.evalset.reading import (
    FileLocation,
    Reading,
    output_columns,
    parse_number,
    read_header,
    read_lines,
    read_table,
    split_names,
)
from karat.evalset.sets import EvalSet, check_known

WEIGHTS: Mapping[str, float] = {
    "Critical": 25.0,
    "Major": 5.0,
    "Minor": 1.0,
    "Neutral": 0.0,
    "No-error": 0.0,
    "Major/Non-translation": 25.0,
    "Major/Non-translation!": 25.0,
    "Minor/Fluency/Punctuation": 0.1,
}
DIMENSIONS: Mapping[str, str] = {"mqm": "", "accuracy": "Accuracy", "fluency": "Fluency"}
"""Category whose errors are summed under each dimension; "" is all of them."""

_COLUMNS = ("system", "doc", "rater", "source", "target", "category", "severity")
_SEGMENT_COLUMNS = ("globalSegId", "seg_id")  # the newer name, and that of 2020 and 2021
_GUIDELINE = "Sum of the weights of {} errors."
_MARKS = re.compile(r"</?v>")

_Item = tuple[str, str]  # system, segment


def read_mqm(
    path: Path,
    reading: Reading,
    *,
    references: str | Sequence[str] | None = None,
    leave_out: str | Sequence[str] = (),
    weights: Mapping[str, float] = WEIGHTS,
    dimensions: Mapping[str, str] = DIMENSIONS,
    name: str | None = None,
    licence: str = "",
) -> EvalSet:
    """Return the set in a table with one row per error that a rater marked in an output.

        system  doc  doc_id  seg_id  rater  source  target  category  severity

    The marks `<v>` and `</v>` of an error's span are removed; a row `No-error` means that there is
    none. The penalty of an output is the sum of the weights of its errors, so lower is better. A
    weight belongs to `severity[/category[/subcategory]]`; the most specific one counts.
    `references` are by default the systems called `ref…`.
    """
    sources: dict[str, str] = {}
    documents: dict[str, str] = {}
    outputs: dict[_Item, str] = {}
    places: dict[_Item, FileLocation] = {}
    penalties: dict[tuple[str, str, str], dict[str, float]] = {}
    weight_by_name = {key.lower(): value for key, value in weights.items()}
    header = read_header(path)
    number = next((name for name in _SEGMENT_COLUMNS if name in header), _SEGMENT_COLUMNS[1])
    for location, row in read_table(path, (*_COLUMNS, number), reading):
        system, document, rater, source, target, category, severity, segment = row
        texts: tuple[tuple[str, dict[Any, str], object, str], ...] = (
            ("source", sources, segment, _MARKS.sub("", source)),
            ("document", documents, segment, document),
            ("target", outputs, (system, segment), _MARKS.sub("", target)),
        )
        for subject, first_texts, key, text in texts:
            if first_texts.setdefault(key, text) != text:
                problem = f"found another {subject} than before for this segment"
                reading.problem(location, problem)
        places.setdefault((system, segment), location)
        weight = weight_of(severity, category, weight_by_name)
        if weight is None:
            reading.problem(location, f"no weight for severity {quoted(severity)}: give one")
            continue
        sums = penalties.setdefault((system, segment, rater), dict.fromkeys(dimensions, 0.0))
        for dimension, below in dimensions.items():
            if f"{category}/".lower().startswith(f"{below}/".lower() if below else ""):
                sums[dimension] += weight
    columns = output_columns(path, outputs, sources)
    default_references = [name for name in columns if name.lower().startswith("ref")]
    refs = split_names(default_references if references is None else references)
    left_out = (*refs, *split_names(leave_out))
    check_known("system", left_out, columns, str(path))
    draft = EvalSetDraft(
        name or path.name.removesuffix(".tsv"),
        list(sources),
        {system: texts for system, texts in columns.items() if system not in left_out},
        reading=reading,
        location=path,
        references=[[outputs[ref, s] for ref in refs if (ref, s) in outputs] for s in sources],
        groups=list(documents.values()),
        sources=list(sources.values()),
        dimensions=[
            Dimension(key, "lower", 0.0, guideline=_GUIDELINE.format(below or "all"))
            for key, below in dimensions.items()
        ],
        description=f"MQM errors; references: {', '.join(refs) or 'none'}",
        licence=licence,
    )
    for (system, segment, rater), by_dimension in penalties.items():
        if system not in left_out:
            for key, penalty in by_dimension.items():
                draft.judge(system, segment, rater, key, penalty, places[system, segment])
    return draft.finish()


def weight_of(severity: str, category: str, weights: Mapping[str, float]) -> float | None:
    """Return the weight of the most specific name; names are in lower case."""
    deepest = max((name.count("/") for name in weights), default=0)
    parts = [severity, *category.split("/", deepest)][: deepest + 1]
    for length in range(len(parts), 0, -1):
        weight = weights.get("/".join(parts[:length]).lower())
        if weight is not None:
            return weight
    return None


JUDGE, MERGED = "all", "merged"
MQM_WEIGHTS = {key.lower(): weight for key, weight in WEIGHTS.items()}
WMT_STANDARD = {
    "wmt21.news": {"en-de": "refC", "zh-en": "refB"},
    "wmt21.tedtalks": {"zh-en": "refB"},
    "wmt22": {"cs-en": "refB", "en-cs": "refB"},
    "wmt23": {"en-he": "refB", "he-en": "refB"},
}
"""Test set -> pair -> the standard reference, if it is not the first."""
_STANDARD = re.compile(r"ref[a-z]?", re.IGNORECASE)
_RATINGS = ".seg.rating"
_REFERENCE = re.compile(r"(.*[-_.])?ref[a-z]?", re.IGNORECASE)


def read_mt_metrics_eval(
    path: Path,
    reading: Reading,
    *,
    pair: str | None = None,
    references: str | Sequence[str] | None = None,
    humans: str | bool = False,
    name: str | None = None,
) -> EvalSet:
    """Return the set of one language pair, which must be named if there are several.

        sources/PAIR.txt    references/PAIR.REF.txt    system-outputs/PAIR/SYSTEM.txt
        documents/PAIR.docs                     a line for each segment: domain and document
        human-scores/PAIR.NAME.seg.score        system and score, all segments of each system
        human-scores/PAIR.NAME.RATER.seg.rating     system, error spans as JSON, perhaps the rater
        metric-scores/PAIR/METRIC-REF.seg.score     (.sys.score) scores of metrics, REF may be src

    Segment scores become dimensions, higher being better; `None` is missing. Ratings become the
    dimension NAME.rating: the negated sum of an output's error scores, by rater; a file `merged` is
    read only if there is no other. Systems named like a reference are left out unless
    `humans` is `yes`. The scores of metrics are available as METRIC, or METRIC-REF for other
    references than those in use.
    """
    pair = _choose_pair(path, pair)
    reference_files = sorted((path / "references").glob(f"{pair}.*.txt"))
    by_name = {file.name[len(pair) + 1 : -len(".txt")]: file for file in reference_files}
    chosen, remarks = _choose_references(path, pair, references, by_name)
    if humans not in (True, False, "yes", "no"):
        raise InputError(f"humans={humans}: expected yes or no")
    outputs = {
        file.stem: read_lines(file)
        for file in sorted((path / "system-outputs" / pair).glob("*.txt"))
        if file.stem not in chosen
        and (humans in (True, "yes") or not _is_reference(file.stem, by_name))
    }
    sources = read_lines(path / "sources" / f"{pair}.txt")
    columns = [read_lines(file) for file in chosen.values()]
    for file, column in zip(chosen.values(), columns, strict=True):
        if len(column) != len(sources):
            reading.problem(file, f"found {len(column):,} lines, expected {len(sources):,}")
    reading.check()
    scores = _human_files(path, pair)
    draft = EvalSetDraft(
        name or f"{path.resolve().name}-{pair}",
        [str(i) for i in range(1, len(sources) + 1)],
        outputs,
        reading=reading,
        location=path,
        references=list(zip(*columns, strict=True)) or None,
        groups=_read_documents(path / "documents" / f"{pair}.docs", reading),
        sources=sources,
        dimensions=map(Dimension, dict.fromkeys(name for _, name, _ in scores)),
        description=f"mt-metrics-eval {pair}; references: {', '.join(chosen) or 'none'}",
        remarks=remarks,
    )
    for file_scores in scores:
        _read_human_scores(*file_scores, draft, by_name)
    offered = _find_metric_scores(path / "metric-scores" / pair, [*chosen], draft.segments)
    return replace(draft.finish(), offered=offered)


def _find_metric_scores(
    folder: Path, references: Sequence[str], segments: Sequence[str]
) -> Offered:
    """Return readers of the scores of metrics, by name."""
    files: dict[str, dict[str, Path]] = {}
    for file in sorted(folder.glob("*.s??.score")):
        full, kind, _ = file.name.rsplit(".", 2)
        files.setdefault(full, {})[kind] = file
    readers: dict[str, Callable[[], GivenScores]] = {}
    for standard in (True, False):  # short names are for the standard references
        for full, parts in files.items():
            name, _, references_used = full.rpartition("-")
            if (references_used in ("src", ".".join(references))) is standard:
                short_name = name if standard and name and name not in readers else full
                location = str(folder / full)
                read = partial(read_metric_scores, location, parts.get("seg"), parts.get("sys"))
                readers[short_name] = partial(read, segments)
    return dict(sorted(readers.items()))


def _is_reference(system: str, references: Collection[str]) -> bool:
    """Return whether a system is named like a reference."""
    return system in references or bool(_REFERENCE.fullmatch(system))


def _choose_pair(path: Path, pair: str | None) -> str:
    pairs = sorted(file.stem for file in (path / "sources").glob("*.txt"))
    if pair is None and len(pairs) == 1:
        return pairs[0]
    if pair is None or pair not in pairs:
        problem = f"pair={pair}" if pair else "no pair"
        choices = ", ".join(pairs) or "none"
        advice = f"; on the command line, --option pair={pairs[0]}" if pairs else ""
        raise InputError(f"{path}: {problem} was given: choose one of {choices}{advice}")
    return pair


def _choose_references(
    path: Path, pair: str, chosen: str | Sequence[str] | None, by_name: Mapping[str, Path]
) -> tuple[dict[str, Path], list[str]]:
    """Return the references to use, by name, and a remark if there was a choice."""
    if chosen is not None:
        check_known("reference", split_names(chosen), by_name, str(path))
        return {name: by_name[name] for name in split_names(chosen)}, []
    if len(by_name) < 2:
        return {**by_name}, []
    standard, reason = _standard_reference(by_name, path, pair)
    other_names = ", ".join(name for name in by_name if name != standard)
    remark = (
        f"Reference: {standard}, {reason}. There are also: {other_names}; references=NAME "
        f"(--option references=NAME) chooses others."
    )
    return {standard: by_name[standard]}, [remark]


def _standard_reference(names: Iterable[str], path: Path, pair: str) -> tuple[str, str]:
    """Return the standard reference, and the reason for the choice."""
    available = list(names)
    official = WMT_STANDARD.get(path.resolve().name, {}).get(pair)
    if official in available:
        return str(official), "WMT's standard"
    human = [name for name in available if _STANDARD.fullmatch(name)]
    candidates = (
        human or [name for name in available if "synthetic" not in name.lower()] or available
    )
    files = [file.name for file in (path / "metric-scores" / pair).glob("*.score")]
    uses = Counter(name for name in candidates for file in files if f"-{name}." in file)
    if uses:
        best = max(candidates, key=lambda name: uses[name])
        return best, "which most metric scores in the folder use"
    return candidates[0], "the first of the standard names (ref, refA, refB, …)"


def _read_documents(path: Path, reading: Reading) -> list[str] | None:
    if not path.exists():
        return None
    documents = []
    for location, line in reading.numbered(read_lines(path), path):
        fields = line.split()
        if len(fields) != 2:
            reading.problem(location, f"found {quoted(line)}, expected domain and document")
        documents.append(fields[-1] if fields else "-")
    return documents


def _human_files(path: Path, pair: str) -> list[tuple[Path, str, str]]:
    """Return the files of scores and ratings, each with its dimension and judge."""
    scores, ratings = (
        {
            file: file.name[len(pair) + 1 : -len(ending)]
            for file in (path / "human-scores").glob(f"{pair}.*{ending}")
        }
        for ending in (".seg.score", _RATINGS)
    )
    files = [(file, name, JUDGE) for file, name in scores.items()]
    raters = [(file, *name.partition(".")[::2]) for file, name in ratings.items()]
    single = {name for _, name, rater in raters if rater != MERGED}
    for file, name, rater in raters:
        if rater != MERGED or name not in single:
            files.append((file, f"{name}.rating", rater or JUDGE))
    return sorted(files, key=lambda scores: scores[0].name)


def _penalty(field: str, location: FileLocation, reading: Reading) -> float | None:
    """Return the negated sum of the scores of an output's errors.

    An error without a score has the weight of its severity in MQM.
    """
    total: float | None = 0.0
    try:
        for error in json.loads(field)["errors"]:
            if error.get("score") is not None:
                score = parse_number(error["score"])
            else:
                category = str(error.get("category") or "")
                score = weight_of(str(error["severity"]), category, MQM_WEIGHTS)
            total = None if total is None or score is None else total + score
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        total = None
    if total is None:
        expected = 'expected {"errors": [{"score": …}, …]}'
        reading.problem(location, f"found {quoted(field)}, {expected}")
        return None
    return -total + 0.0


def _read_human_scores(
    file: Path, dimension: str, rater: str, draft: EvalSetDraft, references: Collection[str]
) -> None:
    """Add the scores of a file: all segments of each system; a third field is the rater.

    Ratings are error spans, whose score is their negated sum.
    """
    n_seen: dict[str, int] = {}
    is_rating = file.name.endswith(_RATINGS)
    for location, line in draft.reading.numbered(read_lines(file), file):
        fields = line.split("\t") if is_rating else line.split()
        if not any(fields):
            continue
        if not 2 <= len(fields) <= 2 + is_rating:
            draft.reading.problem(location, f"found {quoted(line)}, expected system and score")
            continue
        system, judge = fields[0], fields[2] if len(fields) == 3 else rater
        segment_number = n_seen[system] = n_seen.get(system, 0) + 1
        if segment_number > len(draft.segments):
            draft.reading.problem(location, f"system {short(system)} has more scores than segments")
        elif fields[1] != "None" and (
            system in draft.systems or not _is_reference(system, references)
        ):
            value = _penalty(fields[1], location, draft.reading) if is_rating else fields[1]
            if value is not None:
                draft.judge(system, str(segment_number), judge, dimension, value, location)
    for system, count in n_seen.items():
        if count < len(draft.segments):
            problem = f"found {count:,} scores, expected {len(draft.segments):,}, one a segment"
            draft.reading.problem(file, f"system {short(system)}: {problem}")
