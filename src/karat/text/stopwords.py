"""Stop lists: none, our own English one, a file, or those of the `stopwordsiso` package.

`none`; `en`, written from the closed word classes; `iso-de` and so on for the languages of
`stopwordsiso` (an extra); anything else is the path of a file, one word a line, `#` for comments.
Words are compared in lower case, before stemming, with a typographic apostrophe read as `'`.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from importlib import resources
from pathlib import Path

from karat.errors import InputError, MissingExtra
from karat.storage.digests import text_digest
from karat.storage.store import file_stamp


class StopList(frozenset[str]):
    """Lower-case words; `word in stops` also knows the typographic apostrophe."""

    def __contains__(self, word: object) -> bool:
        return super().__contains__(_straight(word) if isinstance(word, str) else word)

    def lacks(self, words: Iterable[str]) -> list[bool]:
        """Return `word not in stops` for each of many words."""
        listed = super().__contains__
        return [not listed(_straight(word)) for word in words]


def _straight(word: str) -> str:
    return word.replace("\u2019", "'")


def _stop_list(words: Iterable[str]) -> StopList:
    return StopList(_straight(word.lower()) for word in words)


def stop_words(name: str) -> StopList:
    """Return the stop list of that name; a file is read again once it has changed."""
    is_file = name not in ("none", "en") and not name.startswith("iso-")
    return _stop_words(name, file_stamp(name) if is_file else None)


@lru_cache(maxsize=64)
def _stop_words(name: str, _stamp: tuple[int, int] | None) -> StopList:
    if name == "none":
        return StopList()
    if name == "en":
        return _parse((resources.files("karat.text") / "stopwords_en.txt").read_text("utf-8"))
    return _iso(name.removeprefix("iso-")) if name.startswith("iso-") else _read(name)


def stop_digest(name: str) -> str:
    """Return eight characters that change when the list does, for signatures."""
    return text_digest("\n".join(sorted(stop_words(name))))


def _parse(text: str) -> StopList:
    lines = (line.split("#")[0].strip() for line in text.split("\n"))
    return _stop_list(line for line in lines if line)


def _read(path: str) -> StopList:
    try:
        return _parse(Path(path).read_text("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise InputError(f"stop list {path}: not valid UTF-8; convert the file") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(
            f"stop list {path}: {reason}; expected none, en, iso-LANGUAGE or the path of a file"
        ) from error


def _iso(language: str) -> StopList:
    try:
        import stopwordsiso
    except ImportError as error:
        needs = "needs the package stopwordsiso: pip install 'karat[stopwords]'"
        raise MissingExtra(f"stop list iso-{language} {needs}") from error
    if not stopwordsiso.has_lang(language):
        known = ", ".join(sorted(stopwordsiso.langs()))
        raise InputError(f"stop list iso-{language}: no such language; there are {known}")
    return _stop_list(stopwordsiso.stopwords(language))
