"""Hostile characters made visible: no string may command a terminal, a browser or a reader's eye.

Control characters, line separators, lone surrogates, non-characters and invisible format
characters (bidirectional overrides among them) become backslash escapes.  The two joiners stay:
Persian, the Indic scripts and emoji cannot be written without them.
"""

from __future__ import annotations

import re
import unicodedata

JOINERS = "\u200c\u200d"
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_SHORT = {"\n": r"\n", "\t": r"\t", "\r": r"\r"}


def visible(text: str, keep: str = "") -> str:
    """The text with every hidden character escaped, save those in `keep`."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escape(c) if c not in keep and _is_hidden(c) else c for c in text)


def _is_hidden(char: str) -> bool:
    if unicodedata.category(char) in _HIDDEN:
        return char not in JOINERS
    code = ord(char)
    return code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF  # noncharacters: illegal in XML


def _escape(char: str) -> str:
    code = ord(char)
    if code <= 0xFF:
        return _SHORT.get(char, f"\\x{code:02x}")
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""First characters of text that a spreadsheet may take for a formula, or drop before one."""
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?", re.ASCII | re.IGNORECASE)


def no_formula(text: str) -> str:
    """Return text that a spreadsheet does not take for a formula: an apostrophe before it.

    Text that is a plain number, such as `-5`, stays as it is.
    """
    is_formula = text.startswith(FORMULA_STARTS) and not _NUMBER.fullmatch(text)
    return f"'{text}" if is_formula else text
