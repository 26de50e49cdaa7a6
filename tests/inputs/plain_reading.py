"""What the sample files say, by their expectations alone: a slow reader that knows the answer.

It reads the columns that expected.json names from the sample files and returns `Facts`: every text
and every rating that a right reading has. It shares no code with the loader. Files whose records
need more than column names (`UNREAD`) have no facts; the `cells` of their expectations remain.
"""

from __future__ import annotations

import ast
import csv
import gzip
import importlib
import io
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

Case = Mapping[str, Any]

ENCODINGS = {
    "antworten": "cp1252",
    "gutachten": "cp1252",
    "preguntas_trenes": "latin-1",
    "japanese_unicode": "utf-16",
    "signs_pl": "utf-16",
    "voprosy": "cp1251",
}
UNREAD = {
    *("promptfoo_output", "phoenix_spans", "dpo_pairs", "human_judgments", "side_by_side"),
    *("project-12-at-2026-10-02-09-15-full", "argilla_records", "argilla_flat"),
    *("samples_gsm8k_2026-10-02T15-40-12", "2026-09-15T08-01-10+00-00_signs_Pz81LmQw4T"),
    *("261002101530KXZP4QLM_gpt-4o-mini_bike-faq", "mqm_letters_ende", "merged_runs"),
    *("model_answer", "samples_at_3", "transposed", "predictions+gold"),
}
"""Cases whose records are not the rows of a table, or that contradict themselves."""
MARKS = {"", "n/a", "na", "-", "—", "?", "keine angabe"}
KEY = "(key)"
"""Name of the id of a record that is the value of a key."""
TEXT_ROLES = ("candidate", "source", "question", "contexts", "unit")


@dataclass(frozen=True)
class Fact:
    """One output or one rating that a right reading has; a label of None is not in the file."""

    row: int
    system: str | None
    item: str | None
    texts: Mapping[str, Any] = field(default_factory=dict)
    """Role -> text; references and contexts are lists. Missing texts are None."""
    judge: str | None = None
    dimension: str | None = None
    score: Any = None
    is_rating: bool = False


def as_text(value: Any) -> str | None:
    """Return a cell as text; None if it is missing."""
    if value is None or value == "":
        return None
    if isinstance(value, list) and len(value) == 1:
        return as_text(value[0])
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def as_texts(value: Any) -> list[str]:
    """Return the texts of a cell that may have several."""
    values = value if isinstance(value, list) else [value]
    return [text for text in map(as_text, values) if text is not None]


def as_score(value: Any) -> Any:
    """Return a rating as a number, None if missing, or its text in lower case for words."""
    if value is None or (isinstance(value, str) and value.strip().lower() in MARKS):
        return None
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, int | float):
        return float(value)
    text = str(value).strip()
    percent = text.endswith("%")
    try:
        number = float(text.removesuffix("%").replace(",", "."))
    except ValueError:
        return {"true": 1.0, "false": 0.0}.get(text.lower(), text.lower())
    return number / 100 if percent else number


def unique_names(names: Iterable[str]) -> list[str]:
    """Return the names, with a number after the second, third, ... time of a name."""
    times: Counter[str] = Counter()
    unique = []
    for name in names:
        times[name] += 1
        unique.append(name if times[name] == 1 else f"{name} ({times[name]})")
    return unique


def follow(record: Any, path: str, document: Any = None) -> Any:
    """Return the value at a path such as `choices.0.message`; None if there is no such value."""
    if path.startswith("/"):
        return follow(document, path[1:])
    if isinstance(record, Mapping) and path in record:
        return record[path]
    value: Any = record
    for step in path.split("."):
        if isinstance(value, str):
            try:
                value = json.loads(value)
            except ValueError:
                return None
        if isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(value, list) and step.removeprefix("-").isdigit():
            at = int(step)
            value = value[at] if -len(value) <= at < len(value) else None
        else:
            return None
    return value


def facts_of(case: Case, folder: Path) -> list[Fact] | None:
    """Return all facts of a case, or None if only its `cells` can be checked."""
    if case["name"] in UNREAD or "+".join(Path(f).stem for f in case["files"]) in UNREAD:
        return None
    facts: list[Fact] = []
    names = case.get("system_names") or []
    row = 0
    for number, (records, document, label) in enumerate(_tables(case, folder)):
        system = names[number] if len(names) > 1 else None
        if label is not None and names:
            system = label
        for record in records:
            facts += _row_facts(case, row, record, document, system)
            row += 1
    if row != case["rows"]:
        raise ValueError(f"{case['name']}: {row} rows, expected {case['rows']}")
    if any(isinstance(fact.score, float) for fact in facts):  # then words are no ratings
        words = {k for k, fact in enumerate(facts) if isinstance(fact.score, str)}
        if not {"yes", "no"} & {facts[k].score for k in words}:
            facts = [replace(f, score=None) if k in words else f for k, f in enumerate(facts)]
    return facts


def _row_facts(case: Case, row: int, record: Any, document: Any, system: str | None) -> list[Fact]:
    roles = case["roles"]

    def value(role: str) -> Any:
        return follow(record, roles[role], document) if isinstance(roles.get(role), str) else None

    system = as_text(value("system")) or system
    item = as_text(value("id")) or (record.get(KEY) if isinstance(record, dict) else None)
    texts: dict[str, Any] = {role: as_text(value(role)) for role in TEXT_ROLES if role in roles}
    if "contexts" in roles:
        texts["contexts"] = _listed(value("contexts"))
    if "reference" in roles:
        columns = roles["reference"]
        columns = [columns] if isinstance(columns, str) else columns
        values = [text for c in columns for text in as_texts(follow(record, c, document))]
        texts["reference"] = [text for text in values if text != "#N/A"]
    judge, dimension = as_text(value("judge")), as_text(value("dimension"))
    if case["kind"] == "outputs":
        if "systems" in case:
            return [
                Fact(row, name, item, {**texts, "candidate": as_text(record.get(name))})
                for name in case["systems"]
            ]
        return [Fact(row, system, item, texts)]
    facts = []
    if "score" in roles:
        score = as_score(value("score"))
        facts.append(Fact(row, system, item, texts, judge, dimension, score, True))
    for key, label in (("judges", "judge"), ("systems", "system"), ("dimensions", "dimension")):
        for column in unique_names(case.get(key, ())):
            labels: dict[str, Any] = {"system": system, "judge": judge, "dimension": dimension}
            labels[label] = column
            score = as_score(follow(record, column, document))
            facts.append(Fact(row, item=item, texts=texts, score=score, is_rating=True, **labels))
    for column, parts in case.get("columns", {}).items():
        labels = {"system": system, "judge": judge, "dimension": dimension, "item": item}
        labels |= {"item" if part == "id" else part: name for part, name in parts.items()}
        score = as_score(follow(record, column, document))
        facts.append(Fact(row, texts=texts, score=score, is_rating=True, **labels))
    return facts


def _listed(value: Any) -> list[str]:
    if isinstance(value, str) and value.startswith("["):
        return as_texts(ast.literal_eval(value))
    return as_texts(value)


# --------------------------------------------------------------------------- files

_Tables = list[tuple[Sequence[Any], Any, str | None]]


def _tables(case: Case, folder: Path) -> _Tables:
    """Return the records of each table, the document they are in, and the name of the table."""
    tables: _Tables = []
    for file in case["files"]:
        path = folder / file
        name = file.removesuffix(".gz")
        if name.endswith(".xlsx"):
            tables += _workbook(case, path)
        elif name.endswith(".parquet"):
            arrow = importlib.import_module("pyarrow.parquet")
            tables.append((arrow.read_table(path).to_pylist(), None, None))
        elif name.endswith((".json", ".jsonl")):
            tables += _json(case, path)
        else:
            tables.append((_delimited(case, path), None, None))
    return tables


def _bytes(path: Path) -> bytes:
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


def _columns(case: Case) -> set[str]:
    roles = case["roles"].values()
    names = {c for column in roles for c in ([column] if isinstance(column, str) else column)}
    for key in ("systems", "judges", "dimensions", "columns"):
        names |= set(case.get(key, ()))
    return names


def _delimited(case: Case, path: Path) -> list[dict[str, Any]]:
    text = _bytes(path).decode(ENCODINGS.get(case["name"], "utf-8-sig")).lstrip("\ufeff")
    wanted = _columns(case)
    header_rows = case.get("header_rows", [0])
    best: tuple[int, list[str], list[list[str]]] = (-1, [], [])
    for separator in ",;\t":
        lines = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator))
        if header_rows:
            lines = [line for line in lines if line]
            header = _header([lines[at] for at in header_rows])
            body = lines[header_rows[-1] + 1 :]
        else:
            header, body = [str(k + 1) for k in range(len(lines[0]))], lines
        score = sum(any(w == h or w.startswith(h + ".") for h in header) for w in wanted)
        if score > best[0]:
            best = score, header, body
    _, header, body = best
    return [dict(zip(header, line, strict=True)) for line in body if any(line)]


def _header(rows: list[list[str]]) -> list[str]:
    """Join the header rows of a pivot table with `/`; the index is named by the last row."""
    if len(rows) == 1:
        return unique_names(rows[0])
    if rows[1][0] == rows[0][0]:
        return rows[0]  # a survey: names, questions, import ids
    return [rows[-1][0]] + [
        "/".join(p for p in parts if p) for parts in zip(*(r[1:] for r in rows), strict=True)
    ]


def _json(case: Case, path: Path) -> _Tables:
    text = _bytes(path).decode()
    if ".jsonl" in path.name:
        return [([json.loads(line) for line in text.splitlines()], None, None)]
    document = json.loads(text)
    place = case.get("records", "")
    if place.startswith("the list under"):
        return [(rows, document, name) for name, rows in document.items()]
    if case["name"] == "frame_split":
        rows = [dict(zip(document["columns"], row, strict=True)) for row in document["data"]]
    elif place.startswith("the object under"):
        rows = [{**row, KEY: name} for name, row in document.items()]
    elif place.startswith("row numbers"):
        numbers = next(iter(document.values()))
        rows = [{name: column[n] for name, column in document.items()} for n in numbers]
    elif place:
        rows = follow(document, place)
    elif isinstance(document, dict):  # a list for each column
        lines = zip(*document.values(), strict=True)
        rows = [dict(zip(document, line, strict=True)) for line in lines]
    else:
        rows = document
    return [(rows, document, None)]


def _workbook(case: Case, path: Path) -> _Tables:
    workbook = importlib.import_module("openpyxl").load_workbook(path, data_only=True)
    sheets = case["sheet"] if isinstance(case["sheet"], list) else [case["sheet"]]
    tables: _Tables = []
    for name in sheets:
        sheet = workbook[name]
        cells = {
            (cell.row, cell.column): cell.value
            for line in sheet.iter_rows()
            for cell in line
            if cell.value is not None
        }
        for area in sheet.merged_cells.ranges:
            value = cells.get((area.min_row, area.min_col))
            for row in range(area.min_row, area.max_row + 1):
                for column in range(area.min_col, area.max_col + 1):
                    cells[row, column] = value
        top = case.get("header_rows", [0])[0] + 1
        header = {column: value for (row, column), value in cells.items() if row == top}
        rows = []
        for row in range(top + 1, sheet.max_row + 1):
            record = {str(title): cells.get((row, column)) for column, title in header.items()}
            if any(value is not None for value in record.values()):
                rows.append(record)
        if case["name"] == "scores_with_mean":
            rows.pop()
        tables.append((rows, None, name if len(sheets) > 1 else None))
    return tables
