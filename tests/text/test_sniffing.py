"""Files that are not plain text are refused by what they are, wherever text is read."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import karat as kt
from karat.evalset.reading import read_text
from karat.paraphrase.align.parallel_text import read_parallel
from karat.text.sniffing import FIRST_LINES

OBJECTS = [{"id": 1, "text": "the cat\nsat"}, {"id": 2, "text": "a dog"}]
JSON_LINES = "".join(f"{json.dumps(row)}\n" for row in OBJECTS)


def zipped(name: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(name, "text\n")
    return buffer.getvalue()


def tarred() -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("a.txt"))
    return buffer.getvalue()


def saved_array() -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.arange(3))
    return buffer.getvalue()


BINARY = {
    "a zip archive": zipped("a.txt"),
    "an Office document": zipped("[Content_Types].xml"),
    "an xz file": lzma.compress(b"text\n"),
    "a bzip2 file": bz2.compress(b"text\n"),
    "a gzip file": gzip.compress(b"text\n", mtime=0),
    "a zstd file": b"\x28\xb5\x2f\xfd\x24\x05text",
    "a tar archive": tarred(),
    "a Parquet table": b"PAR1" + bytes(20) + b"PAR1",
    "a PDF document": b"%PDF-1.7\ntext\n",
    "a PNG image": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
    "a JPEG image": b"\xff\xd8\xff\xe0\0\x10JFIF\0",
    "a GIF image": b"GIF89a\x01\0\x01\0",
    "a WebP image": b"RIFF\x24\0\0\0WEBPVP8 ",
    "a BMP image": b"BM\x0a\0\0\0\0\0\0\0",
    "a NumPy array": saved_array(),
}


@pytest.mark.parametrize(("subject", "data"), BINARY.items(), ids=BINARY)
def test_binary_formats_are_named(tmp_path: Path, subject: str, data: bytes) -> None:
    path = tmp_path / "given"
    path.write_bytes(data)
    with pytest.raises(kt.InputError, match=f"given is {subject}: expected one segment a line; "):
        kt.Lines(path)
    with pytest.raises(kt.InputError, match=f"given is {subject}: expected"):
        kt.read_conllu(path)
    with pytest.raises(kt.InputError, match=f"given is {subject}: expected UTF-8 text"):
        read_text(path)
    packed = tmp_path / "given.gz"
    packed.write_bytes(gzip.compress(data))
    with pytest.raises(kt.InputError, match=f"given.gz is {subject}: "):
        kt.Lines(packed)


@pytest.mark.parametrize(
    "text",
    [
        "%PDF- is how such files begin .\nPK is short for Paul Kane .\n",
        "GIF89a is a format of images .\n",
        "PAR1 is a bar in Paris .\nGo to PAR1",
        "GIF87a " + "\u00e9" * 2000 + "\n",  # a character is cut in two where looking ends
        "RIFF and WEBPVP8\n"[:8] + "WEBPVP8 is in this line .\n",
    ],
)
def test_prose_that_begins_like_a_binary_format_is_text(tmp_path: Path, text: str) -> None:
    path = tmp_path / "out.txt"
    path.write_text(text, "utf-8")
    lines = text.rstrip("\n").split("\n")
    assert kt.Lines(path).strings(range(len(lines))) == lines


JSON = {
    "JSON lines": JSON_LINES,
    "JSON lines after a mark": "\ufeff" + JSON_LINES,
    "JSON lines after a line": "# outputs\n\n" + JSON_LINES,
    "JSON lines, very long": "".join(f'{{"text": "{"x" * (1 << 21)}"}}\n' for _ in range(2)),
    "JSON": json.dumps(OBJECTS[0]),
    "JSON in an array": json.dumps(OBJECTS),
    "a JSON document": json.dumps(OBJECTS, indent=2),
    "a JSON document of texts": json.dumps(["one", "two"], indent=2),
    "a JSON document with members": json.dumps({"a": 1, "b": 2}, indent=2),
}


@pytest.mark.parametrize(("subject", "text"), JSON.items(), ids=JSON)
def test_json_is_told_by_its_first_lines(tmp_path: Path, subject: str, text: str) -> None:
    path = tmp_path / "d.jsonl"
    path.write_text(text, "utf-8")
    with pytest.raises(kt.InputError, match=r"d.jsonl is (JSON lines|JSON|a JSON document).*jq -r"):
        kt.Lines(path)
    assert len(kt.Lines(path, as_text=True)) == len(text.splitlines())


def test_the_fields_are_named(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    path.write_text(JSON_LINES, "utf-8")
    with pytest.raises(
        kt.InputError, match=r"\(fields: text\).*jq -r '\.text \| gsub\(.*--read-as text"
    ):
        kt.Lines(path)


TEXTS = {
    "one object among texts": 'an answer\n{"a": 1}\nanother\n',
    "objects far below": "text\n" * FIRST_LINES + JSON_LINES,
    "braces": "{a}\n{b}\n{}\n{}\n",
    "begins like an object": '{"a": 1} is an object\n{"a": 2} too\n',
    "brackets": "[\nnot JSON\n]\n",
    "arrays": '["a", "b"]\n["c", "d"]\n',
    "numbers": "1\n2\n",
    "PAR1": "PAR1 is a gene\nso is PAR2\n",
    "BM": "BM stands for benchmark\n",
    "BZh": "BZh91 is no bzip2\n",
    "RIFF": "RIFF is a format\n",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_texts_are_texts(tmp_path: Path, text: str) -> None:
    path = tmp_path / "texts"
    path.write_text(text, "utf-8")
    assert len(kt.Lines(path)) == text.count("\n")


def uses(path: Path, other: Path) -> dict[str, Callable[[], object]]:
    return {
        "score, candidates": lambda: kt.score(path, other, "bleu"),
        "score, references": lambda: kt.score(other, [other, path], "bleu"),
        "metric": lambda: kt.metric("bleu").corpus(path, other),
        "alignments": lambda: kt.alignments(path, other),
        "language model": lambda: kt.LanguageModel.train([other, path]),
        "tokenize": lambda: kt.tokenize(path),
        "parallel": lambda: read_parallel(other, path),
    }


@pytest.mark.parametrize("name", uses(Path(), Path()))
def test_all_that_read_texts_refuse_json(tmp_path: Path, name: str) -> None:
    path, other = tmp_path / "d.jsonl", tmp_path / "other.txt"
    path.write_text(JSON_LINES, "utf-8")
    other.write_text("one\ntwo\n", "utf-8")
    with pytest.raises(kt.InputError, match=r"d\.jsonl is JSON lines"):
        uses(path, other)[name]()


def test_json_is_scored_where_it_is_said_to_be_text(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    path.write_text(JSON_LINES, "utf-8")
    lines = kt.Lines(path, as_text=True)
    assert kt.metric("chrf").corpus(lines, lines).value == 100
