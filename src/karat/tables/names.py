"""Names of columns: synonyms of roles, and the words within a name.

The words are data: `data/columns/roles.toml` has the usual names of each role, `words.toml` the
words that tell judges, dimensions, systems and measurements apart.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from importlib import resources
from typing import Any, NamedTuple

from karat.evalset.formats.directory import read_toml
from karat.evalset.reading import parse_number

_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SEPARATED = re.compile(r"[\W_]")
_WORD = r"[^\W_]+(?:['’][^\W_]+)*"
_SCALE = re.compile(
    r"[\s_]*[(\[]\s*(?:scale|skala|échelle|escala)?\s*:?\s*(-?\d+(?:\.\d+)?)\s*"
    r"(?:-|–|—|\.\.|…|to|bis|à|a|/)\s*(-?\d+(?:\.\d+)?)\s*[^()\[\]]*[)\]]\s*$",
    re.IGNORECASE,
)

_HIGHEST = re.compile(
    r"(?:\s+|\s*[(\[]\s*)(?:/|sur|out of|von|su|über|из)\s*(4|5|6|7|10|20|100)\s*[)\]]?\s*$",
    re.IGNORECASE,
)
_FROM_ZERO = 10  # scales named by their highest rating begin at 0 from this one, else at 1


def read_data(file: str) -> dict[str, Any]:
    """Return a bundled TOML file below `data/`."""
    text = (resources.files("karat") / "data").joinpath(*file.split("/")).read_text("utf-8")
    return read_toml(text, file)


def fold(text: str) -> str:
    """Return a text in lower case, without accents."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(c for c in decomposed if not unicodedata.combining(c))


def compact(name: str) -> str:
    """Return a name that differs only in letters and digits: `Ground Truth` is `groundtruth`."""
    return "".join(c for c in fold(name) if c.isalnum())


def split_words(name: str) -> tuple[str, ...]:
    """Return the words of a name, in its spelling: `fluencyAlice` and `GPT-4` have two."""
    spaced = name if _SEPARATED.search(name) else _CAMEL.sub(" ", name)
    words = re.findall(_WORD, spaced)
    numbered = re.fullmatch(r"([^\W\d_]{2,})(\d{1,3})", words[0]) if len(words) == 1 else None
    return numbered.groups() if numbered else tuple(words)


class ScaledName(NamedTuple):
    """The name of a column without its scale, and the scale: `Fluency (1-5)`, `Note /20`."""

    name: str
    low: float | None = None
    high: float | None = None


def scale_in_name(name: str) -> ScaledName:
    """Return the name without a scale at its end, and that scale."""
    match = _SCALE.search(name)
    if match and match.start() > 0:
        low, high = (parse_number(end) for end in match.groups())
        if low is not None and high is not None and low != high:
            return ScaledName(name[: match.start()], low, high)
    match = _HIGHEST.search(name)
    if match and match.start() > 0 and not name[match.start() - 1].isdigit():
        high = float(match[1])
        return ScaledName(name[: match.start()], 0.0 if high >= _FROM_ZERO else 1.0, high)
    return ScaledName(name)


@lru_cache(maxsize=1)
def role_names() -> dict[str, dict[str, int]]:
    """Return the compact names of each role with their rank; 0 is preferred."""
    names: dict[str, dict[str, int]] = {}
    for role, by_language in read_data("columns/roles.toml").items():
        ranks = names.setdefault(role, {})
        for language_names in by_language.values():
            for rank, name in enumerate(language_names):
                ranks.setdefault(compact(name), rank)
    return names


@lru_cache(maxsize=1)
def word_lists() -> dict[str, frozenset[str]]:
    """Return the lists of words, each word in its compact form."""
    lists = read_data("columns/words.toml")
    return {key: frozenset(map(compact, words)) for key, words in lists.items()}


@lru_cache(maxsize=1)
def missing_marks() -> frozenset[str]:
    """Return the marks of a missing rating, in lower case."""
    return frozenset(mark.lower() for mark in read_data("columns/words.toml")["missing"])


def is_in(words: str, name: str) -> bool:
    """Return whether a name is in a list of words, whatever its scale and spelling."""
    return compact(scale_in_name(name).name) in word_lists()[words]


_CONTENTS = frozenset(["text", "content", "value", "values", "body", "message", "result"])
"""Last parts of paths that say nothing about the role."""
_ANSWERS = frozenset(["answer", "answers", "output", "outputs", "response", "completion"])
"""Last parts of paths whose role is that of the part before: `expected.answer`."""


def _role_part(parent: str, last: str) -> str:
    """Return the part of a path that says its role, in its compact form."""
    names, key = role_names(), compact(parent)
    roles = [role for role in names if key in names[role]]
    if compact(last) in _CONTENTS and roles:
        return key
    is_output = "candidate" in roles or "reference" in roles
    return key if compact(last) in _ANSWERS and is_output else compact(last)


def role_rank(role: str, name: str) -> int | None:
    """Return the rank of a name among the usual names of a role; None if it is not one.

    Of a path such as `outputs.answer`, the last part counts if the whole name is unknown; of
    `response.text`, the part before it.
    """
    ranks, bare = role_names()[role], scale_in_name(name).name
    if (key := compact(bare)) in ranks:
        return ranks[key]
    if role in _AUTHORS and _is_text_of(_AUTHORS[role], key):
        return len(ranks)
    *parents, last = re.split(r"[./]", bare)
    key = _role_part(parents[-1], last) if parents else ""
    return 1000 + ranks[key] if key in ranks else None


_AUTHORS = {"reference": "people_texts", "candidate": "machine_texts"}
"""Role -> words for the authors of its texts, as in `Humanübersetzung`."""


@lru_cache(maxsize=1024)
def _is_text_of(authors: str, key: str) -> bool:
    """Return whether a compact name is a kind of text with its author, in either order."""
    lists = word_lists()
    kinds = lists["kinds_of_text"]
    return any(
        (key.startswith(word) and key[len(word) :].removeprefix("s") in kinds)
        or (key.endswith(word) and key[: -len(word)] in kinds)
        or (key.startswith(word) and key[len(word) :] in kinds)
        for word in lists[authors]
    )


def is_language(name: str) -> bool:
    """Return whether a name is a language, perhaps with a word such as `text`: `English text`."""
    lists = word_lists()
    if compact(name) in lists["languages"]:
        return True
    words = [compact(word) for word in split_words(name)]
    rest = [word for word in words if word not in _LANGUAGE_COMPANIONS]
    return 0 < len(rest) < len(words) and compact("".join(rest)) in lists["languages"]


_LANGUAGE_COMPANIONS = frozenset(
    [
        "text",
        "texts",
        "sentence",
        "sentences",
        "satz",
        "segment",
        "texte",
        "phrase",
        "texto",
        "side",
    ]
)
"""Words beside the name of a language that say nothing about the role of a text."""


class NamePhrase(NamedTuple):
    """A usual name within a longer one: `answer` in `gpt-4 answer`."""

    role: str
    rest: str
    """The other words, with their separators: `gpt-4`."""


def find_phrase(name: str, roles: Sequence[str]) -> NamePhrase | None:
    """Return the longest usual name of one of the roles within a name of more words.

    Of equally long ones, that of the earlier role counts.
    """
    words = split_words(scale_in_name(name).name)
    for size in range(len(words) - 1, 0, -1):
        for role in roles:
            for start in range(len(words) - size + 1):
                phrase = words[start : start + size]
                if compact("".join(phrase)) in role_names()[role]:
                    return NamePhrase(role, _without(name, words, start, size))
    return None


def _without(name: str, words: Sequence[str], start: int, size: int) -> str:
    """Return a name without some of its words, and without separators at its ends."""
    ends, end = [], 0
    for word in words:
        end = name.index(word, end) + len(word)
        ends.append(end)
    before = name[: ends[start - 1]] if start else ""
    after = name[ends[start + size - 1] :]
    parts = (re.sub(r"^[\W_]+|[\W_]+$", "", part) for part in (before, after))
    return " ".join(filter(None, parts))


_RATER = re.compile(r"([^\W\d_]+?)(?:[\s_.#-]*(\d{1,4})|[\s_.#-]+([A-Za-z])|(?<=[a-z])([A-Z]))")


def is_rater(name: str) -> bool:
    """Return whether a name is of one rater: `rater1`, `Annotator B`, `A2`, a first name."""
    bare = scale_in_name(name).name.strip()
    lists = word_lists()
    if compact(bare) in lists["people"]:
        return True
    match = _RATER.fullmatch(bare)
    if match is None or compact(match[1]) not in lists["rater"]:
        return False
    return len(match[1]) > 1 or match[2] is not None


_FAMILY = re.compile(r"(.+?)(?: \((\d{1,3})\)|\.(\d{1,3}))")


def same_named(columns: Sequence[str]) -> dict[str, tuple[str, int]]:
    """Return the common name and the number of columns that have one name in the file.

    Readers name the second `score` as `score (2)`, pandas as `score.1`.
    """
    numbered: dict[str, tuple[str, int]] = {}
    for name in columns:
        match = _FAMILY.fullmatch(name)
        if match and match[1] in columns and match[1]:
            numbered[match[1]] = (match[1], 1)
            numbered[name] = (match[1], int(match[2]) if match[2] else int(match[3]) + 1)
    return numbered


def is_model(name: str) -> bool:
    """Return whether a name is of a system: a part of it is `gpt`, `bart`, `baseline` and so on."""
    models = word_lists()["models"]
    parts = [compact(part) for part in re.split(r"[\s_./:()-]+", name)]
    stems = [re.sub(r"\d+[a-z]?$", "", part) for part in parts]
    return any(part in models for part in (*parts, *stems) if part)


def sides() -> tuple[tuple[str, str], ...]:
    """Return the words of pairs: (`a`, `b`), (`left`, `right`) and so on."""
    pairs = (text.split() for text in read_data("columns/words.toml")["sides"])
    return tuple((first, second) for first, second in pairs)


def is_human(name: str) -> bool:
    """Return whether a word of a name says that people wrote the text."""
    return any(compact(word) in word_lists()["humans"] for word in split_words(name))
