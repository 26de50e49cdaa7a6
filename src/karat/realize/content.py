"""Content words and their slots, which function words and punctuation marks fill.

Relations of Universal Dependencies define function words: auxiliaries and copulas (aux, cop),
markers of clauses (mark), adpositions and case markers (case), conjunctions (cc), and articles (det
with PronType=Art). The filling of a slot is a set of such daughters.

A word with daughters of its own is a content word, whatever its relation; `fixed` daughters
(because of) are part of it.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, NamedTuple

from karat import _kernel
from karat.arrays import Flags, Ints, np
from karat.errors import InputError, quoted
from karat.realize.input_trees import check_lengths, number_contents, to_names
from karat.realize.treebank import FlatTrees, Treebank

SLOTS = ("aux", "mark", "case", "cc", "article", "final", "comma", "other")
"""Slots in the order in which they are filled: later slots see earlier fillings."""
CLASSES = {"function-words": SLOTS[:5], "punctuation": SLOTS[5:]}
"""Class of words that can be inserted -> its slots."""

_BY_RELATION = {"aux": "aux", "cop": "aux", "mark": "mark", "case": "case", "cc": "cc"}
FIXED = "fixed"


class SlotWord(NamedTuple):
    """A word in a slot."""

    word: str
    relation: str
    tag: str


Item = tuple[SlotWord, ...]
"""A function word with its `fixed` daughters."""
Filling = tuple[Item, ...]
"""The sorted items of a slot; empty for an empty slot."""


def base_relation(relation: str) -> str:
    """Return a relation without its subtype: aux for aux:pass."""
    return relation.partition(":")[0]


def slot_of(word: str, relation: str, features: str, final_marks: frozenset[str]) -> str:
    """Return the slot of a daughter; empty for content words.

    `final_marks` are the marks that end sentences (see `learn_final_marks`).
    """
    kind = base_relation(relation)
    if kind == "det":
        return "article" if "PronType=Art" in features.split("|") else ""
    if kind != "punct":
        return _BY_RELATION.get(kind, "")
    if is_comma(word):
        return "comma"
    return "final" if word in final_marks else "other"


def is_comma(word: str) -> bool:
    """Return whether a mark is a comma of any script."""
    return all(
        unicodedata.category(c) == "Po" and unicodedata.name(c, "").endswith("COMMA") for c in word
    )


def completed_slots(complete: Sequence[str], keep: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the slots of some classes, except for those to keep, in order of filling."""
    complete, keep = to_names("complete", complete), to_names("keep", keep)
    for parameter, names, allowed in (("complete", complete, CLASSES), ("keep", keep, SLOTS)):
        for name in names:
            if name not in allowed:
                raise InputError(
                    f"{parameter}={quoted(name)}: expected some of {', '.join(allowed)}"
                )
    class_of = {slot: name for name, slots in CLASSES.items() for slot in slots}
    for slot in keep if complete else ():
        if class_of[slot] not in complete:
            advice = f"it is for --complete {class_of[slot]}: leave it out, or give both"
            raise InputError(f"keep={quoted(slot)}: nothing is inserted there, as {advice}")
    return tuple(slot for slot in SLOTS if slot not in keep and class_of[slot] in complete)


def name_classes(slots: Sequence[str]) -> str:
    """Return the classes of words that fill some slots, as text."""
    names = (name for name, class_slots in CLASSES.items() if {*class_slots} & {*slots})
    return " and ".join(names).replace("-", " ")


def filling_text(filling: Sequence[Item]) -> str:
    """Return the words of a filling as text."""
    return " + ".join(" ".join(word.word for word in item) for item in filling)


MOODS = ("Cnd", "Pot", "Nec")
"""Values of Mood that are more informative than the tense."""
MODALITY = {
    **dict.fromkeys(("will", "shall"), "Fut"),
    **dict.fromkeys(("can", "could", "may", "might"), "Pot"),
    **dict.fromkeys(("must", "should", "ought"), "Nec"),
    "would": "Cnd",
}
"""Lemma of an auxiliary whose FEATS have neither tense nor mood -> its modality.

This annotates the input and is not part of a model: English treebanks lack the feature."""

CLOSED = "Complete=No"
"""Feature of a node that gets no insertions."""

Sources = tuple[tuple[int, ...], ...]
"""Positions in a treebank of the words of each item of a filling."""


@dataclass(frozen=True, eq=False)
class ContentTrees(FlatTrees):
    """Content words: tree i has the nodes `offsets[i]` to `offsets[i + 1]` of every column.

    `heads` are positions in the columns, -1 for roots; a head precedes its daughters. `fillings`
    has the filling of each slot of each node. Nodes are sorted by content. `places` and `sources`
    are the positions of nodes and of words in slots in the treebank's columns; models must not use
    them.
    """

    name: str
    words: list[str]
    tags: list[str]
    relations: list[str]
    features: list[str]
    heads: Ints
    offsets: Ints
    ids: list[str]
    fillings: Mapping[str, list[Filling]]
    closed: Flags
    """Nodes that get no insertions."""
    places: Ints
    sources: Mapping[str, list[Sources]]

    @property
    def nodes(self) -> int:
        """Number of nodes of all trees."""
        return len(self.words)

    def without(self, slots: Iterable[str]) -> ContentTrees:
        """Return the trees with some slots empty."""
        empty: dict[str, list[Any]] = dict.fromkeys(slots, [()] * self.nodes)
        fillings, sources = {**self.fillings, **empty}, {**self.sources, **empty}
        return replace(self, fillings=fillings, sources=sources)


def learn_final_marks(treebank: Treebank) -> frozenset[str]:
    """Return the marks at roots that mostly end the sentence, and did at least three times."""
    last = set((treebank.offsets[1:] - 1).tolist())
    mothers = treebank.mothers
    counts: Counter[tuple[str, bool]] = Counter()
    for j in np.flatnonzero((mothers >= 0) & (mothers[mothers] < 0)).tolist():
        if base_relation(treebank.relations[j]) == "punct":
            counts[treebank.words[j], j in last] += 1

    def can_end_sentence(word: str) -> bool:
        """Return whether a mark is not a comma, quotation mark, bracket or dash."""
        plain = all(unicodedata.category(c) == "Po" and c not in "\"'" for c in word)
        return plain and not is_comma(word)

    return frozenset(
        word
        for (word, at_end), n in counts.items()
        if at_end and n >= 3 and n > counts[word, False] and can_end_sentence(word)
    )


def content_trees(
    treebank: Treebank, final_marks: frozenset[str], *, sort_by_lemmas: bool = False
) -> ContentTrees:
    """Return the content words of a treebank, with function words and marks in their slots.

    Articles leave the feature `Definite` at their content word, and finite auxiliaries their tense
    or mood as `Tense[aux]`: Past, Pres, Fut, Cnd, Pot, Nec and so on, from FEATS. Where FEATS have
    neither, as for English modal verbs, `MODALITY` annotates the input. Models never see this
    table: trees that a user writes have the feature themselves.

    `final_marks` are the marks that end sentences. With `sort_by_lemmas`, nodes are also sorted by
    lemma, XPOS and features, from which a model of lemmas inflects words.
    """
    check_lengths(treebank)
    split = _SplitTreebank(treebank, final_marks, sort_by_lemmas)
    unsorted, mothers = split.content, treebank.mothers.tolist()
    unsorted_index = {j: i for i, j in enumerate(unsorted)}
    offsets = np.searchsorted(unsorted, treebank.offsets).astype(np.int64)
    starts = np.repeat(offsets[:-1], np.diff(offsets))
    heads = np.array([unsorted_index.get(mothers[j], -1) for j in unsorted], dtype=np.int64)
    keys = number_contents([split.node_content(j) for j in unsorted])
    local_heads = np.where(heads < 0, -1, heads - starts).astype(np.int32)
    order = _kernel.canonical_order(keys, local_heads, offsets) + starts
    content = [unsorted[i] for i in order.tolist()]
    index = {j: i for i, j in enumerate(content)}
    sources = {
        slot: [sources_of.get(j, ()) for j in content] for slot, sources_of in split.sources.items()
    }
    return ContentTrees(
        name=treebank.name,
        words=[split.words[j] for j in content],
        tags=[treebank.upos[j] for j in content],
        relations=[treebank.relations[j] for j in content],
        features=[split.open_features(j) for j in content],
        heads=np.array([index.get(mothers[j], -1) for j in content], dtype=np.int64),
        offsets=offsets,
        ids=treebank.ids,
        fillings={slot: list(map(split.filling, column)) for slot, column in sources.items()},
        closed=np.array([split.is_closed(j) for j in content], dtype=bool),
        places=np.array(content, dtype=np.int64),
        sources=sources,
    )


class _SplitTreebank:
    """The words of a treebank, split into content words and words in their slots.

    `content` are the positions of content words, `sources` the words in each slot of each of them.
    `features` include those that function words leave at their content word.
    """

    def __init__(
        self, treebank: Treebank, final_marks: frozenset[str], sort_by_lemmas: bool
    ) -> None:
        self.treebank, self.sort_by_lemmas = treebank, sort_by_lemmas
        self.words = [word.lower() for word in treebank.words]
        self.features = list(treebank.features)
        mothers = treebank.mothers.tolist()
        slots, fixed = _words_in_slots(treebank, self.words, final_marks)
        self.content = [j for j in range(len(mothers)) if j not in slots and j not in fixed]
        self.sources: dict[str, dict[int, Sources]] = {slot: {} for slot in SLOTS}
        for j, (slot, fixed_daughters) in slots.items():
            head = mothers[j]
            while head in slots or head in fixed:
                head = mothers[head]
            is_inner = slot == "final" and mothers[head] >= 0  # only the root has a final mark
            slot_sources = self.sources["other" if is_inner else slot]
            slot_sources[head] = (*slot_sources.get(head, ()), (j, *fixed_daughters))
            if feature := _feature_of_function_word(treebank, j, slot):
                features = {*filter(None, self.features[head].split("|")), feature}
                self.features[head] = "|".join(sorted(features))
        for slot_sources in self.sources.values():
            for head, items in slot_sources.items():
                ordered = sorted(items, key=lambda item: (self.item(item), self._lemmas(item)))
                slot_sources[head] = tuple(ordered)

    def _lemmas(self, places: Iterable[int]) -> tuple[tuple[str, str, str], ...]:
        bank = self.treebank
        return tuple((bank.lemmas[k].lower(), bank.xpos[k], bank.features[k]) for k in places)

    def item(self, places: tuple[int, ...]) -> Item:
        """Return the words at some positions as an item."""
        bank = self.treebank
        return tuple(SlotWord(self.words[k], bank.relations[k], bank.upos[k]) for k in places)

    def filling(self, sources: Sources) -> Filling:
        """Return the words at the positions of a filling."""
        return tuple(map(self.item, sources))

    def is_closed(self, j: int) -> bool:
        """Return whether a content word gets no insertions."""
        return CLOSED in self.features[j].split("|")

    def open_features(self, j: int) -> str:
        """Return the features of a content word that models may see."""
        return "|".join(part for part in self.features[j].split("|") if part != CLOSED)

    def node_content(self, j: int) -> tuple[Any, ...]:
        """Return everything that models may see of a content word, by which sisters are sorted."""
        labels = self.words[j], self.treebank.upos[j], self.treebank.relations[j]
        sources = [self.sources[slot].get(j, ()) for slot in SLOTS]
        content = *labels, self.open_features(j), self.is_closed(j), *map(self.filling, sources)
        if not self.sort_by_lemmas:
            return content
        return *content, self._lemmas([j, *chain.from_iterable(chain.from_iterable(sources))])


def _words_in_slots(
    treebank: Treebank, words: list[str], final_marks: frozenset[str]
) -> tuple[dict[int, tuple[str, list[int]]], set[int]]:
    """Return the words in slots, each with its slot and `fixed` daughters, and all `fixed` words.

    A word in a slot has no daughters except for marks and `fixed` words that are leaves.
    """
    kinds = [base_relation(relation) for relation in treebank.relations]
    daughters: dict[int, list[int]] = {}
    for j, mother in enumerate(treebank.mothers.tolist()):
        daughters.setdefault(mother, []).append(j)
    slots: dict[int, tuple[str, list[int]]] = {}
    fixed: set[int] = set()
    roots = set(daughters.get(-1, ()))
    for j, word in enumerate(words):
        slot = slot_of(word, kinds[j], treebank.features[j], final_marks)
        below = daughters.get(j, ())
        is_leaf = all(kinds[d] in ("punct", FIXED) and d not in daughters for d in below)
        if slot and j not in roots and is_leaf:
            slots[j] = slot, [d for d in below if kinds[d] == FIXED]
            fixed.update(slots[j][1])
    return slots, fixed


def _feature_of_function_word(treebank: Treebank, j: int, slot: str) -> str:
    """Return the feature that a function word leaves at its head; empty if there is none."""
    features = dict(part.partition("=")[::2] for part in treebank.features[j].split("|"))
    if slot == "article":
        return f"Definite={features['Definite']}" if "Definite" in features else ""
    if slot != "aux" or features.get("VerbForm") != "Fin":
        return ""
    if "Tense" not in features and "Mood" not in features:
        value = MODALITY.get(treebank.lemmas[j].lower(), "")
    else:
        value = features["Mood"] if features.get("Mood") in MOODS else features.get("Tense", "")
    return f"Tense[aux]={value}" if value else ""
