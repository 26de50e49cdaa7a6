"""Where text may come from, and the odd files that are accepted as documented."""

from __future__ import annotations

import gzip
import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ALL = ("-m", "bleu", "-m", "chrf", "-m", "rougeL", "-m", "aev:n=2", "-f", "json")

Output = Callable[..., str]


def rows(text: str) -> list[dict[str, Any]]:
    """The rows of JSON output without the system's name, which follows the file."""
    rows_read: list[dict[str, Any]] = json.loads(text)["rows"]
    return [{key: value for key, value in row.items() if key != "system"} for row in rows_read]


def names(text: str) -> list[str]:
    return list(dict.fromkeys(row["system"] for row in json.loads(text)["rows"]))


def same_as_a(output: Output, candidate: str, reference: str = "ref1.txt") -> str:
    """Check that a candidate scores as a.txt does with ref1.txt; the output."""
    text = output("score", candidate, "-r", reference, *ALL)
    assert rows(text) == rows(output("score", "a.txt", "-r", "ref1.txt", *ALL))
    return text


@pytest.fixture
def piped(karat: Callable[..., Any]) -> Output:
    """Run a process that must succeed, with open files that only a process can be given."""

    def run(*args: str, **more: Any) -> str:
        done = karat(*args, **more)
        assert (done.returncode, done.stderr) == (0, b"")
        text: str = done.stdout.decode("utf-8")
        return text

    return run


@pytest.mark.parametrize(("argument", "name"), [("-", "stdin"), ("mine=-", "mine")])
def test_standard_input_as_candidate(
    folder: Path, piped: Output, output: Output, argument: str, name: str
) -> None:
    data = (folder / "a.txt").read_bytes()
    text = piped("score", argument, "-r", "ref1.txt", *ALL, input=data)
    assert names(text) == [name]
    assert rows(text) == rows(output("score", "a.txt", "-r", "ref1.txt", *ALL))


def test_standard_input_as_reference(folder: Path, piped: Output, output: Output) -> None:
    data = (folder / "ref1.txt").read_bytes()
    text = piped("score", "a.txt", "-r", "-", *ALL, input=data)
    assert rows(text) == rows(output("score", "a.txt", "-r", "ref1.txt", *ALL))


def test_compressed_files(folder: Path, output: Output) -> None:
    for name in ("a", "ref1"):
        data = (folder / f"{name}.txt").read_bytes()
        (folder / f"{name}.txt.gz").write_bytes(gzip.compress(data))
    assert names(same_as_a(output, "a.txt.gz", "ref1.txt.gz")) == ["a"]


def test_a_name_for_a_file(output: Output) -> None:
    assert names(same_as_a(output, "first try=a.txt")) == ["first try"]


def test_a_file_with_an_equals_sign_in_its_name(folder: Path, output: Output) -> None:
    (folder / "lr=0.1.txt").write_bytes((folder / "a.txt").read_bytes())
    assert names(same_as_a(output, "lr=0.1.txt")) == ["lr=0.1"]
    assert names(same_as_a(output, "slow=lr=0.1.txt")) == ["slow"]


def test_a_file_whose_name_begins_with_a_dash(folder: Path, output: Output) -> None:
    (folder / "-x.txt").write_bytes((folder / "a.txt").read_bytes())
    text = output("score", "-r", "ref1.txt", *ALL, "--", "-x.txt")
    assert rows(text) == rows(output("score", "a.txt", "-r", "ref1.txt", *ALL))


def test_a_name_that_is_not_utf8(folder: Path, output: Output) -> None:
    name = os.fsdecode(b"caf\xe9.txt")
    (folder / name).write_bytes((folder / "a.txt").read_bytes())
    assert names(same_as_a(output, name)) == ["caf\udce9"]


def test_a_pipe_with_a_name(folder: Path, output: Output) -> None:
    os.mkfifo(folder / "pipe.txt")
    data = (folder / "a.txt").read_bytes()
    writer = threading.Thread(target=(folder / "pipe.txt").write_bytes, args=(data,), daemon=True)
    writer.start()
    assert names(same_as_a(output, "pipe.txt")) == ["pipe"]
    writer.join(10)


def test_process_substitution(folder: Path, piped: Output, output: Output) -> None:
    reading, writing = os.pipe()
    os.write(writing, (folder / "a.txt").read_bytes())
    os.close(writing)
    text = piped("score", f"/dev/fd/{reading}", "-r", "ref1.txt", *ALL, pass_fds=(reading,))
    os.close(reading)
    assert rows(text) == rows(output("score", "a.txt", "-r", "ref1.txt", *ALL))


def test_a_second_reference_counts(output: Output) -> None:
    single = rows(output("score", "b.txt", "-r", "ref1.txt", *ALL))
    two = rows(output("score", "b.txt", "-r", "ref1.txt", "-r", "ref2.txt", *ALL))
    turned = rows(output("score", "b.txt", "-r", "ref2.txt", "-r", "ref1.txt", *ALL))
    assert [row["score"] for row in single] != [row["score"] for row in two]
    assert two == turned


def test_systems_keep_their_order(output: Output) -> None:
    text = output("score", "c.txt", "a.txt", "b.txt", "-r", "ref1.txt", *ALL)
    assert names(text) == ["c", "a", "b"]


# ------------------------------------------------------------------ odd files that are accepted


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda data: b"\xef\xbb\xbf" + data, id="byte-order mark"),
        pytest.param(lambda data: data.replace(b"\n", b"\r\n"), id="CRLF"),
        pytest.param(lambda data: data.removesuffix(b"\n"), id="no final newline"),
        pytest.param(
            lambda data: b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n").removesuffix(b"\r\n"),
            id="all three",
        ),
    ],
)
def test_odd_files_score_as_plain_ones(
    folder: Path, output: Output, change: Callable[[bytes], bytes]
) -> None:
    for name in ("a", "ref1"):
        (folder / f"odd-{name}").write_bytes(change((folder / f"{name}.txt").read_bytes()))
    same_as_a(output, "odd-a")
    same_as_a(output, "a.txt", "odd-ref1")
    same_as_a(output, "odd-a", "odd-ref1")


def test_a_byte_order_mark_inside_the_file_is_text(folder: Path, output: Output) -> None:
    data = (folder / "a.txt").read_bytes()
    (folder / "inner").write_bytes(data.replace(b"\nProfit", b"\n\xef\xbb\xbfProfit"))
    a, inner = (
        json.loads(output("score", name, "-r", "ref1.txt", *ALL))["rows"][0]["score"]
        for name in ("a.txt", "inner")
    )
    assert inner < a


def test_blank_lines_are_empty_segments(folder: Path, output: Output) -> None:
    (folder / "blank.txt").write_bytes(b"\n\n\n\n")
    text = output("score", "blank.txt", "-r", "ref1.txt", *ALL, "--segments")
    rows_read = json.loads(text)["rows"]
    assert [row["segment"] for row in rows_read] == [1, 2, 3, 4] * 4
    assert {row["score"] for row in rows_read} == {0.0}


def test_a_single_line_feed_is_one_empty_segment(folder: Path, output: Output) -> None:
    (folder / "line.txt").write_bytes(b"\n")
    text = output(
        "score", "line=line.txt", "-r", "line.txt", "-m", "rouge1", "--segments", "-f", "tsv"
    )
    assert text.splitlines()[1:] == ["rouge1\tline\t1\t0.0"]


@pytest.mark.parametrize("separator", ["\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\r"])
def test_only_line_feeds_end_segments(folder: Path, output: Output, separator: str) -> None:
    (folder / "one.txt").write_text(f"a{separator}b\n", encoding="utf-8", newline="")
    text = output("score", "one=one.txt", "-r", "one.txt", "-m", "chrf", "--segments", "-f", "json")
    assert [row["segment"] for row in json.loads(text)["rows"]] == [1]


def test_nul_bytes_are_scored_with_a_warning(folder: Path, karat: Callable[..., Any]) -> None:
    (folder / "nul.txt").write_bytes(b"one\ntwo\nthr\0ee\nfour\n")
    (folder / "plain.txt").write_bytes(b"one\ntwo\nthr ee\nfour\n")
    done = karat("score", "nul=nul.txt", "-r", "nul.txt", "-m", "chrf", "-f", "json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["rows"][0]["score"] == 100
    warnings = done.stderr.decode().splitlines()
    assert all(line.startswith("karat: warning: nul.txt, line 3: a NUL") for line in warnings)
    assert warnings
    other = karat("score", "nul.txt", "-r", "plain.txt", "-m", "chrf", "-f", "json")
    assert json.loads(other.stdout)["rows"][0]["score"] < 100
