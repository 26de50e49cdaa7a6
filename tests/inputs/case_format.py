"""One case: sample files, and what a sensible person expects them to be read as."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
TEXTS: dict[str, list[dict[str, Any]]] = json.loads((HERE / "texts.json").read_text("utf-8"))
BIKE_SYSTEMS = ["gpt-4o-mini", "llama-3.1-8b", "mistral-small"]
LETTER_SYSTEMS = ["DeepL", "Google", "inhouse-nmt"]
MISSING = (None, "", "N/A", "NA", "n/a", "-", "—", "?", "keine Angabe")
ZIP_DATE = (2026, 10, 2, 12, 0, 0)

# Mean quality of each system in the invented ratings.
_QUALITY = {"gpt-4o-mini": 4.4, "llama-3.1-8b": 3.1, "mistral-small": 2.7}
_QUALITY |= {"DeepL": 4.3, "Google": 3.9, "inhouse-nmt": 2.2, "bart": 3.8, "t5": 2.3}

Row = dict[str, Any]


def cell(row: int, role: str, value: Any, **place: str) -> dict[str, Any]:
    """Return the expected value of `role` in a data row; `place` names system, judge, dimension."""
    return {"row": row, "role": role, "value": value, **place}


def reading(meaning: str, **expected: Any) -> dict[str, Any]:
    """Return one plausible reading of an ambiguous file."""
    return {"meaning": meaning, **expected}


def noise(*names: object) -> float:
    """Return a number in [0, 1) that depends on the names alone."""
    digest = hashlib.sha256("|".join(map(str, names)).encode()).digest()
    return int.from_bytes(digest[:6], "big") / 2**48


def rating(item: object, system: str, judge: str, dimension: str = "") -> int:
    """Return an invented rating from 1 to 5: quality of the system, item, severity, noise."""
    severity = noise("judge", judge, dimension) - 0.5
    difficulty = 1.6 * (noise("item", item, system) - 0.5)
    value = _QUALITY.get(system, 3.4) + severity + difficulty
    value += 1.4 * (noise(item, system, judge, dimension) - 0.5)
    return max(1, min(5, round(value)))


def count_missing(rows: Iterable[Mapping[str, Any]], columns: Iterable[str]) -> int:
    """Return the number of cells of the columns without a value."""
    names = list(columns)
    return sum(row.get(name) in MISSING for row in rows for name in names)


def csv_text(
    rows: Sequence[Row],
    separator: str = ",",
    end: str = "\n",
    quote_all: bool = False,
    header: bool = True,
) -> str:
    """Return the rows as CSV; None is an empty cell."""
    stream = io.StringIO(newline="")
    writer = csv.writer(
        stream,
        delimiter=separator,
        lineterminator=end,
        quoting=csv.QUOTE_ALL if quote_all else csv.QUOTE_MINIMAL,
    )
    if header:
        writer.writerow(rows[0].keys())
    writer.writerows(row.values() for row in rows)
    return stream.getvalue()


def jsonl_text(rows: Iterable[Any]) -> str:
    """Return one line of JSON per row."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def json_text(value: Any, indent: int | None = 2) -> str:
    """Return the value as JSON, with its characters as they are."""
    return json.dumps(value, ensure_ascii=False, indent=indent) + "\n"


def compressed(data: bytes) -> bytes:
    """Return the data in gzip format, without a date."""
    return gzip.compress(data, compresslevel=9, mtime=0)


def zip_archive(members: Mapping[str, bytes]) -> bytes:
    """Return a zip archive of the members, all with the same date."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, data in members.items():
            info = zipfile.ZipInfo(name, ZIP_DATE)
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, data)
    return stream.getvalue()


class Cases:
    """Write the files of all cases and collect their expectations."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.cases: list[dict[str, Any]] = []

    def write(self, name: str, content: str | bytes, encoding: str = "utf-8") -> None:
        """Write one file."""
        data = content.encode(encoding) if isinstance(content, str) else content
        (self.folder / name).write_bytes(data)

    def expect(
        self,
        files: str | list[str],
        who: str,
        kind: str,
        rows: int,
        roles: Mapping[str, str | list[str]],
        *,
        items: int,
        systems: int = 1,
        judges: int = 0,
        dimensions: int = 0,
        missing: Mapping[str, int] | None = None,
        cells: Sequence[dict[str, Any]] = (),
        **details: Any,
    ) -> None:
        """Add what is expected of the files; `details` are the optional keys of README.md."""
        names = [files] if isinstance(files, str) else files
        counts: dict[str, Any] = {
            "items": items,
            "systems": systems,
            "judges": judges,
            "dimensions": dimensions,
            "missing": sum((missing or {}).values()),
        }
        if missing:
            counts["missing_by_role"] = dict(missing)
        wide = {
            key: details.pop(f"{key[:-1]}_columns")
            for key in ("systems", "judges", "dimensions")
            if f"{key[:-1]}_columns" in details
        }
        case: dict[str, Any] = {
            "name": names[0].split(".")[0],
            "files": names,
            "who": who,
            "kind": kind,
        }
        case |= {"rows": rows, "roles": dict(roles), **wide, "counts": counts, "cells": list(cells)}
        self.cases.append(case | details)

    def finish(self, path: Path) -> None:
        """Write all expectations, after a check that names are unique and files exist."""
        names = [case["name"] for case in self.cases]
        files = [file for case in self.cases for file in case["files"]]
        stored = {path.name for path in self.folder.iterdir()}
        if len(set(names)) != len(names) or set(files) != stored or len(files) != len(stored):
            raise ValueError(f"names or files do not match: {set(files) ^ stored}")
        path.write_text(json_text({"cases": self.cases}, 1), "utf-8")
