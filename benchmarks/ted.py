"""TED zh-en: the outputs of 13 systems and two references, found through KARAT_DATA."""

from __future__ import annotations

import re
from typing import NamedTuple

from corpus import DATA


class Ted(NamedTuple):
    """Outputs by system, `refB` and `ref`, in the order of the talks."""

    outputs: dict[str, list[str]]
    good: list[str]
    other: list[str]


def ted() -> Ted | None:
    """The texts, or None if they are not available."""
    path = DATA / "mt-ted-zhen" / "mqm_ted_zhen.tsv"
    if not path.exists():
        return None
    texts_by_system: dict[str, dict[tuple[str, int], str]] = {}
    for line in path.read_text(encoding="utf-8").split("\n")[1:]:
        if line:
            system, document, _, number, _, _, target, *_ = line.split("\t")
            text = re.sub("</?v>", "", target)
            texts_by_system.setdefault(system, {})[document, int(number)] = text
    order = sorted(texts_by_system["refB"])
    outputs = {
        name: [texts[key] for key in order] for name, texts in sorted(texts_by_system.items())
    }
    return Ted(outputs, outputs.pop("refB"), outputs.pop("ref"))
