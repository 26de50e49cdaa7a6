"""Challenge sets: pairs of a good and a bad text that differ by one planted error.

A challenge set is a table with the columns of `COLUMN_NAMES`, or a folder of such tables, as
DEMETR (Karpinska et al. 2022) is published: one JSON file for each phenomenon.
"""

from __future__ import annotations

import csv
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import NamedTuple, TypeAlias

from karat.errors import InputError, OutputError, quoted, short
from karat.evalset.conversion import check_free
from karat.evalset.reading import format_json_line, list_columns, missing_column
from karat.meta.settings import ChallengeSettings
from karat.progress import Progress, silent
from karat.settings import nearest
from karat.storage.digests import data_digest
from karat.storage.output import write_atomically
from karat.tables.cells import id_of, is_missing, text_of
from karat.tables.files import ENDINGS, InputTable, TableSource, read_table
from karat.tables.names import compact
from karat.tables.options import ReadingOptions

COLUMN_NAMES: Mapping[str, tuple[str, ...]] = {
    "reference": ("reference", "references", "ref", "refs", "gold", "ground truth", "eng_sent"),
    "good": (
        *("good", "good translation", "good text", "correct", "correct translation", "better"),
        *("chosen", "original", "mt_sent"),
    ),
    "bad": (
        *("bad", "bad translation", "bad text", "incorrect", "incorrect translation", "worse"),
        *("rejected", "perturbed", "pert_sent"),
    ),
    "phenomenon": (
        *("phenomenon", "phenomena", "pert_name", "perturbation", "error type", "error", "type"),
        "category",
    ),
    "severity": ("severity",),
    "source": ("source", "src", "src_sent", "source text", "source sentence"),
    "id": ("id", "item", "item id", "segment", "segment id", "seg_id"),
    "applies": ("applies", "applicable", "pert_check"),
}
"""Role -> usual names of its column; `applies` is false for pairs to leave out."""
NEEDED = {"good": "good text", "bad": "bad text", "phenomenon": "phenomenon"}
"""Roles that a table must have, in words; metrics may need references, too."""
SEVERITIES = ("critical", "major", "minor", "base")
"""Severities in their order; others follow."""
CRITICAL = "critical"
BASE = "base"
"""The severities of the worst errors, and of baselines such as an unrelated translation."""
_FALSE = frozenset(["false", "no", "0", "0.0", "n"])
_DEMETR_NAME = re.compile(r"[a-z]+_id\d+_(.+)")
_WRITTEN = ("csv", "tsv", "jsonl")


class ChallengePair(NamedTuple):
    """A good and a bad text of one item, and what is wrong with the bad one."""

    item: str
    """The item: texts of one item are not independent."""
    phenomenon: str
    severity: str
    references: tuple[str, ...]
    good: str
    bad: str
    source: str = ""


ChallengeSource: TypeAlias = "ChallengeSet | TableSource"
"""A challenge set, the path of its table or folder, a data frame, or records."""


@dataclass(frozen=True)
class ChallengeSet:
    """Pairs of a good and a bad text by phenomenon."""

    name: str
    pairs: tuple[ChallengePair, ...]
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.pairs)

    def __repr__(self) -> str:
        phenomena = len({pair.phenomenon for pair in self.pairs})
        return f"<ChallengeSet {self.name}: {len(self):,} pairs, {phenomena} phenomena>"

    @property
    def signature(self) -> str:
        """The set in signatures: the number of its pairs and a digest of its contents."""
        digest = data_digest(*([*pair[:3], *pair.references, *pair[4:]] for pair in self.pairs))
        return f"challenge:{len(self)}@{digest}"

    @property
    def phenomena(self) -> dict[tuple[str, str], list[int]]:
        """The indices of pairs by severity and phenomenon, in the order of severities."""
        indices: dict[tuple[str, str], list[int]] = {}
        for i, pair in enumerate(self.pairs):
            indices.setdefault((pair.severity, pair.phenomenon), []).append(i)
        return dict(sorted(indices.items(), key=lambda entry: severity_rank(entry[0][0])))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the pairs as a new CSV, TSV or JSONL table, which `read_challenge` reads."""
        target = Path(path)
        ending = target.suffix.lower().removeprefix(".")
        if ending not in _WRITTEN:
            endings = ", ".join(f".{ending}" for ending in _WRITTEN)
            raise OutputError(f"{target}: cannot write this format; use one of {endings}")
        check_free(target)
        records = [*self._records()]
        if ending == "jsonl":
            write_atomically(target, map(format_json_line, records))
            return
        text = StringIO()
        columns = list(dict.fromkeys(column for record in records for column in record))
        separator = "\t" if ending == "tsv" else ","
        writer = csv.DictWriter(text, columns, delimiter=separator, lineterminator="\n")
        writer.writeheader()
        writer.writerows(records)
        write_atomically(target, text.getvalue())

    def _records(self) -> Iterator[dict[str, str]]:
        has_sources = any(pair.source for pair in self.pairs)
        n_references = max(len(pair.references) for pair in self.pairs)
        for pair in self.pairs:
            record = {"id": pair.item, "phenomenon": pair.phenomenon, "severity": pair.severity}
            record |= {"source": pair.source} if has_sources else {}
            texts = (*pair.references, *[""] * (n_references - len(pair.references)))
            record |= {f"reference{i if i > 1 else ''}": text for i, text in enumerate(texts, 1)}
            yield record | {"good": pair.good, "bad": pair.bad}


def severity_rank(severity: str) -> int:
    """Return the place of a severity in their order."""
    return SEVERITIES.index(severity) if severity in SEVERITIES else len(SEVERITIES)


def read_challenge(
    source: ChallengeSource,
    columns: Mapping[str, str] = ChallengeSettings.columns,
    *,
    reading: ReadingOptions | None = None,
    progress: Progress = silent,
) -> ChallengeSet:
    """Read a challenge set: a table, or a folder of tables such as DEMETR.

    Pairs that are not applicable, and pairs whose bad text equals the good text or a reference, are
    left out and counted. Names of phenomena that differ only in case are one phenomenon.

    Args:
        source: path of a file or folder, data frame, list of dicts or dict of lists.
        columns: columns by role: reference (several are separated by commas), good, bad,
            phenomenon, severity, source, id and applies. By default they are known by their names.
        reading: settings for reading the table, such as its sheet.
        progress: function that is called with the progress.
    """
    if isinstance(source, ChallengeSet):
        return source
    for role, column in columns.items():
        if role not in COLUMN_NAMES:
            hint = nearest(role, COLUMN_NAMES) or f" (roles are {', '.join(COLUMN_NAMES)})"
            raise InputError(f"--column {role}={column}: no role {quoted(role)}{hint}")
    reading = reading or ReadingOptions()
    is_path = isinstance(source, str | os.PathLike)
    is_folder = is_path and os.path.isdir(source)
    tables = _table_files(Path(source)) if is_folder else [source]
    pairs: list[ChallengePair] = []
    spellings: dict[str, str] = {}
    left_out: Counter[str] = Counter()
    for i, table_source in enumerate(tables):
        table = read_table(table_source, reading)
        for pair in _read_pairs(table, columns):
            if isinstance(pair, str):
                left_out[pair] += 1
            else:
                name = spellings.setdefault(pair.phenomenon.casefold(), pair.phenomenon)
                pairs.append(pair._replace(phenomenon=name))
        if is_folder:
            progress(i + 1, len(tables), "Reading")
    name = os.path.basename(os.path.abspath(source)) if is_path and source != "-" else "table"
    if not pairs:
        reasons = "; ".join(f"{count:,} left out: {reason}" for reason, count in left_out.items())
        raise InputError(f"{name}: no pair is left ({reasons})")
    notes = [f"Pairs left out: {count:,}; {reason}." for reason, count in left_out.items()]
    return ChallengeSet(name, tuple(pairs), (*notes, *_reference_note(pairs)))


def _table_files(folder: Path) -> list[Path]:
    """Return the tables of a folder in the order of their names."""
    files = sorted(path for path in folder.iterdir() if path.suffix.lower()[1:] in ENDINGS)
    if not files:
        problem = "no table in this folder: expected files such as .json or .csv"
        raise InputError(f"{folder}: {problem}, with the columns good, bad and phenomenon")
    return files


MIN_COPIES = 0.1
"""Share of pairs whose good text is a reference at which a note says so."""
NOT_APPLICABLE = "the table marks them as not applicable"
EQUAL = "the bad text equals the good one"
REFERENCE = "the bad text is the reference itself, so it is not worse"


def _read_pairs(table: InputTable, columns: Mapping[str, str]) -> Iterator[ChallengePair | str]:
    """Yield each pair, or the reason to leave it out."""
    roles = _find_columns(table, columns)
    names = {role: role_columns[0] for role, role_columns in roles.items()}
    for row, record in enumerate(table.records):
        if "applies" in names:
            mark = record.get(names["applies"])
            if not is_missing(mark) and str(mark).strip().lower() in _FALSE:
                yield NOT_APPLICABLE
                continue
        texts = {role: text_of(record.get(column)) for role, column in names.items()}
        for role in NEEDED:
            if texts[role] is None:
                advice = "fill it, or remove the row"
                column = quoted(names[role])
                raise InputError(f"{table.location(row)}: column {column} is empty: {advice}")
        cells = [record.get(column) for column in roles.get("reference", ())]
        lists = [cell if isinstance(cell, list | tuple) else [cell] for cell in cells]
        references = tuple(text for cell in lists for c in cell if (text := text_of(c)) is not None)
        good, bad = str(texts["good"]), str(texts["bad"])
        if "reference" in roles and not references:
            column = quoted(names["reference"])
            raise InputError(f"{table.location(row)}: no reference in column {column}: add one")
        if bad == good:
            yield EQUAL
        elif bad in references:
            yield REFERENCE
        else:
            item = id_of(record.get(names["id"])) if "id" in names else None
            yield ChallengePair(
                item or "\n".join((*references, good)),
                _phenomenon_name(str(texts["phenomenon"])),
                (texts.get("severity") or "").strip().lower(),
                references,
                good,
                bad,
                texts.get("source") or "",
            )


def _phenomenon_name(name: str) -> str:
    """Return a phenomenon in words: `critical_id8_negation` of DEMETR is `negation`."""
    match = _DEMETR_NAME.fullmatch(name.strip())
    return (match[1] if match else name.strip()).replace("_", " ")


def _find_columns(table: InputTable, columns: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the columns of each role: the user's, or those with a usual name."""
    roles: dict[str, list[str]] = {}
    for role, text in columns.items():
        is_list = role == "reference" and text not in table.columns
        roles[role] = [name.strip() for name in text.split(",")] if is_list else [text]
        for column in roles[role]:
            if column not in table.columns:
                raise missing_column(table.name, column, table.columns)
    declared = [column for role_columns in roles.values() for column in role_columns]
    by_name = {compact(column): column for column in table.columns if column not in declared}
    for role, names in COLUMN_NAMES.items():
        usual = [by_name[key] for key in map(compact, names) if key in by_name]
        if role not in roles and usual:
            roles[role] = usual[:1]
            if role == "reference":
                stem = compact(usual[0]).rstrip("0123456789")
                numbered = re.compile(rf"{re.escape(stem)}\d+")
                more = [by_name[key] for key in by_name if numbered.fullmatch(key)]
                roles[role] += [column for column in more if column != usual[0]]
    if "reference" not in roles and "reference1" in by_name:
        roles["reference"] = [c for key, c in by_name.items() if re.fullmatch(r"reference\d+", key)]
    if missing := [role for role in NEEDED if role not in roles]:
        subjects = " or the ".join(NEEDED[role] for role in missing)
        raise InputError(
            f"{table.name}: no column has the {subjects} of each pair (it has "
            f"{short(list_columns(table.columns))}): name it, as in --column {missing[0]}=NAME"
        )
    return roles


def _reference_note(pairs: Sequence[ChallengePair]) -> list[str]:
    """Return a note if good texts are references, which every metric scores highest."""
    copies = sum(pair.good in pair.references for pair in pairs)
    if copies < MIN_COPIES * len(pairs):
        return []
    share = "all" if copies == len(pairs) else f"{copies:,} of"
    return [
        f"In {share} {len(pairs):,} pairs the good text is a reference itself, so that a metric "
        "fails only where it does not see the error at all. Other references or outputs of a "
        "system as good texts are a harder test."
    ]
