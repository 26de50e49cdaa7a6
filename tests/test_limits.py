"""What is read has limits: work grows with the file, messages stay short, bombs are refused."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import karat as kt
from karat.errors import MAX_MESSAGE_LENGTH, InputError, KaratError, OutputError, quoted, short
from karat.evalset.aligned_texts import read_gtm_sgml
from karat.evalset.loading import load_evalset
from karat.evalset.reading import Reading, read_table
from karat.nuggets.formats.loading import load_nuggets
from karat.paraphrase.align.parallel_text import read_parallel, read_pharaoh
from karat.paraphrase.table.moses import read_moses
from karat.settings import MAX_TRIALS
from karat.storage.store import read_store, write_store
from karat.storage.unpacking import FLOOR, VARIABLE, read_bytes
from karat.text.segments import Lines
from karat.text.trees import read_columns

GENEROUS = 60
"""Seconds for what takes one, or half an hour if its work grows with the square of its size."""


def run_python(code: str, *args: object, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a program of a few lines; more time than `GENEROUS` is an error."""
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, args)],
        capture_output=True,
        text=True,
        timeout=GENEROUS,
        env={**os.environ, **variables},
        check=False,
    )


# ------------------------------------------------------------------------------- work is linear

MANY = 200_000


def _header(path: Path) -> Path:
    """A table of one annotator a column, and all of it in the header."""
    folder = path / "believability"
    (folder / "annotations" / "ar-en").mkdir(parents=True)
    (folder / "text" / "mt_output").mkdir(parents=True)
    (folder / "text" / "test").mkdir(parents=True)
    (folder / "text" / "mt_output" / "ar-en.x.tok.en").write_text("a\n")
    (folder / "text" / "test" / "ted_test1.tok.en").write_text("a\n")
    names = ",".join(f"ANNOTATOR_{i}" for i in range(MANY // 4))
    header = f"SEGID,LANGPAIR,ANNOTYPE,NUMANNOT,{names}\n"
    for question in ("ad", "fl", "bl"):
        (folder / "annotations" / "ar-en" / f"ar-en.{question}.annot.raw.csv").write_text(header)
    return folder


def _file_writer(name: str, text: Callable[[], str]) -> Callable[[Path], Path]:
    def write(path: Path) -> Path:
        (path / name).write_text(text(), "utf-8", "surrogateescape")
        return path / name

    return write


_MQM = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n"
LONG_WORK = {
    "header": ("evalset:believability", _header),
    "keys": (
        "evalset:jsonl",
        _file_writer(
            "x.jsonl",
            lambda: "{" + ",".join(f'"k{i}":1' for i in range(MANY)) + f',"k{MANY - 1}":1}}\n',
        ),
    ),
    "comments": ("sgml", _file_writer("x.sgm", lambda: "<!-- a" * MANY)),
    "attributes": ("sgml", _file_writer("x.sgm", lambda: f"<doc {'a' * MANY}>")),
    "categories": (
        "evalset:mqm",
        _file_writer("x.tsv", lambda: f"{_MQM}a\td\td\t1\tr\ts\tt\t{'/' * MANY}\tMajor\n"),
    ),
    "names": (
        "evalset:jsonl",
        _file_writer(
            "x.jsonl",
            lambda: "".join(
                f'{{"id":"s{i}","outputs":{{"a{i}":"x"}}}}\n' for i in range(MANY // 10)
            ),
        ),
    ),
    "table, a long word": (
        "table",
        _file_writer("x.csv", lambda: "id,t\n1,\udce4" + "x" * MANY * 5),
    ),
    "table, columns": (
        "table",
        _file_writer("x.csv", lambda: ",".join(map(str, range(MANY))) + "\n" + "a,b\n" * MANY),
    ),
    "table, columns and titles": (
        "table",
        _file_writer("x.csv", lambda: ("a\n" * 500 + "k," * MANY + "\n") * 9),
    ),
    "table, quotes": ("table", _file_writer("x.tsv", lambda: 'a\tb\n"x\t""x' * MANY)),
    "table, spaces": (
        "table",
        _file_writer("x.csv", lambda: f"a,{' ' * MANY}b\n1,{' ' * MANY}(2\n"),
    ),
    "table, brackets": ("table", _file_writer("x.json", lambda: "[" * MANY + '{"a": "' * MANY)),
    "table, objects": (
        "table",
        _file_writer("x.json", lambda: "".join(f'{{"k{i}": 1}}\n' for i in range(MANY))),
    ),
    "table, digits": ("table", _file_writer("x.csv", lambda: f"a,b\n1,{'1,' * MANY}\n")),
}
_READ = """
import sys
from karat.errors import KaratError
how, path = sys.argv[1:]
try:
    if how == "sgml":
        from karat.evalset.aligned_texts import read_gtm_sgml
        read_gtm_sgml(path)
    elif how == "table":
        from karat.tables.files import is_table, read_table
        is_table(path)
        read_table(path, limit=2)
        read_table(path)
    else:
        from karat.evalset.loading import load_evalset
        load_evalset(path, format=how.partition(":")[2])
except KaratError as error:
    print(error)
"""


@pytest.mark.parametrize("case", LONG_WORK)
def test_work_grows_with_the_file(tmp_path: Path, case: str) -> None:
    reader_name, write = LONG_WORK[case]
    done = run_python(_READ, reader_name, write(tmp_path))
    assert done.returncode == 0, done.stderr
    assert len(done.stdout) <= MAX_MESSAGE_LENGTH + 200


# -------------------------------------------------------------------------------- ends of lines

LINE_READERS: dict[str, Callable[[Path], object]] = {
    "segments": Lines,
    "parallel": read_parallel,
    "links": read_pharaoh,
    "moses": read_moses,
    "conllu": read_columns,
    "arpa": kt.LanguageModel.open,
    "jsonl": lambda path: load_evalset(path, format="jsonl"),
    "mqm": lambda path: load_evalset(path, format="mqm"),
    "judged": lambda path: load_evalset(path, format="judged-paraphrases"),
    "key": lambda path: load_nuggets(path, format="trec-key"),
    "nuggets": lambda path: load_nuggets(path, format="jsonl"),
    "csv": lambda path: list(read_table(path, ("a",), Reading(), commas=True)),
}


@pytest.mark.parametrize("reader", LINE_READERS)
def test_lines_that_end_in_cr_alone_are_named(tmp_path: Path, reader: str) -> None:
    path = tmp_path / "x.txt"
    path.write_bytes(b"a,b\r1,2\r3,4\r")
    with pytest.raises(InputError, match=r"x\.txt: lines end in CR alone \(old Mac\); convert"):
        LINE_READERS[reader](path)


def test_one_line_with_cr_at_its_end_is_a_line(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_bytes(b"one line\r")
    assert Lines(tmp_path / "x.txt").strings([0]) == ["one line"]


def test_only_line_feeds_end_records_of_csv(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    odd = "a\u2028b\x0cc\x85d\x1ce"
    path.write_bytes(f'x,y\r\n{odd},1\n"two\nlines",2'.encode())
    table = read_table(path, ("x", "y"), Reading(), commas=True)
    rows = [(place.line, *row) for place, row in table]
    assert rows == [(2, odd, "1"), (3, "two\nlines", "2")]


def test_only_line_feeds_end_words_of_a_stop_list(tmp_path: Path) -> None:
    from karat.text.tokens import stop_words

    (tmp_path / "stop.txt").write_text("a\u2028b\nc\n", "utf-8")
    assert set(stop_words(str(tmp_path / "stop.txt"))) == {"a\u2028b", "c"}


# ------------------------------------------------------------------------------------- messages


def test_what_is_quoted_is_cut_and_has_its_length() -> None:
    assert quoted("a\x1b") == r"'a\x1b'"
    assert quoted("x" * 100) == f"'{'x' * 80}'… (100 characters)"
    assert quoted(10**5000) == "a value too long or too deep to be shown"
    assert len(quoted(["y" * 10**6])) < 150
    assert short("name") == "name"
    assert short("n" * 81) == f"{'n' * 80}… (81 characters)"
    assert short("a\x9b\u202e") == r"a\x9b\u202e"


def test_no_message_is_unbounded() -> None:
    message = str(InputError("file: " + "x" * 10**6 + " expected \x1b[31mless"))
    assert len(message) < MAX_MESSAGE_LENGTH + 100
    assert message.startswith("file: xxx")
    assert message.endswith(r"expected \x1b[31mless")


HUGE = "h" * 300_000 + "\x1b[2J"
HUGE_FILES = {
    "json name": ("jsonl", f'{{"{"h" * 300_000}": 1, "{"h" * 300_000}": 2}}\n'),
    "json value": ("jsonl", f'{{"id": "1", "outputs": "{"h" * 300_000}"}}\n'),
    "json member": ("jsonl", f'{{"id": "1", "{"h" * 300_000}": 1, "outputs": {{}}}}\n'),
    "json text": ("jsonl", "h" * 300_000 + "\n"),
    "judged name": ("jsonl", f'{{"id": "1", "outputs": {{"a": "x"}}}}\n{{"{"h" * 300_000}": 1}}\n'),
    "table": ("mqm", f"{HUGE}\t{HUGE}\n"),
    "severity": ("mqm", f"{_MQM}a\td\td\t1\tr\ts\tt\tc\t{HUGE}\n"),
    "header": ("judged-paraphrases", f"{HUGE}\n"),
    "key": ("trec-key", f"q1 1 {HUGE} text\n"),
    "twice": ("trec-key", f"{HUGE} 1 vital text\n" * 2),
    "nugget": ("nuggets", f'{{"question": "q", "nuggets": ["{"h" * 300_000}"]}}\n'),
    "rag": ("rag", f'{{"qid": "q", "nuggets": ["{"h" * 300_000}"]}}\n'),
    "moses": ("moses", f"a ||| b ||| 1 1 {HUGE} 1\n"),
    "links": ("links", f"0-0 {HUGE}\n"),
    "conllu": ("conllu", f"{HUGE}\tx\t_\t_\t_\t_\t0\troot\t_\t_\n"),
    "head": ("conllu", f"# sent_id = {HUGE}\n1\tx\t_\t_\t_\t_\t{HUGE}\troot\t_\t_\n"),
    "arpa": ("arpa", f"\\data\\\nngram 1=1\n\n\\1-grams:\n{HUGE} a\n"),
    "sgml": ("sgml", HUGE),
    "tag": ("sgml", f"<doc {'h' * 300_000}>"),
    "document": ("sgml", f"<doc docid={'h' * 300_000}>"),
    "toml": ("toml", f'name = 1\n"{"h" * 300_000}" = 2\n'),
}


def _read_toml(path: Path) -> None:
    from karat.evalset.formats.directory import read_settings

    read_settings(path, Reading())


READERS: dict[str, Callable[[Path], object]] = {
    **LINE_READERS,
    "sgml": read_gtm_sgml,
    "trec-key": lambda path: load_nuggets(path, format="trec-key"),
    "rag": lambda path: load_nuggets(path, format="rag"),
    "judged-paraphrases": lambda path: load_evalset(path, format="judged-paraphrases"),
    "toml": _read_toml,
}


@pytest.mark.parametrize("case", HUGE_FILES)
def test_huge_fields_are_cut_in_messages(tmp_path: Path, case: str) -> None:
    reader, text = HUGE_FILES[case]
    path = tmp_path / "x.txt"
    path.write_text(text, "utf-8")
    with pytest.raises(KaratError) as caught:
        READERS[reader](path)
    message = str(caught.value)
    assert len(message) < len(str(path)) + 600
    assert message.isprintable()


# ---------------------------------------------------------------------------------------- bombs


def test_a_small_file_that_deflates_well_is_read(tmp_path: Path) -> None:
    path = tmp_path / "x.txt.gz"
    path.write_bytes(gzip.compress(b"a\n" * (1 << 20)))
    assert path.stat().st_size * 200 < 1 << 21
    assert len(Lines(path)) == 1 << 20
    assert len(read_bytes(path)) == 1 << 21


@pytest.fixture(scope="session")
def bomb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file that unpacks to a little more than the floor, a thousand times its size."""
    path = tmp_path_factory.mktemp("bombs") / "x.jsonl.gz"
    path.write_bytes(gzip.compress(b"\n" * (FLOOR + (2 << 20)), 9))
    return path


BOMB_READERS: dict[str, Callable[[Path], object]] = {
    "segments": Lines,
    "evalset": lambda path: load_evalset(path, format="jsonl"),
    "nuggets": lambda path: load_nuggets(path, format="jsonl"),
    "conllu": read_columns,
}


@pytest.mark.parametrize("reader", BOMB_READERS)
def test_bombs_are_refused(bomb: Path, reader: str) -> None:
    with pytest.raises(InputError, match=r"x\.jsonl\.gz: it unpacks to more than 200 times its"):
        BOMB_READERS[reader](bomb)


def test_the_limit_can_be_set(bomb: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "100M")
    assert len(read_bytes(bomb)) == FLOOR + (2 << 20)
    monkeypatch.setenv(VARIABLE, "1000000")
    with pytest.raises(InputError, match=r"more than 977 kB; if you trust it, set KARAT_MAX"):
        read_bytes(bomb)
    monkeypatch.setenv(VARIABLE, "much")
    with pytest.raises(InputError, match=r"KARAT_MAX_UNPACKED='much': expected bytes"):
        read_bytes(bomb)


def _npz(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def test_models_that_unpack_to_too_much_are_refused(tmp_path: Path) -> None:
    text = b'{"kind": "k", "version": 1}' + b" " * (FLOOR + 1000)
    path = _npz(tmp_path / "x.npz", {"about.json": text})
    with pytest.raises(InputError, match=r"x\.npz: it unpacks to more than 200 times its size"):
        read_store(path, "k", 1)


def test_a_text_about_a_model_has_a_limit(tmp_path: Path) -> None:
    text = b'{"kind": "k", "version": 1, "x": "' + os.urandom(1 << 19) + b" " * (33 << 20)
    path = _npz(tmp_path / "x.npz", {"about.json": text})
    with pytest.raises(InputError, match=r"about\.json has 35,\d+,\d+ bytes, expected up to"):
        read_store(path, "k", 1)


def test_parts_that_lie_over_each_other_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    write_store(path, "k", 1, {}, {"a": np.zeros(10_000), "b": np.ones(10_000)})
    data = path.read_bytes()
    start = data.index(b"PK\x01\x02")
    (entry,) = (e for e in zipfile.ZipFile(path).infolist() if e.filename == "a.npy")
    size = entry.compress_size.to_bytes(4, "little")
    wrong = data[:start] + data[start:].replace(size, (10 * len(data)).to_bytes(4, "little"))
    path.write_bytes(wrong)
    with pytest.raises(InputError, match=r"x\.npz: damaged \(its parts are larger than the file"):
        read_store(path, "k", 1)


# ------------------------------------------------------------------------------ temporary files


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
def test_a_full_temporary_folder_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import tempfile

    full = Path("/dev/full")
    (tmp_path / "x.txt.gz").write_bytes(gzip.compress(b"a\n" * 100_000))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda: full.open("wb"))
    with pytest.raises(OutputError) as caught:
        Lines(tmp_path / "x.txt.gz")
    message = str(caught.value)
    assert message.startswith(f"cannot write to the temporary folder {tmp_path / 'tmp'} (")
    assert "x.txt.gz is copied there to be read): No space left on device; " in message
    assert message.endswith("let TMPDIR name a folder that can be written to and has room")


def test_a_temporary_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.txt.gz").write_bytes(gzip.compress(b"a\n"))
    code = """
import sys, tempfile
from karat.text.segments import Lines
tempfile.tempdir = sys.argv[2]
try:
    Lines(sys.argv[1])
except Exception as error:
    print(type(error).__name__, error)
"""
    done = run_python(code, tmp_path / "x.txt.gz", tmp_path / "gone")
    assert done.stdout.startswith(f"OutputError cannot write to the temporary folder {tmp_path}")


# ------------------------------------------------------------------------- resamples and trials


def _compare_with(**settings: Any) -> None:
    kt.compare({"a": ["x"], "b": ["y"]}, ["x"], baseline="a", **settings)


TOO_MANY: dict[str, Callable[[int], object]] = {
    "trials": lambda n: _compare_with(test="sacrebleu-bootstrap", trials=n),
    "exchanges": lambda n: _compare_with(test="sacrebleu-ar", trials=n),
    "experiment": lambda n: kt.Experiment("demo", ("bleu",), trials=n),
    "bootstrap": lambda n: kt.Experiment("demo", ("bleu",), resamples=n),
    "plane": lambda n: kt.fit_plane(load_evalset("demo"), "adequacy", resamples=n),
}


@pytest.mark.parametrize("case", TOO_MANY)
def test_resamples_and_trials_have_a_limit(case: str) -> None:
    with pytest.raises(InputError, match=f"={MAX_TRIALS + 1}.*: expected .*1,000,000"):
        TOO_MANY[case](MAX_TRIALS + 1)


# --------------------------------------------------------------------------------- Moses' scores


@pytest.mark.parametrize("scores", ["x 1 0.5 1", "0.5 nan 0.5 1", "0.5 1 0.5 -1", "0.5 1 0.5 inf"])
def test_every_score_of_a_moses_file_is_a_number(tmp_path: Path, scores: str) -> None:
    (tmp_path / "x.txt").write_text(f"a ||| b ||| {scores} ||| ||| 1 1 1\n")
    with pytest.raises(InputError, match=r"x\.txt, line 1: found '[^']+', expected"):
        read_moses(tmp_path / "x.txt")
