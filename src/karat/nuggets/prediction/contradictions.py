"""Contradictions: facts of a nugget that its evidence in a response denies.

Shared words and vectors hardly notice a changed number, a replaced name or a negation. So the
sentences of a response that are about a nugget are compared with its description:

    numbers    a number of the nugget is nowhere in the response, and a sentence about the nugget
               has another number of the same kind; or it has another rank: `second highest`.
               Rounded conversions of units, units that cannot be converted into each other, and
               decades (`1990s` and 1994) are no contradiction
    names      a name of the nugget is nowhere in the response, and a sentence about the nugget has
               another name in its place; names of the question do not count
    negation   a sentence about the nugget negates a word that the nugget states, or states one that
               the nugget negates, or has the opposite of a word of the nugget

A sentence is about a nugget if it has enough of its words, by idf, without those of its numbers and
names. A nugget with several descriptions is contradicted if each of them is. Rules are in English,
like the stems and stop words of the classifier.

The weights of evidence are learned from judged answers, where contradictions are rare. So
contradictions are no column of evidence: they lower a guess by rule, to `MAX_PROBABILITY`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import chain, product
from typing import NamedTuple

from karat.arrays import Flags, Floats, np
from karat.facts.comparing import CHANGED, FactChange, name_is_in
from karat.facts.numbers import PAIRED, STRONG, Number
from karat.facts.rules import LazyProperty, rules_for
from karat.facts.texts import MAX_VOCABULARY, Name, TextFacts, text_facts
from karat.nuggets.prediction.pool import Pool
from karat.nuggets.scores.words import ENGLISH, StemIdf, stems_of
from karat.progress import Progress, silent
from karat.text.sentences import sentences
from karat.text.tokens import stop_words

MAX_PROBABILITY = 0.35
"""Highest probability of a contradicted guess, below all thresholds of built-in models."""
_LANGUAGE = "en"
_ABOUT = 0.4
"""Share of a nugget's words, by weight, from which a sentence is about the nugget."""
_NEARLY_ALL = 0.8
"""Share from which another name in a sentence replaces that of the nugget wherever it stands."""
_NEAR_BEST = 0.75
"""Share, relative to that of the best sentence, from which a sentence is among the best."""
_OUTWEIGHS = 1.2
"""A sentence that negates a word outweighs others with at most 1 / 1.2 of its share."""
_SCOPE = 4
"""Content words after a negation that it may negate."""
_WINDOW = 4
"""Content words before and after a number or name that are near it."""
_CLAUSE_ENDS = frozenset(",;:.!?()")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*|[,;:.!?()]")
_PLAIN_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_ROUNDING = Fraction(1, 20)
"""Largest relative difference of two measures in different units that may be rounded."""
_OTHER_UNIT = re.compile(
    r"\s*-?(?:°|degrees?)?\s*(f|c|fahrenheit|celsius|gallon|lit(?:er|re)|ml|l|ounce|oz|pint|"
    r"horsepower|hp|kw|knot|mph|(?:square|cubic) \w+?)s?\b",
    re.IGNORECASE,
)
"""Units after a number that the rules for facts do not know."""
_IN_SENTENCE = re.compile(r"(?<=[a-z,] )[A-Za-z][\w'’-]+")
_ORDINAL = rf"{'|'.join(w for w in rules_for('en').ordinals if w != 'first')}|\d+(?:st|nd|rd|th)"
_RANK = re.compile(rf"(?:\b({_ORDINAL})[ -]+)?\b(most|least|\w{{2,}}est)\b", re.IGNORECASE)


_STEMS: dict[str, str] = {}


def _learn_stems(words: Iterable[str]) -> dict[str, str]:
    """Stem words that are not in `_STEMS` yet, together; stop words have no stem."""
    new = sorted({word for word in words if word not in _STEMS})
    is_content = stop_words(ENGLISH.stop).lacks(new)
    pairs = zip(new, stems_of(new, ENGLISH.stem), is_content, strict=True)
    learned = {word: stem if keep else "" for word, stem, keep in pairs}
    if len(_STEMS) + len(learned) > MAX_VOCABULARY:
        _STEMS.clear()
    _STEMS.update(learned)
    return learned


def _stem(word: str) -> str:
    """Return the stem of a word; empty for a stop word."""
    stem = _STEMS.get(word)
    return _learn_stems([word])[word] if stem is None else stem


@lru_cache(maxsize=1 << 15)
def _words_of_text(text: str) -> frozenset[str]:
    return frozenset(_PLAIN_WORD.findall(text.lower()))


@lru_cache(maxsize=1 << 15)
def _stems_of_text(text: str) -> frozenset[str]:
    """Return the stems of content words."""
    words = _words_of_text(text)
    stems = set(map(_STEMS.get, words))
    if None in stems:
        learned = _learn_stems(words)
        stems = {learned[word] if word in learned else _stem(word) for word in words}
    return frozenset(stem for stem in stems if stem)


def _may_negate(text: str) -> bool:
    """Return whether a text may have a negation that `_Sentence.negated` has."""
    if "'t" in text or "’t" in text or "'T" in text or "’T" in text:
        return True
    return not rules_for(_LANGUAGE).negation_cues.isdisjoint(_words_of_text(text))


class _Word(NamedTuple):
    text: str
    start: int
    stem: str  # empty for stop words and punctuation


@dataclass(frozen=True, eq=False)
class _Sentence:
    """A sentence of a response, or a description of a nugget."""

    facts: TextFacts

    @LazyProperty
    def words(self) -> list[_Word]:
        """Words and punctuation, in order."""
        matches = ((m[0].lower(), m.start()) for m in _WORD.finditer(self.facts.text))
        return [
            _Word(text, start, "" if text in _CLAUSE_ENDS else _stem(text))
            for text, start in matches
        ]

    @LazyProperty
    def stems(self) -> frozenset[str]:
        """The stems of content words."""
        return _stems_of_text(self.facts.text)

    def near(self, start: int, end: int) -> frozenset[str]:
        """Return the stems of the content words near a span of characters."""
        before = [word.stem for word in self.words if word.stem and word.start < start]
        after = [word.stem for word in self.words if word.stem and word.start >= end]
        return frozenset((*before[-_WINDOW:], *after[:_WINDOW]))

    def near_name(self, name: Name) -> frozenset[str]:
        """Return the stems of the content words near a name."""
        words = self.facts.words_of(name)
        start = self.facts.text.find(words)
        return self.near(start, start + len(words))

    @LazyProperty
    def _scopes(self) -> list[dict[str, str]]:
        """The scope of each negation: stem -> the words from the negation to it."""
        if not _may_negate(self.facts.text):
            return []
        text, words, negating = self.facts.text, self.words, self.facts.rules.negating
        spans = [(n.start, n.end) for n in self.facts.negations if n.strength == STRONG]
        for word, following in zip(words, (*words[1:], _Word("", 0, "")), strict=True):
            if word.text in negating:
                spans.append((word.start, word.start + len(word.text)))
            elif f"{word.text} {following.text}" in negating:
                spans.append((word.start, following.start + len(following.text)))
        scopes = []
        for start, end in spans:
            scope: dict[str, str] = {}
            for word in words:
                if word.start < end:
                    continue
                if word.text in _CLAUSE_ENDS or word.text == "but" or len(scope) == _SCOPE:
                    break
                if word.stem:
                    scope.setdefault(word.stem, text[start : word.start + len(word.text)])
            scopes.append(scope)
        return scopes

    @LazyProperty
    def negated(self) -> dict[str, str]:
        """Stem -> the words from a negation to it, for all words in the scope of a negation."""
        return {stem: words for scope in reversed(self._scopes) for stem, words in scope.items()}

    @LazyProperty
    def denied(self) -> frozenset[str]:
        """The first content word after each negation, which is what it denies."""
        return frozenset(next(iter(scope)) for scope in self._scopes if scope)

    @LazyProperty
    def is_negative(self) -> bool:
        """Whether it has a negation, or a word that can stand for one."""
        return bool(self.facts.all_negations)

    @LazyProperty
    def own_ranks(self) -> dict[str, list[str]]:
        """Superlative -> the ordinals before it, empty without one."""
        return self.ranks()

    def ranks(self, near: frozenset[str] = frozenset()) -> dict[str, list[str]]:
        """Return superlative -> the ordinals before it, empty without one.

        With `near`, only superlatives near one of these stems count.
        """
        ranks: dict[str, list[str]] = {}
        for match in _RANK.finditer(self.facts.text):
            if not near or near & self.near(*match.span()):
                ranks.setdefault(match[2].lower(), []).append((match[1] or "").lower())
        return ranks


@lru_cache(maxsize=1 << 15)
def _sentence(text: str) -> _Sentence:
    return _Sentence(text_facts(text, _LANGUAGE))


class _Response(NamedTuple):
    """The sentences of a response, and the sentences that have a stem."""

    sentences: Sequence[str]
    having: Mapping[str, Sequence[int]]

    def shares(self, weights: Mapping[str, float], total: float) -> Iterator[tuple[float, str]]:
        """Yield the sentences about a nugget, with their shares of its weights."""
        sums: dict[int, float] = {}
        for stem, weight in weights.items():
            for k in self.having.get(stem, ()):
                sums[k] = sums.get(k, 0.0) + weight
        for k in sorted(sums):
            if sums[k] >= _ABOUT * total:
                yield sums[k] / total, self.sentences[k]


@lru_cache(maxsize=1 << 12)
def _parse(response: str) -> _Response:
    parts = sentences(response)
    _learn_stems(chain.from_iterable(map(_words_of_text, parts)))
    having: dict[str, list[int]] = {}
    for k, part in enumerate(parts):
        for stem in _stems_of_text(part):
            having.setdefault(stem, []).append(k)
    return _Response(parts, having)


@lru_cache(maxsize=1)
def _opposites() -> tuple[Mapping[str, tuple[frozenset[str], frozenset[str]]], frozenset[str]]:
    """Return stem -> the stems of its own group and of the opposite one, and the negative stems."""
    table, negative = {}, set[str]()
    for pair in rules_for(_LANGUAGE).opposites:
        first, second = (frozenset(filter(None, map(_stem, words))) for words in pair)
        negative |= second
        table.update(dict.fromkeys(first, (first, second)))
        table.update(dict.fromkeys(second, (second, first)))
    return table, frozenset(negative)


def _synonyms(stem: str) -> frozenset[str]:
    return _opposites()[0].get(stem, (frozenset((stem,)),))[0]


class _Nugget(NamedTuple):
    """A description, and its facts that are not in the question."""

    sentence: _Sentence
    question: TextFacts
    weights: Mapping[str, float]
    """Stem -> idf, without the words of `numbers` and `names`."""
    numbers: tuple[Number, ...]
    names: tuple[Name, ...]
    is_checked: bool
    """Whether a sentence without a negation can contradict it."""


@dataclass(frozen=True, eq=False)
class _Evidence:
    """The sentences of a response that are about a nugget, with their shares of its words."""

    text: str
    sentences: Sequence[tuple[float, _Sentence]]

    @property
    def response(self) -> TextFacts:
        """The facts of the whole response."""
        return text_facts(self.text, _LANGUAGE)

    @cached_property
    def best(self) -> list[_Sentence]:
        """The sentences with the largest shares."""
        least = _NEAR_BEST * max(share for share, _ in self.sentences)
        return [sentence for share, sentence in self.sentences if share >= least]


class Contradictions:
    """The contradictions between the nuggets and the responses of a pool."""

    def __init__(self, pool: Pool, idf: StemIdf) -> None:
        self._pool, self._idf = pool, idf
        self._nuggets: dict[int, list[_Nugget]] = {}

    def find(self, question: int, nugget: int, response: str) -> FactChange | None:
        """Return the first contradiction of a nugget, as an index of the pool, by a response."""
        if nugget not in self._nuggets:
            text = text_facts(self._pool.questions[question].text or "", _LANGUAGE)
            descriptions = self._pool.nuggets[nugget].descriptions
            self._nuggets[nugget] = [self._facts(x, text) for x in descriptions]
        first = None
        for facts in self._nuggets[nugget]:
            change = self._contradiction(facts, response)
            if change is None:
                return None
            first = first or change
        return first

    def _facts(self, description: str, question: TextFacts) -> _Nugget:
        sentence = _sentence(description)
        facts = sentence.facts
        numbers = tuple(
            number
            for number in facts.numbers
            if (number.strength or _is_ratio(number)) and not question.has_number(number)
        )
        names = tuple(name for name in self._names(facts) if not name_is_in(name, question))
        checked_words = (*map(facts.words_of, numbers), *map(facts.words_of, names))
        checked = _sentence(" ".join(checked_words))
        stems = sorted(sentence.stems - checked.stems)
        weights = dict(zip(stems, self._idf(stems).tolist(), strict=True)) if stems else {}
        has_opposites = not sentence.stems.isdisjoint(_opposites()[0].keys())
        is_checked = bool(
            numbers or names or sentence.denied or sentence.own_ranks or has_opposites
        )
        return _Nugget(sentence, question, weights, numbers, names, is_checked)

    def _contradiction(self, nugget: _Nugget, response: str) -> FactChange | None:
        total = sum(nugget.weights.values())
        if total <= 0:
            return None
        about = [*_parse(response).shares(nugget.weights, total)]
        if not about or not (nugget.is_checked or any(_may_negate(text) for _, text in about)):
            return None
        shares = [(share, _sentence(text)) for share, text in about]
        evidence = _Evidence(response, shares)
        changes = chain(
            _number_changes(nugget, evidence),
            _rank_changes(nugget, evidence),
            self._name_changes(nugget, evidence),
            _negation_changes(nugget, evidence),
            _opposite_changes(nugget, evidence),
        )
        return next(changes, None)

    # ------------------------------------------------------------------------------- names

    @cached_property
    def _case(self) -> tuple[Counter[str], Counter[str]]:
        """Counts of words within sentences of responses: with a capital, and without."""
        capital, lower = Counter[str](), Counter[str]()
        texts = dict.fromkeys(self._pool.texts)
        words = Counter(chain.from_iterable(map(_IN_SENTENCE.findall, texts)))
        for word, count in words.items():
            (capital if word[0].isupper() else lower)[word.lower()] += count
        return capital, lower

    def _is_proper(self, word: str) -> bool:
        """Return whether a word usually has a capital, where no sentence begins."""
        capital, lower = self._case
        return capital[word.lower()] > 2 * lower[word.lower()]

    def _names(self, facts: TextFacts) -> Iterator[Name]:
        """Yield the names; a word that begins a sentence is one if it is usually capitalised."""
        for name in facts.names:
            is_initial = name.strength == PAIRED
            words = facts.words_of(name).split() if is_initial else []
            if name.strength == STRONG or (is_initial and all(map(self._is_proper, words))):
                yield name

    def _name_changes(self, nugget: _Nugget, evidence: _Evidence) -> Iterator[FactChange]:
        facts = nugget.sentence.facts
        for name in nugget.names:
            if name_is_in(name, evidence.response):
                continue
            near = nugget.sentence.near_name(name)
            for share, sentence in evidence.sentences:
                for other in self._names(sentence.facts):
                    if name_is_in(other, facts) or name_is_in(other, nugget.question):
                        continue
                    if share >= _NEARLY_ALL or near & sentence.near_name(other):
                        words = facts.words_of(name), sentence.facts.words_of(other)
                        yield FactChange("names", CHANGED, *words)


# ----------------------------------------------------------------------------------- numbers


def _is_ratio(number: Number) -> bool:
    value = number.values[0]
    return number.unit is None and isinstance(value, Fraction) and value < 1


def _kind(number: Number) -> tuple[str, bool]:
    """Return the dimension of a number or `weekday` and such, and whether it may be a year."""
    if _is_ratio(number) or (number.unit and number.unit.name == "percent"):
        return "ratio", False
    value = number.values[0]
    if isinstance(value, tuple):
        return value[0], False
    is_year = number.unit is None and isinstance(value, int) and 1500 <= value < 2100
    return number.unit.dimension if number.unit else "", is_year


def _may_be_equal(*numbers: tuple[str, Number]) -> bool:
    """Return whether numbers of two texts may be the same in other units, or in a decade."""
    first, second = (number for _, number in numbers)
    if _decade(*numbers[0]) in {*_decades(second)} or _decade(*numbers[1]) in {*_decades(first)}:
        return True
    if first.unit is None or second.unit is None:
        units = [_OTHER_UNIT.match(text, number.end) for text, number in numbers]
        return all(units) and len({unit[1].lower() for unit in units if unit}) > 1
    if first.unit == second.unit:
        return False
    pairs = product(first.measures(), second.measures())
    return not (first.unit.converts and second.unit.converts) or any(
        abs(a - b) <= _ROUNDING * max(abs(a), abs(b)) for (_, a), (_, b) in pairs
    )


def _decades(number: Number) -> Iterator[int]:
    return (value // 10 for value in number.values if isinstance(value, int))


def _decade(text: str, number: Number) -> int | None:
    """Return the decade of a number such as `1990s`, as 199; None of other numbers."""
    is_decade = re.match(r"['’]?s\b", text[number.end :]) is not None
    return next(_decades(number), None) if is_decade else None


def _number_changes(nugget: _Nugget, evidence: _Evidence) -> Iterator[FactChange]:
    facts, best = nugget.sentence.facts, evidence.best
    for number in nugget.numbers:
        if evidence.response.has_number(number):
            continue
        near = nugget.sentence.near(number.start, number.end)
        for _, sentence in evidence.sentences:
            for other in sentence.facts.numbers:
                if not other.strength or _kind(other) != _kind(number):
                    continue
                if facts.has_number(other) or nugget.question.has_number(other):
                    continue
                if _may_be_equal((facts.text, number), (sentence.facts.text, other)):
                    continue
                if sentence in best or near & sentence.near(other.start, other.end):
                    words = facts.words_of(number), sentence.facts.words_of(other)
                    yield FactChange("numbers", CHANGED, *words)


def _rank_changes(nugget: _Nugget, evidence: _Evidence) -> Iterator[FactChange]:
    """Yield other ranks; of a nugget with names, only ranks near one of them count."""
    expected = nugget.sentence.own_ranks
    if not expected:
        return
    facts = nugget.sentence.facts
    names = _sentence(" ".join(map(facts.words_of, nugget.names))).stems
    for word, (rank, *_) in expected.items():
        ranks = [r for _, s in evidence.sentences for r in s.ranks(names).get(word, ())]
        if ranks and rank not in ranks and (not rank or any(ranks)):
            words = f"{rank} {word}".strip(), f"{max(ranks)} {word}"
            yield FactChange("numbers", CHANGED, *words)


# ---------------------------------------------------------------------------------- negation


def _negation_changes(nugget: _Nugget, evidence: _Evidence) -> Iterator[FactChange]:
    description, best = nugget.sentence, evidence.best
    has_marker = any(x.strength == STRONG for x in description.facts.negations)
    negative = description.stems & _opposites()[1]
    for stem in sorted(description.stems):
        forms = _synonyms(stem)
        having = [(share, s) for share, s in evidence.sentences if forms & s.stems]
        if stem in description.denied:
            stating = [s for _, s in having if s in best]
            if has_marker and stating and not any(s.is_negative for _, s in having):
                word = next(w.text for w in stating[0].words if w.stem in forms)
                yield FactChange("negation", CHANGED, description.negated[stem], word)
        elif not description.is_negative and not negative - {stem}:  # it states the word
            denying = [x for x in having if forms & x[1].stems <= x[1].negated.keys()]
            if not denying:
                continue
            stating_share = max((x[0] for x in having if x not in denying), default=0.0)
            share, sentence = max(denying, key=lambda x: x[0])
            if share >= _OUTWEIGHS * stating_share and sentence in best:
                words = sentence.negated[min(forms & sentence.stems)]
                yield FactChange("negation", CHANGED, _word_of(description, stem), words)


def _word_of(sentence: _Sentence, stem: str) -> str:
    return next(word.text for word in sentence.words if word.stem == stem)


def _opposite_changes(nugget: _Nugget, evidence: _Evidence) -> Iterator[FactChange]:
    description, best = nugget.sentence, evidence.best
    table, _ = _opposites()
    for stem in sorted(description.stems & table.keys()):
        forms, opposite = table[stem]
        if description.stems & opposite or stem in description.negated:
            continue
        if any(forms & sentence.stems for sentence in best):
            continue
        expected = next(word for word in description.words if word.stem == stem)
        near = description.near(expected.start, expected.start + len(expected.text))
        for sentence in best:
            for word in sentence.words:
                if word.stem not in opposite or word.stem in sentence.negated:
                    continue
                if near & sentence.near(word.start, word.start + len(word.text)):
                    yield FactChange("negation", CHANGED, expected.text, word.text)


# ----------------------------------------------------------------------------------- guesses


def find_contradictions(
    pool: Pool, idf: StemIdf, probabilities: Floats, carried: Flags, progress: Progress = silent
) -> dict[int, FactChange]:
    """Return the contradictions of pairs that are guessed to be carried, by cell.

    Pairs that are known from an identical response (probability 1) are not guessed.
    """
    cells = np.flatnonzero(carried & (probabilities < 1))
    finder, changes = Contradictions(pool, idf), dict[int, FactChange]()
    by_text: dict[tuple[int, str], FactChange | None] = {}
    for done, cell in enumerate(cells.tolist(), 1):
        nugget, text = int(pool.cell_nugget[cell]), pool.texts[pool.cell_response[cell]]
        if (nugget, text) not in by_text:
            by_text[nugget, text] = finder.find(int(pool.cell_question[cell]), nugget, text)
        change = by_text[nugget, text]
        if change is not None:
            changes[cell] = change
        if done % 1000 == 0 or done == len(cells):
            progress(done, len(cells), "comparing facts")
    return changes
