"""rouge-score's function that splits text into tokens, with any stemmer."""

from __future__ import annotations

import re
from typing import Any

NON_ALPHANUM_PATTERN = r"[^a-z0-9]+"
NON_ALPHANUM_RE = re.compile(NON_ALPHANUM_PATTERN)
SPACES_PATTERN = r"\s+"
SPACES_RE = re.compile(SPACES_PATTERN)
VALID_TOKEN_PATTERN = r"^[a-z0-9]+$"
VALID_TOKEN_RE = re.compile(VALID_TOKEN_PATTERN)


def tokenize(text: str, stemmer: Any) -> list[str]:
    """Return the lower-cased runs of a-z and 0-9.

    A stemmer has a method `stem(word)`, called for words of more than three letters; None for none.
    """
    words = NON_ALPHANUM_RE.sub(" ", text.lower()).split()
    if stemmer:
        words = [str(stemmer.stem(word)) if len(word) > 3 else word for word in words]
    return [word for word in words if VALID_TOKEN_RE.match(word)]
