"""Karat scores generated text against references and human judgement, and shows why.

    import karat as kt

    kt.metric("bleu").corpus(candidates, references)
    kt.compare({"A": a, "B": b}, references, ["bleu", "chrf"], baseline="A")

`references[i]` holds the references of segment i: a string or a list of strings.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Loaded when they are asked for, so that `karat --version` does not wait for numpy.
_EXPORTS = {
    "AEv": "karat.metrics.ngram",
    "BLEU": "karat.metrics.ngram",
    "ChrF": "karat.metrics.chrf",
    "Comparison": "karat.comparison",
    "GTM": "karat.metrics.matching",
    "InputError": "karat.errors",
    "Interrupted": "karat.errors",
    "KaratError": "karat.errors",
    "Lines": "karat.text.segments",
    "Metric": "karat.metrics.base",
    "MetricError": "karat.errors",
    "MissingExtra": "karat.errors",
    "OutputError": "karat.errors",
    "References": "karat.text.references",
    "RougeL": "karat.metrics.rouge",
    "RougeLsum": "karat.metrics.rouge",
    "RougeN": "karat.metrics.rouge",
    "Score": "karat.metrics.base",
    "Tokens": "karat.text.tokens",
    "Vocab": "karat.text.tokens",
    "compare": "karat.comparison",
    "metric": "karat.metrics.names",
    "score": "karat.scoring",
    "tokenize": "karat.text.tokens",
}

if TYPE_CHECKING:
    from karat.comparison import Comparison, compare
    from karat.errors import (
        InputError,
        Interrupted,
        KaratError,
        MetricError,
        MissingExtra,
        OutputError,
    )
    from karat.metrics.base import Metric, Score
    from karat.metrics.chrf import ChrF
    from karat.metrics.matching import GTM
    from karat.metrics.names import metric
    from karat.metrics.ngram import BLEU, AEv
    from karat.metrics.rouge import RougeL, RougeLsum, RougeN
    from karat.scoring import score
    from karat.text.references import References
    from karat.text.segments import Lines
    from karat.text.tokens import Tokens, Vocab, tokenize

__all__ = [
    "BLEU",
    "GTM",
    "AEv",
    "ChrF",
    "Comparison",
    "InputError",
    "Interrupted",
    "KaratError",
    "Lines",
    "Metric",
    "MetricError",
    "MissingExtra",
    "OutputError",
    "References",
    "RougeL",
    "RougeLsum",
    "RougeN",
    "Score",
    "Tokens",
    "Vocab",
    "compare",
    "metric",
    "score",
    "tokenize",
]


def __getattr__(name: str) -> Any:
    if name in _EXPORTS:
        found = getattr(import_module(_EXPORTS[name]), name)
        globals()[name] = found
        return found
    raise AttributeError(f"module 'karat' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_EXPORTS])
