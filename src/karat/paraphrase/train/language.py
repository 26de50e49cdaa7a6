"""The language model of PEM: that of the first sides of all parallel texts."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from karat.errors import InputError
from karat.lm.model import LanguageModel
from karat.paraphrase.align.parallel_text import each_line
from karat.paraphrase.table.phrase_table import ENGLISH
from karat.paraphrase.train.different_lines import different_lines
from karat.text.segments import Segments
from karat.text.tokens import Recipe

ORDER = 4
"""The order of the language model, as in the paper."""


def train_language(
    texts: Sequence[Segments],
    recipe: Recipe = ENGLISH,
    smoothing: str = "kneser-ney",
    *,
    running: bool = False,
    memory: int | None = None,
    **work: Any,
) -> LanguageModel:
    """Train the language model of some texts, of 4-grams; each line once, or `running` text."""
    lines = _running(texts) if running else [different_lines(texts, memory)]
    if not sum(map(len, lines)):
        raise InputError("there is no text to train a language model on")
    words: dict[str, Any] = {"tok": recipe.tok, "case": recipe.case, "stem": recipe.stem}
    return LanguageModel.train(lines, ORDER, smoothing, memory=memory, **words, **work)


def _running(texts: Sequence[Segments]) -> list[Segments]:
    """Return the texts as they stand, but one that stands beside two pivots only once.

    Counts that are all doubled have no n-grams of count 1, without which Good-Turing says nothing.
    """
    return list({text_digest(text): text for text in reversed(texts)}.values())[::-1]


def text_digest(text: Segments) -> str:
    """Return a digest of the lines of a text."""
    digest = sha256()
    for line in each_line(text):
        digest.update(line.encode("utf-8", "surrogatepass") + b"\n")
    text.release(0, len(text))
    return digest.hexdigest()
