"""Shards: the statistics of finished pieces in files, so that a run can be split and resumed.

Every finished piece of a job is one file, written atomically. It contains a digest of the job
(columns, metrics, versions and the list of all pieces), the number of the piece, and a digest of
its bytes. Merging rejects pieces of another job, duplicate pieces and missing pieces.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from typing import Any

from karat.arrays import NDArray, np
from karat.arrow.jobs import Report, TableJob
from karat.arrow.parts import SegmentRows
from karat.arrow.pieces import TablePiece, content_digest
from karat.arrow.row_files import has_rows_of
from karat.arrow.statistics import SystemSums, TableStatistics
from karat.errors import InputError, quoted
from karat.metrics.names import metric
from karat.progress import Stop
from karat.score_settings import SEGMENT
from karat.stats.buckets import MAX_ROWS
from karat.storage.output import FilePath, check_local
from karat.storage.schema import check_fields, integer, list_of, mapping_of, nullable, record, text
from karat.storage.store import ModelStore, damaged, read_store, write_store

KIND = "shard of statistics"
VERSION = 1
ENDING = ".shard"

ABOUT = record(
    {
        "job": text,
        "piece": integer(1),
        "pieces": integer(1),
        "file": text,
        "digest": text,
        "metrics": list_of(text, 1),
        "buckets": nullable(integer(2)),
        "rows": integer(0),
        "references": list_of(integer(0), 2),
        "systems": list_of(text),
        "text_ids": list_of(integer(0, 1)),
        "kinds": mapping_of(text),
    },
    skipped=mapping_of(integer(0)),
    unit=nullable(text),
    id_column=text,
)


@dataclass(frozen=True)
class ShardJob:
    """A job whose finished pieces are stored in a folder."""

    job: TableJob
    folder: str
    digest: str
    pieces: int  # the number of all pieces

    def path(self, piece: TablePiece) -> str:
        """Return the file of a piece."""
        return os.path.join(self.folder, f"{self.digest}-{piece.number:06d}{ENDING}")

    def finished(self, piece: TablePiece) -> TableStatistics | None:
        """Return the stored statistics of a piece, if its content has not changed."""
        if not os.path.exists(self.path(piece)):
            return None
        try:
            shard = read_shard(self.path(piece))
        except InputError:  # damaged, or of another version: measure it again
            return None
        rows = self.job.row_file(piece)
        if rows and not has_rows_of(rows, shard.digest):
            return None
        return shard.statistics if shard.digest == content_digest(piece) else None

    def measure_piece(
        self, piece: TablePiece, threads: int, stop: Stop | None, report: Report | None
    ) -> TableStatistics:
        """Measure a piece and store its statistics."""
        digest = content_digest(piece)
        statistics = self.job.measure_piece(piece, threads, stop, report, digest)
        about = {"job": self.digest, "piece": piece.number, "pieces": self.pieces}
        name = os.fsencode(os.path.basename(piece.path)).decode("utf-8", "replace")
        write_shard(self.path(piece), statistics, {**about, "file": name, "digest": digest})
        return statistics


@contextmanager
def shard_folder(path: FilePath | None) -> Iterator[str | None]:
    """Yield the folder of shards; create it if it is missing, and remove it if it stays empty."""
    if path is None:
        yield None
        return
    check_local(path)
    place = os.path.abspath(os.fspath(path))
    if os.path.isfile(place):
        raise InputError(f"{path} is a file: shards are kept in a folder; name another")
    is_new = not os.path.isdir(place)
    try:
        os.makedirs(place, exist_ok=True)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error
    try:
        yield place
    except BaseException:
        if is_new and not os.listdir(place):
            os.rmdir(place)
        raise


def job_digest(job: TableJob, pieces: Sequence[TablePiece]) -> str:
    """Return a digest of the job and its pieces, without the folder of rows."""
    job_facts = asdict(replace(job, rows=None, single_rows=False))
    del job_facts["columns"]["slice"]  # a job never reads it
    if job.columns.unit is None:  # as before units existed
        del job_facts["columns"]["unit"]
    facts = [job_facts, [piece.facts() for piece in pieces]]
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:16]


def as_shard(shard: str | tuple[int, int]) -> tuple[int, int]:
    """Return K and N of a shard K/N, checked."""
    parts = shard.split("/") if isinstance(shard, str) else list(map(str, shard))
    good = len(parts) == 2 and all(part.isascii() and part.isdigit() for part in parts)
    numbers = [int(part) for part in parts] if good and max(map(len, parts)) < 10 else [0, 0]
    if not 1 <= numbers[0] <= numbers[1]:
        raise InputError(f"shard {quoted(shard)}: expected K/N with K from 1 to N, such as 3/16")
    return numbers[0], numbers[1]


# ------------------------------------------------------------------------------------- files


def write_shard(path: str, statistics: TableStatistics, about: dict[str, object]) -> None:
    """Write the statistics of a piece."""
    from karat.arrow.tables import sign_metric

    arrays: dict[str, NDArray[Any]] = {}
    text_ids = []
    for at, system_sums in enumerate(statistics.sums_by_system.values()):
        arrays[f"{at}.counted"] = system_sums.counts
        for m, sums in enumerate(system_sums.sums):
            arrays[f"{at}.sums.{m}"] = sums
        row_arrays = _row_arrays(system_sums.row_blocks) if system_sums.row_blocks else {}
        arrays |= {f"{at}.{name}": array for name, array in row_arrays.items()}
        text_ids.append(int("id_bytes" in row_arrays))
    description = {
        **about,
        "metrics": [sign_metric(m) for m in statistics.metrics],
        "buckets": statistics.buckets,
        "rows": statistics.n_rows,
        "references": list(statistics.reference_range),
        "systems": list(statistics.sums_by_system),
        "text_ids": text_ids,
        "kinds": statistics.kinds,
        "unit": statistics.unit,
        "id_column": statistics.id_column,
        **({} if statistics.skipped is None else {"skipped": statistics.skipped}),
    }
    write_store(path, KIND, VERSION, description, arrays)


def _row_arrays(row_blocks: Sequence[SegmentRows]) -> dict[str, NDArray[Any]]:
    tables = zip(*(rows.tables for rows in row_blocks), strict=True)
    arrays = {f"rows.{m}": np.concatenate(blocks) for m, blocks in enumerate(tables)}
    arrays["references"] = np.concatenate([rows.references for rows in row_blocks])
    id_blocks = [rows.ids for rows in row_blocks if rows.ids is not None]
    if any(ids.dtype == object for ids in id_blocks):
        encoded = [id.encode() for ids in id_blocks for id in ids.tolist()]
        arrays["id_bytes"] = np.frombuffer(b"".join(encoded), np.uint8)
        arrays["id_ends"] = np.cumsum([len(id) for id in encoded], dtype=np.int64)
    else:
        arrays["ids"] = np.concatenate([np.zeros(0, np.int64), *id_blocks])
    unit_blocks = [rows.units for rows in row_blocks if rows.units is not None]
    if unit_blocks:
        arrays["units"] = np.concatenate(unit_blocks)
    return arrays


@dataclass(frozen=True)
class Shard:
    """The statistics of a piece, read from a file."""

    path: str
    job: str
    piece: int
    pieces: int
    digest: str
    statistics: TableStatistics
    has_units: bool
    """False if an older version wrote it, which did not know units."""


def read_shard(path: str) -> Shard:
    """Read the statistics of a piece, checked."""
    store = read_store(path, KIND, VERSION)
    try:
        check_fields(store.about, ABOUT)
    except ValueError as error:
        raise damaged(path, str(error)) from error
    about = store.about
    metrics = [metric(name) for name in about["metrics"]]
    try:
        low, high = about["references"]
        sums_by_system = {
            system: _read_system(store, at, len(metrics), bool(about["text_ids"][at]))
            for at, system in enumerate(about["systems"])
        }
    except (KeyError, IndexError, ValueError, UnicodeDecodeError) as error:
        raise damaged(path, f"its arrays do not fit: {error}") from error
    statistics = TableStatistics(
        metrics,
        about["buckets"],
        n_rows=about["rows"],
        reference_range=(low, high),
        sums_by_system=sums_by_system,
        kinds=about["kinds"],
        source=about["file"],
        skipped=about.get("skipped"),
        unit=about.get("unit"),
        id_column=about.get("id_column", "id"),
    )
    _check_shapes(path, statistics)
    facts = (about["job"], about["piece"], about["pieces"], about["digest"])
    return Shard(path, *facts, statistics, "unit" in about)


def _read_system(store: ModelStore, at: int, metrics: int, text_ids: bool) -> SystemSums:
    arrays = {
        name.removeprefix(f"{at}."): array.copy()
        for name, array in store.arrays.items()
        if name.startswith(f"{at}.")
    }
    sums = [arrays[f"sums.{m}"] for m in range(metrics)]
    if "references" not in arrays:
        return SystemSums(arrays["counted"], sums)
    ids: NDArray[Any] | None = arrays.get("ids")
    if text_ids:
        data, ends = arrays["id_bytes"].tobytes(), [0, *arrays["id_ends"].tolist()]
        ids = np.array([data[a:b].decode() for a, b in pairwise(ends)], object)
    tables = [arrays[f"rows.{m}"] for m in range(metrics)]
    codes = np.zeros(len(arrays["references"]), np.int32)
    rows = SegmentRows(codes, ids, arrays["references"], tables, arrays.get("units"))
    return SystemSums(arrays["counted"], sums, [rows])


def _check_shapes(path: str, statistics: TableStatistics) -> None:
    size = statistics.buckets or 1
    for system_sums in statistics.sums_by_system.values():
        widths = [len(m.columns()) for m in statistics.metrics]
        shapes = [{(size, width), (size, 3, width)} for width in widths]
        good = system_sums.counts.shape == (size, 2) and system_sums.counts.dtype == np.int64
        good &= statistics.buckets is None or not system_sums.row_blocks
        good &= all(
            s.shape in w and s.dtype == np.int64
            for s, w in zip(system_sums.sums, shapes, strict=True)
        )
        for segment_rows in system_sums.row_blocks:
            rows = len(segment_rows.references)
            good &= segment_rows.ids is None or len(segment_rows.ids) == rows
            good &= (segment_rows.units is None) == (statistics.unit is None)
            good &= segment_rows.units is None or segment_rows.units.shape == (rows,)
            good &= segment_rows.units is None or segment_rows.units.dtype == np.int64
            good &= all(
                t.shape == (rows, w) for t, w in zip(segment_rows.tables, widths, strict=True)
            )
        if not good:
            raise damaged(path, "its arrays do not fit each other")


# ------------------------------------------------------------------------------------- merging


def merge_shards(paths: FilePath | Sequence[FilePath], units: str | None = None) -> TableStatistics:
    """Merge the shards of a job.

    Args:
        paths: files, or folders of them; every piece once, and none missing.
        units: units of intervals and tests, which the shards must know: the column that was named
            when they were written (the default), or `segment`.
    """
    files = shard_files([paths] if isinstance(paths, str | os.PathLike) else paths)
    if not files:
        raise InputError("no shard was given: name files or folders written by --shards")
    first = read_shard(files[0])
    total, path_of_piece, has_units = first.statistics, {first.piece: first.path}, first.has_units
    total.max_rows = MAX_ROWS
    total.unit = _merged_unit(first, units)
    for path in files[1:]:
        shard = read_shard(path)
        if (shard.job, shard.pieces) != (first.job, first.pieces):
            pattern = os.path.join(os.path.dirname(first.path), f"{first.job}-*{ENDING}")
            raise InputError(
                f"{path} belongs to another job than {first.path}: other tables, columns, metrics "
                f"or settings; name the shards of one job only ({pattern})"
            )
        if shard.piece in path_of_piece:
            both = f"{path_of_piece[shard.piece]} and {path} are both of piece {shard.piece:,}"
            raise InputError(f"{both}: its rows would count twice; leave one out")
        path_of_piece[shard.piece] = path
        has_units &= shard.has_units
        total += shard.statistics
    missing = [at for at in range(1, first.pieces + 1) if at not in path_of_piece]
    if missing:
        numbers = ", ".join(map(str, missing[:5])) + (", …" if len(missing) > 5 else "")
        problem = f"{len(missing):,} of {first.pieces:,} pieces are missing ({numbers})"
        raise InputError(
            f"{problem}: run the command that made the others again; it does only these"
        )
    if not has_units:
        total.remarks = (*total.remarks, _NO_UNITS)
    return total


_NO_UNITS = "An older version wrote these shards, without units: each id is a unit."


def _merged_unit(shard: Shard, units: str | None) -> str | None:
    """Return the column of units; raise if shards do not know the requested ones."""
    unit, ids = shard.statistics.unit, shard.statistics.id_column
    if units is None or units == unit:
        return unit
    if units in (SEGMENT, ids) and (unit is None or not shard.statistics.buckets):
        return None
    if units in (SEGMENT, ids):
        problem = f"their segments were added by unit (column {quoted(unit)})"
    elif shard.has_units:
        problem = f"they were written with {f'--unit {unit}' if unit else 'segments as units'}"
    else:
        problem = "an older version wrote them, without units"
    advice = f"write them again with --unit {units}"
    raise InputError(f"{shard.path}: units {quoted(units)} are unknown: {problem}; {advice}")


def shard_files(paths: Sequence[FilePath]) -> list[str]:
    """Return the shards among these files and in these folders."""
    files: list[str] = []
    for path in (str(os.fspath(path)) for path in paths):
        if not os.path.isdir(path):
            files.append(path)
            continue
        names = sorted(name for name in os.listdir(path) if name.endswith(ENDING))
        if not names:
            raise InputError(f"{path} has no shards in it (files that end in {ENDING})")
        files += (os.path.join(path, name) for name in names)
    return files
