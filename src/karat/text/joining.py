"""Words back to text: which of them stand together, as in `(a man, 30)`.

Where the words come from a text that is known, its own spaces are the best guide (`spaces_of`); for
the rest there are a few rules of English type.
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
    """Join words; `spaced` says of each whether a space is before it, or None for a rule."""
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
    """Return whether two words have a space between; an opening quote is given as `"(`."""
    if word == '"':
        return not quoted and before not in _OPENING
    closing = word in _CLOSING or is_clitic(word)
    return not (closing or word in _BOTH or before in _OPENING | _BOTH | {'"('})
