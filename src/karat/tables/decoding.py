"""Encodings of text files: UTF-8, UTF-16 and code pages, by content."""

from __future__ import annotations

import codecs

from karat.errors import InputError, quoted


def decode(
    data: bytes, name: str, encoding: str | None = None, complete: bool = True
) -> tuple[str, tuple[str, ...]]:
    """Return the text of a file and remarks on its encoding.

    If the data are not `complete`, a character that is cut at the end is left out.
    """
    text, remarks = _decode(data, name, encoding, complete)
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise InputError(f"{name}, line {line}: found a NUL character, expected text")
    return text, remarks


def _decode(
    data: bytes, name: str, encoding: str | None, complete: bool
) -> tuple[str, tuple[str, ...]]:
    if encoding is not None:
        return _decoded(data, name, _codec(encoding), complete), ()
    for mark, codec in _MARKS:
        if data.startswith(mark):
            text = _decoded(data[len(mark) :], name, codec, complete)
            return text, () if codec == "utf-8" else (f"the text is {codec[:6].upper()}",)
    if codec := _utf16_without_mark(data):
        return _decoded(data, name, codec, complete), ("the text is UTF-16",)
    try:
        return codecs.getincrementaldecoder("utf-8")().decode(data, complete), ()
    except UnicodeDecodeError:
        from karat.tables.code_pages import decode_code_page

        whole_lines = data if complete else data[: data.rfind(b"\n") + 1]
        return decode_code_page(whole_lines, name)


_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""Byte-order mark -> codec; UTF-32 comes before UTF-16, whose mark it begins with."""


def _codec(encoding: str) -> str:
    try:
        info = codecs.lookup(encoding)
        "".encode(info.name)
    except (LookupError, ValueError) as error:
        problem = "expected a name such as utf-8, utf-16 or windows-1250"
        raise InputError(f"encoding {quoted(encoding)}: {problem}") from error
    return "utf-8-sig" if info.name == "utf-8" else info.name


def _decoded(data: bytes, name: str, codec: str, complete: bool) -> str:
    try:
        text = codecs.getincrementaldecoder(codec)().decode(data, complete)
    except UnicodeError as error:
        start = error.start if isinstance(error, UnicodeDecodeError) else 0
        line = data.count(b"\n", 0, start) + 1
        raise InputError(
            f"{name}, line {line}: not valid {codec.upper()}; name the encoding with --encoding"
        ) from error
    except LookupError as error:  # a codec without an incremental form
        raise InputError(f"encoding {quoted(codec)}: expected one of texts") from error
    return text.removeprefix("\ufeff")


_UTF16_MARKS = b"\n\r\t,;|"  # characters that tables in UTF-16 have with a NUL beside them


def _utf16_without_mark(data: bytes) -> str:
    """Return the codec of UTF-16 without a byte-order mark; nothing for other data."""
    sample = data[: 1 << 16]
    if b"\0" not in sample:
        return ""
    high, low = sample[::2], sample[1::2]
    for codec, characters, nuls in (("utf-16-le", high, low), ("utf-16-be", low, high)):
        marks = sum(map(sample.count, (bytes([mark]) for mark in _UTF16_MARKS)))
        pairs = sum(
            1
            for mark, nul in zip(characters, nuls, strict=False)
            if nul == 0 and mark in _UTF16_MARKS
        )
        if pairs and 2 * pairs > marks:
            return codec
    return ""
