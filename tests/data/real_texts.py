"""Small readers of the real data, for tests only."""

from __future__ import annotations

import csv
import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_SPAN = re.compile(r"</?v>")


class Ted(NamedTuple):
    """Chinese sources, and the English targets of every system and reference."""

    sources: list[str]
    targets: dict[str, list[str]]


def ted(folder: Path) -> Ted:
    """WMT21 TED zh-en without the marks of the annotators, segments in their order."""
    sources: dict[tuple[str, int], str] = {}
    targets: dict[str, dict[tuple[str, int], str]] = {}
    path = folder / "mt-ted-zhen" / "mqm_ted_zhen.tsv"
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            key = row["doc"], int(row["seg_id"])
            sources[key] = _SPAN.sub("", row["source"])
            targets.setdefault(row["system"], {})[key] = _SPAN.sub("", row["target"])
    keys = sorted(sources)
    return Ted(
        [sources[key] for key in keys],
        {name: [texts[key] for key in keys] for name, texts in sorted(targets.items())},
    )


def summeval(folder: Path) -> Iterator[dict[str, object]]:
    """The documents of SummEval."""
    with (folder / "summ-summeval" / "summeval.jsonl").open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def chinese_of_tatoeba(folder: Path) -> list[str]:
    """The Chinese sides of the pairs."""
    path = folder / "parallel-tatoeba-enzh" / "en-zh.tsv.gz"
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
        return [line.rstrip("\n").split("\t")[1] for line in file]


def multi30k(folder: Path, name: str) -> list[str]:
    """One file of captions."""
    path = folder / "parallel-multi30k" / f"{name}.gz"
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
        return file.read().rstrip("\n").split("\n")


class E2E(NamedTuple):
    """The outputs of every system, and as many references as each input has."""

    outputs: dict[str, list[str]]
    references: list[list[str]]


def _field(text: str) -> str:
    """A field without its quotation marks, double or single."""
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1].replace('""', '"')
    return text


def e2e(folder: Path) -> E2E:
    """The E2E challenge, inputs in the order of the test set."""
    groups: dict[str, list[str]] = {}
    path = folder / "nlg-e2e" / "testset_w_refs.csv"
    with path.open(encoding="utf-8-sig", newline="") as file:
        for row in csv.DictReader(file):
            groups.setdefault(row["mr"], []).append(row["ref"])
    outputs = {}
    for path in sorted((folder / "nlg-e2e" / "primary").glob("*.tsv")):
        lines = path.read_text("utf-8-sig").splitlines()[1:]
        outputs[path.stem] = [_field(line.split("\t")[1]) for line in lines if line.strip()]
    return E2E(outputs, list(groups.values()))
