"""Names say what a value is: no vague names in the package, and class names are unique."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "karat"
FILES = sorted(SOURCE.rglob("*.py"))

# fmt: off
VAGUE_NAMES = frozenset([
    "found", "told", "asked", "heard", "given", "made", "kept", "drawn", "wanted", "collected",
    "measured", "decided", "said", "seen", "taken", "returned", "known", "named", "called",
    "shown", "one", "ones", "own", "others", "another", "such", "same", "so", "how", "what",
    "which", "where", "why", "way", "ways", "thing", "things", "beside", "behind", "among",
    "mine", "theirs", "ours", "here", "there", "much", "few", "some", "every", "each", "whole",
    "those", "these", "them",
])
# fmt: on
"""Words that say how a value came about, or that point at it, instead of saying what it is."""

PUBLIC_KEYS = {("KeyEdit", "what"), ("PastEdit", "what")}
"""Fields that are named like the columns of stores and the keys of requests."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def is_vague(name: str) -> bool:
    return name.strip("_") in VAGUE_NAMES


def function_names(function: Function) -> Iterator[str]:
    """The names that a function introduces: its own, its parameters, its variables."""
    arguments = function.args
    yield function.name
    yield from (a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs))
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def class_names(definition: ast.ClassDef) -> Iterator[str]:
    """The names that a class introduces: its own (in lower case) and its fields."""
    yield definition.name.lower()
    for node in definition.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            is_key = (definition.name, node.target.id) in PUBLIC_KEYS
            yield from () if is_key else (node.target.id,)


def vague_names(code: str) -> dict[str, list[str]]:
    """Vague names by the function or class that introduces them."""
    vague = {}
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, Function):
            names = set(function_names(node))
        elif isinstance(node, ast.ClassDef):
            names = set(class_names(node))
        else:
            continue
        if offenders := sorted(filter(is_vague, names)):
            vague[f"{node.name}, line {node.lineno}"] = offenders
    return vague


def test_no_vague_names() -> None:
    by_file = {
        str(path.relative_to(SOURCE)): vague_names(path.read_text("utf-8")) for path in FILES
    }
    assert {file: vague for file, vague in by_file.items() if vague} == {}


def test_class_names_are_unique() -> None:
    files_by_class = defaultdict(list)
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef):
                files_by_class[node.name].append(str(path.relative_to(SOURCE)))
    assert {name: files for name, files in files_by_class.items() if len(files) > 1} == {}


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("def scores(found): pass", {"scores, line 1": ["found"]}),
        ("def told(): pass", {"told, line 1": ["told"]}),
        ("def f():\n  for one in (1, 2): pass", {"f, line 1": ["one"]}),
        ("class Asked:\n  how: str", {"Asked, line 1": ["asked", "how"]}),
        ("def f(rows):\n  total = sum(rows)", {}),
    ],
)
def test_the_rule_finds_vague_names(code: str, expected: dict[str, list[str]]) -> None:
    assert vague_names(code) == expected
