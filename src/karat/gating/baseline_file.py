"""Baseline files: the statistics of every item of a run, as plain text that diffs well.

    # karat gate baseline 1
    # source	texts
    # system	candidate
    # against	6d0b…                       digest of the references
    # items	529
    # rows	b18e…                          digest of the lines from `id` on
    # metric	chrf	chrf:order=6,…|nrefs=1|karat=0.2.0
    id	chrf.hypothesis1	…
    1	35	…

One row per item: its id, the statistics of each metric, then `carried` (comma-separated names) and
`text`, if stored. Tabs, line ends, commas in names and percent signs are percent-encoded.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain
from typing import Any, NamedTuple, NoReturn
from urllib.parse import unquote

from karat.arrays import NDArray, np
from karat.errors import InputError, OutputError, quoted, short
from karat.gating.items import ItemScores
from karat.scoring import shrink_integers
from karat.storage.output import FilePath, write_atomically

FORMAT = "# karat gate baseline"
VERSION = 1
CARRIED, TEXT = "carried", "text"
_HEADER_FIELDS = ("source", "system", "against", "items", "rows")


class StoredMetric(NamedTuple):
    """The statistics of a baseline by one metric."""

    name: str
    signature: str
    columns: tuple[str, ...]
    rows: NDArray[Any]


@dataclass(frozen=True, eq=False)
class BaselineFile:
    """The contents of a baseline file."""

    path: str
    source: str
    system: str
    against: str
    ids: tuple[str, ...]
    metrics: tuple[StoredMetric, ...]
    carried: tuple[tuple[str, ...], ...] | None = None
    texts: tuple[str, ...] | None = None


# ------------------------------------------------------------------------------------ writing


def make_baseline(items: ItemScores, path: FilePath, texts: bool = False) -> BaselineFile:
    """Return the baseline of a run; with `texts`, including the outputs."""
    metrics = [
        StoredMetric(run.name, run.signature, run.measure.columns(), run.rows)
        for run in items.measures
    ]
    item_texts = items.texts(range(len(items.ids))) if texts else None
    output_texts = None if item_texts is None else tuple(text.output for text in item_texts)
    about = items.source, items.system, items.against, items.ids
    return BaselineFile(str(path), *about, tuple(metrics), items.carried, output_texts)


def check_replaceable(path: FilePath) -> None:
    """Raise if the file exists and is not a baseline, such as a file of outputs."""
    if not os.path.isfile(path):
        return
    try:
        with open(path, "rb") as file:
            start = file.read(len(FORMAT))
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from error
    if start != FORMAT.encode("ascii"):
        raise OutputError(f"{path} is no baseline of Karat: name another file")


def save_baseline(baseline: BaselineFile) -> None:
    """Write a baseline to its file (atomic); replace only baselines."""
    check_replaceable(baseline.path)
    rows = list(_row_lines(baseline))
    about = baseline.source, baseline.system, baseline.against, str(len(baseline.ids))
    header = zip(_HEADER_FIELDS, (*about, _digest_rows(rows)), strict=True)
    lines = [f"{FORMAT} {VERSION}", *(f"# {name}\t{_encode(value)}" for name, value in header)]
    for metric in baseline.metrics:
        lines.append(f"# metric\t{_encode(metric.name)}\t{_encode(metric.signature)}")
    write_atomically(baseline.path, (f"{line}\n" for line in (*lines, *rows)))


def _row_lines(baseline: BaselineFile) -> Iterator[str]:
    head = ["id"]
    cells: list[Iterable[Iterable[str]]] = [([_encode(id)] for id in baseline.ids)]
    for metric in baseline.metrics:
        head += (f"{_encode(metric.name)}.{column}" for column in metric.columns)
        cells.append(map(_format_number, row) for row in metric.rows.tolist())
    if baseline.carried is not None:
        head.append(CARRIED)
        lists = ((_encode(name, ",") for name in names) for names in baseline.carried)
        cells.append([",".join(names)] for names in lists)
    if baseline.texts is not None:
        head.append(TEXT)
        cells.append([_encode(text)] for text in baseline.texts)
    yield "\t".join(head)
    for row in zip(*cells, strict=True):
        yield "\t".join(chain.from_iterable(row))


def _digest_rows(rows: Iterable[str]) -> str:
    digest = sha256()
    for row in rows:
        digest.update(f"{row}\n".encode())  # surrogates are percent-encoded
    return digest.hexdigest()[:32]


def _format_number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(value)


def _encode(text: str, more: str = "") -> str:
    """Percent-encode characters that end a cell or a line, and those in `more`."""

    def percent_encode(match: re.Match[str]) -> str:
        return "".join(f"%{byte:02X}" for byte in match[0].encode("utf-8", "surrogatepass"))

    return re.sub(rf"[%\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff{more}]", percent_encode, text)


def _decode(text: str) -> str:
    """Undo `_encode`; the digest detects text that was edited."""
    try:
        return unquote(text, errors="surrogatepass")
    except UnicodeDecodeError:
        return unquote(text)


# ------------------------------------------------------------------------------------ reading


def read_baseline(path: FilePath) -> BaselineFile:
    """Read a baseline; report the line of any damage."""
    try:
        with open(path, encoding="utf-8", newline="\n") as file:
            text = file.read().replace("\r\n", "\n")  # git may have changed line ends
    except FileNotFoundError:
        advice = "write it with --update (in Python write_baseline, in pytest --karat-update)"
        raise InputError(f"{path}: no such baseline; {advice}, and commit it") from None
    except (OSError, UnicodeDecodeError) as error:
        reason = "it is not UTF-8 text" if isinstance(error, ValueError) else error.strerror
        raise InputError(f"{path}: the baseline cannot be read: {reason}") from error
    return _BaselineReader(str(path), text.split("\n")).read()


class _BaselineReader:
    """A parser of the lines of a baseline file."""

    def __init__(self, path: str, lines: list[str]) -> None:
        self.path, self.lines = path, lines
        self.whole = lines[-1] == ""  # the last line has its end
        if self.whole:
            lines.pop()

    def refuse(self, line: int, problem: str) -> NoReturn:
        """Raise an error about a line, numbered from 1."""
        raise InputError(f"{self.path}, line {line:,}: {problem}; write it again with --update")

    def read(self) -> BaselineFile:
        """Return the baseline."""
        self._check_version()
        end = next((at for at, line in enumerate(self.lines) if line[:2] != "# "), None)
        if end is None:
            self.refuse(len(self.lines), "the file ends before its rows")
        facts, metrics = self._header(end)
        head, rows = self.lines[end].split("\t"), self._split_rows(end)
        if facts["items"] != str(len(rows)):
            expected = short(facts["items"])
            row_count = f"found {len(rows):,} row{'s' * (len(rows) != 1)}, expected {expected}"
            self.refuse(len(self.lines), f"{row_count}: a part of the file is missing or was added")
        ids = tuple(_decode(row[0]) for row in rows)
        self._check_ids(ids, end)
        optional_columns = [name for name in (CARRIED, TEXT) if name in head[1:]]
        statistics = self._statistics(
            metrics, head[1 : len(head) - len(optional_columns)], rows, end
        )
        if not self.whole or _digest_rows(self.lines[end:]) != facts["rows"]:
            raise InputError(f"{self.path} was edited or cut: write it again with --update")
        carried = texts = None
        if CARRIED in optional_columns:
            cells = (row[head.index(CARRIED)] for row in rows)
            carried = tuple(tuple(map(_decode, cell.split(",") if cell else ())) for cell in cells)
        if TEXT in optional_columns:
            texts = tuple(_decode(row[head.index(TEXT)]) for row in rows)
        source, system, against = (_decode(facts[name]) for name in _HEADER_FIELDS[:3])
        return BaselineFile(self.path, source, system, against, ids, statistics, carried, texts)

    def _check_version(self) -> None:
        match = re.fullmatch(rf"{FORMAT} (\S+)", self.lines[0] if self.lines else "")
        if match is None:
            problem = f"expected `{FORMAT} {VERSION}` in its first line; write one with --update"
            raise InputError(f"{self.path} is no baseline of karat gate: {problem}")
        if match[1] != str(VERSION):
            problem = f"its format has version {match[1]}, expected {VERSION}"
            self.refuse(1, f"{problem}: another version of karat wrote it")

    def _header(self, end: int) -> tuple[dict[str, str], list[tuple[str, str]]]:
        facts: dict[str, str] = {}
        metrics = []
        for number, line in enumerate(self.lines[1:end], 2):
            name, *values = line[2:].split("\t")
            if name == "metric" and len(values) == 2:
                metrics.append((_decode(values[0]), _decode(values[1])))
            elif name in _HEADER_FIELDS and len(values) == 1 and name not in facts:
                facts[name] = values[0]
            else:
                self.refuse(number, f"found {quoted(line)}, expected a line such as `# items\t5`")
        missing = [name for name in _HEADER_FIELDS if name not in facts]
        missing += [] if metrics else ["metric"]
        if missing:
            self.refuse(end, f"the header has no line `# {missing[0]}`")
        return facts, metrics

    def _split_rows(self, end: int) -> list[list[str]]:
        rows = [line.split("\t") for line in self.lines[end:]]
        width = len(rows[0])
        for number, row in enumerate(rows, end + 1):
            if len(row) != width:
                cells = f"{len(row):,} cell{'s' * (len(row) != 1)}"
                self.refuse(number, f"found {cells}, expected {width:,} as in its head")
        return rows[1:]

    def _check_ids(self, ids: Sequence[str], end: int) -> None:
        if len(set(ids)) == len(ids):
            return
        first_lines: dict[str, int] = {}
        for number, id in enumerate(ids, end + 2):
            if first_lines.setdefault(id, number) != number:
                self.refuse(number, f"the id {quoted(id)} is also in line {first_lines[id]:,}")

    def _statistics(
        self, metrics: list[tuple[str, str]], names: list[str], rows: list[list[str]], end: int
    ) -> tuple[StoredMetric, ...]:
        table = self._numbers([row[1 : 1 + len(names)] for row in rows], end)
        stored_metrics, start = [], 0
        for name, signature in metrics:
            prefix = f"{_encode(name)}."
            width = sum(column.rpartition(".")[0] == prefix[:-1] for column in names)
            columns = tuple(column.removeprefix(prefix) for column in names[start : start + width])
            if not columns or any("." in column for column in columns):
                self.refuse(end + 1, f"found no columns {prefix}… where they are expected")
            values = table[:, start : start + width]
            integers = values.astype(np.int64)
            values = shrink_integers(integers) if (integers == values).all() else values
            stored_metrics.append(StoredMetric(name, signature, columns, values))
            start += width
        if names[start:]:
            self.refuse(end + 1, f"the column {quoted(names[start])} belongs to no metric above")
        return tuple(stored_metrics)

    def _numbers(self, cells: list[list[str]], end: int) -> NDArray[Any]:
        width = len(cells[0]) if cells else 0
        try:
            flat = np.fromiter(map(float, chain.from_iterable(cells)), np.float64)
            if np.isfinite(flat).all():
                return flat.reshape(len(cells), width)
        except ValueError:
            pass
        for number, row in enumerate(cells, end + 2):
            for cell in row:
                if not re.fullmatch(r"-?\d+(\.\d+)?(e[+-]?\d+)?", cell):
                    self.refuse(number, f"found {quoted(cell)}, expected a number")
        raise InputError(f"{self.path}: a number is too large; write it again with --update")
