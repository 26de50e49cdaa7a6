"""Differences of a candidate from what it is compared with: numbers, negation, names.

    changed   a fact of the candidate that no reference has, and a fact of all references that the
              candidate lacks
    added     a fact of the candidate that no reference has
    missing   a fact of all references that the candidate lacks

Weak facts agree with others, and are in no change themselves. Negations are counted; between
languages, where one negates with a word and another with a verb, only texts with and without any
negation differ.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeVar

from karat.facts.numbers import STRONG, Number
from karat.facts.texts import Name, TextFacts, acronyms_of, text_facts

CHECKS = ("numbers", "negation", "names")
"""Kinds of facts."""
CHANGED, MISSING, ADDED = "changed", "missing", "added"

FactT = TypeVar("FactT", Number, Name)


class FactChange(NamedTuple):
    """A fact in which a candidate differs from its references, with the words of both."""

    check: str
    kind: str
    reference: str = ""
    """Words of the reference; empty if the fact was added."""
    output: str = ""
    """Words of the candidate; empty if the fact is missing."""

    def evidence(self, against: str = "reference") -> str:
        """Return the words of both texts: `reference 17, output 71`."""
        return f"{against} {self.reference or 'none'}, output {self.output or 'none'}"

    def describe(self, against: str = "reference") -> str:
        """Return the change in words: `numbers: reference 17, output 71`."""
        return f"{self.check}: {self.evidence(against)}"


def fact_changes(
    candidate: str,
    references: Sequence[str],
    lang: str = "en",
    *,
    check: Sequence[str] = CHECKS,
    reference_lang: str | None = None,
    added_only: bool = False,
) -> tuple[FactChange, ...]:
    """Return the facts in which a candidate differs from all its references together.

    Args:
        candidate: the text that is checked.
        references: the texts that it is compared with; empty texts are left out. Without any
            other, nothing is changed, or with `added_only` all facts are added.
        lang: language of the candidate.
        check: kinds of facts: `numbers`, `negation`, `names`.
        reference_lang: language of the references, if it is another one. Names are then not
            compared.
        added_only: leave out what the candidate lacks: it may say less than its references.
    """
    texts = [text for text in references if text.strip()]
    if not texts and added_only:
        texts = [""]
    if not texts:
        return ()
    facts = text_facts(candidate, lang)
    against = [text_facts(text, reference_lang or lang) for text in texts]
    is_translation = reference_lang not in (None, lang)
    changes: list[FactChange] = []
    for name in check:
        if name == "numbers":
            changes += _number_changes(facts, against, added_only)
        elif name == "negation":
            changes += _negation_changes(facts, against, is_translation, added_only)
        elif not is_translation:
            changes += _name_changes(facts, against, added_only)
    return tuple(changes)


def _differences(
    facts: Sequence[FactT],
    references: Sequence[Sequence[FactT]],
    in_candidate: Callable[[FactT], bool],
    in_reference: Callable[[FactT, int], bool],
) -> tuple[list[FactT], list[FactT]]:
    """Return the facts of the candidate in no reference, and those of all references it lacks."""
    numbers = range(len(references))
    added = [f for f in facts if f.strength and not any(in_reference(f, k) for k in numbers)]
    missing = [
        f
        for f in references[0]
        if f.strength and not in_candidate(f) and all(in_reference(f, k) for k in numbers[1:])
    ]
    return added, missing


def _paired(
    check: str,
    facts: TextFacts,
    reference: TextFacts,
    added: Sequence[FactT],
    missing: Sequence[FactT],
) -> list[FactChange]:
    """Return changes: added and missing facts are paired in their order, strong ones first."""
    new, lost = _distinct(facts, added), _distinct(reference, missing)
    n_pairs = min(len(new), len(lost))
    changes = [FactChange(check, CHANGED, lost[i][0], new[i][0]) for i in range(n_pairs)]
    changes += [
        FactChange(check, MISSING, text) for text, strength in lost[n_pairs:] if strength == STRONG
    ]
    more = (text for text, strength in new[n_pairs:] if strength == STRONG)
    return changes + [FactChange(check, ADDED, "", text) for text in more]


def _distinct(text: TextFacts, facts: Sequence[FactT]) -> list[tuple[str, int]]:
    """Return the words of facts without duplicates, with their strength."""
    ordered: list[FactT] = sorted(facts, key=lambda fact: (-fact.strength, fact.start))
    return [*{text.words_of(fact): fact.strength for fact in ordered}.items()]


def _number_changes(
    facts: TextFacts, against: Sequence[TextFacts], added_only: bool
) -> list[FactChange]:
    """Return changed, missing and added numbers."""
    if not facts.has_numbers and not all(reference.has_numbers for reference in against):
        return []
    numbers, references = facts.numbers, [reference.numbers for reference in against]
    added, missing = _differences(
        numbers,
        references,
        facts.has_number,
        lambda number, k: against[k].has_number(number),
    )
    if not added and not missing:
        return []
    return _paired("numbers", facts, against[0], added, [] if added_only else missing)


def _negation_changes(
    facts: TextFacts, against: Sequence[TextFacts], is_translation: bool, added_only: bool
) -> list[FactChange]:
    """Return an added or a missing negation, with all words of negation as evidence."""
    if not facts.negations and not all(reference.negations for reference in against):
        return []
    strong, stems = _counts(facts, is_translation)
    added, missing = [], []
    for reference in against:
        reference_strong, reference_stems = _counts(reference, is_translation)
        only_reference = (reference_stems - stems).total()
        only_candidate = (stems - reference_stems).total()
        if is_translation:
            only_reference = max(reference_stems.total() - stems.total(), 0)
            only_candidate = max(stems.total() - reference_stems.total(), 0)
        added.append(strong - reference_strong > only_reference)
        missing.append(reference_strong - strong > only_candidate)
    is_added, is_missing = all(added), all(missing) and not added_only
    is_moved = not is_translation and all(_is_moved(facts, reference) for reference in against)
    if not is_added and not is_missing and not is_moved:
        return []
    expected, output = (
        ", ".join(side.words_of(word) for word in side.negations if word.strength == STRONG)
        for side in (against[0], facts)
    )
    if added_only:
        return [FactChange("negation", ADDED, "", output)]
    kind = CHANGED if expected and output else ADDED if is_added else MISSING
    return [FactChange("negation", kind, expected, output)]


def _is_moved(facts: TextFacts, reference: TextFacts) -> bool:
    """Return whether each text negates a word that the other has too, but does not negate."""
    of_candidate, of_reference = (
        facts.negated - reference.negated,
        reference.negated - facts.negated,
    )
    return not (of_candidate.isdisjoint(reference.words) or of_reference.isdisjoint(facts.words))


def _counts(facts: TextFacts, is_translation: bool) -> tuple[int, Counter[str]]:
    """Return the number of negations, and the stems of words that can stand for one."""
    negations = facts.all_negations if is_translation else facts.negations
    stems = (facts.words_of(word).lower()[:5] for word in negations if word.strength < STRONG)
    return sum(word.strength == STRONG for word in negations), Counter(stems)


# ----------------------------------------------------------------------------------- names


def _name_changes(
    facts: TextFacts, against: Sequence[TextFacts], added_only: bool
) -> list[FactChange]:
    """Return changed, missing and added names."""
    names, references = facts.names, [reference.names for reference in against]
    if not names and not references[0]:
        return []
    added, missing = _differences(
        names,
        references,
        lambda name: name_is_in(name, facts),
        lambda name, k: name_is_in(name, against[k]),
    )
    if not added and not missing:
        return []
    return _paired("names", facts, against[0], added, [] if added_only else missing)


def name_is_in(name: Name, facts: TextFacts) -> bool:
    """Return whether a text has a name: half of its words, or its acronym."""
    n_present = sum(_has_word(facts, word) for word in name.words)
    if 2 * n_present >= len(name.words):
        return True
    initials = "".join(word[0] for word in name.words)
    return any(acronym in facts.words for acronym in acronyms_of(initials))


def _has_word(facts: TextFacts, word: str) -> bool:
    """Return whether a text has a word of a name, a form or an alias of it."""
    if word in facts.words or word in facts.acronyms:
        return True
    aliases = facts.rules.aliases.get(word)
    if aliases is not None and not aliases.isdisjoint(facts.words):
        return True
    return any(_are_alike(word, x) for x in facts.words_like(word))


@lru_cache(maxsize=1 << 16)
def _are_alike(first: str, second: str) -> bool:
    """Return whether two words may be forms of one name: China and Chinese, Arun and Aron."""
    shorter, longer = sorted((first, second), key=len)
    if len(shorter) < 4:
        return False
    if longer.startswith(shorter[:4]):
        return True
    pairs = {shorter[i : i + 2] for i in range(len(shorter) - 1)}
    common = sum(longer[i : i + 2] in pairs for i in range(len(longer) - 1))
    return 2 * common >= 1.2 * (len(longer) - 1)
