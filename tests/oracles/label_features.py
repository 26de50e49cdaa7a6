"""Features of a node as the labeller sees them, made one by one from the words of its tree.

Templates are written as the symbols they are made of: `i` is the node, `h` its head, `d` a
daughter, `s` a sister; `n` is the number of its daughters, at most four.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from oracles.order_features import EDGE, MASK, mix, symbol

NODE = """
i.back2
i.back4
i.front3
i.front4
i.front5
h.front3
h.front4
h.front5
i.back2 h.back2
i.back2 h.front4
i.front4 h.front4
i.front4 h.word
i.word h.front4
i.front5 n
i.front5 h.front5
i.front5 h.word
i.word h.front5
i.back2 h.front5
i.front5 h.back2
i.ending h.front5
"""

DAUGHTER = """
d.front5
d.front5 i.front5
d.word i.front5
d.back2 i.front5
d.back2
d.back2 i.back2
"""

SISTER = """
s.front5 i.front5
s.back2 i.back2 h.back2
s.word h.front5
s.back2 h.front5 i.back2
"""

Symbols = dict[str, int]


def symbols_of(word: str) -> Symbols:
    """All symbols of a word."""
    parts = {
        "word": word,
        "ending": word[-3:],
        "front3": word[:3],
        "front4": word[:4],
        "front5": word[:5],
        "back2": word[-2:],
        "back4": word[-4:],
    }
    return {name: symbol(part) for name, part in parts.items()}


def hashes(
    family: int, templates: str, symbols_by_owner: dict[str, Symbols], n: int
) -> Iterator[int]:
    """The hash of every template's feature."""
    for number, template in enumerate(templates.split(chr(10))[1:-1], (family << 16) + 1):
        h = mix(0x1234567, number)
        for name in template.split():
            owner, _, part = name.partition(".")
            h = mix(h, symbols_by_owner[owner][part] if part else n)
        yield h * 0xD6E8FEB86659FD93 & MASK


def affix_features(words: Sequence[str], heads: Sequence[int], i: int) -> list[int]:
    """The features of a node that look at the beginnings and ends of words."""
    word_symbols = [symbols_of(word) for word in words]
    daughters = [d for d, head in enumerate(heads) if head == i]
    sisters = [s for s, head in enumerate(heads) if head == heads[i] >= 0 and s != i]
    around = {
        "i": word_symbols[i],
        "h": word_symbols[heads[i]] if i else dict.fromkeys(word_symbols[i], EDGE),
    }
    n = min(len(daughters), 4)
    features = list(hashes(17, NODE, around, n))
    for d in daughters:
        features += hashes(18, DAUGHTER, around | {"d": word_symbols[d]}, n)
    for s in sisters:
        features += hashes(19, SISTER, around | {"s": word_symbols[s]}, n)
    return features
