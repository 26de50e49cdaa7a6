"""Tokenisers by name: those of the kernel, those that need a package, and plugins' functions.

All but the kernel's are functions `str -> list of str`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from karat import _kernel
from karat.arrays import Ints, NDArray, np
from karat.errors import InputError, quoted
from karat.registry import Registry, call, check_that, load, origin


class KernelTokenizer(NamedTuple):
    """A tokeniser of the kernel, which is called there by its name."""

    meaning: str


class ModelTokenizers(NamedTuple):
    """Tokenisers that are made of a file, which the user names after a colon."""

    meaning: str
    place: str
    """The function, as `module:attribute`, from the path of a file to its tokeniser."""


Tokenizer = KernelTokenizer | ModelTokenizers | Callable[[str], list[str]]
_PACKAGES = "karat.text.tokenizer_packages"

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
        "ja-mecab": f"{_PACKAGES}.mecab:JAPANESE",
        "ko-mecab": f"{_PACKAGES}.mecab:KOREAN",
        "flores101": f"{_PACKAGES}.spm:FLORES101",
        "flores200": f"{_PACKAGES}.spm:FLORES200",
        "spBLEU-1K": f"{_PACKAGES}.spm:SPBLEU_1K",
        "spm:FILE": ModelTokenizers(
            "pieces of the SentencePiece model in FILE (karat[spm])",
            f"{_PACKAGES}.spm:model_tokenizer",
        ),
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
        if meaning := getattr(found, "meaning", ""):
            return str(meaning)
        return (found.__doc__ or "").strip().partition("\n")[0] or "a tokeniser of another package"

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, str):
            return False
        return name in REGISTRY or (":" in name and find_tokenizer(name) is not None)

    def __iter__(self) -> Iterator[str]:
        return iter(REGISTRY)

    def __len__(self) -> int:
        return len(REGISTRY.names())


TOKENIZERS: Mapping[str, str] = _Meanings()
"""The tokenisers and what they do."""


def tokenizers() -> Mapping[str, str]:
    """Return the tokenisers by name, with their descriptions."""
    return TOKENIZERS


def find_tokenizer(name: str) -> Tokenizer | None:
    """Return the tokeniser of a name, or of a name and the file that follows it after a colon."""
    head, colon, file = name.partition(":")
    family = REGISTRY.find(f"{head}:FILE") if file else None
    if isinstance(family, ModelTokenizers):
        if any(c in ",|\0" or c.isspace() for c in file):
            wrong = "holds a comma, a bar or white space, which a metric's name cannot carry"
            raise InputError(f"tok={name} {wrong}: rename the file")
        made: Tokenizer = load(family.place)(file)
        return made
    return None if colon else REGISTRY.find(name)


def tokenizer_origin(name: str) -> str:
    """Return what a signature says of a tokeniser that is not the kernel's; else "".

    That is package and version, or a digest of the model.
    """
    found = find_tokenizer(name)
    if found is None or isinstance(found, KernelTokenizer):
        return ""
    version = getattr(found, "version", None)
    return str(version()) if version and not origin(found) else origin(found).replace("@", "-")


def cut(views: _kernel.Views, vocab: _kernel.Vocab, name: str) -> tuple[NDArray[np.int32], Ints]:
    """Cut a batch of segments into tokens; return their ids and where each segment's begin."""
    function = find_tokenizer(name)
    if function is None or isinstance(function, KernelTokenizer | ModelTokenizers):
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
