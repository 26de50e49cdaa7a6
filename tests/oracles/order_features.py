"""Features of an order as the ordering model sees them, taken from the tree without any search.

Templates are written as the symbols they are made of: `a`, `b` and `c` are items from left to
right, `h` is the head, `f` the frame of the treelet, `g` a daughter of an item; `side` tells
whether two items are right of the head. `x` and `y` are the other relations of `a` and `b`, where
there is a doubt. A `row` is all that stands on one side of the head, `left` and `right` are both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

MASK = (1 << 64) - 1
EDGE, HEAD = 0x5EED0001, 0x5EED0002
WORD_SYMBOLS = ("word", "ending", "shape", "tag", "fine", "relation", "other")

DOUBTFUL_SIDE = """
a.relation a.other
a.relation a.other h.tag
a.relation a.other h.fine f.relation
a.relation a.other a.word
a.relation a.other h.word
a.relation a.other a.tag f.count
a.other h.tag
a.other a.tag h.tag
a.other a.word h.tag
a.other h.word
a.relation a.other f.relations
a.other f.relations
"""

DOUBTFUL_SISTER = """
a.relation a.other c.relation h.tag
a.relation a.other c.relation c.other
a.relation a.other c.word
"""

DOUBTFUL_PAIR = """
a.relation a.other b.relation b.other side
a.relation a.other b.relation b.other side h.tag
x y side
x y side h.tag
x b.relation side
a.relation y side
x y side a.word
x y side b.word
x y side a.size b.size
"""

DOUBTFUL_NEIGHBOUR = """
a.relation a.other b.relation b.other side
x y side
x y side h.tag
x y h.word
x b.first side
a.last y side
x y a.last_tag b.first_tag
"""

SIDE = """
a.relation
a.relation a.tag
a.relation h.tag
a.relation a.tag h.tag
a.relation h.fine a.fine
a.relation h.tag f.relation
a.relation h.tag f.relation f.mother_tag
a.relation h.word
a.relation a.tag h.word
a.word h.tag
a.word a.relation
a.word a.relation h.tag
a.word a.relation h.fine f.relation
a.word h.word
a.word h.ending
a.ending h.word
a.ending a.relation h.ending
a.relation a.first h.tag
a.relation a.last h.tag
a.relation a.first h.word
a.relation a.first a.second
a.relation a.first_tag a.last_tag h.tag
a.relation a.size h.tag
a.relation a.tag a.size a.daughters h.tag
a.relation a.tag f.count
a.shape a.relation h.shape h.tag
a.relation a.tag f.relations
a.relation h.fine f.relations
a.word f.relations
a.relation f.relation f.mother_word
a.word f.relation f.mother_relation
a.fine f.relation h.tag
a.first a.relation f.relation
a.first a.second h.tag
a.relation a.tag f.relation f.mother_relation h.tag
a.ending a.relation h.tag
a.relation h.ending f.relation
a.relation a.relations h.tag
a.relation a.tag a.relations f.relation
a.relation a.first_relation a.first h.tag
a.relation a.first_relation a.last_relation h.fine
"""

SISTER = """
a.relation c.relation h.tag
a.relation c.word
a.relation a.tag c.relation c.tag h.fine
a.word c.relation h.tag
a.word c.word
a.relation c.fine a.fine
a.relation a.first c.word
a.relation c.word f.relation h.fine
a.relation c.relation f.relation h.fine
"""

PAIR = """
a.relation b.relation
a.relation b.relation side
a.relation b.relation side h.tag
a.relation b.relation side h.word
a.relation b.relation side f.relation h.tag
a.relation b.relation side a.tag b.tag
a.relation b.relation side a.tag b.tag h.tag
a.relation b.relation side a.fine b.fine
a.relation b.relation side a.size b.size
a.tag b.tag side larger equal
a.relation b.relation side larger equal
a.relation b.relation side a.first
a.relation b.relation side b.first
a.relation b.relation side a.last
a.relation b.relation side b.last
a.first b.first side
a.first_tag b.first_tag a.relation b.relation side
a.last_tag b.first_tag a.relation b.relation side
a.word b.word
a.word b.word side
a.word b.relation side
a.word b.relation b.tag side
a.word b.relation h.tag side
a.word b.first side
a.relation b.word side
a.relation a.tag b.word side
a.relation b.word h.tag side
a.first b.word side
a.ending b.ending side
a.shape b.shape a.relation b.relation side
a.ending b.relation side
a.relation b.ending side
a.relation b.relation side f.count
a.relation b.relation side f.relations
a.relation a.daughters b.relation b.daughters side
a.relation b.relation side a.first a.second
a.relation b.relation side b.first b.second
a.relation b.relation side a.first b.first
a.relation b.relation side a.last_tag b.last_tag
a.word b.ending side
a.ending b.word side
a.word b.word h.word
a.fine b.fine h.fine side
a.relation b.relation side f.relation f.mother_tag
a.relation b.relation side a.relations
a.relation b.relation side b.relations
a.relation b.relation side a.first_relation b.first_relation
a.relation b.relation side a.last_relation b.last_relation
"""

PAIR_SISTER = """
a.relation b.relation side c.word
a.relation b.relation side c.relation c.tag h.tag
a.word b.relation side c.word
a.relation b.word side c.word
"""

NEIGHBOUR = """
a.relation b.relation side
a.relation b.relation h.tag side
a.relation b.relation h.tag f.relation side
a.relation b.relation h.word
a.relation b.relation a.tag b.tag h.tag
a.relation b.relation a.fine b.fine
a.relation b.relation f.count side
a.relation b.relation f.relations
a.relation b.relation a.size b.size side
a.last b.first
a.last b.first a.relation b.relation
a.last b.first_tag
a.last_tag b.first
a.last_tag b.first_tag a.relation b.relation
a.last_tag b.first_tag h.tag
a.last b.relation side
a.relation b.first side
a.last b.relation b.tag
a.relation a.tag b.first
a.but_last a.last b.first
a.last b.first b.second
a.but_last a.last b.first_tag
a.last_tag b.first b.second
a.word b.word
a.word b.relation side
a.relation b.word side
a.word b.tag h.tag
a.tag b.word h.tag
a.ending b.ending side
a.shape b.shape a.relation b.relation
a.word b.first
a.last b.word
a.word b.relation f.relation h.tag
a.relation b.word f.relation h.tag
a.last b.first h.word
a.relation b.relation a.last b.first_tag
a.relation b.relation a.last_tag b.first
a.fine b.fine h.fine f.relation
a.relation b.relation f.relation f.mother_tag side
a.relation b.relation a.last_relation b.first_relation
a.last a.last_relation b.first b.first_relation
a.relation b.relation side a.relations
a.relation b.relation side b.relations
"""

TRIPLE = """
a.relation b.relation c.relation
a.relation b.relation c.relation h.tag
a.relation b.relation c.relation h.tag f.relation
a.relation b.relation c.relation a.tag b.tag c.tag
a.word b.relation c.relation
a.relation b.word c.relation
a.relation b.relation c.word
a.relation b.first c.relation
a.relation b.last c.relation
a.last b.relation c.first
a.last_tag b.relation b.tag c.first_tag
a.word b.word c.relation
a.relation b.word c.word
a.fine b.fine c.fine
a.relation b.relation c.relation a.size b.size c.size
a.relation b.relation c.relation f.count
a.relation b.relation c.relation f.relations
a.word b.relation c.word
a.last b.word c.first
a.relation b.relation c.relation h.word
a.relation b.relation c.relation f.question
a.tag b.tag c.tag f.question f.relation
a.last_fine b.fine c.first_fine
a.last_fine b.relation c.first_fine
a.last_fine b.first_fine b.last_fine c.first_fine
"""

SIDE_CONTEXT = """
a.relation f.question h.tag
a.word f.question h.tag
a.first a.relation f.question
a.relation f.question f.relation f.relations
a.relation a.first_fine a.last_fine h.tag
a.relation a.first_fine h.fine
a.relation a.last_fine f.relation
"""

SIDE_BELOW = """
a.relation g.relation h.tag
a.relation g.word h.tag
a.relation g.word f.relation
a.word g.relation g.word
"""

PAIR_CONTEXT = """
a.relation b.relation side f.question
a.relation b.relation side f.question a.tag b.tag
a.word b.relation side f.question
a.relation b.word side f.question
a.relation b.relation side a.first_fine b.first_fine
a.last_fine b.first_fine side
a.relation b.relation side a.last_fine b.first_fine
"""

PAIR_BELOW = """
a.relation b.relation side g.relation
a.relation b.relation side g.word
"""

ACROSS = """
a.relation b.relation
a.relation b.relation h.tag
a.relation b.relation h.tag f.relation
a.relation b.relation h.word
a.relation b.relation a.tag b.tag
a.relation b.relation a.fine b.fine
a.relation b.relation a.size b.size
a.word b.word
a.word b.relation h.tag
a.relation b.word h.tag
a.first b.first
a.first b.last
a.relation a.last b.relation b.first
a.relation a.first b.relation b.last
a.relation b.relation b.first
a.relation b.relation b.last
a.relation b.relation a.first
a.relation b.relation a.last
a.relation b.relation f.relations
"""

NEIGHBOUR_CONTEXT = """
a.relation b.relation side f.question
a.relation b.relation side f.question a.tag b.tag
a.word b.relation f.question
a.relation b.word f.question
a.last b.first_tag f.question
a.last_fine b.first_fine
a.last_fine b.first_fine a.relation b.relation
a.last_fine b.first_fine h.fine f.relation
a.last_fine b.first
a.last b.first_fine
"""

ROW = """
row.relations
row.relations h.tag
row.relations h.tag f.relation
row.relations h.word
row.relations f.question f.relation
row.tags
row.tags h.fine
row.fine
row.fine h.fine
row.leaves
row.leaves h.tag
row.words
row.words h.word
row.count h.tag f.count
row.count h.fine f.relations
"""

ROWS = """
left.relations right.relations
left.relations right.relations h.tag
left.relations right.relations f.relation h.tag
left.tags right.tags
left.leaves right.leaves
left.leaves right.relations
left.relations right.leaves
"""


def mix(h: int, x: int) -> int:
    """Two numbers of 64 bits in one."""
    h = (h ^ x) * 0x9E3779B97F4A7C15 & MASK
    return h ^ h >> 29


def symbol(text: str) -> int:
    """The symbol of a string."""
    data = text.encode()
    h = 0xCBF29CE484222325 ^ len(data)
    for byte in data:
        h = (h ^ byte) * 0x100000001B3 & MASK
    return mix(h, len(data)) >> 32


def size_class(n: int) -> int:
    """1, 2, 3-4, 5-8, … as 0, 1, 2, 3, …"""
    return (n - 1).bit_length()


@dataclass
class Tree:
    """Heads (-1: the root's), symbols of the nodes by their names, and an order of the nodes."""

    heads: Sequence[int]
    columns: dict[str, Sequence[int]]
    order: Sequence[int]

    def daughters(self, node: int) -> list[int]:
        """By their numbers."""
        return [i for i, head in enumerate(self.heads) if head == node]

    def subtree(self, node: int) -> list[int]:
        """The nodes below a node and itself, as ordered."""
        below = {node}
        for i, head in enumerate(self.heads):  # heads come before their daughters
            if head in below:
                below.add(i)
        return [i for i in self.order if i in below]


Item = dict[str, int]


def item(tree: Tree, node: int, phrase: Sequence[int]) -> Item:
    """What is known of a node with its ordered subtree."""
    word, tag, relation = (tree.columns[name] for name in ("word", "tag", "relation"))
    return {name: tree.columns[name][node] for name in WORD_SYMBOLS} | {
        "size": size_class(len(phrase)),
        "daughters": size_class(len(tree.daughters(node)) + 1),
        "first": word[phrase[0]],
        "second": word[phrase[1]] if len(phrase) > 1 else 0,
        "last": word[phrase[-1]],
        "but_last": word[phrase[-2]] if len(phrase) > 1 else 0,
        "first_tag": tag[phrase[0]],
        "last_tag": tag[phrase[-1]],
        "first_relation": relation[phrase[0]],
        "last_relation": relation[phrase[-1]],
        "first_fine": tree.columns["fine"][phrase[0]],
        "last_fine": tree.columns["fine"][phrase[-1]],
        "relations": relations_below(tree, node),
        "node": node,
    }


def below(tree: Tree, parent_item: Item) -> list[Item]:
    """The first eight daughters of an item's node: their relations and words."""
    names = ("relation", "word")
    daughters = tree.daughters(parent_item["node"])[:8]
    return [{name: tree.columns[name][d] for name in names} for d in daughters]


def relations_below(tree: Tree, node: int) -> int:
    """The relations of a node's daughters together, whatever their order."""
    together = sum(mix(77, tree.columns["relation"][d]) for d in tree.daughters(node))
    return (together & MASK) >> 20 & 0xFFFFFFFF


def edge() -> Item:
    """What stands before the first item and after the last."""
    words = ("first", "second", "last", "but_last")
    labels = ("first_tag", "last_tag", "first_fine", "last_fine")
    labels += ("first_relation", "last_relation")
    edge_symbols = dict.fromkeys((*words, *labels, *WORD_SYMBOLS), EDGE)
    return edge_symbols | {"size": 0, "daughters": 0, "relations": 0, "other": 0}


def frame(tree: Tree, node: int) -> dict[str, int]:
    """What all items of a treelet share."""
    mother, relation = tree.heads[node], tree.columns["relation"]
    names = ("word", "tag", "relation")
    return {f"mother_{n}": tree.columns[n][mother] if mother >= 0 else 0 for n in names} | {
        "relation": relation[node],
        "relations": relations_below(tree, node),
        "count": min(len(tree.daughters(node)), 8),
        "question": question(tree, node),
    }


def question(tree: Tree, node: int) -> int:
    """1 if a daughter of the node is a question mark, 2 if one of a node above is, else 0."""
    at, value = node, 1
    while at >= 0:
        if any(tree.columns["word"][d] == symbol("?") for d in tree.daughters(at)):
            return value
        at, value = tree.heads[at], 2
    return 0


def row_of(items: Sequence[Item], side: int) -> Item:
    """The hashes of what stands on one side of the head."""
    row_hashes = dict.fromkeys(("relations", "tags", "fine", "leaves", "words"), side + 1)
    for a in items:
        leaf = a["word"] if a["size"] == 0 else 0
        hashed_parts = {"relations": ["relation"], "tags": ["relation", "tag"], "fine": ["fine"]}
        for name, parts in (hashed_parts | {"words": ["word"]}).items():
            for part in parts:
                row_hashes[name] = mix(row_hashes[name], a[part])
        row_hashes["leaves"] = mix(mix(row_hashes["leaves"], a["relation"]), leaf)
    return row_hashes | {"count": len(items)}


class Feature(int):
    """A hash that knows the number of its template."""

    number: int


def hashes(
    family: int, templates: str, items_by_name: dict[str, Item], side: int = 0
) -> Iterator[Feature]:
    """The hash of every template's feature."""
    plain = {"side": side}
    if "b" in items_by_name:
        a, b = items_by_name["a"]["size"], items_by_name["b"]["size"]
        plain |= {"larger": int(a > b), "equal": int(a == b)}
    for name, owner in (("x", "a"), ("y", "b")):
        if owner in items_by_name:
            plain[name] = items_by_name[owner]["other"] or items_by_name[owner]["relation"]
    for number, template in enumerate(templates.split("\n")[1:-1], (family << 16) + 1):
        h = mix(0x1234567, number)
        for name in template.split():
            owner, _, part = name.partition(".")
            h = mix(h, items_by_name[owner][part] if part else plain[name])
        feature = Feature(h * 0xD6E8FEB86659FD93 & MASK)
        feature.number = number
        yield feature


def doubtful(
    family: int, templates: str, items_by_name: dict[str, Item], side: int = 0
) -> list[Feature]:
    """The same where the relation of `a` or `b` is in doubt; else nothing."""
    doubts = (items_by_name[owner]["other"] for owner in ("a", "b") if owner in items_by_name)
    return list(hashes(family, templates, items_by_name, side)) if any(doubts) else []


def treelet_features(tree: Tree, node: int) -> dict[str, list[Feature]]:
    """The features of one treelet's order, by their group."""
    members = sorted([node, *tree.daughters(node)], key=list(tree.order).index)
    shared = {
        "f": frame(tree, node),
        "h": item(tree, node, [node]) | {"relation": HEAD, "other": 0},
    }
    items = [shared["h"] if i == node else item(tree, i, tree.subtree(i)) for i in members]
    at = members.index(node)
    left, right = items[:at], items[at + 1 :]
    return {
        "side": [h for a in left for h in side(tree, shared | {"a": a}, left + right)],
        "pair": [
            h
            for right_side, part in enumerate((left, right))
            for j, b in enumerate(part)
            for a in part[:j]
            for h in pair(tree, shared | {"a": a, "b": b}, left + right, right_side)
        ],
        **in_a_row(shared, [edge(), *items, edge()], at),
        "across": [
            h for a in left for b in right for h in hashes(7, ACROSS, shared | {"a": a, "b": b})
        ],
        "order": list(whole_order(shared, row_of(left, 0), row_of(right, 1))),
    }


def side(
    tree: Tree, items_by_name: dict[str, Item], daughters: Sequence[Item]
) -> Iterator[Feature]:
    """A daughter before the head."""
    yield from hashes(1, SIDE, items_by_name)
    yield from hashes(9, SIDE_CONTEXT, items_by_name)
    for g in below(tree, items_by_name["a"]):
        yield from hashes(10, SIDE_BELOW, items_by_name | {"g": g})
    for c in daughters:
        if c is not items_by_name["a"]:
            yield from hashes(2, SISTER, items_by_name | {"c": c})
            yield from doubtful(41, DOUBTFUL_SISTER, items_by_name | {"c": c})
    yield from doubtful(40, DOUBTFUL_SIDE, items_by_name)


def pair(
    tree: Tree, items_by_name: dict[str, Item], daughters: Sequence[Item], right: int
) -> Iterator[Feature]:
    """A daughter before another on one side."""
    yield from hashes(3, PAIR, items_by_name, right)
    yield from hashes(11, PAIR_CONTEXT, items_by_name, right)
    yield from doubtful(42, DOUBTFUL_PAIR, items_by_name, right)
    for family, whose in ((12, "a"), (13, "b")):
        for g in below(tree, items_by_name[whose]):
            yield from hashes(family, PAIR_BELOW, items_by_name | {"g": g}, right)
    for c in daughters:
        if c is not items_by_name["a"] and c is not items_by_name["b"]:
            yield from hashes(6, PAIR_SISTER, items_by_name | {"c": c}, right)


def in_a_row(shared: dict[str, Item], row: Sequence[Item], at: int) -> dict[str, list[Feature]]:
    """Two and three items in a row, the edges included; the head is item `at` without them."""
    features: dict[str, list[Feature]] = {"neighbour": [], "triple": []}
    for i in range(len(row) - 1):
        items_by_name = shared | {"a": row[i], "b": row[i + 1]}
        features["neighbour"] += hashes(4, NEIGHBOUR, items_by_name, int(i > at))
        features["neighbour"] += hashes(14, NEIGHBOUR_CONTEXT, items_by_name, int(i > at))
        features["neighbour"] += doubtful(43, DOUBTFUL_NEIGHBOUR, items_by_name, int(i > at))
        if i:
            items_by_name = shared | {"a": row[i - 1], "b": row[i], "c": row[i + 1]}
            features["triple"] += hashes(5, TRIPLE, items_by_name)
    return features


def whole_order(shared: dict[str, Item], left: Item, right: Item) -> Iterator[Feature]:
    """All items on both sides of the head."""
    yield from hashes(15, ROW, shared | {"row": left})
    yield from hashes(16, ROW, shared | {"row": right})
    yield from hashes(8, ROWS, shared | {"left": left, "right": right})
