"""Code pages of text that is not UTF-8."""

from __future__ import annotations

from karat.errors import InputError


def decode_code_page(data: bytes, name: str) -> tuple[str, tuple[str, ...]]:
    """Return the text of a file that is not UTF-8, and a remark with its code page."""
    try:
        return data.decode("cp1252"), ("the text is Windows-1252, not UTF-8",)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        problem = "not valid UTF-8; name the encoding with --encoding, such as windows-1250"
        raise InputError(f"{name}, line {line}: {problem}") from error
