"""Errors planted into the texts of a set: challenge sets of a user's own domain and language.

An error is planted by a function from a text to the text with the error, or None if the text
offers no place for it. What depends on the language is data: `data/planting/LANGUAGE.toml`. Random
choices depend on the seed, the phenomenon and the segment alone, so that the pairs of a segment do
not change with the other phenomena.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from random import Random
from typing import Any

from karat.errors import InputError, quoted, short
from karat.evalset.loading import SetSource, as_evalset
from karat.evalset.sets import EvalSet
from karat.meta.challenge_sets import ChallengePair, ChallengeSet
from karat.meta.settings import PHENOMENA, PlantingSettings
from karat.progress import Progress, silent
from karat.settings import nearest
from karat.tables.names import read_data

_LANGUAGE = re.compile(r"[a-z]{2,3}")
_NUMBER = re.compile(r"(?<![A-Za-z0-9])[0-9]+(?![A-Za-z0-9])")
_WORD = re.compile(r"[^\W_]+(?:[-.'’][^\W_]+)*")
_SENTENCE_ENDS = ".!?…:;\"“”„«»'‘(*—–-。！？："
_PLAIN_LETTERS = str.maketrans({"’": "'", "ı": "i", "ſ": "s", "\u0307": ""})
_MIN_UNITS = 4
"""Words, or characters of languages without spaces, that a text needs for most errors."""


@dataclass(frozen=True)
class LanguageRules:
    """Rules for planting errors in a language."""

    lang: str
    spaces: bool = True
    negations: tuple[tuple[str, str], ...] = ()
    """Pairs of a phrase and its negation."""
    removals: tuple[tuple[str, str], ...] = ()
    """Pairs of which only the negation is replaced."""
    negators: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    number_followers: str = ""
    names: bool = False
    capitals: tuple[str, ...] = ()
    blocked: tuple[str, ...] = ()

    def pattern(self, phrases: Sequence[str]) -> re.Pattern[str]:
        """Return the pattern of whole phrases, longer ones first, in any case."""
        if not phrases:
            return re.compile(r"(?!)")
        escaped = "|".join(
            re.escape(phrase).replace("'", "['’]")
            for phrase in sorted(phrases, key=len, reverse=True)
        )
        if self.spaces:
            escaped = rf"(?<![\w'’])(?:{escaped})(?![\w'’])"
        return re.compile(escaped, re.IGNORECASE)

    def matches(self, phrases: Sequence[str], text: str) -> list[re.Match[str]]:
        """Return the occurrences of phrases that are not within a blocked word."""
        pattern = "|".join(map(re.escape, self.blocked)) or r"(?!)"
        blocked = [match.span() for match in re.finditer(pattern, text)]
        return [
            match
            for match in self.pattern(phrases).finditer(text)
            if not any(start < match.end() and match.start() < end for start, end in blocked)
        ]


def language_rules(lang: str) -> LanguageRules:
    """Return the rules of a language by its code; without rules of its own, the general ones."""
    if not _LANGUAGE.fullmatch(lang):
        raise InputError(f"lang={quoted(lang)}: expected a code such as en, de or zh")
    if lang not in languages():
        return LanguageRules(lang)
    data = read_data(f"planting/{lang}.toml")
    lists: dict[str, Any] = {key: tuple(v) for key, v in data.items() if isinstance(v, list)}
    for key in ("negations", "removals"):
        lists[key] = tuple((phrase, negation) for phrase, negation in data.get(key, ()))
    return LanguageRules(lang, **{**data, **lists})


def languages() -> list[str]:
    """Return the codes of languages that have rules."""
    folder = resources.files("karat") / "data" / "planting"
    return sorted(file.name.removesuffix(".toml") for file in folder.iterdir())


@dataclass(frozen=True)
class _Place:
    """A text to plant an error in, with the texts and names of the other segments."""

    text: str
    rules: LanguageRules
    rng: Random
    other_texts: Sequence[str] = ()
    names: Sequence[str] = ()
    avoided_texts: Sequence[str] = field(default_factory=tuple)
    """Texts that an inserted name must not occur in: the text and its references."""

    @property
    def parts(self) -> tuple[list[str], str]:
        """The units of the text (words with their spaces, or characters), and its final marks."""
        return _split(self.text, self.rules.spaces)

    def scaled(self, low: int, high: int) -> tuple[int, int]:
        """Return numbers of words as numbers of units: two characters are about a word."""
        factor = 1 if self.rules.spaces else 2
        return low * factor, high * factor


def _split(text: str, spaces: bool) -> tuple[list[str], str]:
    body = text.rstrip()
    size = len(body)
    while size and unicodedata.category(body[size - 1])[0] in "PZ":
        size -= 1
    units = re.findall(r"\S+\s*", body[:size]) if spaces else list(body[:size])
    return units, body[size:]


def _join(units: Sequence[str], end: str) -> str:
    return "".join(units).rstrip() + end


def _spaced(units: Sequence[str], spaces: bool) -> list[str]:
    """Return units of which each ends with a space, so that their order can change."""
    return [f"{unit.rstrip()} " for unit in units] if spaces else list(units)


def _like(model: str, text: str) -> str:
    """Return the text with a capital if the model has one."""
    return text[:1].upper() + text[1:] if model[:1].isupper() else text


def _plain(phrase: str) -> str:
    """Return a phrase of a text as the rules write it, also with letters that match by case."""
    return phrase.lower().translate(_PLAIN_LETTERS)


def _replace(text: str, span: tuple[int, int], replacement: str) -> str:
    return text[: span[0]] + replacement + text[span[1] :]


# -------------------------------------------------------------------------------- phenomena


def _plant_number(place: _Place) -> str | None:
    """Replace a number by another one of as many digits, or a number word by another."""
    rules, rng = place.rules, place.rng
    words = [
        match
        for match in rules.matches(rules.numbers, place.text)
        if not rules.number_followers
        or place.text[match.end() : match.end() + 1] in [*rules.number_followers]
    ]
    matches = [*_NUMBER.finditer(place.text), *words]
    if not matches:
        return None
    match = rng.choice(matches)
    number = match[0]
    if number.isascii() and number.isdigit():
        replacement = number
        while replacement == number:
            first = rng.choice("123456789" if number[0] != "0" else "0123456789")
            replacement = first + "".join(rng.choice("0123456789") for _ in number[1:])
    else:
        choices = [word for word in rules.numbers if word != number.lower()]
        replacement = _like(number, rng.choice(choices))
    return _replace(place.text, match.span(), replacement)


def _plant_negation(place: _Place) -> str | None:
    """Remove a negation, or negate a verb of a text that has none and is no question."""
    rules, rng, text = place.rules, place.rng, place.text
    positive = {negative: phrase for phrase, negative in (*rules.removals, *rules.negations)}
    if negated := rules.matches([*positive], text):
        match = rng.choice(negated)
        phrase = positive[_plain(match[0])]
        return _replace(text, match.span(), _like(match[0], phrase))
    if rules.pattern(rules.negators).search(text) or re.search("[?？]", text):
        return None
    negative = dict(reversed(rules.negations))
    matches = rules.matches([*negative], text)
    if not matches:
        return None
    match = rng.choice(matches)
    return _replace(text, match.span(), _like(match[0], negative[_plain(match[0])]))


def find_names(text: str, rules: LanguageRules) -> list[re.Match[str]]:
    """Return runs of words with capitals that do not begin a sentence; none of a title."""
    words = [*_WORD.finditer(text)]
    capital_words = [word for word in words if word[0][0].isupper()]
    if not rules.names or 3 * len(capital_words) > 2 * len(words):
        return []
    spans: list[list[int]] = []
    for word in capital_words:
        before = text[: word.start()].rstrip()
        if not before or before[-1] in _SENTENCE_ENDS or word[0] in rules.capitals:
            continue
        end = word.end() - 2 * word[0].endswith(("'s", "’s"))
        if spans and text[spans[-1][1] : word.start()] == " ":
            spans[-1][1] = end
        elif end - word.start() > 1:
            spans.append([word.start(), end])
    return [match for span in spans if (match := re.compile(r"(?s).+").fullmatch(text, *span))]


def _plant_name(place: _Place) -> str | None:
    """Replace a name by one from another segment, of as many words if there is one."""
    matches = find_names(place.text, place.rules)
    if not matches:
        return None
    match = place.rng.choice(matches)
    avoided = {word for text in place.avoided_texts for word in text.split()}
    choices = [name for name in place.names if avoided.isdisjoint(name.split())]
    size = len(match[0].split())
    choices = [name for name in choices if len(name.split()) == size] or choices
    return _replace(place.text, match.span(), place.rng.choice(choices)) if choices else None


def _plant_omission(place: _Place) -> str | None:
    """Remove a run of a fifth to a third of the words."""
    units, end = place.parts
    if len(units) < _MIN_UNITS:
        return None
    size = place.rng.randint(max(1, len(units) // 5), max(1, len(units) // 3))
    start = place.rng.randint(1, len(units) - size)
    return _join([*units[:start], *units[start + size :]], end)


def _plant_addition(place: _Place) -> str | None:
    """Insert two to five words of another segment."""
    units, end = place.parts
    texts = [text for text in place.other_texts if text != place.text]
    if len(units) < 2 or not texts:
        return None
    source, _ = _split(place.rng.choice(texts), place.rules.spaces)
    size = min(len(source), place.rng.randint(*place.scaled(2, 5)))
    if not size:
        return None
    start = place.rng.randint(0, len(source) - size)
    at = place.rng.randint(1, len(units) - 1)
    inserted = _spaced(source[start : start + size], place.rules.spaces)
    return _join([*units[:at], *inserted, *units[at:]], end)


def _plant_word_order(place: _Place) -> str | None:
    """Shuffle up to six words in a row."""
    units, end = place.parts
    spaced = _spaced(units, place.rules.spaces)
    size = min(len(spaced), place.scaled(6, 6)[1])
    start = place.rng.randint(0, len(spaced) - size)
    window = spaced[start : start + size]
    if len({*window}) < 2:
        return None
    shuffled = list(window)
    while shuffled == window:
        place.rng.shuffle(shuffled)
    return _join([*spaced[:start], *shuffled, *spaced[start + size :]], end)


def _plant_repetition(place: _Place) -> str | None:
    """Repeat one to three words."""
    units, end = place.parts
    if not units:
        return None
    spaced = _spaced(units, place.rules.spaces)
    size = min(len(spaced), place.rng.randint(*place.scaled(1, 3)))
    start = place.rng.randint(0, len(spaced) - size)
    repeated = spaced[start : start + size]
    return _join([*spaced[: start + size], *repeated, *spaced[start + size :]], end)


def _plant_casing(place: _Place) -> str:
    """Write the text without capitals."""
    return place.text.lower()


def _plant_punctuation(place: _Place) -> str:
    """Remove all punctuation but marks within words and numbers."""
    text = place.text
    characters = []
    for i, c in enumerate(text):
        is_mark = unicodedata.category(c)[0] == "P"
        is_within = c in "-.,:/'’" and text[:i][-1:].isalnum() and text[i + 1 : i + 2].isalnum()
        if not is_mark or is_within:
            characters.append(c)
    return re.sub(r"\s+", " ", "".join(characters)).strip()


def _plant_truncation(place: _Place) -> str | None:
    """Keep the first half to three quarters of the words."""
    units, _ = place.parts
    if len(units) < _MIN_UNITS:
        return None
    size = place.rng.randint(-(-len(units) // 2), 3 * len(units) // 4)
    return _join(units[:size], "")


PLANTERS: Mapping[str, Callable[[_Place], str | None]] = {
    "number": _plant_number,
    "negation": _plant_negation,
    "name": _plant_name,
    "omission": _plant_omission,
    "addition": _plant_addition,
    "truncation": _plant_truncation,
    "word order": _plant_word_order,
    "repetition": _plant_repetition,
    "casing": _plant_casing,
    "punctuation": _plant_punctuation,
}
"""Phenomenon -> the function that plants it."""


# --------------------------------------------------------------------------------- whole sets


def make_challenge(
    evalset: SetSource,
    *,
    lang: str = PlantingSettings.lang,
    system: str | None = PlantingSettings.system,
    phenomena: Sequence[str] = PlantingSettings.phenomena,
    seed: int = PlantingSettings.seed,
    progress: Progress = silent,
) -> ChallengeSet:
    """Plant errors into the texts of a set: a challenge set of its domain and language.

    Each segment has at most one pair of each phenomenon. Good texts are the second reference, with
    the other references to compare with; of a segment with one reference, that reference.

    Args:
        evalset: a set, its name or path, the path of a table, or a frame.
        lang: language of the texts, as a code. Languages without rules get general errors alone.
        system: system whose outputs are the good texts instead.
        phenomena: errors to plant; by default all.
        seed: seed of the random choices; the same seed makes the same pairs.
        progress: function that is called with the progress.
    """
    settings = PlantingSettings(lang, system, tuple(phenomena), seed)
    rules = language_rules(lang)
    loaded = as_evalset(evalset, progress)
    names = settings.phenomena or tuple(PHENOMENA)
    segments = [*_good_texts(loaded, system)]
    good_texts = [good for _, good, _, _ in segments]
    pool = (match[0] for text in good_texts for match in find_names(text, rules))
    all_names = list(dict.fromkeys(pool))
    pairs = []
    for phenomenon in names:
        for item, good, references, source in segments:
            place = _Place(
                good,
                rules,
                Random(f"{seed}/{phenomenon}/{item}"),
                good_texts,
                all_names,
                (good, *references),
            )
            bad = PLANTERS[phenomenon](place)
            if bad is not None and bad.strip() and bad not in (good, *references):
                severity = PHENOMENA[phenomenon]
                pairs.append(
                    ChallengePair(item, phenomenon, severity, references, good, bad, source)
                )
    if not pairs:
        raise InputError(f"{loaded.name}: no text offers a place for {short(', '.join(names))}")
    notes = _notes(segments, pairs, names, rules)
    return ChallengeSet(f"{loaded.name} with planted errors", tuple(pairs), tuple(notes))


def _good_texts(
    evalset: EvalSet, system: str | None
) -> Iterator[tuple[str, str, tuple[str, ...], str]]:
    """Yield the id, good text, references and source of each segment that has a good text."""
    if system is not None and system not in evalset.systems:
        hint = nearest(system, evalset.systems) or f" (it has {short(', '.join(evalset.systems))})"
        raise InputError(f"{evalset.name} has no system {quoted(system)}{hint}")
    if system is None and not any(evalset.references):
        raise InputError(
            f"{evalset.name} has no references to plant errors in: name a system whose outputs are "
            "the good texts, with --system"
        )
    outputs = None if system is None else evalset.systems[system]
    for i, item in enumerate(evalset.segments):
        references = tuple(evalset.references[i])
        source = evalset.sources[i] if evalset.sources else ""
        if outputs is not None:
            good = outputs[i] or ""
        else:
            good = references[min(1, len(references) - 1)] if references else ""
            references = (*references[:1], *references[2:])
        if good.strip() and not (any(evalset.references) and not references):
            yield str(item), good, references, source


def _notes(
    segments: Sequence[tuple[str, str, tuple[str, ...], str]],
    pairs: Sequence[ChallengePair],
    names: Sequence[str],
    rules: LanguageRules,
) -> Iterator[str]:
    """Yield what the rules do not cover, phenomena without pairs, and copies of references."""
    uncovered = []
    if not rules.negations:
        uncovered.append("negation")
    if not rules.names:
        uncovered.append("name")
    if left_out := [name for name in uncovered if name in names]:
        yield f"Left out: {' and '.join(left_out)}, which the rules for {rules.lang} do not cover."
    if "number" in names and not rules.numbers:
        yield f"Only digits are changed: there are no number words for {rules.lang}."
    planted = {pair.phenomenon for pair in pairs}
    if absent := [name for name in names if name not in planted and name not in left_out]:
        yield f"No text offers a place for {', '.join(absent)}."
    copies = sum(good in references for _, good, references, _ in segments)
    if copies:
        yield (
            f"{copies:,} of {len(segments):,} good texts are references themselves: their segments "
            "have no other reference. Name a system with --system for a harder test."
        )
