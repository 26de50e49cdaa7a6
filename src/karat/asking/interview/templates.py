"""Prompts: text files with placeholders, each with a name and the hash of its text.

    [system]
    You rate texts.
    [user]
    scale: {scale}
    outputs: {outputs}

A line `[system]` or `[user]` begins a message; without one, all of the text is the user's message.
`{word}` is a placeholder. Other braces are text, so examples in JSON stand as they are; `{{word}}`
is the text `{word}`. What fills a placeholder is written as JSON on one line: whatever a text says,
it cannot end its own string.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from karat.errors import InputError, short
from karat.storage.output import as_path
from karat.storage.unpacking import read_bytes

_HEADING = re.compile(r"\[(system|user)\]\s*")
_PLACEHOLDER = re.compile(r"\{\{([a-z_]+)\}\}|\{([a-z_]+)\}")
_UNSEEN = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]")
"""Characters that end lines, turn the writing direction or are no text: escaped in JSON."""
_HASH = 12  # hexadecimal digits of a prompt's hash


class Slots(NamedTuple):
    """The placeholders of a task: those that its prompts need, and all that it fills."""

    task: str
    needed: tuple[str, ...]
    optional: tuple[str, ...] = ()

    @property
    def all(self) -> tuple[str, ...]:
        """All placeholders that may be used."""
        return (*self.needed, *self.optional)


@dataclass(frozen=True)
class Prompt:
    """Text of a prompt, its name and where it was read."""

    name: str
    text: str
    place: str = ""

    @property
    def label(self) -> str:
        """Name, version and hash, as signatures have them: `ratings.v1@0123456789ab`."""
        return f"{self.name}@{sha256(self.text.encode()).hexdigest()[:_HASH]}"

    def check(self, slots: Slots) -> None:
        """Refuse a prompt with an unknown placeholder, or without one that its task needs."""
        place = self.place or self.name
        found = set[str]()
        for number, line in enumerate(self.text.split("\n"), 1):
            for word in (match[2] for match in _PLACEHOLDER.finditer(line) if match[2]):
                if word not in slots.all:
                    known = ", ".join(f"{{{one}}}" for one in slots.all)
                    told = f"found the placeholder {{{short(word)}}}, expected one of {known}"
                    raise InputError(f"{place}, line {number}: {told}")
                found.add(word)
        for word in slots.needed:
            if word not in found:
                told = f"the prompt has no placeholder {{{word}}}, which {slots.task} needs"
                raise InputError(f"{place}: {told}; add it")

    def messages(self, values: Mapping[str, object]) -> tuple[tuple[str, str], ...]:
        """Return role and content of each message, its placeholders filled with JSON."""
        filled = {word: as_json(value) for word, value in values.items()}

        def fill(match: re.Match[str]) -> str:
            return f"{{{match[1]}}}" if match[1] else filled[match[2]]

        return tuple((role, _PLACEHOLDER.sub(fill, text)) for role, text in self._parts())

    def _parts(self) -> Iterator[tuple[str, str]]:
        role, lines = "user", list[str]()
        for line in self.text.split("\n"):
            if heading := _HEADING.fullmatch(line):
                if "".join(lines).strip():
                    yield role, "\n".join(lines).strip()
                role, lines = heading[1], []
            else:
                lines.append(line)
        if "".join(lines).strip():
            yield role, "\n".join(lines).strip()


def read_prompt(path: str | PathLike[str], slots: Slots) -> Prompt:
    """Return the prompt in a file, checked for a task."""
    place = as_path("prompt", path)
    text = _read_text(place).replace("\r\n", "\n")
    prompt = Prompt(place.name.removesuffix(".md").removesuffix(".txt"), text, str(path))
    if not text.strip():
        raise InputError(f"{path} is empty: expected a prompt with {{{slots.needed[0]}}}")
    prompt.check(slots)
    return prompt


def _read_text(path: Path) -> str:
    try:
        return read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}, line {line}: not valid UTF-8, expected a text") from error
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error


def bundled_prompt(folder: Path, name: str) -> Prompt:
    """Return a prompt that comes with Karat."""
    return Prompt(name, (folder / f"{name}.md").read_text("utf-8"))


def as_json(value: object) -> str:
    """Return a value as JSON on one line, hidden characters escaped."""
    text = json.dumps(value, ensure_ascii=False)
    return _UNSEEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
