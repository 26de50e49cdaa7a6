"""sacreBLEU and rouge-score, called the way their documentation says, on Karat's arguments."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.metrics import BLEU, CHRF

logging.getLogger("sacrebleu").setLevel(logging.ERROR)

Groups = Sequence[Sequence[str]]


def streams(references: Groups) -> list[list[str | None]]:
    """Reference-major lists, None where a segment has fewer references."""
    return [list(column) for column in zip_longest(*references)]


def bleu_corpus(candidates: Sequence[str], references: Groups, **settings: Any) -> float:
    """Corpus BLEU."""
    score: float = BLEU(force=True, **settings).corpus_score(candidates, streams(references)).score
    return score


def bleu_segments(candidates: Sequence[str], references: Groups, **settings: Any) -> list[float]:
    """BLEU of every segment."""
    peer = BLEU(force=True, **settings)
    pairs = zip(candidates, references, strict=True)
    return [peer.sentence_score(c, list(r)).score for c, r in pairs]


def chrf_corpus(candidates: Sequence[str], references: Groups, **settings: Any) -> float:
    """Corpus chrF."""
    score: float = CHRF(**settings).corpus_score(candidates, streams(references)).score
    return score


def chrf_segments(candidates: Sequence[str], references: Groups, **settings: Any) -> list[float]:
    """chrF of every segment."""
    peer = CHRF(**settings)
    pairs = zip(candidates, references, strict=True)
    return [peer.sentence_score(c, list(r)).score for c, r in pairs]


def both_levels(
    peer: BLEU | CHRF, candidates: Sequence[str], references: Groups
) -> tuple[float, list[float]]:
    """Corpus score and segment scores from one pass over the text."""
    rows = peer._extract_corpus_statistics(candidates, streams(references))
    segments = [peer._compute_score_from_stats(list(row)).score for row in rows]
    return peer._aggregate_and_compute(rows).score, segments


def rouge_segments(
    names: Sequence[str], candidates: Sequence[str], references: Groups, stem: bool = False
) -> dict[str, list[tuple[float, float, float]]]:
    """For every name the precision, recall and F of every segment."""
    scorer = RougeScorer(list(names), use_stemmer=stem)
    scored = [scorer.score_multi(list(r), c) for c, r in zip(candidates, references, strict=True)]
    return {name: [tuple(segment_scores[name]) for segment_scores in scored] for name in names}
