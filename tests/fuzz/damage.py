"""Damage to files, drawn from a seed: to bytes, lines, fields, numbers, JSON and stored arrays."""

from __future__ import annotations

import gzip
import io
import json
import random
import re
import struct
import zipfile
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from karat.storage.store import BROKEN

Files = dict[str, bytes]
"""Paths within a folder, and what the files hold."""

WEIRD = (
    *("", " ", "0", "-1", "-0", "1e999", "-1e999", "nan", "NaN", "inf", "-Infinity", "1e-400"),
    *("9" * 30, "9" * 5000, "18446744073709551616", "2147483648", "-9223372036854775809", "1.5"),
    *("1_000", "٣", "１", "0x10", "1,5", "½", "None", "null", "true", "{}", "[]", "=", "#", "%"),
    *("\x00", "\x0b", "\x1f", "\x1b[31m", "\x85", "\ufeff", "\u2028", "\u202e", "\u3000", "\ud7ff"),
    *("a" * 3000, "é" * 700, "|||", "\t", "../../x", "/", "<", "&lt;", "😀", "'", '"', "\\"),
)
NESTED = ("[" * 100_000, '{"a":' * 50_000, "[" * 3000 + "]" * 3000)
NUMBER = re.compile(rb"-?\d+(?:\.\d+)?")


def damaged(files: Files, dice: random.Random) -> Files:
    """The files with one to three things wrong with them."""
    files = dict(files)
    for _ in range(dice.choice((1, 1, 2, 3))):
        if not files:
            break
        name = dice.choice(sorted(files))
        files[name] = dice.choice(_kinds(files[name]))(files[name], dice)
        if dice.random() < 0.03:
            del files[name]
    return files


def _kinds(content: bytes) -> tuple[Callable[[bytes, random.Random], bytes], ...]:
    if content[:2] == b"PK":
        return (flipped, truncated, arrays, arrays, arrays)
    if content[:2] == b"\x1f\x8b":
        return (flipped, truncated, packed)
    if content.lstrip()[:1] in (b"{", b"["):
        return (members, members, members, members, *ANY)
    return (fields, fields, fields, numbers, numbers, *ANY)


# ---------------------------------------------------------------------------------------- bytes


def flipped(content: bytes, dice: random.Random) -> bytes:
    """Some bytes are others."""
    changed_bytes = bytearray(content)
    for _ in range(dice.choice((1, 1, 3, 20))):
        if changed_bytes:
            changed_bytes[dice.randrange(len(changed_bytes))] = dice.randrange(256)
    return bytes(changed_bytes)


def truncated(content: bytes, dice: random.Random) -> bytes:
    """The end is missing, or the beginning, or all of it."""
    at = dice.randrange(len(content) + 1)
    return dice.choice((content[:at], content[:at], content[at:], b""))


def inserted(content: bytes, dice: random.Random) -> bytes:
    """Something stands where nothing should."""
    at = dice.choice((0, len(content), dice.randrange(len(content) + 1)))
    extra = dice.choice((b"\xff", b"\xc3", b"\xed\xa0\x80", b"\x00", b"\xef\xbb\xbf", b"\xff\xfe",
                        "\u2028".encode(), "\x85".encode(), b"\r", b"\n\n\n", b"\x1a",
                        b"x" * 300_000, b"x " * 100_000, dice.choice(NESTED).encode()))  # fmt: skip
    return content[:at] + extra + content[at:]


def line_ends(content: bytes, dice: random.Random) -> bytes:
    """Lines end otherwise, or there is one line only."""
    end = dice.choice((b"\r", b"\r\n", b"\r\r\n", b"\x0b", "\u2028".encode(), b"", b" ", b"\n\n"))
    return content.replace(b"\n", end)


def packed(content: bytes, dice: random.Random) -> bytes:
    """A gzip file holds other text, or there is more behind its end."""
    try:
        text = gzip.decompress(content)
    except (OSError, EOFError, zlib.error):
        return content + b"x"
    return dice.choice((gzip.compress(fields(text, dice)), content + b"x", content * 2, text))


# ------------------------------------------------------------------------------ lines and fields


def lines(content: bytes, dice: random.Random) -> bytes:
    """A line is missing, there twice, exchanged with another; or all are in another order."""
    content_lines = content.split(b"\n")
    i, j = dice.randrange(len(content_lines)), dice.randrange(len(content_lines))
    kind = dice.randrange(5)
    if kind == 0:
        del content_lines[i]
    elif kind == 1:
        content_lines.insert(i, content_lines[j])
    elif kind == 2:
        content_lines[i], content_lines[j] = content_lines[j], content_lines[i]
    elif kind == 3:
        dice.shuffle(content_lines)
    else:
        content_lines[i] = dice.choice(WEIRD).encode()
    return b"\n".join(content_lines)


def fields(content: bytes, dice: random.Random) -> bytes:
    """A field of a line is missing, there twice, exchanged with another, or something weird."""
    rows = content.split(b"\n")
    at = dice.randrange(len(rows))
    parts = [b"\t", b",", b" ||| ", b" ", b"=", b'"', b"-", b"/", b":"]
    separator = next((s for s in dice.sample(parts[:4], 4) + parts[4:] if s in rows[at]), b" ")
    row = rows[at].split(separator)
    i, j = dice.randrange(len(row)), dice.randrange(len(row))
    kind = dice.randrange(6)
    if kind == 0:
        del row[i]
    elif kind == 1:
        row.insert(i, row[j])
    elif kind == 2:
        row[i], row[j] = row[j], row[i]
    else:
        row[i] = dice.choice(WEIRD).encode()
    rows[at] = separator.join(row)
    return b"\n".join(rows)


def numbers(content: bytes, dice: random.Random) -> bytes:
    """A number is another one, or none."""
    matches = list(NUMBER.finditer(content))
    if not matches:
        return fields(content, dice)
    match = dice.choice(matches)
    return content[: match.start()] + dice.choice(WEIRD).encode() + content[match.end() :]


# ----------------------------------------------------------------------------------------- JSON


def members(content: bytes, dice: random.Random) -> bytes:
    """In one of the lines a value is of another type, missing, renamed, there twice, or nested."""
    rows = content.split(b"\n")
    at = dice.randrange(len(rows))
    try:
        value = json.loads(rows[at])
    except (ValueError, RecursionError):
        return fields(content, dice)
    rows[at] = _text(_changed(value, dice), dice)
    return b"\n".join(rows)


def _changed(value: Any, dice: random.Random) -> Any:
    """The value with one member changed, somewhere in it."""
    if isinstance(value, dict) and value and dice.random() < 0.9:
        return _changed_object(value, dice)
    if isinstance(value, list) and value and dice.random() < 0.8:
        return _changed_list(value, dice)
    junk = (None, True, 0, -1, 1.5, 1e308, 10**40, float("nan"), float("-inf"), "", [], {}, [[]])
    return dice.choice((*junk, dice.choice(WEIRD), {"a": value}, [value], [value] * 2))


def _changed_object(value: dict[str, Any], dice: random.Random) -> dict[str, Any]:
    key = dice.choice(sorted(value))
    kind = dice.randrange(8)
    if kind == 0:
        return {k: v for k, v in value.items() if k != key}
    if kind == 1:
        return {(dice.choice(WEIRD) if k == key else k): v for k, v in value.items()}
    return {**value, key: _changed(value[key], dice)}


def _changed_list(value: list[Any], dice: random.Random) -> list[Any]:
    i = dice.randrange(len(value))
    kind = dice.randrange(6)
    if kind == 0:
        return [*value[:i], *value[i + 1 :]]
    if kind == 1:
        return [*value, value[i]]
    return [*value[:i], _changed(value[i], dice), *value[i + 1 :]]


def _text(value: Any, dice: random.Random) -> bytes:
    text = json.dumps(value, ensure_ascii=dice.random() < 0.5)
    kind = dice.randrange(12)
    if kind == 0:
        text = text.replace("null", dice.choice(NESTED), 1)
    if kind == 1 and text.startswith("{") and len(text) > 2:
        text = f"{{{text[1:-1]}, {text[1:-1]}}}"  # every member twice
    if kind == 2:
        text = text.replace('"', dice.choice(('"\\ud800', "'", '"\\u0000', "")), 1)
    return text.encode("utf-8", "surrogatepass")


# ----------------------------------------------------------------------------------- stored arrays


def arrays(content: bytes, dice: random.Random) -> bytes:
    """A stored array has other numbers, another type or shape, or is missing; checksums fit."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            held = {info.filename: archive.read(info) for info in archive.infolist()}
    except BROKEN:
        return flipped(content, dice)
    name = dice.choice(sorted(held))
    if name.endswith(".json"):
        held[name] = dice.choice((members, members, truncated, flipped))(held[name], dice)
    else:
        held[name] = _other_array(held[name], dice)
    if dice.random() < 0.05:
        del held[name]
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for key, data in held.items():
            entry = zipfile.ZipInfo(key)
            fill = -(out.tell() + 34 + len(key.encode())) % 64  # arrays begin at multiples of 64
            entry.extra = struct.pack("<HH", 0xA1A1, fill) + bytes(fill)
            archive.writestr(entry, data)
    return out.getvalue()


def _other_array(data: bytes, dice: random.Random) -> bytes:
    try:
        array = np.load(io.BytesIO(data), allow_pickle=False)
    except (ValueError, OSError, EOFError):
        return flipped(data, dice)
    kind = dice.randrange(6)
    if kind == 0:
        array = array[: dice.randrange(len(array) + 1)] if array.ndim else array
    elif kind == 1:
        array = array.astype(dice.choice(("int8", "int64", "float32", "float64", "uint16")))
    elif kind == 2:
        array = np.concatenate([array.ravel(), array.ravel()])
    elif array.size:
        array = array.copy()
        odd = (0, 1, -1, 127, 255, 2**31 - 1, -(2**31), 2**62, 1e300, -1e300)
        special = (*odd, np.nan, np.inf) if array.dtype.kind == "f" else odd
        with np.errstate(all="ignore"):
            for _ in range(dice.choice((1, 1, 5))):
                picked = np.array(dice.choice(special), dtype=np.float64)
                array.flat[dice.randrange(array.size)] = picked.astype(array.dtype)
    out = io.BytesIO()
    np.save(out, array, allow_pickle=False)
    return out.getvalue()


ANY = (flipped, truncated, inserted, line_ends, lines, lines)
