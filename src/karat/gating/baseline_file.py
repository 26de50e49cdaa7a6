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

One row an item: its id, the statistics of each metric, then `carried` (names with commas between
them) and `text`, where these are kept. Tabs, line ends, commas in names and per cent signs are
percent-encoded.
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
_FACTS = ("source", "system", "against", "items", "rows")


class StoredMetric(NamedTuple):
    """The statistics of a baseline by one metric."""

    name: str
    signature: str
    columns: tuple[str, ...]
    rows: NDArray[Any]


@dataclass(frozen=True, eq=False)
class Baseline:
    """A baseline as its file has it."""

    path: str
    source: str
    system: str
    against: str
    ids: tuple[str, ...]
    metrics: tuple[StoredMetric, ...]
    carried: tuple[tuple[str, ...], ...] | None = None
    texts: tuple[str, ...] | None = None


# ------------------------------------------------------------------------------------ writing


def baseline_of(items: ItemScores, path: FilePath, texts: bool = False) -> Baseline:
    """Return the baseline that a run makes; with `texts` it has the outputs, too."""
    metrics = [
        StoredMetric(one.name, one.signature, one.measure.columns(), one.rows)
        for one in items.measures
    ]
    shown = items.texts(range(len(items.ids))) if texts else None
    kept = None if shown is None else tuple(one.output for one in shown)
    about = items.source, items.system, items.against, items.ids
    return Baseline(str(path), *about, tuple(metrics), items.carried, kept)


def check_replaceable(path: FilePath) -> None:
    """Refuse to replace a file that is no baseline, such as the outputs that it is made from."""
    if not os.path.isfile(path):
        return
    try:
        with open(path, "rb") as file:
            start = file.read(len(FORMAT))
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from error
    if start != FORMAT.encode("ascii"):
        raise OutputError(f"{path} is no baseline of Karat: name another file")


def save_baseline(baseline: Baseline) -> None:
    """Write a baseline to its file, at once or not at all; replace nothing but a baseline."""
    check_replaceable(baseline.path)
    write_atomically(baseline.path, (f"{line}\n" for line in _lines(baseline)))


def _lines(baseline: Baseline) -> Iterator[str]:
    rows = list(_rows(baseline))
    about = baseline.source, baseline.system, baseline.against, str(len(baseline.ids))
    yield f"{FORMAT} {VERSION}"
    for name, value in zip(_FACTS, (*about, _digest(rows)), strict=True):
        yield f"# {name}\t{_encoded(value)}"
    for one in baseline.metrics:
        yield f"# metric\t{_encoded(one.name)}\t{_encoded(one.signature)}"
    yield from rows


def _rows(baseline: Baseline) -> Iterator[str]:
    """The head of the columns, then a line an item."""
    more = {CARRIED: baseline.carried, TEXT: baseline.texts}
    names = [f"{_encoded(one.name)}.{column}" for one in baseline.metrics for column in one.columns]
    yield "\t".join(["id", *names, *(name for name, kept in more.items() if kept is not None)])
    cells: list[Iterable[Iterable[str]]] = [([_encoded(id)] for id in baseline.ids)]
    cells += [(map(_number, row) for row in one.rows.tolist()) for one in baseline.metrics]
    if baseline.carried is not None:
        cells.append([",".join(_encoded(name, ",") for name in own)] for own in baseline.carried)
    if baseline.texts is not None:
        cells.append([_encoded(text)] for text in baseline.texts)
    for row in zip(*cells, strict=True):
        yield "\t".join(chain.from_iterable(row))


def _digest(rows: Iterable[str]) -> str:
    """A digest of the lines of rows, each with its end."""
    found = sha256()
    for row in rows:
        found.update(f"{row}\n".encode())  # surrogates are percent-encoded
    return found.hexdigest()[:32]


def _number(value: float) -> str:
    """The shortest text that reads back as the same number."""
    return str(int(value)) if value == int(value) else repr(value)


def _encoded(text: str, more: str = "") -> str:
    """Text without what ends a cell or a line, `more` characters encoded, too."""
    return re.sub(rf"[%\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff{more}]", _percent, text)


def _decoded(text: str) -> str:
    """Text as it was before `_encoded`; what is no such text was edited, which the digest tells."""
    try:
        return unquote(text, errors="surrogatepass")
    except UnicodeDecodeError:
        return unquote(text)


def _percent(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "surrogatepass"))


# ------------------------------------------------------------------------------------ reading


def read_baseline(path: FilePath) -> Baseline:
    """Read a baseline; what is damaged is refused by its line."""
    return _Reader(str(path), _text(str(path)).split("\n")).read()


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", newline="\n") as file:
            return file.read().replace("\r\n", "\n")  # git may have changed line ends
    except FileNotFoundError:
        told = "write it with --update (in Python write_baseline, in pytest --karat-update)"
        raise InputError(f"{path}: no such baseline; {told}, and commit it") from None
    except (OSError, UnicodeDecodeError) as error:
        why = "it is not UTF-8 text" if isinstance(error, ValueError) else error.strerror
        raise InputError(f"{path}: the baseline cannot be read: {why}") from error


class _Reader:
    """The lines of a baseline file, as they are read."""

    def __init__(self, path: str, lines: list[str]) -> None:
        self.path, self.lines = path, lines
        self.whole = lines[-1] == ""  # the last line has its end
        if self.whole:
            lines.pop()

    def refuse(self, line: int, told: str) -> NoReturn:
        """Refuse the file for what a line (from 1) says."""
        raise InputError(f"{self.path}, line {line:,}: {told}; write it anew with --update")

    def read(self) -> Baseline:
        """Return the baseline."""
        self._check_version()
        end = next((at for at, line in enumerate(self.lines) if line[:2] != "# "), None)
        if end is None:
            self.refuse(len(self.lines), "the file ends before its rows")
        facts, metrics = self._header(end)
        head, rows = self.lines[end].split("\t"), self._rows(end)
        if facts["items"] != str(len(rows)):
            expected = short(facts["items"])
            found = f"found {len(rows):,} row{'s' * (len(rows) != 1)}, expected {expected}"
            self.refuse(len(self.lines), f"{found}: a part of the file is missing or was added")
        ids = tuple(_decoded(row[0]) for row in rows)
        self._check_ids(ids, end)
        more = [name for name in (CARRIED, TEXT) if name in head[1:]]
        statistics = self._statistics(metrics, head[1 : len(head) - len(more)], rows, end)
        if not self.whole or _digest(self.lines[end:]) != facts["rows"]:
            raise InputError(f"{self.path} was edited or cut: write it again with --update")
        kept = {name: [row[head.index(name)] for row in rows] for name in more}
        carried = texts = None
        if CARRIED in kept:
            cells = (cell.split(",") if cell else () for cell in kept[CARRIED])
            carried = tuple(tuple(map(_decoded, cell)) for cell in cells)
        if TEXT in kept:
            texts = tuple(map(_decoded, kept[TEXT]))
        source, system, against = (_decoded(facts[name]) for name in _FACTS[:3])
        return Baseline(self.path, source, system, against, ids, statistics, carried, texts)

    def _check_version(self) -> None:
        found = re.fullmatch(rf"{FORMAT} (\S+)", self.lines[0] if self.lines else "")
        if found is None:
            told = f"expected `{FORMAT} {VERSION}` in its first line; write one with --update"
            raise InputError(f"{self.path} is no baseline of karat gate: {told}")
        if found[1] != str(VERSION):
            told = f"its format has version {found[1]}, expected {VERSION}"
            self.refuse(1, f"{told}: another version of karat wrote it")

    def _header(self, end: int) -> tuple[dict[str, str], list[tuple[str, str]]]:
        facts: dict[str, str] = {}
        metrics = []
        for number, line in enumerate(self.lines[1:end], 2):
            name, *values = line[2:].split("\t")
            if name == "metric" and len(values) == 2:
                metrics.append((_decoded(values[0]), _decoded(values[1])))
            elif name in _FACTS and len(values) == 1 and name not in facts:
                facts[name] = values[0]
            else:
                self.refuse(number, f"found {quoted(line)}, expected a line such as `# items\t5`")
        missing = [name for name in _FACTS if name not in facts] + ["metric"] * (not metrics)
        if missing:
            self.refuse(end, f"the header has no line `# {missing[0]}`")
        return facts, metrics

    def _rows(self, end: int) -> list[list[str]]:
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
        seen: dict[str, int] = {}
        for number, id in enumerate(ids, end + 2):
            if seen.setdefault(id, number) != number:
                self.refuse(number, f"the id {quoted(id)} stands in line {seen[id]:,}, too")

    def _statistics(
        self, metrics: list[tuple[str, str]], names: list[str], rows: list[list[str]], end: int
    ) -> tuple[StoredMetric, ...]:
        table = self._numbers([row[1 : 1 + len(names)] for row in rows], end)
        found, start = [], 0
        for name, signature in metrics:
            width = sum(column.rpartition(".")[0] == _encoded(name) for column in names)
            own = names[start : start + width]
            if not own or any(c.rpartition(".")[0] != _encoded(name) for c in own):
                self.refuse(end + 1, f"found no columns {_encoded(name)}.… where they are expected")
            part = table[:, start : start + width]
            whole = part.astype(np.int64)
            part = shrink_integers(whole) if (whole == part).all() else part
            columns = tuple(column.rpartition(".")[2] for column in own)
            found.append(StoredMetric(name, signature, columns, part))
            start += width
        if names[start:]:
            self.refuse(end + 1, f"the column {quoted(names[start])} belongs to no metric above")
        return tuple(found)

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
        raise InputError(f"{self.path}: a number is too large; write it anew with --update")
