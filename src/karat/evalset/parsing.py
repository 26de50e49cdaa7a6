"""Trees for references that have none, parsed by an installed spaCy pipeline (an extra)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from karat.errors import InputError, MissingExtra, quoted
from karat.evalset.catalogue import GivenPath
from karat.evalset.loading import as_evalset
from karat.evalset.sets import EvalSet
from karat.progress import Progress, silent
from karat.registry import load
from karat.text.tokens import tokenize
from karat.text.trees import Tree, Trees

PIPELINE = "en_core_web_sm"
"""The pipeline that is asked for unless another is named."""


def parse_references(
    references: Iterable[str], pipeline: str = PIPELINE, tok: str | None = None
) -> Trees:
    """Return the dependency trees of references, by a spaCy pipeline.

    If the parser finds several sentences in a text, the roots of the others become daughters of the
    first root. Tokens of white space are left out.

    Args:
        references: texts, one for each tree.
        pipeline: name of a spaCy pipeline with a parser.
        tok: tokeniser, as in metrics; by default spaCy's own.
    """
    return Trees(list(_parsed(list(references), pipeline, tok)))


def parse_evalset(
    evalset: EvalSet | GivenPath,
    pipeline: str = PIPELINE,
    tok: str | None = None,
    *,
    progress: Progress = silent,
) -> EvalSet:
    """Return the set with a dependency tree for every reference.

    Texts stay as they are. Tree metrics must tokenise outputs as the trees are tokenised: trees
    made with `tok="13a"` are for `generation_tree_accuracy:tok=13a`.

    Args:
        evalset: the set.
        pipeline: name of a spaCy pipeline with a parser.
        tok: tokeniser, as for `parse_references`.
        progress: function that is called with the progress.
    """
    evalset = as_evalset(evalset, progress)
    texts = list(dict.fromkeys(text for group in evalset.references for text in group))
    found: dict[str, Tree] = {}
    for text, tree in zip(texts, _parsed(texts, pipeline, tok), strict=True):
        found[text] = tree
        progress(len(found), len(texts), "parsing")
    trees = tuple(tuple(found[text] for text in group) for group in evalset.references)
    return replace(evalset, trees=trees if found else None)


def _parsed(texts: Sequence[str], pipeline: str, tok: str | None) -> Iterator[Tree]:
    """Yield the trees of texts."""
    parser = _load(pipeline)
    given: Iterable[Any] = texts
    if tok is not None:
        make = load("spacy.tokens:Doc")
        words = tokenize(list(texts), tok)
        given = (make(parser.vocab, words=words[i]) for i in range(len(texts)))
    for i, doc in enumerate(parser.pipe(given)):
        yield _tree(doc, i, pipeline)


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
