"""Joining words to text: which of them have no space between, as in `(a man, 30)`.

If the words come from a known text, its own spaces are the best guide (`spaces_of`); for
other words there are a few rules of English typography.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

_CLITICS = frozenset({"'s", "'t", "n't", "'re", "'ve", "'ll", "'d", "'m"})
_CLOSING = frozenset(",.;:!?%)]}…’”»") | {"..."}
_OPENING = frozenset("([{$£€#@“‘«")
_BOTH = frozenset("/_")


def is_clitic(word: str) -> bool:
    """Return whether a word is the second part of a contraction or a possessive: `n't`, `'s`."""
    return word.lower().replace("’", "'") in _CLITICS


def spaces_of(text: str, words: Sequence[str]) -> list[bool] | None:
    """Return whether a space precedes each word; None if the words do not match the text."""
    spaces, position = [], 0
    for word in words:
        start = position
        while position < len(text) and text[position].isspace():
            position += 1
        if not text.startswith(word, position):
            return None
        spaces.append(position > start)
        position += len(word)
    return spaces


def join_words(words: Iterable[str], spaced: Iterable[bool | None] | None = None) -> str:
    """Join words; `spaced` has for each whether a space precedes it, or None to use the rules."""
    text: list[str] = []
    before, quoted = "", False
    listed = list(words)
    spaces = [None] * len(listed) if spaced is None else spaced
    for word, is_spaced in zip(listed, spaces, strict=True):
        space = _apart(before, word, quoted) if is_spaced is None else is_spaced
        text += [" ", word] if space and text else [word]
        quoted ^= word == '"'
        before = '"(' if word == '"' and quoted else word
    return "".join(text)


def _apart(before: str, word: str, quoted: bool) -> bool:
    """Return whether a space separates two words; an opening quote is passed as `"(`."""
    if word == '"':
        return not quoted and before not in _OPENING
    closing = word in _CLOSING or is_clitic(word)
    return not (closing or word in _BOTH or before in _OPENING | _BOTH | {'"('})
