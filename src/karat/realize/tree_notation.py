r"""Trees in brackets or in JSON, which people can type.

    (see root VERB VBD Tense=Past
      (cat nsubj NOUN NNS Number=Plur)
      (mouse obj NOUN NN Number=Sing (a det DET DT))
      (. punct PUNCT))

A node has a lemma (or word), relation, UPOS, XPOS and features, the last of which may be omitted,
followed by its daughters, in any order. Values with spaces, brackets or quotation marks are quoted:
`"("`, `"\""`. In JSON a node is an object with the members `lemma`, `relation`, `upos`, `xpos`,
`features` and `daughters`; a file has one tree, a list of trees, or one tree per line.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from karat.errors import InputError, quoted, short
from karat.realize.treebank import (
    MISSING,
    Treebank,
    complete_problem,
    features_problem,
    first_character,
    text_problem,
)

FIELDS = ("lemma", "relation", "upos", "xpos", "features")
"""Fields of a node, in the order of brackets."""
_TOKEN = re.compile(r'\s+|(?m:^)#[^\n]*|([()])|"((?:[^"\\\n]|\\.)*)"|([^\s()"]+)')
_GLUED = re.compile(r"[^\s()]")
_ESCAPED = re.compile(r"\\(.)")


class _Text:
    """The text of a file, with a fast lookup of line numbers."""

    def __init__(self, text: str, name: str) -> None:
        self.whole, self.name = text, name
        self._ends = [match.start() for match in re.finditer("\n", text)]

    def line(self, place: int) -> int:
        """Return the line of a position, from 1."""
        return bisect_left(self._ends, place) + 1

    def wrong(self, place: int, problem: str) -> InputError:
        """Return an error with the line and the column of a position."""
        column = place - self.whole.rfind("\n", 0, place)
        return InputError(f"{self.name}, line {self.line(place)}, column {column}: {problem}")


@dataclass
class TreeNode:
    """A node as written: its fields, line and daughters."""

    fields: list[str]
    line: int
    daughters: list[TreeNode] = field(default_factory=list)


def read_notation(text: bytes, name: str) -> Treebank:
    """Return the trees of a file in brackets or JSON."""
    try:
        decoded = text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = text.count(b"\n", 0, error.start) + 1
        raise InputError(f"{name}, line {line}: not valid UTF-8; convert the file") from error
    read = _parse_brackets if first_character(decoded) == "(" else _parse_json
    return _treebank(name, read(_Text(decoded, name)))


def _problem(key: str, value: str) -> str:
    """Return the problem with a field, or an empty string."""
    if key != "features":
        return text_problem(value)
    return text_problem(value) or features_problem(value) or complete_problem(value)


# ---------------------------------------------------------------------------------- brackets


def _parse_brackets(text: _Text) -> Iterator[TreeNode]:
    """Yield the trees in brackets."""
    above: list[TreeNode] = []
    for place, bracket, atom in _tokens(text):
        if bracket == "(":
            node = TreeNode([], text.line(place))
            if above and not above[-1].fields:
                raise text.wrong(place, 'found "(", expected a lemma')
            above.append(node)
        elif not above:
            raise text.wrong(place, f'found {quoted(bracket or atom)}, expected "("')
        elif bracket:
            node = above.pop()
            if not node.fields:
                raise text.wrong(place, 'found ")", expected a lemma')
            if above:
                above[-1].daughters.append(node)
            else:
                yield node
        else:
            _add(above[-1], atom, text, place)
    if above:
        raise text.wrong(len(text.whole), 'the text ends, expected ")"')


def _tokens(text: _Text) -> Iterator[tuple[int, str, str]]:
    """Yield brackets and atoms with their positions."""
    place = 0
    while place < len(text.whole):
        match = _TOKEN.match(text.whole, place)
        if match is None:
            raise text.wrong(place, "a quotation mark that is never closed")
        bracket, in_quotes, atom = match.groups()
        glued = text.whole[match.end() : match.end() + 1]
        if (in_quotes is not None and _GLUED.match(glued)) or (atom and glued == '"'):
            side = "after" if in_quotes is not None else "before"
            raise text.wrong(match.end(), f"expected a space or bracket {side} the quotation mark")
        if bracket or in_quotes is not None or atom:
            plain = _ESCAPED.sub(r"\1", in_quotes) if in_quotes is not None else atom
            yield place, bracket or "", plain or ""
        place = match.end()


def _add(node: TreeNode, atom: str, text: _Text, place: int) -> None:
    """Add an atom to a node; XPOS may be omitted before features."""
    if node.daughters:
        finding = f'found {quoted(atom)} after a daughter, expected "(" or ")"'
        raise text.wrong(place, finding)
    if not node.fields and atom in ("", MISSING):
        raise text.wrong(place, f"found {quoted(atom)}, expected a lemma")
    if len(node.fields) == len(FIELDS) - 2 and "=" in atom:
        node.fields.append(MISSING)
    if len(node.fields) == len(FIELDS):
        raise text.wrong(place, f"found {quoted(atom)}, expected at most {', '.join(FIELDS)}")
    key = FIELDS[len(node.fields)]
    if problem := _problem(key, atom):
        raise text.wrong(place, f"{key} is {quoted(atom)}, {problem}")
    node.fields.append(atom)


# -------------------------------------------------------------------------------------- JSON


def _parse_json(text: _Text) -> Iterator[TreeNode]:
    """Yield the trees in JSON."""
    decoder = json.JSONDecoder(object_pairs_hook=_members, parse_int=_number)
    place = number = 0
    while place < len(text.whole):
        if text.whole[place].isspace():
            place += 1
            continue
        line = text.line(place)
        try:
            value, place = decoder.raw_decode(text.whole, place)
            listed = enumerate(value if isinstance(value, list) else [value], number + 1)
            trees = [_node(tree, line, f"{text.name}, line {line}, tree {n}") for n, tree in listed]
        except json.JSONDecodeError as error:
            problem = f"not JSON ({error.msg[0].lower()}{error.msg[1:]})"
            raise text.wrong(error.pos, problem) from error
        except _DuplicateMember as error:
            raise InputError(f"{text.name}, line {line}: {error}") from error
        except RecursionError as error:
            problem = "a tree is nested too deeply for JSON: write it in brackets"
            raise InputError(f"{text.name}, line {line}: {problem}") from error
        number += len(trees)
        yield from trees


class _DuplicateMember(ValueError):
    """A duplicate member of an object."""


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        twice = next(key for i, (key, _) in enumerate(pairs) if key in dict(pairs[:i]))
        raise _DuplicateMember(f"an object has the member {quoted(twice)} twice: give it once")
    return members


def _number(digits: str) -> int | float:
    """Parse a number, which is an error in any node; long integers become floats."""
    return int(digits) if len(digits) < 20 else float(digits)


def _describe_value(value: Any) -> str:
    """Return a value as JSON, shortened for a message."""
    if value is None or isinstance(value, bool | list | dict):
        try:
            return short(json.dumps(value, ensure_ascii=False))
        except RecursionError:
            return "a value that is nested too deeply"
    return quoted(value)


def _node(node: Any, line: int, location: str) -> TreeNode:
    """Return a node of JSON with its descendants."""
    if not isinstance(node, dict):
        raise InputError(
            f"{location}: found {_describe_value(node)}, expected an object with a lemma"
        )
    if unknown := sorted(node.keys() - {*FIELDS, "daughters"}):
        expected = ", ".join((*FIELDS, "daughters"))
        raise InputError(f"{location}: found the member {quoted(unknown[0])}, expected {expected}")
    features = node.get("features", "")
    if isinstance(features, dict):
        for key, value in features.items():
            finding = f"{location}: the feature {quoted(key)} is {_describe_value(value)}, expected"
            if not isinstance(value, str):
                raise InputError(f"{finding} a string")
            if any(mark in part for part in (key, value) for mark in "=|"):
                raise InputError(f"{finding} a name and a value without = and |")
        features = "|".join(f"{key}={value}" for key, value in features.items())
    fields = [*(node.get(key, "" if key == "lemma" else MISSING) for key in FIELDS[:-1]), features]
    for key, value in zip(FIELDS, fields, strict=True):
        if not isinstance(value, str):
            raise InputError(f"{location}: {key} is {_describe_value(value)}, expected a string")
        if problem := _problem(key, value):
            raise InputError(f"{location}: {key} is {quoted(value)}, {problem}")
    if fields[0] in ("", MISSING):
        raise InputError(f"{location}: a node without a lemma: give every node one")
    daughters = node.get("daughters", [])
    if not isinstance(daughters, list):
        raise InputError(f"{location}: daughters is {_describe_value(daughters)}, expected a list")
    below = f"{location}, under {quoted(fields[0])}"
    return TreeNode(fields, line, [_node(daughter, line, below) for daughter in daughters])


# ---------------------------------------------------------------------------------- treebank


def _treebank(name: str, trees: Iterable[TreeNode]) -> Treebank:
    """Return trees as a treebank; its words are the lemmas in the order of the file."""
    rows: list[list[str]] = []
    heads, offsets, lines, places = list[int](), [0], list[int](), list[int]()
    for tree in trees:
        waiting = [(tree, 0)]
        while waiting:
            node, head = waiting.pop()
            rows.append([*node.fields, *[MISSING] * (len(FIELDS) - len(node.fields))])
            heads.append(head)
            places.append(node.line)
            number = len(rows) - offsets[-1]
            waiting += [(daughter, number) for daughter in reversed(node.daughters)]
        offsets.append(len(rows))
        lines.append(tree.line)
    if not lines:
        raise InputError(f"{name}: no trees")
    columns = []
    for lemma, relation, upos, xpos, features in rows:
        parts = sorted(part for part in features.split("|") if "=" in part)
        columns.append((lemma, lemma, upos, xpos, relation, "|".join(parts)))
    bank = Treebank.of_rows(name, columns, heads, offsets, [""] * len(lines), lines)
    return replace(bank, word_lines=places, has_word_order=False)
