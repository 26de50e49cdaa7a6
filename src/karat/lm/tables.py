"""Tables: the n-grams of a model as they are stored and looked up, and back as rows of words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from karat import _kernel
from karat.arrays import Flags, NDArray, np
from karat.storage.schema import ModelLayout, integer, list_of, nullable, record, text, word_columns

if TYPE_CHECKING:
    from karat.storage.store import Arrays

    Logarithms = NDArray[np.float32]

KIND = "language model"
VERSION = 1

_RECIPE = record({"tok": text, "case": text, "stem": text})
ABOUT = record(
    {"order": integer(1, _kernel.MAX_ORDER), "recipe": _RECIPE},
    smoothing=text,
    vocabulary=nullable(integer(1)),
    min_count=integer(0),
    min_counts=nullable(list_of(integer(0))),
    notes=list_of(text),
)
"""The description of a model."""

RECIPE = ("tok", "case", "stem")
"""The parts of a recipe that change a model: it keeps all words."""

ZERO = -99.0
"""log10 of no probability at all: that of `<s>`."""

_EMPTY = np.uint64(2**64 - 1)


class Logs(NamedTuple):
    """The n-grams of one length with log10 p and log10 of their back-off weights."""

    suffixes: NDArray[np.uint32]
    firsts: NDArray[np.int32]
    contexts: NDArray[np.uint32]
    p: Logarithms
    backoff: Logarithms


class Rows(NamedTuple):
    """The n-grams of one length as rows of word ids, sorted."""

    ids: NDArray[np.int32]
    p: Logarithms
    backoff: Logarithms


def model_layouts(order: int) -> dict[str, ModelLayout]:
    """Return the arrays of a model; the kernel never reads beyond them, whatever they hold."""
    longer = {
        f"table_{n}": ModelLayout("uint64", f"cells {n}", multiple=2) for n in range(2, order + 1)
    }
    # Probabilities are logarithms, which rounding may take a little above 0.
    words = {
        "p": ModelLayout("float32", "words", high=1e-3),
        "backoff": ModelLayout("float32", "words"),
    }
    return words | longer | word_columns("words")


def make_tables(
    p: Logarithms, backoff: Logarithms, levels: Sequence[Logs]
) -> dict[str, NDArray[Any]]:
    """Return the arrays of a model: `p` and `backoff` of words, a table for each longer length."""
    followed = [level.contexts for level in levels]
    arrays: dict[str, NDArray[Any]] = {"p": p, "backoff": _marked(backoff, followed[:1])}
    places, hashes = np.arange(len(p), dtype=np.uint32), _kernel.lm_word_hashes(len(p))
    for n, level in enumerate(levels, 2):
        marked = _marked(level.backoff, followed[n - 1 : n])
        arrays[f"table_{n}"], places, hashes = _kernel.lm_table(
            places[level.suffixes], hashes[level.suffixes], level.firsts, level.p, marked
        )
    return arrays


def _marked(backoff: Logarithms, contexts: Sequence[NDArray[np.uint32]]) -> Logarithms:
    is_context = np.zeros(len(backoff), np.bool_)
    for found in contexts:
        is_context[found] = True
    return marked(backoff, is_context)


def marked(backoff: Logarithms, is_context: Flags) -> Logarithms:
    """Mark by -0.0 the back-off of what begins no longer n-gram: states need not remember it."""
    zero = np.float32(0)
    return np.asarray(np.where(is_context | (backoff != 0), backoff + zero, -zero))


def count_rows(arrays: Arrays, n: int) -> int:
    """Return the number of n-grams of one length."""
    if n == 1:
        return len(arrays["p"])
    return int(np.count_nonzero(arrays[f"table_{n}"][::2] != _EMPTY))


def list_rows(arrays: Arrays, n: int) -> Rows:
    """Return all n-grams of one length; an IndexError if the tables do not hold together."""
    if n == 1:
        ids = np.arange(len(arrays["p"]), dtype=np.int32)[:, None]
        return Rows(ids, arrays["p"], arrays["backoff"] + np.float32(0))
    cells = arrays[f"table_{n}"].reshape(-1, 2)
    cells = cells[cells[:, 0] != _EMPTY]
    numbers = np.ascontiguousarray(cells[:, 1]).view("<f4").reshape(-1, 2)
    ids = _words(arrays, cells[:, 0], n)
    order = np.lexsort(ids.T[::-1])
    return Rows(ids[order], numbers[order, 0], numbers[order, 1] + np.float32(0))


def _words(arrays: Arrays, keys: NDArray[np.uint64], n: int) -> NDArray[np.int32]:
    """Return the words of n-grams, from the first by their suffixes to the last."""
    columns = []
    for length in range(n, 1, -1):
        columns.append((keys & np.uint64(0xFFFFFFFF)).astype(np.int64))
        suffixes = (keys >> np.uint64(32)).astype(np.int64)
        keys = arrays[f"table_{length - 1}"].reshape(-1, 2)[suffixes, 0] if length > 2 else keys
    ids = np.stack([*columns, suffixes], axis=1)
    if len(ids) and (ids.min() < 0 or ids.max() >= len(arrays["p"])):
        raise IndexError("a word that is none")
    return ids.astype(np.int32)
