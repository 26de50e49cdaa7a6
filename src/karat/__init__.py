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
    "Alignment": "karat.metrics.edits",
    "BLEU": "karat.metrics.ngram",
    "ChrF": "karat.metrics.chrf",
    "Comparison": "karat.comparison",
    "Dimension": "karat.evalset.judgements",
    "EvalSet": "karat.evalset.sets",
    "Experiment": "karat.meta.experiment",
    "GTM": "karat.metrics.matching",
    "GenerationAccuracy": "karat.metrics.accuracy",
    "GenerationTreeAccuracy": "karat.metrics.tree",
    "InputError": "karat.errors",
    "Interrupted": "karat.errors",
    "Judgement": "karat.evalset.judgements",
    "KaratError": "karat.errors",
    "LanguageModel": "karat.lm.model",
    "Lines": "karat.text.segments",
    "MetaEvaluation": "karat.meta.experiment",
    "Metric": "karat.metrics.base",
    "MetricError": "karat.errors",
    "MissingExtra": "karat.errors",
    "NuggetSet": "karat.nuggets.sets",
    "Official": "karat.nuggets.official",
    "OutputError": "karat.errors",
    "PlaneFit": "karat.meta.plane",
    "Pourpre": "karat.nuggets.pourpre",
    "QualityAccuracy": "karat.metrics.tree",
    "References": "karat.text.references",
    "RougeL": "karat.metrics.rouge",
    "RougeLsum": "karat.metrics.rouge",
    "RougeN": "karat.metrics.rouge",
    "Score": "karat.metrics.base",
    "ShiftedAlignment": "karat.metrics.shifts",
    "SimpleAccuracy": "karat.metrics.accuracy",
    "SimpleTreeAccuracy": "karat.metrics.tree",
    "TER": "karat.metrics.ter",
    "Tokens": "karat.text.tokens",
    "Tree": "karat.text.trees",
    "Trees": "karat.text.trees",
    "UnderstandabilityAccuracy": "karat.metrics.tree",
    "Vocab": "karat.text.tokens",
    "WER": "karat.metrics.ter",
    "alignment": "karat.metrics.edits",
    "alignments": "karat.metrics.edits",
    "compare": "karat.comparison",
    "fit_plane": "karat.meta.plane",
    "load_evalset": "karat.evalset.loading",
    "load_nuggets": "karat.nuggets.loading",
    "make_evalset": "karat.evalset.draft",
    "meta_evaluate": "karat.meta.experiment",
    "metric": "karat.metrics.names",
    "parse_references": "karat.evalset.parsing",
    "predicted": "karat.meta.regions",
    "read_conllu": "karat.evalset.conllu",
    "read_experiment": "karat.meta.experiment",
    "save_evalset": "karat.evalset.saving",
    "save_nuggets": "karat.nuggets.saving",
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
    from karat.evalset.conllu import read_conllu
    from karat.evalset.draft import make_evalset
    from karat.evalset.judgements import Dimension, Judgement
    from karat.evalset.loading import load_evalset
    from karat.evalset.parsing import parse_references
    from karat.evalset.saving import save_evalset
    from karat.evalset.sets import EvalSet
    from karat.lm.model import LanguageModel
    from karat.meta.experiment import Experiment, MetaEvaluation, meta_evaluate, read_experiment
    from karat.meta.plane import PlaneFit, fit_plane
    from karat.meta.regions import predicted
    from karat.metrics.accuracy import GenerationAccuracy, SimpleAccuracy
    from karat.metrics.base import Metric, Score
    from karat.metrics.chrf import ChrF
    from karat.metrics.edits import Alignment, alignment, alignments
    from karat.metrics.matching import GTM
    from karat.metrics.names import metric
    from karat.metrics.ngram import BLEU, AEv
    from karat.metrics.rouge import RougeL, RougeLsum, RougeN
    from karat.metrics.shifts import ShiftedAlignment
    from karat.metrics.ter import TER, WER
    from karat.metrics.tree import (
        GenerationTreeAccuracy,
        QualityAccuracy,
        SimpleTreeAccuracy,
        UnderstandabilityAccuracy,
    )
    from karat.nuggets.loading import load_nuggets
    from karat.nuggets.official import Official
    from karat.nuggets.pourpre import Pourpre
    from karat.nuggets.saving import save_nuggets
    from karat.nuggets.sets import NuggetSet
    from karat.scoring import score
    from karat.text.references import References
    from karat.text.segments import Lines
    from karat.text.tokens import Tokens, Vocab, tokenize
    from karat.text.trees import Tree, Trees

__all__ = [
    "BLEU",
    "GTM",
    "TER",
    "WER",
    "AEv",
    "Alignment",
    "ChrF",
    "Comparison",
    "Dimension",
    "EvalSet",
    "Experiment",
    "GenerationAccuracy",
    "GenerationTreeAccuracy",
    "InputError",
    "Interrupted",
    "Judgement",
    "KaratError",
    "LanguageModel",
    "Lines",
    "MetaEvaluation",
    "Metric",
    "MetricError",
    "MissingExtra",
    "NuggetSet",
    "Official",
    "OutputError",
    "PlaneFit",
    "Pourpre",
    "QualityAccuracy",
    "References",
    "RougeL",
    "RougeLsum",
    "RougeN",
    "Score",
    "ShiftedAlignment",
    "SimpleAccuracy",
    "SimpleTreeAccuracy",
    "Tokens",
    "Tree",
    "Trees",
    "UnderstandabilityAccuracy",
    "Vocab",
    "alignment",
    "alignments",
    "compare",
    "fit_plane",
    "load_evalset",
    "load_nuggets",
    "make_evalset",
    "meta_evaluate",
    "metric",
    "parse_references",
    "predicted",
    "read_conllu",
    "read_experiment",
    "save_evalset",
    "save_nuggets",
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
    return sorted({*__all__, "__version__"})
