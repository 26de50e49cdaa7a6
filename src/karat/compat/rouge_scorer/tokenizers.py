"""rouge-score's tokenizers: anything with a method `tokenize`, and the default."""

from __future__ import annotations

from abc import ABC, abstractmethod


class Tokenizer(ABC):
    """The base class of tokenizers; other classes work, too."""

    @abstractmethod
    def tokenize(self, text: str) -> list[str]:
        """Return the tokens of a text."""


class DefaultTokenizer(Tokenizer):
    """Lower-cased runs of a-z and 0-9; with `use_stemmer` stemmed by NLTK's Porter."""

    def __init__(self, use_stemmer: bool = False) -> None:
        self.stem = "porter-nltk" if use_stemmer else "none"

    def tokenize(self, text: str) -> list[str]:
        from karat.text.tokens import tokenize

        return list(tokenize([text], tok="rouge", stem=self.stem)[0])
