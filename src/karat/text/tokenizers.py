"""Tokenisers by name: those of the kernel, and functions `str -> list of str` of other packages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from karat import _kernel
from karat.arrays import Ints, NDArray, np
from karat.errors import InputError, quoted
from karat.registry import Registry, call, check_that, origin


class KernelTokenizer(NamedTuple):
    """A tokeniser of the kernel, which is called there by its name."""

    meaning: str


Tokenizer = KernelTokenizer | Callable[[str], list[str]]

REGISTRY: Registry[Tokenizer] = Registry(
    "tokenizers",
    "tokeniser",
    {
        "13a": KernelTokenizer("mteval-v13a, the default of WMT and sacreBLEU"),
        "intl": KernelTokenizer(
            "mteval-v14 international: splits at Unicode punctuation and symbols"
        ),
        "zh": KernelTokenizer("Chinese characters one by one, the rest as 13a"),
        "char": KernelTokenizer("every character but white space"),
        "none": KernelTokenizer("white space only"),
        "gtm": KernelTokenizer(
            "GTM 1.4's white space: space, tab, line feed, carriage return and form feed"
        ),
        "rouge": KernelTokenizer("rouge-score's: lower-cased runs of a-z and 0-9"),
    },
    check=check_that(callable, "tokeniser", "a function from str to a list of str"),
)


class _Meanings(Mapping[str, str]):
    """Name -> meaning; entry points are read only for unknown names and for lists."""

    def __getitem__(self, name: str) -> str:
        try:
            found = REGISTRY[name]
        except InputError as error:  # another package's; the others can still be listed
            if name not in self:
                raise
            return str(error)
        if isinstance(found, KernelTokenizer):
            return found.meaning
        return (found.__doc__ or "").strip().partition("\n")[0] or "a tokeniser of another package"

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in REGISTRY

    def __iter__(self) -> Iterator[str]:
        return iter(REGISTRY)

    def __len__(self) -> int:
        return len(REGISTRY.names())


TOKENIZERS: Mapping[str, str] = _Meanings()
"""The tokenisers and what they do."""


def tokenizers() -> Mapping[str, str]:
    """Return the tokenisers and what they do."""
    return TOKENIZERS


def tokenizer_origin(name: str) -> str:
    """Return package and version of a tokeniser that is not Karat's, for signatures; else ""."""
    found = REGISTRY[name]
    return "" if isinstance(found, KernelTokenizer) else origin(found).replace("@", "-")


def cut(views: _kernel.Views, vocab: _kernel.Vocab, name: str) -> tuple[NDArray[np.int32], Ints]:
    """Cut a batch of segments into tokens; return their ids and where each segment's begin."""
    function = REGISTRY.find(name)
    if function is None or isinstance(function, KernelTokenizer):
        return _kernel.tokenize(views, vocab, name)
    rows = call(
        f"tokeniser {name}", function, lambda: [function(t) for t in views.strings()], _problem
    )
    ids = vocab.add([token for row in rows for token in row])
    return ids, np.cumsum([0, *map(len, rows)], dtype=np.int64)


def _problem(rows: list[list[str]]) -> str:
    """Return what is wrong with the tokens of some segments, if anything is."""
    for row in rows:
        if not isinstance(row, list | tuple) or not all(isinstance(token, str) for token in row):
            return f"{quoted(row)}, expected a list of str"
    return ""
