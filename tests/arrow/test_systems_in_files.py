"""Several tables: each file is a system, unless a column names the systems."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import karat as kt
from karat.arrow.pieces import table_name
from karat.cli.main import main

REFERENCES = [f"the cat {word} on a mat" for word in ("sat", "ran", "slept", "ate", "hid", "lay")]
OUTPUTS = {
    "v1": [text.replace("the", "a") for text in REFERENCES],
    "v2": [text.replace("mat", "rug") for text in REFERENCES],
}


def rows_of(name: str, **more: str) -> list[dict[str, str]]:
    both = zip(OUTPUTS[name], REFERENCES, strict=True)
    rows = enumerate(both)
    return [{"output": o, "reference": r, "id": f"s{i}", **more} for i, (o, r) in rows]


def write_jsonl(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def write_csv(path: Path, rows: list[dict[str, Any]]) -> None:
    lines = [",".join(rows[0]), *(",".join(row.values()) for row in rows)]
    path.write_text("\n".join(lines) + "\n")


def write_tsv(path: Path, rows: list[dict[str, Any]]) -> None:
    write_csv(path, rows)
    path.write_text(path.read_text().replace(",", "\t"))


def write_parquet(path: Path, rows: list[dict[str, Any]]) -> None:
    pq.write_table(pa.Table.from_pylist(rows), path)


WRITERS: dict[str, Callable[[Path, list[dict[str, Any]]], None]] = {
    "jsonl": write_jsonl,
    "csv": write_csv,
    "tsv": write_tsv,
    "parquet": write_parquet,
}


@pytest.fixture(params=WRITERS)
def ending(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: Any) -> str:
    """Two tables, `v1` and `v2`, in the current folder."""
    monkeypatch.chdir(tmp_path)
    for name in OUTPUTS:
        WRITERS[request.param](Path(f"{name}.{request.param}"), rows_of(name))
    return str(request.param)


@pytest.fixture
def jsonl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in OUTPUTS:
        write_jsonl(Path(f"{name}.jsonl"), rows_of(name))
    return tmp_path


def numbers(result: Any) -> str:
    return repr([*result.rows]) + result.signature


def sentence(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(list(words)) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    return printed.err.removeprefix("karat: ").rstrip("\n")


def scores(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, float]:
    assert main([*words, "-m", "chrf", "-f", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    return {row["system"]: row["score"] for row in rows}


# ------------------------------------------------------------------------------ files as systems


def test_two_files_are_two_systems(ending: str, capsys: pytest.CaptureFixture[str]) -> None:
    expected = {row.system: row.score.value for row in kt.score(OUTPUTS, REFERENCES, "chrf").rows}
    assert scores(capsys, "score", f"v1.{ending}", f"v2.{ending}") == expected
    assert list(scores(capsys, "score", f"v2.{ending}", f"v1.{ending}")) == ["v2", "v1"]


def test_files_compare_as_texts_do(ending: str) -> None:
    files = [Path(f"v1.{ending}"), Path(f"v2.{ending}")]
    expected = kt.compare(OUTPUTS, REFERENCES, ["bleu", "chrf"], examples=2)
    compared = kt.compare(files, metrics=["bleu", "chrf"], examples=2)
    assert numbers(compared) == numbers(expected)
    without_ids = tuple(example._replace(id=None) for example in compared.examples)
    assert without_ids == expected.examples
    assert [example.id for example in compared.examples] == [
        f"s{example.segment}" for example in compared.examples
    ]


def test_files_have_names(jsonl: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert list(scores(capsys, "score", "old=v1.jsonl", "v2.jsonl")) == ["old", "v2"]
    assert list(scores(capsys, "score", "only=v1.jsonl")) == ["only"]
    scoring = kt.score({"old": "v1.jsonl", "new": Path("v2.jsonl")}, metrics="chrf")
    assert [row.system for row in scoring.rows] == ["old", "new"]
    assert scores(capsys, "compare", "old=v1.jsonl", "new=v2.jsonl", "--baseline", "new")


def test_a_folder_or_a_pattern_is_one_table(
    jsonl: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    both = [text for system_texts in OUTPUTS.values() for text in system_texts]
    pooled = kt.score(both, REFERENCES * 2, "chrf").rows[0].score.value
    assert "both have the id" in sentence(capsys, "score", "v*.jsonl")
    assert scores(capsys, "score", "v*.jsonl", "--unit", "id") == {"candidate": pooled}
    Path("parts").mkdir()
    for name in OUTPUTS:
        shutil.move(f"{name}.jsonl", "parts")
    assert scores(capsys, "score", "parts", "--unit", "id") == {"candidate": pooled}
    assert (
        kt.score_table({"all": ["parts/v1.jsonl", "parts/v2.jsonl"]}, "chrf", units="id").rows[0]
        == (kt.score({"all": both}, REFERENCES * 2, "chrf").rows[0])
    )


def test_folders_are_systems(jsonl: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in OUTPUTS:
        folder = Path(f"run-{name}.d")
        folder.mkdir()
        write_jsonl(folder / "1.jsonl", rows_of(name)[:2])
        write_jsonl(folder / "2.jsonl", rows_of(name)[2:])
    expected = {row.system: row.score.value for row in kt.score(OUTPUTS, REFERENCES, "chrf").rows}
    printed_scores = scores(capsys, "score", "run-v1.d", "run-v2.d")
    assert printed_scores == {f"run-{name}.d": value for name, value in expected.items()}
    # The rows of several files have no numbers in common: they need ids.
    assert "name the column of ids" in sentence(capsys, "compare", "run-v1.d", "run-v2.d")
    assert scores(capsys, "compare", "run-v1.d", "run-v2.d", "--id", "id") == printed_scores


def test_a_column_of_systems_makes_parts_of_files(
    jsonl: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With --by, the system of a row is in the row: files are parts of one table."""
    rows = [row for name in OUTPUTS for row in rows_of(name, system=f"sys-{name}")]
    write_jsonl(Path("part1.jsonl"), rows[::2])
    write_jsonl(Path("part2.jsonl"), rows[1::2])
    expected = {row.system: row.score.value for row in kt.score(OUTPUTS, REFERENCES, "chrf").rows}
    printed_scores = scores(capsys, "score", "part1.jsonl", "part2.jsonl", "--by", "system")
    assert printed_scores == {f"sys-{name}": value for name, value in expected.items()}
    printed = sentence(capsys, "score", "a=part1.jsonl", "part2.jsonl", "--by", "system")
    assert printed == "'a' names the system of a table, and so does a column: leave out one of them"


def test_wide_files_are_parts(jsonl: Path, capsys: pytest.CaptureFixture[str]) -> None:
    columns = zip(*OUTPUTS.values(), REFERENCES, strict=True)
    rows = [{"v1": a, "v2": b, "reference": r} for a, b, r in columns]
    write_jsonl(Path("w1.jsonl"), rows[:3])
    write_jsonl(Path("w2.jsonl"), rows[3:])
    wide = ("--candidate", "v1", "--candidate", "v2")
    expected = {row.system: row.score.value for row in kt.score(OUTPUTS, REFERENCES, "chrf").rows}
    assert scores(capsys, "score", "w1.jsonl", "w2.jsonl", *wide) == expected


def test_shards_of_systems_in_files(jsonl: Path, capsys: pytest.CaptureFixture[str]) -> None:
    expected = scores(capsys, "score", "v1.jsonl", "v2.jsonl")
    for shard in ("1/2", "2/2"):
        words = ["score", "v1.jsonl", "v2.jsonl", "-m", "chrf", "--id", "id", "--shards", "parts"]
        assert main([*words, "--shard", shard]) == 0
    capsys.readouterr()
    assert main(["merge", "parts", "-f", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert {row["system"]: row["score"] for row in rows} == expected


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("runs/v1.jsonl", "v1"),
        ("v1.csv.gz", "v1"),
        ("v1.2.PARQUET", "v1.2"),
        ("data/*.parquet", "data/*.parquet"),
        ("s3://bucket/v1.parquet", "v1"),
        (".", Path.cwd().name),
    ],
)
def test_names_of_tables(path: str, name: str) -> None:
    assert table_name(path) == name


def test_an_equals_sign_in_a_path_is_no_name(
    jsonl: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for day in ("day=1", "day=2"):
        Path(day).mkdir()
        rows = [{**row, "id": f"{day}-{row['id']}"} for row in rows_of("v1")]
        write_jsonl(Path(day, "a.jsonl"), rows)
    assert list(scores(capsys, "score", "day=*/a.jsonl")) == ["candidate"]
    assert list(scores(capsys, "score", "day=1/a.jsonl", "v2.jsonl")) == ["a", "v2"]


# --------------------------------------------------------------------------- what is refused


def test_two_systems_of_one_name(jsonl: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("b").mkdir()
    write_jsonl(Path("b/v1.jsonl"), rows_of("v2"))
    message = (
        "two systems are called 'v1' (v1.jsonl and b/v1.jsonl): name them apart, as in "
        "NAME=b/v1.jsonl"
    )
    assert sentence(capsys, "score", "v1.jsonl", "b/v1.jsonl") == message
    assert sentence(capsys, "score", "v1.jsonl", "v1=b/v1.jsonl") == message
    assert sentence(capsys, "score", "v1.jsonl", "v1.jsonl") == (
        "v1.jsonl is named twice: its rows would count twice"
    )


def test_one_file_can_be_two_systems_of_different_names(jsonl: Path) -> None:
    file = jsonl / "v1.jsonl"
    compared = kt.compare({"x": file, "y": file}, metrics="chrf")
    assert [row.delta for row in compared.rows] == [None, 0.0]
    with pytest.raises(kt.InputError, match=r"two files have the system .*: give systems names"):
        kt.score([file, file], metrics="chrf")


def test_scores_in_columns_of_different_kinds(jsonl: Path) -> None:
    """Scores of one system are whole numbers, those of the other are not, and one is missing."""
    for name, value in (("v1", 1), ("v2", 0.5)):
        rows = [{**row, "tokens": value} for row in rows_of(name)]
        rows[3]["tokens"] = None
        write_jsonl(jsonl / f"{name}.jsonl", rows)
    files = [jsonl / "v1.jsonl", jsonl / "v2.jsonl"]
    scored = kt.score(files, metrics="given:column=tokens")
    assert [row.score.value for row in scored.rows] == [1.0, 0.5]


def test_rows_that_cannot_be_paired(jsonl: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A comparison of other segments than those of the baseline is refused."""
    write_jsonl(Path("short.jsonl"), rows_of("v2")[:-1])
    printed = sentence(capsys, "compare", "v1.jsonl", "short.jsonl")
    assert printed.startswith("v1.jsonl and short.jsonl have different ids: 1 only in v1.jsonl")
    write_jsonl(Path("other.jsonl"), [*rows_of("v2")[:3], *rows_of("v2")[:2:-1]])
    files = [Path("v1.jsonl"), Path("other.jsonl")]
    with pytest.raises(kt.InputError, match=r"have different references in row 4: without"):
        kt.compare(files, metrics="chrf", candidate="output", reference="reference")
    ordered, paired, detected = (
        scores(capsys, "compare", "v1.jsonl", name, *more)
        for name, more in (
            ("v2.jsonl", ("--id", "id")),
            ("other.jsonl", ("--id", "id")),
            ("other.jsonl", ()),
        )
    )
    assert list(ordered.values()) == list(paired.values()) == list(detected.values())


def test_a_file_without_rows(jsonl: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("v3.csv").write_text("output,reference\n")
    Path("v4.csv").write_text("output,reference\na b,a b\n")
    printed = sentence(capsys, "score", "v4.csv", "v3.csv", "-m", "chrf")
    assert printed == "v3.csv: the table has no rows (columns: output, reference)"
