"""Scoring: any number of systems by any number of metrics in one pass over the text."""

from karat.scoring.inputs import (
    Inputs,
    Systems,
    as_inputs,
    as_metrics,
    as_systems,
    inputs_of_set,
    metrics_of_set,
)
from karat.scoring.intervals import Drawn, resample, scored, segment_values, totals
from karat.scoring.one_pass import Collected, Wanted, collect, compact
from karat.scoring.score_rows import (
    DocumentScore,
    Results,
    RowT,
    ScoredTable,
    ScoreRow,
    Scoring,
    WideScores,
    interval_fields,
)
from karat.scoring.scores import LEVELS, as_level, score

__all__ = [
    "LEVELS",
    "Collected",
    "DocumentScore",
    "Drawn",
    "Inputs",
    "Results",
    "RowT",
    "ScoreRow",
    "ScoredTable",
    "Scoring",
    "Systems",
    "Wanted",
    "WideScores",
    "as_inputs",
    "as_level",
    "as_metrics",
    "as_systems",
    "collect",
    "compact",
    "inputs_of_set",
    "interval_fields",
    "metrics_of_set",
    "resample",
    "score",
    "scored",
    "segment_values",
    "totals",
]
