"""Trees for references that have none, parsed by an installed spaCy pipeline (an extra)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from karat.errors import InputError, MissingExtra, quoted
from karat.text.trees import Tree, Trees


def parse_references(references: Iterable[str], pipeline: str = "en_core_web_sm") -> Trees:
    """Return the trees of references, one text each, by a spaCy pipeline with a parser.

    Where the parser finds several sentences in a text, the roots of all but the first hang from the
    first one. White space that spaCy takes for a token is left out.
    """
    texts = list(references)
    parser = _load(pipeline)
    return Trees([_tree(doc, i, pipeline) for i, doc in enumerate(parser.pipe(texts))])


def _load(pipeline: str) -> Any:
    try:
        import spacy
    except ImportError as error:
        raise MissingExtra(
            "trees of references need the package spacy and a pipeline: pip install karat[trees] "
            f"and python -m spacy download {pipeline}; or give the trees as CoNLL-U"
        ) from error
    try:
        return spacy.load(pipeline)
    except OSError as error:
        raise MissingExtra(
            f"spaCy has no pipeline {quoted(pipeline)} here: python -m spacy download {pipeline}, "
            "name another one, or give the trees as CoNLL-U"
        ) from error


def _tree(doc: Any, index: int, pipeline: str) -> Tree:
    kept = [token for token in doc if not token.is_space]
    if not kept:
        raise InputError(f"references[{index}] has no words: there is nothing to parse")
    if not doc.has_annotation("DEP"):
        raise InputError(f"spaCy's {pipeline} has no parser: name a pipeline that has one")
    number = {token.i: k + 1 for k, token in enumerate(kept)}
    heads = [_head(token, number) for token in kept]
    first = heads.index(0) + 1
    joined = [first if head == 0 and k + 1 != first else head for k, head in enumerate(heads)]
    return Tree(tuple(token.text for token in kept), tuple(joined))


def _head(token: Any, number: dict[int, int]) -> int:
    """Return the number of the nearest ancestor that is kept; 0 for a root."""
    at = token
    while at.head.i != at.i:
        at = at.head
        if at.i in number:
            return number[at.i]
    return 0
