"""Edits that turn a lemma into a form, counted from the end, so that they fit other lemmas too.

`study` -> `studies` is (0, y, ies); `5000` -> `5,000` is (3, , `,`): a comma before the last three
characters. What changes the beginning alone has the place `START` (`machen` -> `gemacht`).
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from difflib import SequenceMatcher
from functools import cached_property, lru_cache
from itertools import combinations
from typing import NamedTuple

START = -1
MIN_SEVERAL_EDITS = 3
"""Characters, changed on both sides, that may be several changes."""
Edit = tuple[tuple[int, str, str], ...]
"""Place, what is taken away and what is put there; from the first place to the last."""


def edit_between(lemma: str, form: str) -> Edit:
    """Return the edit that turns a lemma into a form."""
    if lemma == form:
        return ()
    begin = common_beginning(lemma, form)
    end = common_beginning(lemma[begin:][::-1], form[begin:][::-1])
    old, new = lemma[begin : len(lemma) - end], form[begin : len(form) - end]
    if min(len(old), len(new)) < MIN_SEVERAL_EDITS:
        return (_at(lemma, begin, begin + len(old), new),)
    matcher = SequenceMatcher(None, lemma, form, autojunk=False)
    changed = [opcode for opcode in matcher.get_opcodes() if opcode[0] != "equal"]
    return tuple(_at(lemma, i, j, form[a:b]) for _, i, j, a, b in changed)


def common_beginning(a: str, b: str) -> int:
    """Return the number of characters that two words begin with alike."""
    pairs = enumerate(zip(a, b, strict=False))
    return next((i for i, (x, y) in pairs if x != y), min(len(a), len(b)))


def _at(lemma: str, begin: int, end: int, new: str) -> tuple[int, str, str]:
    at_start = begin == 0 and end < len(lemma)
    return START if at_start else len(lemma) - end, lemma[begin:end], new


def apply_edit(lemma: str, edit: Edit) -> str | None:
    """Return the form that an edit makes of a lemma; nothing if it does not fit."""
    parts, done = [], 0
    for place, old, new in edit:
        begin = 0 if place == START else len(lemma) - place - len(old)
        if begin < done or lemma[begin : begin + len(old)] != old:
            return None
        parts += [lemma[done:begin], new]
        done = begin + len(old)
    return "".join([*parts, lemma[done:]]) or None


MAX_SUFFIX, LAST_DIGITS = 5, 3
"""Characters of a suffix; `^` stands for the beginning of the lemma, `0` for any digit."""
MIN_TYPES = 2
MIN_RULE_PROBABILITY = 0.3
"""Probability of a rule that is used; slips of the pen have rules that are less probable."""
MIN_TYPE_SHARE = 0.2
"""Share of the types that must speak for a form that is not the best."""
_DIGIT = re.compile(r"\d")

Label = tuple[str, ...]
"""Tags, with or without features, that the lemmas of a rule share beside their ends."""


class Guess(NamedTuple):
    """Forms with the number of types that speak for each, and the probability of the best.

    `suffix` is the end of the lemma that the rule is for; None if there is no rule.
    """

    forms: Mapping[str, int]
    probability: float
    suffix: str | None = None


def suffixes(lemma: str) -> Iterator[str]:
    """Yield the suffixes of a lemma that rules are looked for under, the best first.

    Lemmas with digits are looked for by their whole shape, with and without the last digits.
    """
    marked = f"^{lemma}"
    shape = _DIGIT.sub("0", marked)
    if shape != marked:
        yield shape[:-LAST_DIGITS] + marked[-LAST_DIGITS:]
        yield shape
    yield from (shape[len(shape) - n :] for n in range(min(MAX_SUFFIX, len(shape)), -1, -1))


class SuffixRules:
    """Edits of known types, by label and suffix."""

    def __init__(self) -> None:
        self._edits: dict[tuple[Label, str], Counter[Edit]] = defaultdict(Counter)

    @classmethod
    def learn(cls, types: Iterable[tuple[str, tuple[Label, ...], str]]) -> SuffixRules:
        """Learn from lemmas, each with its labels, the narrowest first, and its form."""
        rules = cls()
        for lemma, labels, form in types:
            edit = edit_between(lemma, form)
            for suffix in set(suffixes(lemma)):
                for label in labels:
                    rules._edits[label, suffix][edit] += 1
        return rules

    def guess(self, lemma: str, labels: tuple[Label, ...]) -> Guess:
        """Return the forms of a lemma; the lemma itself if no rule is probable."""
        for label in labels:
            for suffix in suffixes(lemma):
                edits = self._edits.get((label, suffix), Counter())
                if edits.total() >= MIN_TYPES and (guess := _most_probable(lemma, edits)):
                    if guess.probability >= MIN_RULE_PROBABILITY:
                        return guess._replace(suffix=suffix)
                    break
        return Guess({lemma: 0}, 0.0)


def _most_probable(lemma: str, edits: Counter[Edit]) -> Guess | None:
    """Return the forms that the most frequent edits make of a lemma, if any of them fits."""
    total, types_of_form = edits.total(), dict[str, int]()
    for edit, times in sorted(edits.items(), key=lambda one: (-one[1], one[0])):
        if form := apply_edit(lemma, edit):
            types_of_form.setdefault(form, times)
    if not types_of_form:
        return None
    best = max(types_of_form.values())
    forms = {
        form: times
        for form, times in types_of_form.items()
        if times == best or times >= MIN_TYPE_SHARE * total
    }
    return Guess(forms, best / (total + 1))


MAX_DIFFERENCES = 3
"""Features in which a cell may differ from one whose forms it takes."""
UNSEEN = 0.05
"""Probability that cells have the same form whose differences were never seen."""
MIN_FORM_SHARE = 0.02
"""A form that is seen once, and more rarely than this share, is a slip."""
SURE = 0.95
"""Share of a form's occurrences that must be of one lemma, for the form to tell the lemma."""
CACHED = 1 << 16

Differences = tuple[tuple[str, str, str, str], ...]
"""UPOS (empty if it differs), a feature's name and its two values; for each that differs."""


class Cell(NamedTuple):
    """A lemma in lower case with its tags (UPOS, XPOS) and features (FEATS)."""

    lemma: str
    upos: str
    xpos: str
    features: str

    @property
    def values(self) -> dict[str, str]:
        """Tags and features by their names."""
        pairs = (part.partition("=") for part in self.features.split("|") if part)
        return {"UPOS": self.upos, "XPOS": self.xpos, **{name: value for name, _, value in pairs}}

    @property
    def tagged(self) -> str:
        """Tags and features as one text."""
        return " ".join(filter(None, self[1:]))

    @property
    def labels(self) -> tuple[Label, ...]:
        """Labels of suffix rules, the narrowest first."""
        return (self.upos, self.xpos, self.features), (self.upos, self.xpos)


Forms = Mapping[str, int]
"""Forms, and how often each was seen; if they are guessed, how many types speak for each."""


class FormSource(NamedTuple):
    """Forms of a cell, and where they come from: `seen`, `similar`, `rule`, `lemma` or `inserted`.

    `detail` tells which tags and features they were seen with, or the suffix of the rule.
    """

    forms: Forms
    origin: str
    detail: str = ""


class FormTable:
    """Seen forms of all cells."""

    def __init__(self, counts: Mapping[Cell, Forms]) -> None:
        self.counts = counts
        self._cells: dict[str, list[Cell]] = defaultdict(list)
        for cell in counts:
            self._cells[cell.lemma].append(cell)
        self.forms = lru_cache(CACHED)(self._forms)

    @cached_property
    def _same_form_counts(self) -> dict[Differences, tuple[int, int]]:
        """Pairs of cells with the same form, and all; made when an unknown cell is met."""
        return _same_forms(self._cells.values(), self.counts)

    @cached_property
    def _rules(self) -> SuffixRules:
        """Rules for unknown lemmas; made when one is met."""
        types = self.counts.items()
        return SuffixRules.learn((c.lemma, c.labels, most_frequent(forms)) for c, forms in types)

    @cached_property
    def _usual(self) -> dict[tuple[str, str], str]:
        """Form and UPOS -> the XPOS that they were seen with most often."""
        tag_counts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        for cell, forms in self.counts.items():
            for form, n in forms.items():
                tag_counts[form, cell.upos][cell.xpos] += n
        return {key: most_frequent(tags) for key, tags in tag_counts.items()}

    def usual_tags(self, form: str, upos: str) -> str:
        """Return UPOS and the most frequent XPOS of a form, as one text."""
        return f"{upos} {self._usual.get((form, upos), '')}"

    @cached_property
    def _cells_of_forms(self) -> dict[tuple[str, str], Cell]:
        """Form and UPOS -> the cell that it was seen with most often, if its lemma is sure."""
        cell_counts: dict[tuple[str, str], Counter[Cell]] = defaultdict(Counter)
        for cell, forms in self.counts.items():
            for form, n in forms.items():
                cell_counts[form, cell.upos][cell] += n
        best_cells = {}
        for key, cells in cell_counts.items():
            best = min(cells, key=lambda cell: (-cells[cell], cell))
            of_lemma = sum(n for cell, n in cells.items() if cell.lemma == best.lemma)
            if of_lemma >= SURE * cells.total():
                best_cells[key] = best
        return best_cells

    def cell_of(self, form: str, upos: str) -> Cell | None:
        """Return the cell that a form most probably is of; None if its lemma is not sure."""
        return self._cells_of_forms.get((form, upos))

    @classmethod
    def learn(cls, occurrences: Iterable[tuple[Cell, str]]) -> FormTable:
        """Count the forms of cells."""
        counts: dict[Cell, Counter[str]] = defaultdict(Counter)
        for cell, form in occurrences:
            counts[cell][form] += 1
        return cls({cell: _without_slips(forms) for cell, forms in counts.items()})

    def text(self) -> str:
        """Return all cells and their forms, a line each."""
        rows = ((*c, form, str(n)) for c, forms in self.counts.items() for form, n in forms.items())
        return "\n".join("\t".join(row) for row in rows)

    @classmethod
    def of_text(cls, text: str) -> FormTable:
        """Return the table of a text; a ValueError if it is none."""
        counts: dict[Cell, dict[str, int]] = {}
        for line in text.split("\n") if text else ():
            *names, form, n = line.split("\t")
            counts.setdefault(Cell(*names), {})[form] = int(n)
        return cls(counts)

    def _forms(self, cell: Cell) -> Forms:
        """Return the forms that a cell may have; there is at least one."""
        return self.source(cell).forms

    def source(self, cell: Cell) -> FormSource:
        """Return the forms that a cell may have, and where they come from."""
        reduced = self._known_part(cell)
        if reduced in self.counts:
            return FormSource(self.counts[reduced], "seen")
        cells = [] if reduced[1:] in self._tagged else self._completing(reduced)
        if not cells:
            return self._guess(reduced)
        forms = sum(
            (Counter(self.counts[completing_cell]) for completing_cell in cells), Counter[str]()
        )
        shared = reduced if len(cells) > 1 else cells[0]
        return FormSource(_without_slips(forms), "similar", shared.tagged)

    @cached_property
    def _tagged(self) -> frozenset[tuple[str, ...]]:
        """Tags with features that some lemma was seen with."""
        return frozenset(cell[1:] for cell in self.counts)

    def _completing(self, cell: Cell) -> list[Cell]:
        """Return all cells of a lemma that have the given tags and features, and more."""
        required = {*filter(None, cell.features.split("|"))}
        return [
            other
            for other in self._cells.get(cell.lemma, ())
            if other.upos == cell.upos
            and cell.xpos in ("", "_", other.xpos)
            and required <= {*other.features.split("|")}
        ]

    def _known_part(self, cell: Cell) -> Cell:
        """Return a cell without features that its UPOS never had: they tell nothing of forms."""
        if cell in self.counts or (cell.upos, "") not in self._features:
            return cell
        parts = cell.features.split("|")
        return cell._replace(
            features="|".join(part for part in parts if (cell.upos, part) in self._features)
        )

    @cached_property
    def _features(self) -> frozenset[tuple[str, str]]:
        """Every UPOS with each of its features, and with none."""
        pairs = {(cell.upos, part) for cell in self.counts for part in cell.features.split("|")}
        return frozenset(pairs | {(cell.upos, "") for cell in self.counts})

    def guessed(self, cell: Cell) -> Forms:
        """Return the forms that a cell would have if it had not been seen."""
        return self._guess(cell).forms

    def _guess(self, cell: Cell) -> FormSource:
        """Return the forms of the most similar cell, or of a rule if that is more probable."""
        forms, probability, suffix = self._rules.guess(cell.lemma, cell.labels)
        source = FormSource(forms, "lemma") if suffix is None else FormSource(forms, "rule", suffix)
        for other in self._cells.get(cell.lemma, ()):
            similarity = self._probability_of_same(cell, other) if other != cell else 0.0
            if similarity > probability:
                probability = similarity
                source = FormSource(self.counts[other], "similar", other.tagged)
        return source

    def _probability_of_same(self, cell: Cell, other: Cell) -> float:
        """Return the probability that two cells of a lemma have the same form."""
        different = differences(cell, other)
        if different in self._same_form_counts:
            return _same_form_share(self._same_form_counts[different])
        probability = 1.0
        for difference in different:
            probability *= _same_form_share(self._same_form_counts.get((difference,), (0, 0)))
        return probability if len(different) <= MAX_DIFFERENCES else 0.0


def most_frequent(forms: Forms) -> str:
    """Return the form that was seen most often; of equal ones the first in order."""
    return min(forms, key=lambda form: (-forms[form], form))


def _without_slips(forms: Counter[str]) -> Forms:
    least = MIN_FORM_SHARE * forms.total()
    return {form: n for form, n in sorted(forms.items()) if n > 1 or n >= least}


def differences(cell: Cell, other: Cell) -> Differences:
    """Return the features in which two cells of a lemma differ, with their values in order."""
    values, other_values = cell.values, other.values
    names = sorted(
        name
        for name in values.keys() | other_values.keys()
        if values.get(name) != other_values.get(name)
    )
    pairs = ((name, values.get(name, ""), other_values.get(name, "")) for name in names)
    upos = cell.upos if cell.upos == other.upos else ""
    return tuple((upos, name, min(a, b), max(a, b)) for name, a, b in pairs)


def _same_forms(
    lemmas: Iterable[list[Cell]], counts: Mapping[Cell, Forms]
) -> dict[Differences, tuple[int, int]]:
    """Count pairs of cells with the same form, and all, by the features in which they differ."""
    n_same: Counter[Differences] = Counter()
    total: Counter[Differences] = Counter()
    for cells in lemmas:
        forms = [most_frequent(counts[cell]) for cell in cells]
        for i, j in combinations(range(len(cells)), 2):
            different = differences(cells[i], cells[j])
            total[different] += 1
            n_same[different] += forms[i] == forms[j]
    return {key: (n_same[key], n) for key, n in total.items()}


def _same_form_share(counts: tuple[int, int]) -> float:
    n_same, total = counts
    return (n_same + UNSEEN) / (total + 1)
