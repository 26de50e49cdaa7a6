"""Seen forms of lemmas, with back-off to similar features and to suffix rules."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from difflib import SequenceMatcher
from functools import cached_property, lru_cache
from itertools import combinations
from math import prod
from typing import NamedTuple

START = -1
"""Position of an edit at the beginning: `machen` -> `gemacht`."""
MIN_SEVERAL_EDITS = 3
"""Changed characters on both sides that may be several edits."""
Edit = tuple[tuple[int, str, str], ...]
"""Position, removed text and inserted text of each change, from left to right."""


def edit_between(lemma: str, form: str) -> Edit:
    """Return the edit that turns a lemma into a form.

    Positions count from the end, so that edits fit other lemmas too: `study` -> `studies` is
    (0, y, ies); `5000` -> `5,000` is (3, , `,`), a comma before the last three characters.
    """

    def at(begin: int, end: int, new: str) -> tuple[int, str, str]:
        is_start = begin == 0 and end < len(lemma)
        return START if is_start else len(lemma) - end, lemma[begin:end], new

    if lemma == form:
        return ()
    begin = common_beginning(lemma, form)
    end = common_beginning(lemma[begin:][::-1], form[begin:][::-1])
    old, new = lemma[begin : len(lemma) - end], form[begin : len(form) - end]
    if min(len(old), len(new)) < MIN_SEVERAL_EDITS:
        return (at(begin, begin + len(old), new),)
    matcher = SequenceMatcher(None, lemma, form, autojunk=False)
    changed = [opcode for opcode in matcher.get_opcodes() if opcode[0] != "equal"]
    return tuple(at(i, j, form[a:b]) for _, i, j, a, b in changed)


def common_beginning(a: str, b: str) -> int:
    """Return the length of the common prefix of two words."""
    pairs = enumerate(zip(a, b, strict=False))
    return next((i for i, (x, y) in pairs if x != y), min(len(a), len(b)))


def apply_edit(lemma: str, edit: Edit) -> str | None:
    """Apply an edit to a lemma; return None if it does not fit."""
    parts, done = [], 0
    for place, old, new in edit:
        begin = 0 if place == START else len(lemma) - place - len(old)
        if begin < done or lemma[begin : begin + len(old)] != old:
            return None
        parts += [lemma[done:begin], new]
        done = begin + len(old)
    return "".join([*parts, lemma[done:]]) or None


MAX_SUFFIX, LAST_DIGITS = 5, 3
"""Lengths of suffixes; in a suffix, `^` is the beginning of the lemma and `0` any digit."""
MIN_TYPES = 2
MIN_RULE_PROBABILITY = 0.3
"""Less probable rules, such as those from typing errors, are not used."""
MIN_TYPE_SHARE = 0.2
"""Share of the types that must support a form other than the best."""
_DIGIT = re.compile(r"\d")

Label = tuple[str, ...]
"""Tags, with or without features, of the lemmas of a rule."""


def suffixes(lemma: str) -> Iterator[str]:
    """Yield the suffixes of a lemma for which there may be rules, the longest first.

    A lemma with digits has its whole shape first, with and without the last digits.
    """
    marked = f"^{lemma}"
    shape = _DIGIT.sub("0", marked)
    if shape != marked:
        yield shape[:-LAST_DIGITS] + marked[-LAST_DIGITS:]
        yield shape
    yield from (shape[len(shape) - n :] for n in range(min(MAX_SUFFIX, len(shape)), -1, -1))


class SuffixRules:
    """Rules for unseen lemmas: the most frequent edit of known lemmas with the same suffix.

        P(edit | lemma, tag, features) = its share among types with the longest known suffix

    A type is a lemma with a tag and features. Types are counted, not occurrences, so that frequent
    irregular verbs have little influence. A suffix is known if two types have it.
    """

    def __init__(self) -> None:
        self._edits: dict[tuple[Label, str], Counter[Edit]] = defaultdict(Counter)

    @classmethod
    def learn(cls, entries: Iterable[tuple[str, tuple[Label, ...], str]]) -> SuffixRules:
        """Count edits in entries of lemma, labels (the most specific first) and form."""
        rules = cls()
        for lemma, labels, form in entries:
            edit = edit_between(lemma, form)
            for suffix in set(suffixes(lemma)):
                for label in labels:
                    rules._edits[label, suffix][edit] += 1
        return rules

    def guess(self, lemma: str, labels: tuple[Label, ...]) -> tuple[FormSource, float]:
        """Return the forms of a lemma, and the probability of the best.

        If no rule is probable, the form is the lemma itself.
        """
        for label in labels:
            for suffix in suffixes(lemma):
                edits = self._edits.get((label, suffix), Counter())
                times_of_form: dict[str, int] = {}
                for edit, times in sorted(edits.items(), key=lambda pair: (-pair[1], pair[0])):
                    if form := apply_edit(lemma, edit):
                        times_of_form.setdefault(form, times)
                total, best = edits.total(), max(times_of_form.values(), default=0)
                if total < MIN_TYPES or not times_of_form:
                    continue
                if best / (total + 1) < MIN_RULE_PROBABILITY:
                    break
                least = min(best, MIN_TYPE_SHARE * total)
                forms = {form: times for form, times in times_of_form.items() if times >= least}
                return FormSource(forms, "rule", suffix), best / (total + 1)
        return FormSource({lemma: 0}, "lemma"), 0.0


MAX_DIFFERENCES = 3
"""Maximal number of different features of cells with a common form."""
UNSEEN = 0.05
"""Probability of the same form for cells with unseen differences."""
MIN_FORM_SHARE = 0.02
"""A form that occurs once, with a smaller share, counts as a typing error."""
SURE = 0.95
"""Share of a form's occurrences with one lemma that makes the lemma unambiguous."""
CACHED = 1 << 16

Differences = tuple[tuple[str, str, str, str], ...]
"""UPOS (empty if it differs), name and both values of each different feature."""


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
        """Labels of suffix rules, the most specific first."""
        return (self.upos, self.xpos, self.features), (self.upos, self.xpos)


Forms = Mapping[str, int]
"""Form -> its count; for predicted forms, the number of types that support it."""


class FormSource(NamedTuple):
    """Forms of a cell, and their origin: `seen`, `similar`, `rule`, `lemma` or `inserted`.

    `detail` has the tags and features of a similar cell, or the suffix of a rule.
    """

    forms: Forms
    origin: str
    detail: str = ""


class FormTable:
    """Seen forms of all cells.

    An unseen cell has the forms of the seen cell of its lemma that most probably has the same form,

        P(same) = Π over different features of P(same form | the two values of the feature)

    as counted over lemmas with both values; or the form of a suffix rule, if that is more probable.
    UPOS and XPOS count as features. Tags and features that no lemma was seen with are taken as
    incomplete: then all matching cells of the lemma are used.
    """

    def __init__(self, counts: Mapping[Cell, Forms]) -> None:
        self.counts = counts
        self._cells: dict[str, list[Cell]] = defaultdict(list)
        for cell in counts:
            self._cells[cell.lemma].append(cell)
        self.forms = lru_cache(CACHED)(lambda cell: self.source(cell).forms)

    @classmethod
    def learn(cls, occurrences: Iterable[tuple[Cell, str]]) -> FormTable:
        """Count the forms of cells."""
        counts: dict[Cell, Counter[str]] = defaultdict(Counter)
        for cell, form in occurrences:
            counts[cell][form] += 1
        return cls({cell: _without_slips(forms) for cell, forms in counts.items()})

    def text(self) -> str:
        """Return all cells and their forms as lines of text."""
        rows = ((*c, form, str(n)) for c, forms in self.counts.items() for form, n in forms.items())
        return "\n".join("\t".join(row) for row in rows)

    @classmethod
    def of_text(cls, text: str) -> FormTable:
        """Parse the text of a table; raise ValueError if it is damaged."""
        counts: dict[Cell, dict[str, int]] = {}
        for line in text.split("\n") if text else ():
            *names, form, n = line.split("\t")
            counts.setdefault(Cell(*names), {})[form] = int(n)
        return cls(counts)

    @cached_property
    def _same_form_counts(self) -> dict[Differences, tuple[int, int]]:
        """Different features -> number of pairs of cells with the same form, and of all pairs."""
        n_same: Counter[Differences] = Counter()
        total: Counter[Differences] = Counter()
        for cells in self._cells.values():
            forms = {cell: most_frequent(self.counts[cell]) for cell in cells}
            for cell, other in combinations(cells, 2):
                different = differences(cell, other)
                total[different] += 1
                n_same[different] += forms[cell] == forms[other]
        return {key: (n_same[key], n) for key, n in total.items()}

    @cached_property
    def _rules(self) -> SuffixRules:
        """Rules for unknown lemmas."""
        types = self.counts.items()
        return SuffixRules.learn((c.lemma, c.labels, most_frequent(forms)) for c, forms in types)

    @cached_property
    def _cells_of_forms(self) -> dict[tuple[str, str], Counter[Cell]]:
        """Form and UPOS -> counts of the cells they were seen with."""
        cell_counts: dict[tuple[str, str], Counter[Cell]] = defaultdict(Counter)
        for cell, forms in self.counts.items():
            for form, n in forms.items():
                cell_counts[form, cell.upos][cell] += n
        return dict(cell_counts)

    def usual_tags(self, form: str, upos: str) -> str:
        """Return UPOS and the most frequent XPOS of a form, as one text."""
        tag_counts: Counter[str] = Counter()
        for cell, n in self._cells_of_forms.get((form, upos), {}).items():
            tag_counts[cell.xpos] += n
        return f"{upos} {most_frequent(tag_counts) if tag_counts else ''}"

    def cell_of(self, form: str, upos: str) -> Cell | None:
        """Return the most frequent cell of a form; None if its lemma is ambiguous or unknown."""
        cells = self._cells_of_forms.get((form, upos))
        if cells is None:
            return None
        best = min(cells, key=lambda cell: (-cells[cell], cell))
        of_lemma = sum(n for cell, n in cells.items() if cell.lemma == best.lemma)
        return best if of_lemma >= SURE * cells.total() else None

    def source(self, cell: Cell) -> FormSource:
        """Return the candidate forms of a cell (at least one), and their origin."""
        reduced = self._known_part(cell)
        if reduced in self.counts:
            return FormSource(self.counts[reduced], "seen")
        completing = []
        if reduced[1:] not in self._tagged:  # its tags and features are incomplete
            required = {*filter(None, reduced.features.split("|"))}
            completing = [
                other
                for other in self._cells.get(reduced.lemma, ())
                if other.upos == reduced.upos
                and reduced.xpos in ("", "_", other.xpos)
                and required <= {*other.features.split("|")}
            ]
        if not completing:
            return self.guess(reduced)
        forms = sum((Counter(self.counts[other]) for other in completing), Counter[str]())
        shared = reduced if len(completing) > 1 else completing[0]
        return FormSource(_without_slips(forms), "similar", shared.tagged)

    @cached_property
    def _tagged(self) -> frozenset[tuple[str, ...]]:
        """Tags with features that some lemma was seen with."""
        return frozenset(cell[1:] for cell in self.counts)

    def _known_part(self, cell: Cell) -> Cell:
        """Return a cell without features never seen with its UPOS."""
        if cell in self.counts or (cell.upos, "") not in self._features:
            return cell
        known_features = [
            part for part in cell.features.split("|") if (cell.upos, part) in self._features
        ]
        return cell._replace(features="|".join(known_features))

    @cached_property
    def _features(self) -> frozenset[tuple[str, str]]:
        """Pairs of UPOS and each of its features; and UPOS without features."""
        pairs = {(cell.upos, part) for cell in self.counts for part in cell.features.split("|")}
        return frozenset(pairs | {(cell.upos, "") for cell in self.counts})

    def guess(self, cell: Cell) -> FormSource:
        """Return the forms of a cell as if it were unseen.

        They come from the most similar cell, or from a rule if that is more probable.
        """
        source, probability = self._rules.guess(cell.lemma, cell.labels)
        for other in self._cells.get(cell.lemma, ()):
            similarity = self._probability_of_same(cell, other) if other != cell else 0.0
            if similarity > probability:
                probability = similarity
                source = FormSource(self.counts[other], "similar", other.tagged)
        return source

    def _probability_of_same(self, cell: Cell, other: Cell) -> float:
        """Return the probability that two cells of a lemma have the same form."""

        def share(different: Differences) -> float:
            n_same, total = self._same_form_counts.get(different, (0, 0))
            return (n_same + UNSEEN) / (total + 1)

        different = differences(cell, other)
        if different in self._same_form_counts:
            return share(different)
        if len(different) > MAX_DIFFERENCES:
            return 0.0
        return prod(share((difference,)) for difference in different)


def most_frequent(forms: Forms) -> str:
    """Return the most frequent form; on ties the first in alphabetical order."""
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
