"""Reference pages of all other names: formats, statistics, levels, tokenisers, …"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from karat.arrow.pieces import TableFormat
from karat.cli.options import ENDINGS
from karat.evalset.catalogue import KnownSet, SetFormat
from karat.evalset.loading import KNOWN
from karat.registry import KINDS, declared, load, registry_of
from karat.settings import NamedSettings, to_text
from tools.docs.markdown import code, escaped, table

FORMATS = {
    "renderers": ("Output formats", "What `-f/--format` takes, and the endings of `-o/--output`."),
    "formats": ("Formats of evaluation sets", "What `--read-as` takes; found from the content."),
    "nugget_formats": ("Formats of nugget sets", "Keys, runs and judgements of nugget sets."),
    "text_formats": ("Formats of text files", "What `--read-as` takes for files of text."),
    "table_formats": ("Formats of tables", "Found from the ending of the file."),
}
"""Kind -> heading and first sentence, on the page of formats."""
NAMES = {
    "statistics": ("Statistics", "What `karat meta --statistic` takes."),
    "reproductions": ("Papers", "What `karat reproduce` takes."),
    "levels": ("Levels", "What `karat meta --level` takes: the points that are correlated."),
    "groupings": ("Groupings", "How `karat plane fit --by` groups segments."),
    "classifiers": ("Classifiers", "What `karat nuggets score --classifier` takes."),
    "engines": ("Engines", "What `--engine` takes: where the pieces of a table are scored."),
    "sources": ("Sources", "What `karat gate` gets scores per item from."),
    "tokenizers": ("Tokenisers", "What the setting `tok` of metrics takes."),
    "stemmers": ("Stemmers", "What the setting `stem` of metrics takes."),
}
"""Kind -> heading and first sentence, on the page of names."""
ELSEWHERE = {"metrics"}
"""Kinds with a page of their own."""


def kinds() -> set[str]:
    """Return all kinds of names."""
    return {*KINDS, *declared("kinds")}


def formats_page() -> str:
    """Return the page of formats of output, sets, text files and tables."""
    parts = ["# Formats", "Formats that Karat reads and writes.", *_sections(FORMATS)]
    rows = (
        [code(name), code(known_set.format), escaped(_place(known_set))]
        for name, known_set in _known_sets()
    )
    parts += ["## Known sets", "Sets with a name. Karat looks for them in the folder that the "]
    parts[-1] += "variable `KARAT_DATA` names; bundled sets are always there."
    return "\n\n".join([*parts, table(["Set", "Format", "About"], rows)]) + "\n"


def _known_sets() -> list[tuple[str, KnownSet]]:
    return list(KNOWN.items())


def _place(known_set: KnownSet) -> str:
    return known_set.about if known_set.bundled else f"{known_set.about} (`{known_set.place}`)"


def names_page() -> str:
    """Return the page of statistics, levels, tokenisers and other names."""
    about = "Names that options and settings take. A plugin can add to each list "
    about += "([how](../how-to/write-a-metric.md))."
    return "\n\n".join(["# Names", about, *_sections(NAMES)]) + "\n"


def _sections(described: dict[str, tuple[str, str]]) -> Iterator[str]:
    for kind, (heading, about) in described.items():
        registry = registry_of(kind)
        entries = [(name, registry[name]) for name in registry.entries()]
        yield from (f"## {heading}", about)
        if kind == "stemmers":
            yield ", ".join(code(name) for name, _ in entries) + "."
        else:
            yield table(
                ["Name", "Meaning"], ([code(n), _meaning(n, entry)] for n, entry in entries)
            )
        for name, entry in entries:
            if isinstance(entry, type) and issubclass(entry, NamedSettings) and entry.settings():
                yield from (f"### Settings of `{name}`", _settings(entry))


def _meaning(name: str, entry: Any) -> str:
    """Return what an entry is, in its own words."""
    if isinstance(entry, SetFormat):
        return _format(entry)
    if text := getattr(entry, "meaning", "") or getattr(entry, "help", ""):
        return escaped(str(text))
    if isinstance(entry, TableFormat):
        return escaped(_of_module(getattr(entry.read, "func", entry.read)))
    entry = load(getattr(entry, "read", entry)) if not callable(entry) else entry
    ending = next((f".{end}: " for end, format in ENDINGS.items() if format == name), "")
    return ending + escaped(_first_sentence(inspect.getdoc(entry) or ""))


def _format(set_format: SetFormat) -> str:
    """Return the description of how a set format is recognised, and the options of its reader."""
    reader = load(set_format.reader)
    sentences = [escaped(_of_module(reader))]
    marks = {
        "folder with": set_format.holds,
        "columns": set_format.columns,
        "members": set_format.members,
    }
    for mark, names in {**marks, "named": set_format.files}.items():
        if names:
            sentences.append(f"Recognised by: {mark} {', '.join(map(code, names))}.")
    if options := set_format.option_names():
        sentences.append(f"Options: {', '.join(map(code, options))}.")
    return " ".join([*sentences, "Karat can write it." if set_format.writer else ""])


def _settings(cls: type[NamedSettings]) -> str:
    rows = [
        [code(f.name), code(to_text(f.default)), escaped(f.metadata["help"])]
        for f in cls.settings()
    ]
    return table(["Setting", "Default", "Meaning"], rows)


def _of_module(function: Any) -> str:
    """Return the summary of the module of a function: each format has its own module."""
    return _first_sentence(inspect.getdoc(inspect.getmodule(function)) or "")


def _first_sentence(text: str) -> str:
    return " ".join(text.partition("\n\n")[0].split())


def glossary_page() -> str:
    """Return the glossary, which the package has for its reports as well."""
    import karat

    return (Path(karat.__file__).parent / "data" / "glossary.md").read_text("utf-8")
