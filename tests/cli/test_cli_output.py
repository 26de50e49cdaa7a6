"""Where results go: files written whole or not at all, pages that fetch nothing, closed streams."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

Karat = Callable[..., Any]

SCORE = ("score", "a.txt", "b.txt", "-r", "ref1.txt", "-m", "bleu", "-m", "rouge1")
COMPARE = ("compare", "a.txt", "b.txt", "-r", "ref1.txt", "-m", "bleu")
FORMATS = ("text", "json", "tsv", "md", "latex", "html")


def without_command(text: str) -> str:
    """The output without the command, which names the file."""
    return re.sub(r"karat (score|compare|metrics) [^\n\"<]*", "karat", text)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("command", [SCORE, COMPARE, ("metrics",)], ids=lambda args: args[0])
def test_a_file_gets_what_the_screen_would(
    folder: Path, output: Callable[..., str], command: tuple[str, ...], format: str
) -> None:
    printed = output(*command, "-f", format)
    assert output(*command, "-f", format, "-o", "report") == ""
    written = (folder / "report").read_bytes().decode("utf-8")
    assert without_command(written) == without_command(printed)


def test_signatures_are_written_to_a_file_too(folder: Path, output: Callable[..., str]) -> None:
    printed = output(*SCORE, "--signature-only")
    assert output(*SCORE, "--signature-only", "-o", "signatures.txt") == ""
    assert (folder / "signatures.txt").read_text("utf-8") == printed


def test_an_output_replaces_the_old_one_and_keeps_its_mode(
    folder: Path, output: Callable[..., str]
) -> None:
    report = folder / "report.txt"
    report.write_text("old\n" * 9999)
    report.chmod(0o640)
    before = {path.name for path in folder.iterdir()}
    output(*SCORE, "-o", "report.txt")
    assert "old" not in report.read_text("utf-8")
    assert report.stat().st_mode & 0o777 == 0o640
    assert {path.name for path in folder.iterdir()} == before


def test_an_output_can_be_a_pipe(karat: Karat, output: Callable[..., str]) -> None:
    printed = output(*SCORE, "-f", "tsv")
    done = karat(*SCORE, "-f", "tsv", "-o", "/dev/stdout")
    assert (done.returncode, done.stdout.decode("utf-8")) == (0, printed)


# ----------------------------------------------------------------------------------- web pages


class Fetches(HTMLParser):
    """What a page would ask a server for."""

    LINKS = frozenset({"src", "href", "srcset", "action", "data", "poster", "background"})

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name.split(":")[-1] in self.LINKS and not (value or "").startswith(("#", "data:")):
                self.found.append(f"<{tag} {name}={value}>")


def fetches(page: str) -> list[str]:
    """Every address in a page, in tags and in style sheets."""
    parser = Fetches()
    parser.feed(page)
    return parser.found + re.findall(r"@import[^;]*|url\((?!['\"]?(?:data:|#))[^)]*\)", page)


def test_fetches_are_found() -> None:
    page = '<a href="http://x"><img src=y><style>@import "z"; a { b: url(c) }</style>'
    assert fetches(page) == ["<a href=http://x>", "<img src=y>", '@import "z"', "url(c)"]


@pytest.mark.parametrize("command", [SCORE, COMPARE, ("metrics",)], ids=lambda args: args[0])
def test_a_page_is_self_contained(output: Callable[..., str], command: tuple[str, ...]) -> None:
    page = output(*command, "-f", "html")
    assert page.startswith("<!doctype html>")
    assert fetches(page) == []


def test_text_cannot_become_markup(folder: Path, output: Callable[..., str]) -> None:
    attack = "<img src=http://evil onerror=alert(1)>"
    (folder / "a.txt").write_text(f"{attack}\nx\ny\nz\n")
    page = output(*COMPARE, "-f", "html")
    quoted = re.sub("</?mark>", "", page)  # words that differ are marked
    assert "&lt;img src=http://evil" in quoted
    assert fetches(page) == []


def test_the_demo_writes_a_page_and_shows_the_tables(
    folder: Path, output: Callable[..., str]
) -> None:
    printed = output("demo", "-o", "demo.html")
    page = (folder / "demo.html").read_text("utf-8")
    assert page.startswith("<!doctype html>")
    assert "<svg" in page
    assert fetches(page) == []
    for system in ("atlas", "beacon", "cinder", "drift"):
        assert system in printed
        assert system in page
    assert "Illustrative" in printed
    assert "Report: demo.html\n" in printed


def test_the_demo_has_a_place_for_its_report(folder: Path, output: Callable[..., str]) -> None:
    output("demo")
    assert (folder / "karat-demo.html").exists()


# ------------------------------------------------------------------------- streams that are gone


@pytest.mark.parametrize(("lines", "format"), [(4, "text"), (20_000, "text"), (20_000, "json")])
def test_a_closed_pipe_is_no_error(folder: Path, karat: Karat, lines: int, format: str) -> None:
    (folder / "many.txt").write_text("one two three\n" * lines)
    reading, writing = os.pipe()
    os.close(reading)
    command = ("score", "a=many.txt", "-r", "many.txt", "-m", "rouge1", "--segments", "-f", format)
    done = karat(*command, capture_output=False, stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_reader_may_leave_early(
    folder: Path, command: list[str], clean_environment: Callable[..., dict[str, str]]
) -> None:
    (folder / "many.txt").write_text("one two three\n" * 50_000)
    args = ["score", "a=many.txt", "-r", "many.txt", "-m", "rouge1", "--segments", "-f", "tsv"]
    with subprocess.Popen(
        [*command, *args],
        cwd=folder,
        env=clean_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b"metric\tsystem\tsegment\tscore\n"
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == 0


@pytest.mark.parametrize("command", [SCORE, ("--help",), ("metrics",)], ids=lambda args: args[0])
def test_a_full_disk_is_told_in_one_sentence(karat: Karat, command: tuple[str, ...]) -> None:
    with open("/dev/full", "wb") as full:
        done = karat(*command, capture_output=False, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 2
    message = done.stderr.decode("utf-8")
    assert message.startswith("karat: ")
    assert message.count("\n") == 1
    assert "No space left on device" in message


@pytest.mark.parametrize("stream", [1, 2], ids=["output", "errors"])
def test_a_stream_that_is_closed_makes_no_traceback(karat: Karat, stream: int) -> None:
    done = karat(*SCORE, preexec_fn=lambda: os.close(stream))
    assert b"Traceback" not in done.stderr
    assert done.returncode in ((0,) if stream == 2 else (0, 2))


def test_a_failure_without_standard_error_still_has_its_code(karat: Karat) -> None:
    done = karat("score", "missing.txt", "-r", "ref1.txt", preexec_fn=lambda: os.close(2))
    assert (done.returncode, done.stdout) == (2, b"")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_narrow_encoding_of_the_terminal_is_no_traceback(karat: Karat, encoding: str) -> None:
    done = karat(
        "score", "c.txt", "-r", "ref1.txt", "-m", "bleu", env={"PYTHONIOENCODING": encoding}
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"32.52" in done.stdout
