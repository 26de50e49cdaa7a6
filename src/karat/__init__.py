"""Karat scores generated text against references and human judgement, and shows why.

    import karat as kt

    kt.metric("bleu").corpus(candidates, references)
    kt.compare({"A": a, "B": b}, references, ["bleu", "chrf"], baseline="A")

`references[i]` holds the references of segment i: a string or a list of strings.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

# Loaded when they are asked for, so that `karat --version` does not wait for numpy.
_EXPORTS = {
    "AEv": "karat.metrics.ngram",
    "Alignment": "karat.metrics.explain.edits",
    "BLEU": "karat.metrics.ngram",
    "ChrF": "karat.metrics.chrf",
    "Comparison": "karat.comparison",
    "Dimension": "karat.evalset.judgements",
    "EvalSet": "karat.evalset.sets",
    "Experiment": "karat.meta.experiment",
    "Fergus": "karat.realize.fergus.fergus",
    "GTM": "karat.metrics.matching",
    "GenerationAccuracy": "karat.metrics.accuracy",
    "GenerationTreeAccuracy": "karat.metrics.tree",
    "InputError": "karat.errors",
    "InputTrees": "karat.realize.input_trees",
    "Interrupted": "karat.errors",
    "Judgement": "karat.evalset.judgements",
    "KaratError": "karat.errors",
    "LanguageModel": "karat.lm.model",
    "Lines": "karat.text.segments",
    "MetaEvaluation": "karat.meta.experiment",
    "Metric": "karat.metrics.base",
    "MetricError": "karat.errors",
    "MissingExtra": "karat.errors",
    "NuggetSet": "karat.nuggets.sets.nugget_set",
    "Official": "karat.nuggets.scores.official",
    "OutputError": "karat.errors",
    "PEM": "karat.paraphrase.pem.model",
    "PhraseTable": "karat.paraphrase.table.phrase_table",
    "PivotF1": "karat.paraphrase.pem.metric",
    "PivotSettings": "karat.paraphrase.pem.pivot",
    "PlaneFit": "karat.meta.plane.fit",
    "Pourpre": "karat.nuggets.scores.pourpre",
    "QualityAccuracy": "karat.metrics.tree",
    "RealizerModel": "karat.realize.model",
    "References": "karat.text.references",
    "RougeL": "karat.metrics.rouge",
    "RougeLsum": "karat.metrics.rouge",
    "RougeN": "karat.metrics.rouge",
    "Score": "karat.metrics.base",
    "ShiftedAlignment": "karat.metrics.explain.shifts",
    "SimpleAccuracy": "karat.metrics.accuracy",
    "SimpleTreeAccuracy": "karat.metrics.tree",
    "TER": "karat.metrics.ter",
    "Tokens": "karat.text.tokens",
    "Tree": "karat.text.trees",
    "TreeExplanation": "karat.metrics.explain.treelets",
    "Treelet": "karat.metrics.explain.treelets",
    "Trees": "karat.text.trees",
    "UnderstandabilityAccuracy": "karat.metrics.tree",
    "Vocab": "karat.text.tokens",
    "WER": "karat.metrics.ter",
    "alignment": "karat.metrics.explain.edits",
    "alignments": "karat.metrics.explain.edits",
    "compare": "karat.comparison",
    "explain_pair": "karat.paraphrase.pem.explanation",
    "fit_plane": "karat.meta.plane.fit",
    "load_evalset": "karat.evalset.loading",
    "load_nuggets": "karat.nuggets.formats.loading",
    "make_evalset": "karat.evalset.draft",
    "meta_evaluate": "karat.meta.experiment",
    "metric": "karat.metrics.names",
    "open_realizer": "karat.realize.model",
    "parse_references": "karat.evalset.parsing",
    "pivot_statistics": "karat.paraphrase.pem.pivot",
    "predicted": "karat.meta.plane.predictions",
    "read_conllu": "karat.evalset.formats.conllu",
    "read_experiment": "karat.meta.experiment",
    "read_treebank": "karat.realize.treebank",
    "read_trees": "karat.realize.input_trees",
    "save_evalset": "karat.evalset.saving",
    "save_nuggets": "karat.nuggets.formats.saving",
    "score": "karat.scoring",
    "score_nuggets": "karat.nuggets.results.scoring",
    "tokenize": "karat.text.tokens",
    "train_pivot": "karat.paraphrase.table.training",
    "train_realizer": "karat.realize.model",
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
    from karat.evalset.draft import make_evalset
    from karat.evalset.formats.conllu import read_conllu
    from karat.evalset.judgements import Dimension, Judgement
    from karat.evalset.loading import load_evalset
    from karat.evalset.parsing import parse_references
    from karat.evalset.saving import save_evalset
    from karat.evalset.sets import EvalSet
    from karat.lm.model import LanguageModel
    from karat.meta.experiment import Experiment, MetaEvaluation, meta_evaluate, read_experiment
    from karat.meta.plane.fit import PlaneFit, fit_plane
    from karat.meta.plane.predictions import predicted
    from karat.metrics.accuracy import GenerationAccuracy, SimpleAccuracy
    from karat.metrics.base import Metric, Score
    from karat.metrics.chrf import ChrF
    from karat.metrics.explain.edits import Alignment, alignment, alignments
    from karat.metrics.explain.shifts import ShiftedAlignment
    from karat.metrics.explain.treelets import TreeExplanation, Treelet
    from karat.metrics.matching import GTM
    from karat.metrics.names import metric
    from karat.metrics.ngram import BLEU, AEv
    from karat.metrics.rouge import RougeL, RougeLsum, RougeN
    from karat.metrics.ter import TER, WER
    from karat.metrics.tree import (
        GenerationTreeAccuracy,
        QualityAccuracy,
        SimpleTreeAccuracy,
        UnderstandabilityAccuracy,
    )
    from karat.nuggets.formats.loading import load_nuggets
    from karat.nuggets.formats.saving import save_nuggets
    from karat.nuggets.results.scoring import score_nuggets
    from karat.nuggets.scores.official import Official
    from karat.nuggets.scores.pourpre import Pourpre
    from karat.nuggets.sets.nugget_set import NuggetSet
    from karat.paraphrase.pem.explanation import explain_pair
    from karat.paraphrase.pem.metric import PivotF1
    from karat.paraphrase.pem.model import PEM
    from karat.paraphrase.pem.pivot import PivotSettings, pivot_statistics
    from karat.paraphrase.table.phrase_table import PhraseTable
    from karat.paraphrase.table.training import train_pivot
    from karat.realize.fergus.fergus import Fergus
    from karat.realize.input_trees import InputTrees, read_trees
    from karat.realize.model import RealizerModel, open_realizer, train_realizer
    from karat.realize.treebank import read_treebank
    from karat.scoring import score
    from karat.text.references import References
    from karat.text.segments import Lines
    from karat.text.tokens import Tokens, Vocab, tokenize
    from karat.text.trees import Tree, Trees

__all__ = [
    "BLEU",
    "GTM",
    "PEM",
    "TER",
    "WER",
    "AEv",
    "Alignment",
    "ChrF",
    "Comparison",
    "Dimension",
    "EvalSet",
    "Experiment",
    "Fergus",
    "GenerationAccuracy",
    "GenerationTreeAccuracy",
    "InputError",
    "InputTrees",
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
    "PhraseTable",
    "PivotF1",
    "PivotSettings",
    "PlaneFit",
    "Pourpre",
    "QualityAccuracy",
    "RealizerModel",
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
    "TreeExplanation",
    "Treelet",
    "Trees",
    "UnderstandabilityAccuracy",
    "Vocab",
    "alignment",
    "alignments",
    "compare",
    "explain_pair",
    "fit_plane",
    "load_evalset",
    "load_nuggets",
    "make_evalset",
    "meta_evaluate",
    "metric",
    "open_realizer",
    "parse_references",
    "pivot_statistics",
    "predicted",
    "read_conllu",
    "read_experiment",
    "read_treebank",
    "read_trees",
    "save_evalset",
    "save_nuggets",
    "score",
    "score_nuggets",
    "tokenize",
    "train_pivot",
    "train_realizer",
]


def __getattr__(name: str) -> Any:
    if name in _EXPORTS:
        found = getattr(import_module(_EXPORTS[name]), name)
        globals()[name] = found
        return found
    raise AttributeError(f"module 'karat' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, "__version__"})
