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
from karat.arrays import Flags, Ints, np
from karat.errors import InputError, quoted
from karat.realize.input_trees import check_lengths, number_contents, to_names
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
    mothers = treebank.mothers
    counts: Counter[tuple[str, bool]] = Counter()
    for j in np.flatnonzero((mothers >= 0) & (mothers[mothers] < 0)).tolist():
        if base_relation(treebank.relations[j]) == "punct":
            counts[treebank.words[j], j in last] += 1

    def can_end_sentence(word: str) -> bool:
        """Return whether a mark is no comma, quote, bracket or dash."""
        plain = all(unicodedata.category(c) == "Po" and c not in "\"'" for c in word)
        return plain and not is_comma(word)

    return frozenset(
        word
        for (word, at_end), n in counts.items()
        if at_end and n >= 3 and n > counts[word, False] and can_end_sentence(word)
    )


def content_trees(
    treebank: Treebank, final: frozenset[str], *, lemmas: bool = False
) -> ContentTrees:
    """Take the function words and marks out of a treebank's trees, into slots.

    Taken out of a word's slots, articles leave `Definite` behind, and finite auxiliaries their
    tense or mood as `Tense[aux]`: Past, Pres, Fut, Cnd, Pot, Nec and so on, as FEATS have it. Where
    FEATS have neither, as for English modal verbs, `MODALITY` annotates the input. Models never see
    this table: trees that a user writes have the feature themselves.

    Args:
        treebank: sentences of at most 1,000 words.
        final: marks that end sentences.
        lemmas: also sort nodes by lemma and XPOS, of which a model of lemmas makes words.
    """
    check_lengths(treebank)
    words, features = [word.lower() for word in treebank.words], list(treebank.features)
    relations, mothers = treebank.relations, treebank.mothers.tolist()
    slots, fixed = _words_in_slots(treebank, words, final)

    def content_word_of(j: int) -> int:
        while j in slots or j in fixed:
            j = mothers[j]
        return j

    members: dict[str, dict[int, list[tuple[int, ...]]]] = {slot: {} for slot in SLOTS}
    for j, (slot, fixed_daughters) in slots.items():
        at = content_word_of(j)
        is_inner = slot == "final" and mothers[at] >= 0  # only at the root it ends the sentence
        members["other" if is_inner else slot].setdefault(at, []).append((j, *fixed_daughters))
        if feature := _feature_of_function_word(treebank, j, slot):
            features[at] = "|".join(sorted({*filter(None, features[at].split("|")), feature}))

    def item(places: tuple[int, ...]) -> Item:
        return tuple(SlotWord(words[k], relations[k], treebank.upos[k]) for k in places)

    def lemma(k: int) -> tuple[str, str, str]:
        return treebank.lemmas[k].lower(), treebank.xpos[k], treebank.features[k]

    sources: dict[str, dict[int, Sources]] = {}
    for slot, by_node in members.items():
        for listed in by_node.values():
            listed.sort(key=lambda places: (item(places), [lemma(k) for k in places]))
        sources[slot] = {at: tuple(listed) for at, listed in by_node.items()}

    def node_content(j: int) -> tuple[Any, ...]:
        """Return all that models may see of a content word, by which sisters are sorted."""
        slot_sources = [sources[slot].get(j, ()) for slot in SLOTS]
        fillings = (tuple(map(item, source)) for source in slot_sources)
        is_closed = CLOSED in features[j].split("|")
        content = words[j], treebank.upos[j], relations[j], open_features(j), is_closed, *fillings
        if not lemmas:
            return content
        places = (j, *(k for source in slot_sources for item_places in source for k in item_places))
        return *content, tuple(map(lemma, places))

    def open_features(j: int) -> str:
        return "|".join(part for part in features[j].split("|") if part != CLOSED)

    content = [j for j in range(len(words)) if j not in slots and j not in fixed]
    number = {j: i for i, j in enumerate(content)}
    offsets = np.searchsorted(content, treebank.offsets).astype(np.int64)
    starts = np.repeat(offsets[:-1], np.diff(offsets))
    heads = np.array([number.get(mothers[j], -1) for j in content], dtype=np.int64)
    keys = number_contents([node_content(j) for j in content])
    local_heads = np.where(heads < 0, -1, heads - starts).astype(np.int32)
    order = _kernel.canonical_order(keys, local_heads, offsets) + starts
    content = [content[i] for i in order.tolist()]
    number = {j: i for i, j in enumerate(content)}
    listed_sources = {slot: [of.get(j, ()) for j in content] for slot, of in sources.items()}
    return ContentTrees(
        name=treebank.name,
        words=[words[j] for j in content],
        tags=[treebank.upos[j] for j in content],
        relations=[relations[j] for j in content],
        features=[open_features(j) for j in content],
        heads=np.array([number.get(mothers[j], -1) for j in content], dtype=np.int64),
        offsets=offsets,
        ids=treebank.ids,
        fillings={s: [tuple(map(item, p)) for p in column] for s, column in listed_sources.items()},
        closed=np.array([CLOSED in features[j].split("|") for j in content], dtype=bool),
        places=np.array(content, dtype=np.int64),
        sources=listed_sources,
    )


def _words_in_slots(
    treebank: Treebank, words: list[str], final: frozenset[str]
) -> tuple[dict[int, tuple[str, list[int]]], set[int]]:
    """Return the words in slots, each with its slot and `fixed` daughters, and all of the latter.

    A word in a slot has no daughters but marks and `fixed` words without any.
    """
    kinds = [base_relation(relation) for relation in treebank.relations]
    daughters: dict[int, list[int]] = {}
    for j, mother in enumerate(treebank.mothers.tolist()):
        daughters.setdefault(mother, []).append(j)
    slots: dict[int, tuple[str, list[int]]] = {}
    fixed: set[int] = set()
    roots = set(daughters.get(-1, ()))
    for j, word in enumerate(words):
        slot, below = slot_of(word, kinds[j], treebank.features[j], final), daughters.get(j, ())
        is_leaf = all(kinds[d] in ("punct", FIXED) and d not in daughters for d in below)
        if slot and j not in roots and is_leaf:
            slots[j] = slot, [d for d in below if kinds[d] == FIXED]
            fixed.update(slots[j][1])
    return slots, fixed


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
