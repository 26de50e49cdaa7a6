"""Slots: the places at a word that function words and marks can fill, and what fills them.

Relations of Universal Dependencies decide what a function word is: auxiliaries and copulas (aux,
cop), markers of clauses (mark), adpositions and case markers (case), conjunctions (cc), and
articles (det with PronType=Art). What fills a slot of a word is a set of such daughters.

A word that has daughters of its own is a content word, whatever its relation; `fixed` daughters
(because of) are part of it.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from karat import _kernel
from karat.arrays import Flags, Ints, NDArray, np
from karat.errors import InputError, quoted
from karat.realize.input_trees import check_lengths, to_names
from karat.realize.treebank import Treebank

SLOTS = ("aux", "mark", "case", "cc", "article", "final", "comma", "other")
"""In the order in which they are filled: a slot sees what the earlier ones have."""
CLASSES = {"function-words": SLOTS[:5], "punctuation": SLOTS[5:]}
"""Names of what can be completed, and their slots."""

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
"""All that is in a slot, sorted; empty if nothing is."""


def base_relation(relation: str) -> str:
    """Return a relation without its subtype: aux for aux:pass."""
    return relation.partition(":")[0]


def slot_of(word: str, relation: str, features: str, final: frozenset[str]) -> str:
    """Return the slot that a daughter is in; empty for content words.

    `final` has the marks that end sentences, which `final_marks` finds.
    """
    kind = base_relation(relation)
    if kind == "det":
        return "article" if "PronType=Art" in features.split("|") else ""
    if kind != "punct":
        return _BY_RELATION.get(kind, "")
    if is_comma(word):
        return "comma"
    return "final" if word in final else "other"


def is_comma(word: str) -> bool:
    """Return whether a mark is a comma of any script."""
    return all(
        unicodedata.category(c) == "Po" and unicodedata.name(c, "").endswith("COMMA") for c in word
    )


def can_end_sentence(word: str) -> bool:
    """Return whether a mark could end a sentence: no comma, quote, bracket or dash."""
    plain = all(unicodedata.category(c) == "Po" and c not in "\"'" for c in word)
    return plain and not is_comma(word)


def completed_slots(complete: Sequence[str], keep: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the slots of some classes but for those to keep, in the order they are filled."""
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
    """Return what is in some slots, as people call it."""
    names = (name for name, class_slots in CLASSES.items() if {*class_slots} & {*slots})
    return " and ".join(names).replace("-", " ")


def filling_text(filling: Sequence[Item]) -> str:
    """Return the words of a filling, for people and for symbols; empty if it is."""
    return " + ".join(" ".join(word.word for word in item) for item in filling)


MOODS = ("Cnd", "Pot", "Nec")
"""Values of Mood that tell more than the tense does."""
MODALITY = {
    **dict.fromkeys(("will", "shall"), "Fut"),
    **dict.fromkeys(("can", "could", "may", "might"), "Pot"),
    **dict.fromkeys(("must", "should", "ought"), "Nec"),
    "would": "Cnd",
}
"""Lemma of an auxiliary whose FEATS have neither tense nor mood -> its modality.

Data of the task, not of a model: treebanks of English leave this feature of the input out."""

CLOSED = "Complete=No"
"""The feature of a node that is final: nothing is put into its slots."""

Sources = tuple[tuple[int, ...], ...]
"""Places in a treebank: of every item of a filling, those of its words."""


@dataclass(frozen=True, eq=False)
class ContentTrees:
    """Content words: tree i has the nodes `offsets[i]` to `offsets[i + 1]` of every column.

    `heads` are places in the columns, -1 for roots; a head comes before its daughters. `fillings`
    has what was in each slot of each node. Nodes are sorted by content. `places` and `sources`
    tell where the nodes and the words in slots stood in the treebank's columns; no model may look
    at these.
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
    """Nodes that are final: nothing may be put into their slots."""
    places: Ints
    sources: Mapping[str, list[Sources]]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def nodes(self) -> int:
        """Number of nodes of all trees."""
        return len(self.words)

    def without(self, slots: Iterable[str]) -> ContentTrees:
        """Return the trees with some slots empty."""
        empty: dict[str, list[Any]] = dict.fromkeys(slots, [()] * self.nodes)
        fillings, sources = {**self.fillings, **empty}, {**self.sources, **empty}
        return replace(self, fillings=fillings, sources=sources)


def final_marks(treebank: Treebank) -> frozenset[str]:
    """Return the marks at roots that end the sentence more often than not, and three times."""
    last = set((treebank.offsets[1:] - 1).tolist())
    roots = np.repeat(treebank.offsets[:-1] + _root_places(treebank), np.diff(treebank.offsets))
    starts = np.repeat(treebank.offsets[:-1], np.diff(treebank.offsets))
    at_root = (starts + treebank.heads - 1 == roots).tolist()
    counts: Counter[tuple[str, bool]] = Counter()
    for j, (word, relation) in enumerate(zip(treebank.words, treebank.relations, strict=True)):
        if at_root[j] and base_relation(relation) == "punct":
            counts[word, j in last] += 1
    often = {
        word: n for (word, end), n in counts.items() if end and n >= 3 and can_end_sentence(word)
    }
    return frozenset(word for word, n in often.items() if n > counts[word, False])


def _root_places(treebank: Treebank) -> Ints:
    """Return the place of every sentence's root within it."""
    places: Ints = np.flatnonzero(treebank.heads == 0) - treebank.offsets[:-1]
    return places


def content_trees(
    treebank: Treebank, final: frozenset[str], *, lemmas: bool = False
) -> ContentTrees:
    """Take the function words and marks out of a treebank's trees, into slots.

    Args:
        treebank: sentences of at most 1,000 words.
        final: marks that end sentences.
        lemmas: also sort nodes by lemma and XPOS, of which a model of lemmas makes words.
    """
    check_lengths(treebank)
    content: list[int] = []
    heads: list[int] = []
    offsets = [0]
    members: dict[str, dict[int, list[int]]] = {slot: {} for slot in SLOTS}
    items: dict[int, tuple[int, ...]] = {}
    features = list(treebank.features)
    words = [word.lower() for word in treebank.words]
    for start, end in zip(
        treebank.offsets[:-1].tolist(), treebank.offsets[1:].tolist(), strict=True
    ):
        sentence = _Sentence(treebank, words, start, end, final)
        sentence_content = sentence.content_words()
        place = {j: len(content) + n for n, j in enumerate(sentence_content)}
        for j, slot in sentence.slots.items():
            members[slot].setdefault(sentence.above(j), []).append(j)
            items[j] = sentence.item(j)
            feature = _feature_of_function_word(treebank, j, slot)
            if feature:
                at = sentence.above(j)
                features[at] = "|".join(sorted({*filter(None, features[at].split("|")), feature}))
        content += sentence_content
        heads += [
            place[sentence.mother(j)] if sentence.mother(j) >= 0 else -1 for j in sentence_content
        ]
        offsets.append(len(content))
    closed = np.array([CLOSED in features[j].split("|") for j in content], dtype=bool)
    fillings, sources = _fill_slots(treebank, words, content, members, items)
    trees = ContentTrees(
        name=treebank.name,
        words=[words[j] for j in content],
        tags=[treebank.upos[j] for j in content],
        relations=[treebank.relations[j] for j in content],
        features=[_remove_feature(features[j], CLOSED) for j in content],
        heads=np.array(heads, dtype=np.int64),
        offsets=np.array(offsets, dtype=np.int64),
        ids=treebank.ids,
        fillings=fillings,
        closed=closed,
        places=np.array(content, dtype=np.int64),
        sources=sources,
    )
    return _sort_nodes(trees, _lemmas_of(trees, treebank) if lemmas else [()] * len(content))


def _fill_slots(
    treebank: Treebank,
    words: list[str],
    content: list[int],
    members: Mapping[str, Mapping[int, list[int]]],
    items: Mapping[int, tuple[int, ...]],
) -> tuple[dict[str, list[Filling]], dict[str, list[Sources]]]:
    """Return what is in every slot of the content words, sorted, and where it stood."""

    def item(places: tuple[int, ...]) -> Item:
        return tuple(SlotWord(words[k], treebank.relations[k], treebank.upos[k]) for k in places)

    def key(places: tuple[int, ...]) -> tuple[Item, list[Lemma]]:
        return item(places), [_lemma(treebank, k) for k in places]

    fillings: dict[str, list[Filling]] = {}
    sources: dict[str, list[Sources]] = {}
    for slot, by_node in members.items():
        sorted_items = {
            at: tuple(sorted((items[j] for j in slot_members), key=key))
            for at, slot_members in by_node.items()
        }
        sources[slot] = [sorted_items.get(j, ()) for j in content]
        fillings[slot] = [tuple(map(item, places)) for places in sources[slot]]
    return fillings, sources


Lemma = tuple[str, str, str]
"""Lemma in lower case, XPOS and features of a word."""


def _lemma(treebank: Treebank, j: int) -> Lemma:
    return treebank.lemmas[j].lower(), treebank.xpos[j], treebank.features[j]


def _lemmas_of(trees: ContentTrees, treebank: Treebank) -> list[tuple[Lemma, ...]]:
    """Return the lemmas of every node and of the words in its slots."""
    slots = zip(*(trees.sources[slot] for slot in SLOTS), strict=True)
    return [
        (
            _lemma(treebank, j),
            *(_lemma(treebank, k) for of in node_sources for item in of for k in item),
        )
        for j, node_sources in zip(trees.places.tolist(), slots, strict=True)
    ]


def _remove_feature(features: str, removed: str) -> str:
    return "|".join(part for part in features.split("|") if part != removed)


def _feature_of_function_word(treebank: Treebank, j: int, slot: str) -> str:
    """Return the feature of its head that a function word stands for; empty if there is none."""
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


class _Sentence:
    """The words of one sentence, of which some are in slots."""

    def __init__(
        self, treebank: Treebank, words: list[str], start: int, end: int, final: frozenset[str]
    ) -> None:
        self.bank, self.start, self.end = treebank, start, end
        self.daughters: dict[int, list[int]] = {}
        for j in range(start, end):
            self.daughters.setdefault(self.mother(j), []).append(j)
        self.fixed: dict[int, int] = {}
        self.slots: dict[int, str] = {}
        for j in range(start, end):
            slot = slot_of(words[j], treebank.relations[j], treebank.features[j], final)
            if slot and self.mother(j) >= 0 and self._closed(j):
                self.slots[j] = slot
                self.fixed |= dict.fromkeys(self._fixed(j), j)
        for j, slot in self.slots.items():  # a mark that ends sentences does so at the root alone
            if slot == "final" and self.mother(self.above(j)) >= 0:
                self.slots[j] = "other"

    def mother(self, j: int) -> int:
        """Return a word's head, -1 for the root."""
        head = int(self.bank.heads[j])
        return self.start + head - 1 if head else -1

    def _fixed(self, j: int) -> list[int]:
        return [
            d for d in self.daughters.get(j, ()) if base_relation(self.bank.relations[d]) == FIXED
        ]

    def _closed(self, j: int) -> bool:
        """Return whether a word has no daughters but marks and `fixed` words without any."""
        for d in self.daughters.get(j, ()):
            kind = base_relation(self.bank.relations[d])
            if kind != "punct" and not (kind == FIXED and d not in self.daughters):
                return False
            if kind == "punct" and d in self.daughters:
                return False
        return True

    def above(self, j: int) -> int:
        """Return the content word that a word in a slot belongs to."""
        at = self.mother(j)
        while at in self.slots or at in self.fixed:
            at = self.mother(at)
        return at

    def item(self, j: int) -> tuple[int, ...]:
        """Return a word in a slot with its `fixed` daughters."""
        return (j, *self._fixed(j))

    def content_words(self) -> list[int]:
        """Return the content words."""
        return [
            j for j in range(self.start, self.end) if j not in self.slots and j not in self.fixed
        ]


def _sort_nodes(trees: ContentTrees, more: Sequence[tuple[Lemma, ...]]) -> ContentTrees:
    """Sort the nodes of every tree by content, so that nothing of the file's order is left.

    `more` has what they are sorted by beside the columns.
    """
    slots = [trees.fillings[slot] for slot in SLOTS]
    columns = (trees.words, trees.tags, trees.relations, trees.features, trees.closed.tolist())
    contents = list(zip(*columns, *slots, more, strict=True))
    number = {content: i for i, content in enumerate(sorted(set(contents)))}
    keys = np.array([number[content] for content in contents], dtype=np.int32)
    sizes = np.diff(trees.offsets)
    starts = np.repeat(trees.offsets[:-1], sizes)
    local = np.where(trees.heads < 0, -1, trees.heads - starts).astype(np.int32)
    nodes = _kernel.canonical_order(keys, local, trees.offsets) + starts
    return reorder_nodes(trees, nodes)


def reorder_nodes(trees: ContentTrees, nodes: NDArray[np.int64]) -> ContentTrees:
    """Return the nodes in another order, within every tree."""
    moved = np.empty(len(nodes), dtype=np.int64)
    moved[nodes] = np.arange(len(nodes))
    above = trees.heads[nodes]
    listed = nodes.tolist()

    def pick(column: list) -> list:  # type: ignore[type-arg]
        return [column[j] for j in listed]

    return replace(
        trees,
        words=pick(trees.words),
        tags=pick(trees.tags),
        relations=pick(trees.relations),
        features=pick(trees.features),
        heads=np.where(above < 0, -1, moved[np.maximum(above, 0)]),
        closed=trees.closed[nodes],
        fillings={slot: pick(column) for slot, column in trees.fillings.items()},
        places=trees.places[nodes],
        sources={slot: pick(column) for slot, column in trees.sources.items()},
    )
