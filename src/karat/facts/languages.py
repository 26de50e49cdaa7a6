"""Texts in another language than declared, by their letters and their most frequent words."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

from karat.facts.rules import LANGUAGES, rules_for

_SCRIPTS = {
    "han": re.compile("[\u4e00-\u9fff]"),
    "kana": re.compile("[\u3040-\u30ff]"),
    "cyrillic": re.compile("[\u0400-\u04ff]"),
    "latin": re.compile("[A-Za-z\u00c0-\u024f]"),
}
_OTHER_LETTER = re.compile("[^\\W\\d_A-Za-z\u00c0-\u024f\u0400-\u04ff\u3040-\u30ff\u4e00-\u9fff]")
_SCRIPTS_OF_LANGUAGES = {"zh": {"han"}, "ja": {"han", "kana"}, "ru": {"cyrillic"}}
_MIN_LETTERS = 4
_MIN_KANA = 0.1
"""Share of kana in Japanese texts, at least."""
_MIN_WORDS = 2
"""Different frequent words of another language that a text needs, at least."""
_WORD = re.compile(r"[^\W\d_]+")


def has_other_language(text: str, lang: str) -> bool:
    """Return whether a text seems to be in another language.

    It is if most of its letters belong to another script, or if it has frequent words of another
    language, and more than twice as many as of its own.
    """
    if lang == "other":
        return False
    if not text.isascii() or lang in _SCRIPTS_OF_LANGUAGES:
        letters = {name: len(pattern.findall(text)) for name, pattern in _SCRIPTS.items()}
        total = sum(letters.values()) + len(_OTHER_LETTER.findall(text))
        in_script = sum(letters[name] for name in _SCRIPTS_OF_LANGUAGES.get(lang, {"latin"}))
        if total >= _MIN_LETTERS and 2 * in_script < total:
            return True
        if lang == "zh" and letters["kana"] > _MIN_KANA * total:
            return True
    if lang in _SCRIPTS_OF_LANGUAGES:
        return False
    frequent = _frequent_words()
    counts = Counter[str]()
    for word in {*_WORD.findall(text.lower())}:
        counts.update(frequent.get(word, ()))
    most = max((count for name, count in counts.items() if name != lang), default=0)
    return most >= _MIN_WORDS and most > 2 * counts[lang]


@lru_cache(maxsize=1)
def _frequent_words() -> dict[str, tuple[str, ...]]:
    """Return the languages of each frequent word."""
    languages: dict[str, tuple[str, ...]] = {}
    for lang in LANGUAGES:
        for word in rules_for(lang).content.get("frequent", "").split():
            languages[word] = (*languages.get(word, ()), lang)
    return languages
