"""Tables in files: pieces, engines, rows with scores, shards that go on, and what is refused."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import karat as kt
from karat.arrow import jobs, pieces, statistics, table_scores
from karat.arrow.formats import parquet
from karat.arrow.shards import read_shard
from karat.stats import buckets as buckets_module

COUNT = 60
WORDS = ["the", "a", "cat", "dog", "sat", "on", "mat", "ran", "far", "größer", "日本"]


def sentence(seed: int) -> str:
    return " ".join(
        WORDS[(seed * 7 + k * k * (seed % 5 + 1)) % len(WORDS)] for k in range(4 + seed % 6)
    )


SYSTEMS = {
    name: [sentence(i + shift) for i in range(COUNT)]
    for name, shift in (("A", 1), ("B", 3), ("C", 0))
}
REFERENCES = [sentence(i) for i in range(COUNT)]
TABLE = pa.table(
    {
        "output": [text for texts in SYSTEMS.values() for text in texts],
        "reference": REFERENCES * 3,
        "system": [name for name in SYSTEMS for _ in range(COUNT)],
        "segment": [*range(COUNT)] * 3,
        "weight": [i / 7 for i in range(3 * COUNT)],
    }
)
HOW: dict[str, Any] = {"candidate": "output", "by": "system"}
METRICS = ["bleu", "rougeL", "gtm"]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three files of several row groups each, which are pieces of their own."""
    monkeypatch.setattr(parquet, "ROWS_PER_PIECE", 20)
    folder = tmp_path / "data"
    folder.mkdir()
    for i in range(3):
        part = TABLE.slice(i * COUNT, COUNT)
        pq.write_table(part, folder / f"part{i}.parquet", row_group_size=13)
    return folder


def numbers(result: Any) -> str:
    return repr([*result.rows]) + result.signature


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_files_score_as_lists_do(files: Path, threads: int) -> None:
    scoring = kt.score_table(files, METRICS, **HOW, threads=threads)
    assert numbers(scoring) == numbers(kt.score(SYSTEMS, REFERENCES, METRICS))
    compared = kt.compare_table(files, METRICS, **HOW, id="segment", threads=threads)
    assert numbers(compared) == numbers(kt.compare(SYSTEMS, REFERENCES, METRICS))
    pattern = kt.score_table(str(files / "part*.parquet"), METRICS, **HOW)
    assert numbers(pattern) == numbers(scoring)


def test_tables_in_memory_score_as_files_do(files: Path) -> None:
    scoring = kt.score_table(TABLE, METRICS, **HOW, id="segment", intervals=True)
    assert numbers(scoring) == numbers(
        kt.score_table(files, METRICS, **HOW, id="segment", intervals=True)
    )
    with pytest.raises(kt.InputError, match="this one is in memory"):
        kt.score_table(TABLE, METRICS, **HOW, shards="x")


def test_files_are_cut_into_pieces_at_row_groups(files: Path) -> None:
    planned = pieces.plan_pieces(pieces.find_files(files))
    assert [piece.rows for piece in planned] == [26, 26, 8] * 3
    assert [piece.first for piece in planned] == [0, 26, 52] * 3
    assert len({pieces.content_digest(piece) for piece in planned}) == 9


def test_rows_are_kept_up_to_a_number_and_then_are_in_buckets(
    files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def keep_up_to(rows: int) -> None:
        for module in (buckets_module, table_scores):
            monkeypatch.setattr(module, "MAX_ROWS", rows)

    keep_up_to(3 * COUNT - 1)
    for module in (buckets_module, statistics):
        monkeypatch.setattr(module, "BUCKETS", 16)
    expected_result = kt.score_table(
        files, METRICS, **HOW, id="segment", intervals=True, buckets=16
    )
    assert numbers(kt.score_table(files, METRICS, **HOW, id="segment", intervals=True)) == numbers(
        expected_result
    )
    # Where it is not known before: rows are put into buckets as they become too many.
    assert numbers(kt.score_table(TABLE, METRICS, **HOW, id="segment", intervals=True)) == numbers(
        expected_result
    )
    assert numbers(kt.score(SYSTEMS, REFERENCES, METRICS, intervals=True)) == numbers(
        expected_result
    )
    never = kt.score_table(files, METRICS, **HOW, id="segment", intervals=True, buckets=0)
    assert "buckets" not in never.signature
    keep_up_to(3 * COUNT)
    assert (
        "buckets"
        not in kt.score_table(files, METRICS, **HOW, id="segment", intervals=True).signature
    )


def test_ids_may_be_texts(files: Path) -> None:
    texts = pa.array([f"doc-{i:03d}" for i in range(COUNT)] * 3)
    table = TABLE.set_column(3, "segment", texts)
    comparison = kt.compare_table(table, METRICS, **HOW, id="segment")
    assert numbers(comparison) == numbers(kt.compare(SYSTEMS, REFERENCES, METRICS))


def test_rows_come_back_with_their_scores(files: Path, tmp_path: Path) -> None:
    out = tmp_path / "scored.parquet"
    for _ in range(2):  # the second replaces the first
        kt.score_table(files, METRICS, **HOW, rows=out, threads=2)
    written = pq.read_table(out).sort_by([("system", "ascending"), ("segment", "ascending")])
    names = ["bleu:eff=yes", "rougeL", "gtm"]
    assert written.column_names == [*TABLE.column_names, *names]
    assert written.select(TABLE.column_names) == TABLE
    for name in names:
        metric = kt.metric(name)
        expected = [
            s for texts in SYSTEMS.values() for s in metric.segments(texts, REFERENCES).tolist()
        ]
        assert written[name].to_pylist() == expected
    assert sorted(os.listdir(tmp_path)) == ["data", "scored.parquet"]


def test_rows_are_not_half_written(files: Path, tmp_path: Path) -> None:
    pq.write_table(
        TABLE.slice(0, 3).set_column(0, "output", pa.array(["a", None, "b"])), files / "z.parquet"
    )
    with pytest.raises(kt.InputError, match=r"z.parquet, row 2: column 'output' is null"):
        kt.score_table(files, METRICS, **HOW, rows=tmp_path / "out")
    assert os.listdir(tmp_path) == ["data"]


@pytest.mark.parametrize(
    ("baseline", "message"),
    [
        (lambda p: p.write_text("x"), "is a file: rows are written to a folder"),
        (
            lambda p: (p.mkdir(), (p / "notes.txt").write_text("x")),
            r"did not write, with notes.txt",
        ),
    ],
)
def test_rows_do_not_replace_other_things(
    files: Path, tmp_path: Path, baseline: Any, message: str
) -> None:
    baseline(tmp_path / "out")
    with pytest.raises(kt.OutputError, match=message):
        kt.score_table(files, METRICS, **HOW, rows=tmp_path / "out")
    with pytest.raises(kt.OutputError, match=r"holds the input part0\.parquet"):
        kt.score_table(files, METRICS, **HOW, rows=files)


# --------------------------------------------------------------------------------------- shards


def write_all(files: Path, folder: Path, count: int, **more: Any) -> None:
    for k in range(1, count + 1):
        kt.write_shards(files, METRICS, shards=folder, shard=(k, count), **HOW, **more)


@pytest.mark.parametrize("more", [{}, {"id": "segment"}, {"id": "segment", "buckets": 16}])
def test_shards_add_up(files: Path, tmp_path: Path, more: dict[str, Any]) -> None:
    write_all(files, tmp_path / "shards", 4, **more)
    merged = kt.merge_shards(tmp_path / "shards")
    assert numbers(merged.score()) == numbers(kt.score(SYSTEMS, REFERENCES, METRICS))
    if more:
        expected = kt.compare_table(files, METRICS, **HOW, **more)
        assert numbers(merged.compare()) == numbers(expected)
    else:
        with pytest.raises(kt.InputError, match="need ids"):
            merged.score(intervals=True)


def test_finished_pieces_are_not_done_again(files: Path, tmp_path: Path, monkeypatch: Any) -> None:
    done: list[str] = []
    measure = jobs.TableJob.measure_piece

    def counted(job: Any, piece: Any, *more: Any) -> Any:
        done.append(f"{os.path.basename(piece.path)}:{piece.first}")
        return measure(job, piece, *more)

    monkeypatch.setattr(jobs.TableJob, "measure_piece", counted)
    folder = tmp_path / "shards"
    first = kt.score_table(files, METRICS, **HOW, shards=folder)
    assert len(done) == 9
    assert numbers(kt.score_table(files, METRICS, **HOW, shards=folder)) == numbers(first)
    assert len(done) == 9
    next(iter(sorted(folder.iterdir()))).unlink()
    kt.score_table(files, METRICS, **HOW, shards=folder)
    assert done[9:] == ["part0.parquet:0"]
    # Other content of the same size and shape is another piece.
    changed = TABLE.slice(COUNT, COUNT).set_column(
        0, "output", TABLE["output"].slice(COUNT, COUNT).take([*range(COUNT)][::-1])
    )
    pq.write_table(changed, files / "part1.parquet", row_group_size=13)
    kt.score_table(files, METRICS, **HOW, shards=folder)
    assert all(name.startswith("part1") for name in done[10:]) or len(done) == 19


def test_what_does_not_belong_together_is_not_merged(files: Path, tmp_path: Path) -> None:
    folder = tmp_path / "shards"
    write_all(files, folder, 2)
    first_result, two = sorted(folder.iterdir())[:2]
    copy = folder / "copy.shard"
    copy.write_bytes(first_result.read_bytes())
    with pytest.raises(kt.InputError, match=r"are both of piece 1: its rows would count twice"):
        kt.merge_shards(folder)
    copy.unlink()
    two.unlink()
    with pytest.raises(kt.InputError, match=r"1 of 9 pieces are missing \(2\)"):
        kt.merge_shards(folder)
    other = tmp_path / "other"
    kt.score_table(files, "chrf", **HOW, shards=other)
    with pytest.raises(kt.InputError, match="belongs to another job than"):
        kt.merge_shards([folder, other])
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(kt.InputError, match="has no shards in it"):
        kt.merge_shards(empty)


def test_damaged_shards_are_refused(files: Path, tmp_path: Path) -> None:
    folder = tmp_path / "shards"
    write_all(files, folder, 1, id="segment")
    path = min(folder.iterdir())
    data = path.read_bytes()
    for at in range(40, len(data), max(1, len(data) // 60)):
        path.write_bytes(data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 :])
        try:
            read_shard(str(path))
        except kt.InputError as error:
            assert str(path) in str(error)  # noqa: PT017 - the ends of the file may be changed freely
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(kt.InputError, match="shard of statistics of Karat"):
        kt.merge_shards(folder)


SLOW = """
import sys, time
import karat as kt
from karat.arrow.jobs import TableJob
from karat.arrow.formats import parquet

parquet.ROWS_PER_PIECE = 20
measure = TableJob.measure_piece

def slow(*given):
    time.sleep(0.2)
    return measure(*given)

TableJob.measure_piece = slow
kt.score_table(sys.argv[1], ["bleu", "rougeL", "gtm"], candidate="output", by="system",
               id="segment", intervals=True, shards=sys.argv[2], rows=sys.argv[3], threads=1)
"""


def test_a_run_that_was_killed_goes_on(files: Path, tmp_path: Path) -> None:
    folder, out = tmp_path / "shards", tmp_path / "rows"
    command = [sys.executable, "-c", SLOW, str(files), str(folder), str(out)]
    running = subprocess.Popen(command)
    until = time.monotonic() + 60
    while (
        time.monotonic() < until
        and len(list(folder.glob("*.shard")) if folder.exists() else []) < 3
    ):
        time.sleep(0.02)
    running.send_signal(signal.SIGKILL)
    assert running.wait() == -signal.SIGKILL
    finished = {path.name: path.stat().st_mtime_ns for path in folder.glob("*.shard")}
    assert 3 <= len(finished) < 9
    assert not out.exists()
    settings: dict[str, Any] = {**HOW, "id": "segment", "intervals": True}
    scoring = kt.score_table(files, METRICS, **settings, shards=folder, rows=out)
    assert numbers(scoring) == numbers(kt.score(SYSTEMS, REFERENCES, METRICS, intervals=True))
    assert {name: (folder / name).stat().st_mtime_ns for name in finished} == finished
    assert pq.read_table(out).num_rows == 3 * COUNT
    assert all(name.endswith(".parquet") or name == "_karat" for name in os.listdir(out))


@pytest.mark.parametrize(
    "shard", ["0/4", "5/4", "1", "a/b", "1/2/3", "-1/2", "1/0", "9" * 20 + "/1", ""]
)
def test_shards_are_named_k_of_n(files: Path, tmp_path: Path, shard: str) -> None:
    with pytest.raises(kt.InputError, match="expected K/N"):
        kt.write_shards(files, shards=tmp_path / "s", shard=shard, **HOW)


# ------------------------------------------------------------------------------- what is refused


def test_files_with_other_columns_are_refused(files: Path) -> None:
    pq.write_table(
        TABLE.slice(0, 4).rename_columns(["out", *TABLE.column_names[1:]]), files / "z.parquet"
    )
    with pytest.raises(
        kt.InputError, match=r"z.parquet has no column 'output'; did you mean out\?"
    ):
        kt.score_table(files, **HOW)


def test_files_with_other_kinds_of_ids_are_refused(files: Path) -> None:
    texts = TABLE.slice(0, 4).set_column(3, "segment", pa.array(list("abcd")))
    pq.write_table(texts, files / "z.parquet")
    message = r"z.parquet: column 'segment' holds text, and whole numbers in .*part2.parquet"
    with pytest.raises(kt.InputError, match=message):
        kt.score_table(files, **HOW, id="segment", intervals=True, buckets=4)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"intervals": True}, "intervals and tests on tables need ids"),
        (
            {"id": "weight", "intervals": True},
            "column 'weight' holds floats, expected text or whole",
        ),
        (
            {"candidate": "reference", "reference": "output", "by": "segments"},
            "did you mean segment",
        ),
        ({"engine": "flink"}, "engine 'flink': expected one of local"),
        ({"engine": "local:thread=2"}, "has no setting 'thread'; did you mean threads"),
        ({"engine_options": {"threads": "0"}}, "threads=0 is out of range"),
        ({"buckets": 1, "id": "segment", "intervals": True}, "expected 2 to"),
        ({"buckets": 500, "id": "segment", "intervals": True}, "fewer than the 500 buckets"),
    ],
)
def test_wrong_arguments_are_refused(files: Path, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(kt.InputError, match=message):
        kt.score_table(files, **{**HOW, **settings})


def test_comparisons_need_the_same_ids(files: Path) -> None:
    less = TABLE.slice(0, 3 * COUNT - 1)
    message = (
        "systems A and C differ: C has no segment with id 59: a comparison needs every segment"
    )
    with pytest.raises(kt.InputError, match=message):
        kt.compare_table(less, **HOW, id="segment")
    other = TABLE.set_column(3, "segment", pa.array([*range(2 * COUNT), *range(5, COUNT + 5)]))
    with pytest.raises(kt.InputError, match="do not have the same ids"):
        kt.compare_table(other, **HOW, id="segment", buckets=8)


def test_usual_names_of_columns_are_found() -> None:
    table = TABLE.rename_columns(["Prediction", "references", "model", "n", "w"])
    assert (
        kt.score_table(table, by="model").rows[0].score
        == kt.score(SYSTEMS, REFERENCES).rows[0].score
    )
    with pytest.raises(kt.InputError, match="no column has a usual name for references"):
        kt.score_table(table.rename_columns(["output", "r", "s", "i", "w"]))
    with pytest.raises(
        kt.InputError, match="any of output, answer may be the column of candidates"
    ):
        kt.score_table(table.rename_columns(["output", "reference", "s", "answer", "w"]))


Called = Callable[..., subprocess.CompletedProcess[str]]


def test_the_command_scores_tables(
    files: Path, folder: Path, output: Callable[..., str], run_karat: Called
) -> None:
    data = str(files)
    arguments = ("--candidate", "output", "--by", "system", "-m", "bleu", "-f", "tsv")
    plain = output("score", data, *arguments)
    assert [line.split("\t")[:2] for line in plain.splitlines()[1:]] == [
        ["bleu", name] for name in "ABC"
    ]
    assert output("score", str(files / "*.parquet"), "-r", "reference", *arguments) == plain
    assert "60 segments in 16 buckets" in output(
        "compare",
        data,
        "--id",
        "segment",
        "--buckets",
        "16",
        *arguments[:-1],
        "text",
    )
    for k in (1, 2):
        output(
            "score", data, "--id", "segment", "--shards", "parts", "--shard", f"{k}/2", *arguments
        )
    assert output("merge", "parts", "-f", "tsv") == plain
    compared = output("merge", "parts", "--compare", "--baseline", "B", "-f", "tsv")
    direct = (
        "compare",
        data,
        "--id",
        "segment",
        "--baseline",
        "B",
        "--examples",
        "0",
        *arguments,
    )
    assert compared == output(*direct)
    assert run_karat("merge", "parts", "--baseline", "B").returncode == 2
    assert sorted(path.name for path in folder.iterdir() if path.suffix != ".txt") == [
        "data",
        "parts",
    ]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (
            ["a.txt", "-r", "ref1.txt", "--by", "system"],
            "--by is only for tables: give a table",
        ),
        (["data", "--segments"], "use --rows FOLDER to write row scores"),
        (["data", "--signature-only"], "--signature-only does not work with streamed tables"),
        (["data", "--by", "sytem"], "did you mean system?"),
        (["data", "--shard", "1/2"], "add --shards FOLDER"),
        (["data", "--engine-option", "threads"], "expected NAME=VALUE"),
        (["data", "--engine", "flink"], "expected one of local"),
        (["none.parquet"], "No such file or directory"),
        (["no*.parquet"], "no file matches this pattern"),
        (["data", "data/part0.parquet"], "is named twice: its rows would count twice"),
        (["text.parquet"], "the table has no rows"),
        (["empty.parquet"], "the table has no rows"),
    ],
)
def test_bad_tables_are_refused_in_one_line(
    files: Path, folder: Path, run_karat: Called, args: list[str], message: str
) -> None:
    (folder / "text.parquet").write_text("not at all")
    pq.write_table(TABLE.slice(0, 0), folder / "empty.parquet")
    column = [] if args[0] == "a.txt" else ["--candidate", "output"]
    done = run_karat("score", *args, *column)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_examples_are_those_of_lists(files: Path) -> None:
    settings: dict[str, Any] = {"examples": 2}
    expected = kt.compare(SYSTEMS, REFERENCES, METRICS, **settings).examples
    for table in (files, TABLE):
        examples = kt.compare_table(table, METRICS, **HOW, id="segment", **settings).examples
        assert [entry._replace(id=None) for entry in examples] == list(expected)
        assert [entry.id for entry in examples] == [str(entry.segment) for entry in expected]
    stream = pa.RecordBatchReader.from_batches(TABLE.schema, TABLE.to_batches())
    assert kt.compare_table(stream, METRICS, **HOW, id="segment", **settings).examples == ()


def test_a_damaged_shard_is_made_anew(files: Path, tmp_path: Path) -> None:
    first = kt.score_table(files, METRICS, **HOW, shards=tmp_path / "s")
    path = min((tmp_path / "s").iterdir())
    path.write_bytes(path.read_bytes()[:100])
    assert numbers(kt.score_table(files, METRICS, **HOW, shards=tmp_path / "s")) == numbers(first)
    assert read_shard(str(path)).piece == 1


def test_checksums_of_pages_are_looked_at(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(TABLE, path, write_page_checksum=True, compression="none")
    data = bytearray(path.read_bytes())
    at = data.index(REFERENCES[3].encode())
    data[at] ^= 1
    path.write_bytes(bytes(data))
    with pytest.raises(kt.InputError, match=r"t\.parquet: .*crc|CRC"):
        kt.score_table(path, **HOW)


@pytest.mark.parametrize("value", [None, 5, b"x", [TABLE, TABLE], {"a": 1}])
def test_what_is_neither_a_file_nor_a_table_is_refused(value: Any) -> None:
    with pytest.raises(kt.InputError, match="expected files"):
        kt.score_table(value)


def test_ids_above_two_to_the_63rd_are_refused() -> None:
    ids = pa.array([2**63 + i for i in range(3 * COUNT)], pa.uint64())
    with pytest.raises(kt.InputError, match=r"row 1 \(index 0\): column 'segment' is above 2\^63"):
        kt.score_table(TABLE.set_column(3, "segment", ids), **HOW, id="segment", intervals=True)


def test_rows_do_not_replace_tables_of_others(files: Path, tmp_path: Path) -> None:
    foreign = tmp_path / "mine"
    foreign.mkdir()
    pq.write_table(TABLE, foreign / "january.parquet")
    with pytest.raises(kt.OutputError, match=r"did not write, with january\.parquet in it"):
        kt.score_table(files, METRICS, **HOW, rows=foreign)
    assert os.listdir(foreign) == ["january.parquet"]


def test_a_run_with_ids_can_be_compared_from_its_shards(files: Path, tmp_path: Path) -> None:
    kt.score_table(files, METRICS, **HOW, id="segment", shards=tmp_path / "s")
    expected = kt.compare(SYSTEMS, REFERENCES, METRICS)
    assert numbers(kt.merge_shards(tmp_path / "s").compare()) == numbers(expected)
    done = kt.write_shards(files, METRICS, **HOW, id="segment", shards=tmp_path / "s", shard="1/1")
    assert len(list((tmp_path / "s").iterdir())) == done.rows[0].pieces == 9


def test_tasks_of_a_job_array_share_a_folder_of_rows(files: Path, tmp_path: Path) -> None:
    out = tmp_path / "rows"
    for k in (1, 2):
        kt.write_shards(files, METRICS, **HOW, shards=tmp_path / "s", shard=(k, 2), rows=out)
        (out / ".karat-0123.tmp").write_bytes(b"of a task that is under way, or died")
    assert sum(pq.read_table(path).num_rows for path in out.glob("*.parquet")) == 3 * COUNT
    with pytest.raises(kt.OutputError, match=r"rows holds rows of another job .* name another"):
        kt.write_shards(files, "chrf", **HOW, shards=tmp_path / "s", shard="1/1", rows=out)


def test_folders_of_others_stay(files: Path, tmp_path: Path) -> None:
    foreign = tmp_path / "rows.old" / "mine.txt"
    foreign.parent.mkdir()
    foreign.write_text("kept")
    for _ in range(2):
        kt.score_table(files, "bleu", **HOW, rows=tmp_path / "rows")
    assert foreign.read_text() == "kept"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "rows", "rows.old"]


def test_rows_of_a_run_that_was_killed_while_it_replaced_them(files: Path, tmp_path: Path) -> None:
    rows, old = tmp_path / "rows", tmp_path / ".karat-old-rows"
    kt.score_table(files, "bleu", **HOW, rows=rows)
    rows.rename(old)  # as a killed run leaves it: neither the old rows nor the new have the name
    with pytest.raises(kt.InputError, match="no column"):
        kt.score_table(files, "bleu", **{**HOW, "candidate": "nothing"}, rows=rows)
    assert old.exists() != rows.exists()  # the old rows are not lost
    kt.score_table(files, "bleu", **HOW, rows=rows)
    kt.score_table(files, "bleu", **HOW, rows=rows)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "rows"]


def test_nothing_is_left_where_nothing_was_done(files: Path, tmp_path: Path) -> None:
    settings = {"rows": tmp_path / "rows", "shards": tmp_path / "shards"}
    address = {"address": "tcp://127.0.0.1:9"}
    with pytest.raises(kt.InputError, match="is it running there"):
        kt.score_table(files, "bleu", **HOW, **settings, engine="dask", engine_options=address)
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_threads_are_those_of_this_process(files: Path) -> None:
    with pytest.raises(kt.InputError, match=r"engine dask has workers.* leave threads out"):
        kt.score_table(files, "bleu", **HOW, engine="dask", threads=2)


@pytest.mark.parametrize(("table", "total"), [(TABLE, len(TABLE)), ("table.jsonl", 0)])
def test_progress_in_rows(table: Any, total: int, tmp_path: Path) -> None:
    if isinstance(table, str):
        table = tmp_path / table
        rows = ({k: v for k, v in row.items() if v is not None} for row in TABLE.to_pylist())
        table.write_text("".join(json.dumps(row) + "\n" for row in rows))
    reports: list[tuple[int, int, str]] = []
    kt.score_table(table, "bleu", **HOW, progress=lambda *done: reports.append(done))
    assert reports[-1] == (len(TABLE), total, "scoring rows")


def test_rows_of_another_job_do_not_count_as_done(
    files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, out = tmp_path / "s", tmp_path / "rows"
    kt.score_table(files, "bleu", **HOW, shards=folder)

    def stopped(*_: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("karat.arrow.jobs.TableMeasure.parts", stopped)
        with pytest.raises(KeyboardInterrupt):
            kt.score_table(files, "chrf", **HOW, shards=folder, rows=out)
    kt.score_table(files, "bleu", **HOW, shards=folder, rows=out)
    assert "bleu:eff=yes" in pq.read_table(out).column_names


def test_files_of_like_names_have_rows_of_their_own(tmp_path: Path) -> None:
    for name in ("data.train.parquet", "data.test.parquet"):
        pq.write_table(TABLE, tmp_path / name)
    kt.score_table(str(tmp_path / "data.*.parquet"), "bleu", **HOW, rows=tmp_path / "out")
    assert len(list((tmp_path / "out").glob("*.parquet"))) == 2
    with pytest.raises(kt.InputError, match="named twice"):
        kt.score_table([tmp_path / "data.test.parquet", f"{tmp_path}/./data.test.parquet"], **HOW)


def test_few_segments_of_many_systems_say_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(buckets_module, "MAX_ROWS", 10)
    with pytest.raises(kt.InputError, match=r"fewer than the 4,096 buckets .* \(--buckets 0\)"):
        kt.score(SYSTEMS, REFERENCES, intervals=True)
    inference = kt.score(SYSTEMS, REFERENCES, intervals=True, buckets=0).inference
    assert inference is not None
    assert inference.buckets is None


def test_a_file_whose_columns_were_exchanged_is_done_again(tmp_path: Path) -> None:
    texts = [
        pa.array(["x y z w v"] * 10),
        pa.array(["x y z w"] * 10),
        pa.array(["x y z w v u"] * 10),
    ]
    results = []
    for names in (["one", "two", "reference"], ["two", "one", "reference"]):
        pq.write_table(pa.Table.from_arrays(texts, names=names), tmp_path / "t.parquet")
        settings: dict[str, Any] = {"candidate": "one", "shards": tmp_path / "shards"}
        results.append(
            kt.score_table(tmp_path / "t.parquet", "bleu", **settings).rows[0].score.value
        )
    assert results == pytest.approx([81.87, 60.65], abs=0.01)


def test_shards_of_files_that_are_alike_but_for_their_content_are_not_merged(
    tmp_path: Path,
) -> None:
    for number, text in enumerate(("a b c d e", "q q q q q"), 1):
        folder = tmp_path / f"data{number}"
        folder.mkdir()
        for name in ("1.csv", "2.csv"):
            (folder / name).write_text(f"candidate,reference\n{text},a b c d e\n")
        kt.write_shards(folder, "bleu", shards=tmp_path / "shards", shard=(number, 2))
    with pytest.raises(kt.InputError, match=r"belongs to another job .* name the shards"):
        kt.merge_shards(tmp_path / "shards")


@pytest.mark.parametrize("harm", ["stale", "cut"])
def test_rows_that_are_not_of_this_content_are_written_again(tmp_path: Path, harm: str) -> None:
    table, out = tmp_path / "t.csv", tmp_path / "rows"
    settings: dict[str, Any] = {"shards": tmp_path / "shards", "shard": (1, 1)}
    filler = "".join(f"text {i},text {i}\n" for i in range(20_000))
    for text in ("a b c d e", "q q q q q"):
        table.write_text(f"candidate,reference\n{filler}{text},a b c d e\n{filler}")
        if text[0] == "a" or harm == "stale":
            kt.write_shards(table, "bleu", **settings, rows=out if text[0] == "a" else None)
    if harm == "cut":
        kt.write_shards(table, "bleu", **settings)
        (path,) = out.glob("*.parquet")
        path.write_bytes(path.read_bytes()[:50])
    kt.write_shards(table, "bleu", **settings, rows=out)
    (path,) = out.glob("*.parquet")
    assert pq.read_table(path)["candidate"][20_000].as_py() == "q q q q q"


def test_rows_and_shards_are_apart(files: Path, tmp_path: Path) -> None:
    for inside in ("", "in"):
        settings = {"rows": tmp_path / "r", "shards": tmp_path / "r" / inside}
        with pytest.raises(kt.OutputError, match="one of them is in the other"):
            kt.score_table(files, "bleu", **HOW, **settings)


@pytest.mark.parametrize("option", ["rows", "shards"])
def test_addresses_are_no_outputs(files: Path, option: str) -> None:
    with pytest.raises(kt.OutputError, match="is an address"):
        kt.score_table(files, "bleu", **HOW, **{option: "s3://bucket/place"})


def test_tables_in_folders_of_a_folder(tmp_path: Path) -> None:
    for name in ("top.parquet", "day=1/a.parquet", "day=2/deep/b.parquet", "_tmp/c.parquet"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(TABLE, tmp_path / name)
    assert [Path(path).name for path in pieces.find_files(tmp_path)] == [
        "a.parquet",
        "b.parquet",
        "top.parquet",
    ]


def test_a_pipe_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "t.csv")
    with pytest.raises(kt.InputError, match="is a pipe or a device"):
        kt.score_table(tmp_path / "t.csv", "bleu")


def test_the_same_file_by_its_address(tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "t.parquet")
    path = str(tmp_path / "t.parquet")
    with pytest.raises(kt.InputError, match="named twice"):
        kt.score_table([path, f"file://{path}"], "bleu", **HOW)


def test_names_that_are_no_utf8(tmp_path: Path) -> None:
    name = os.fsdecode(os.fsencode(tmp_path) + b"/bad\xff.csv")
    Path(name).write_text("candidate,reference\na b c d,a b c d\n")
    kt.score_table(name, "bleu", shards=tmp_path / "shards")
    assert kt.merge_shards(tmp_path / "shards").score().rows[0].score.value == pytest.approx(100)


BAD_ARGUMENTS: dict[str, tuple[dict[str, Any], str]] = {
    "engine": ({"engine": 3}, "engine 3: expected a name"),
    "buckets": ({"buckets": -1}, "buckets=-1: expected 2 to"),
    "option": ({"engine_options": {"threads": 0}}, "threads"),
}


@pytest.mark.parametrize("name", BAD_ARGUMENTS)
def test_bad_arguments(files: Path, name: str) -> None:
    settings, message = BAD_ARGUMENTS[name]
    with pytest.raises(kt.KaratError, match=message):
        kt.score_table(files, "bleu", **HOW, **settings)


def test_options_of_engines_may_be_numbers(files: Path) -> None:
    scoring = kt.score_table(files, "bleu", **HOW, engine="local", engine_options={"threads": 2})
    assert scoring.rows == kt.score_table(files, "bleu", **HOW).rows


def test_mixed_types_of_pandas() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"candidate": ["a", 1], "reference": ["a", "b"]}, dtype=object)
    with pytest.raises(kt.InputError, match=r"column .candidate. is 1 .*needs a text"):
        kt.score_table(frame, "bleu")


def test_a_table_with_a_head_alone_is_refused_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "head.csv").write_text("prediction,reference\n")
    with pytest.raises(kt.InputError, match=r"head\.csv has no rows: there is nothing to score"):
        kt.score_table(str(tmp_path / "head.csv"))
