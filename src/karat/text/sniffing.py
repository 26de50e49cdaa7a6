"""Detection of files that are not plain text; the error message says what to do.

Binary formats are detected by their first bytes; JSON by the first lines: two objects, or a
file that is one object or array; SGML by a tag that opens a document or set, and a tag with an id.
"""

from __future__ import annotations

import json
import mmap
import re
from collections.abc import Iterator
from typing import NamedTuple

from karat.errors import InputError, short

Buffer = bytes | mmap.mmap

FIRST_LINES = 8
"""Number of lines that are inspected."""

_LONGEST = 1 << 20  # bytes of a line that are inspected


class _Kind(NamedTuple):
    """A binary format: its name, and advice to the user."""

    name: str
    advice: str


_UNPACK = "unpack it first, for example with "
_PANDAS = (
    "write one column as text first, for example in Python with pandas: "
    "open('column.txt', 'w').writelines(' '.join(text.split()) + '\\n' for text in table['COLUMN'])"
)
_AS_TABLE = (
    "score it as a table, under a name that ends in .parquet: "
    "karat score FILE.parquet --candidate COLUMN -r COLUMN"
)
_IMAGE = "only text can be read: give the text that it shows"
_ZIP = _Kind("a zip archive", _UNPACK + "unzip")
_OFFICE = _Kind("an Office document", "save its text as a plain text file (UTF-8) first")
_PDF = _Kind("a PDF document", "extract its text first, for example with pdftotext")
_PDF_LINE = rb"%PDF-\d\.\d[ \t]*[\r\n]"
_CONTROLS = bytes(sorted({*range(32)} - {*b"\t\n\v\f\r\x1c\x1d\x1e\x1f"}))
_MAGIC: tuple[tuple[int, bytes, _Kind], ...] = (
    (0, b"PK\x03\x04", _ZIP),
    (0, b"PK\x05\x06", _ZIP),
    (0, b"\xfd7zXZ\x00", _Kind("an xz file", _UNPACK + "xz -d")),
    (0, b"(\xb5/\xfd", _Kind("a zstd file", _UNPACK + "zstd -d")),
    (0, b"\x04\x22M\x18", _Kind("an lz4 file", _UNPACK + "lz4 -d")),
    (0, b"7z\xbc\xaf\x27\x1c", _Kind("a 7z archive", _UNPACK + "7z x")),
    (0, b"Rar!\x1a\x07", _Kind("a RAR archive", _UNPACK + "unrar x")),
    (0, b"\x1f\x8b", _Kind("a gzip file", _UNPACK + "gzip -d, or name it .gz")),
    (257, b"ustar", _Kind("a tar archive", _UNPACK + "tar -x")),
    (0, b"%PDF-", _PDF),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", _OFFICE),
    (0, b"\x89PNG\r\n\x1a\n", _Kind("a PNG image", _IMAGE)),
    (0, b"\xff\xd8\xff", _Kind("a JPEG image", _IMAGE)),
    (0, b"GIF87a", _Kind("a GIF image", _IMAGE)),
    (0, b"GIF89a", _Kind("a GIF image", _IMAGE)),
    (8, b"WEBPVP8", _Kind("a WebP image", _IMAGE)),
    (0, b"II*\x00", _Kind("a TIFF image", _IMAGE)),
    (0, b"MM\x00*", _Kind("a TIFF image", _IMAGE)),
    (0, b"ARROW1\x00\x00", _Kind("an Arrow table", _PANDAS)),
    (0, b"\x89HDF\r\n\x1a\n", _Kind("an HDF5 file", _PANDAS)),
    (0, b"\x93NUMPY", _Kind("a NumPy array", "write its texts to a file first, one a line")),
    (0, b"SQLite format 3\x00", _Kind("an SQLite database", "export one column as text first")),
)


def refuse_binary(data: Buffer, name: str, expected: str) -> None:
    """Reject binary files, naming their format."""
    if kind := _binary(data):
        raise InputError(f"{name} is {kind.name}: expected {expected}; {kind.advice}")


def _binary(data: Buffer) -> _Kind | None:
    head = bytes(data[:2048])
    if _is_prose(head):
        return _PDF if re.match(_PDF_LINE, head) else None
    if head.startswith(b"PAR1") and bytes(data[-4:]) == b"PAR1":
        return _Kind("a Parquet table", _AS_TABLE)
    if re.match(rb"BZh[1-9]1AY&SY", head):
        return _Kind("a bzip2 file", _UNPACK + "bzip2 -d")
    if head[:2] == b"BM" and int.from_bytes(head[2:6], "little") == len(data):
        return _Kind("a BMP image", _IMAGE)
    if head.startswith(b"PK\x03\x04") and re.search(rb"\[Content_Types\]|opendocument", head):
        return _OFFICE
    return next((kind for at, magic, kind in _MAGIC if head.startswith(magic, at)), None)


def _is_prose(head: bytes) -> bool:
    """Return whether a file begins as text, even if the text looks like a magic number."""
    if head.translate(None, _CONTROLS) != head:
        return False
    try:
        head.decode()
    except UnicodeDecodeError as error:
        return error.reason == "unexpected end of data"  # a character is cut in two
    return True


_STRING = rb'"(?:[^"\\]|\\.){0,1000}"'
_OBJECT = re.compile(rb"\s*(\[\s*)?\{\s*" + _STRING + rb"\s*:")
_OPENED = re.compile(rb"\s*(\[|\{|\[\s*\{)\s*")
_DOCUMENT = re.compile(
    rb"\s*(\[\s*(\{\s*$|" + _STRING + rb"\s*,)|(\[\s*)?\{\s*" + _STRING + rb"\s*:)"
)


def refuse_json(data: Buffer, start: int, name: str) -> None:
    """Reject JSON lines and JSON documents where one segment per line is expected."""
    lines = list(_first_lines(data, start))
    alike = [line for line in lines if _OBJECT.match(line)]  # a line that was cut is one, too
    objects = [line for line in alike if len(line) == _LONGEST or parsed_json(line) is not None]
    if len(objects) > 1 or len(objects) == len(lines) == 1:
        kind = "JSON lines" if len(objects) > 1 else "JSON"
    elif len(lines) > 1 and _OPENED.fullmatch(lines[0]) and _DOCUMENT.match(b" ".join(lines[:2])):
        kind = "a JSON document"
    else:
        return
    fields, advice = _advice(objects, array=lines[0].lstrip().startswith(b"["))
    raise InputError(
        f"{name} is {kind}{fields}: expected one segment a line; {advice}; if the segments "
        f"themselves are JSON, use --read-as text (in Python, kt.Lines(path, as_text=True))"
    )


_OPENS = re.compile(rb"\s*<(doc|tstset|refset|srcset|mteval)\b[^<>]*>", re.IGNORECASE)
_HAS_ID = re.compile(rb"<(doc\s[^<>]*\bdocid|seg\s[^<>]*\bid)\s*=", re.IGNORECASE)


def refuse_sgml(data: Buffer, start: int, name: str) -> None:
    """Reject SGML of evaluations (GTM's, NIST's) where one segment per line is expected."""
    lines = [line for line in _first_lines(data, start) if not line.lstrip().startswith(b"<?xml")]
    lines = [line for line in lines if not line.lstrip().upper().startswith(b"<!DOCTYPE")]
    if lines and _OPENS.match(lines[0]) and any(_HAS_ID.search(line) for line in lines):
        raise InputError(
            f"{name} is SGML (<doc docid=…>, <seg id=…>): expected one segment a line; karat "
            "score, compare, grid and explain read it with --read-as gtm-sgml (in Python, "
            "kt.load_texts); if the tags are the text, use --read-as text (in Python, "
            "kt.Lines(path, as_text=True))"
        )


def _first_lines(data: Buffer, start: int) -> Iterator[bytes]:
    """Yield the first lines that are not blank; very long lines are truncated."""
    count = 0
    while count < FIRST_LINES and start < len(data):
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        line = bytes(data[start : min(end, start + _LONGEST)])
        start = end + 1
        if line.strip():
            count += 1
            yield line


def parsed_json(line: str | bytes) -> object:
    """Return the value of a line of JSON; None if it is not JSON."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _advice(objects: list[bytes], array: bool) -> tuple[str, str]:
    """Return the fields of the first object, and advice on how to extract one of them."""
    first = parsed_json(objects[0]) if objects else None
    first = first[0] if isinstance(first, list) else first
    texts = first if isinstance(first, dict) else {}
    names = [key for key, value in texts.items() if isinstance(value, str)]
    field = max(names, key=lambda key: len(texts[key]), default="text")
    path = f".{field}" if re.fullmatch(r"[A-Za-z_]\w{0,40}", field, re.A) else '.["FIELD"]'
    fields = f" (fields: {', '.join(short(key) for key in names[:6])})" if names else ""
    command = f"""jq -r '{".[] | " if array else ""}{path} | gsub("\\n"; " ")'"""
    return fields, f"take one field out, for example with {command}"
