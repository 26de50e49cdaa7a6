"""Sentences of a text, by simple rules that fit any language with these marks.

A sentence ends at a line end, and at white space after a full stop, a question mark or an
exclamation mark.
"""

from __future__ import annotations

import re

_END = re.compile(r"[.!?…。！？\n](?:(?<=\n)\n*|(?<!\n)\s+)")
"""Line ends, or a mark (which is kept) and the white space after it. The pattern begins with a set
of characters, which is several times as fast as a look-behind at every position."""


def sentences(text: str) -> list[str]:
    """Return the sentences of a text: at least one, which may be empty.

    Exact boundaries do not matter to what compares neighboring sentences too: a number or name that
    is split is whole in both together.
    """
    parts, start = [], 0
    for match in _END.finditer(text):
        end = match.start() + (text[match.start()] != "\n")
        if end > start:
            parts.append(text[start:end])
        start = match.end()
    if start < len(text):
        parts.append(text[start:])
    return parts or [""]


_ABBREVIATIONS = frozenset(
    [
        *("adm", "bzw", "ca", "capt", "cf", "col", "dr", "e.g", "eg", "gen", "ggf", "gov", "hon"),
        *("hr", "i.e", "ie", "lt", "maj", "messrs", "mme", "mr", "mrs", "ms", "mt", "nr", "pp"),
        *("prof", "rep", "rev", "sen", "sgt", "st", "str", "vgl", "vs", "z.b"),
    ]
)
"""Words, without their last full stop, after which sentences go on."""
_WITHOUT_SPACE = re.compile(r"(?<=[。！？])(?!$)")
"""Ends of sentences in Chinese and Japanese, which no space follows."""
_LAST_WORD = re.compile(r"([^\W\d_](?:[\w.]*\w)?)\.$")


def statements(text: str) -> list[str]:
    """Return the sentences of a text that can be judged one by one; none of a text without words.

    A part that has no letter, such as the number of a list, belongs to the next one, and so do
    parts that end with an abbreviation or an initial, or are followed by a small letter.
    """
    joined: list[str] = []
    is_open = False
    parts = (part for line in sentences(text) for part in _WITHOUT_SPACE.split(line))
    for part in map(str.strip, parts):
        if not any(character.isalnum() for character in part):
            continue
        if joined and (is_open or part[0].islower()):
            joined[-1] += f" {part}"
        else:
            joined.append(part)
        is_open = _is_open(joined[-1])
    if is_open and len(joined) > 1 and not _has_letter(joined[-1]):
        last = joined.pop()
        joined[-1] += f" {last}"
    return joined


def _has_letter(text: str) -> bool:
    return any(character.isalpha() for character in text)


def _is_open(text: str) -> bool:
    """Return whether a part is the beginning of a longer sentence."""
    last = _LAST_WORD.search(text)
    word = "" if last is None else last[1].lower()
    return not _has_letter(text) or len(word) == 1 or word in _ABBREVIATIONS
