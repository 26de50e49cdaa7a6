"""The report of `paraphrase explain`: the steps from pairs of sentences to their scores."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from karat.paraphrase.report.answers import explanation_answer
from karat.paraphrase.report.networks import network_figure
from karat.paraphrase.report.pairs import pair_figure
from karat.report.model import Cell, Column, Document, Row, Table, brief, several

if TYPE_CHECKING:
    from karat.paraphrase.pem.explanation import (
        Gram,
        PairExplanation,
        ParaphraseExplanations,
        Phrase,
    )

MOST_SHOWN = 12
"""N-grams of each kind that people are shown; programs get them all."""

_PAIR = Column("pair", "Pair", align="right", help="The number of the pair, from 1.")
_SENTENCE = Column("sentence", "Sentence", help="The original or the paraphrase.")
_HEADING = Column("heading", "Pair", readers="people")
_SCORES = (
    _PAIR,
    Column("pivot_f1", "Pivot F1", 4, align="right", help="F1 of all pivot n-grams."),
    Column("precision", "P", 4, align="right", help="Common weight over the paraphrase's."),
    Column("recall", "R", 4, align="right", help="Common weight over the original's."),
    Column("common", "Common", 3, align="right", help="The sum of min(W_R, W_P)."),
    Column("paraphrase_weight", "W_P", 3, align="right", help="The paraphrase's bag."),
    Column("original_weight", "W_R", 3, align="right", help="The original's bag."),
    Column("target_f1", "Target F1", 4, align="right", help="F1 of the words' own n-grams."),
)
_FEATURES = (
    _PAIR,
    Column("feature", "Feature", help="A part of PEM, or a metric against the original."),
    Column("value", "Value", 4, align="right", help="As the regression or the mean takes it."),
)
_ORDERS = (
    _PAIR,
    Column("n", "n", align="right", help="Words of an n-gram."),
    Column("pivot_f1", "Pivot F1", 4, align="right"),
    Column("common", "Common", 3, align="right"),
    Column("paraphrase_weight", "W_P", 3, align="right"),
    Column("original_weight", "W_R", 3, align="right"),
)
_PHRASES = (
    _HEADING,
    Column("pair", "Pair", readers="programs"),
    Column("sentence", "Sentence", readers="programs"),
    Column("phrase", "Phrase", help="A phrase of the most probable segmentation."),
    Column("count", "N", 1, align="right", help="How often the table saw it; 0.5 if never."),
    Column("rounded", "Pr", align="right", readers="people", help="N over the sum of all N."),
    Column("probability", "Pr", readers="programs"),
    Column("seen", "Seen"),
    Column("edges", "In the pivot language", wrap=True, help="Kept translations with Pr(f|e)."),
    Column("left_out", "Left out", align="right", help="Translations that were too improbable."),
)
_EDGES = (
    _PAIR,
    _SENTENCE,
    Column("position", "Position", align="right"),
    Column("phrase", "Phrase"),
    Column("translation", "Translation"),
    Column("weight", "Weight"),
)
_GRAMS = (
    _HEADING,
    Column("pair", "Pair", readers="programs"),
    Column("ngram", "Pivot n-gram"),
    Column("n", "n", align="right"),
    Column("common", "Common", 3, align="right", help="min(W_R, W_P)"),
    Column("paraphrase_weight", "W_P", 3, align="right", help="Its weight in the paraphrase."),
    Column("original_weight", "W_R", 3, align="right", help="Its weight in the original."),
)
_PEM = (
    _PAIR,
    Column("pem", "PEM", 2, align="right", help="1 to 5."),
    Column("pivot_f1", "Pivot F1", 4, align="right", help="Adequacy; the mean over pivots."),
    Column("fluency", "Fluency", 3, align="right", help="log10 Pr / words."),
    Column("target_f1", "Target F1", 4, align="right", help="1 is the same words."),
    Column("original", "Original", wrap=True),
    Column("paraphrase", "Paraphrase", wrap=True),
)


def explanations_document(result: ParaphraseExplanations, command: str) -> Document:
    """Return the tables of scores, phrases and n-grams, and pictures of the networks.

    Programs get every edge, too.
    """
    kinds = list(_kinds(result))
    every = [_gram(f"Pair {n}", n, gram) for n, one in _pairs(result) for gram in one.grams]
    shown = [
        _gram(f"Pair {n}, {kind}: {several(len(grams), 'n-gram')}", n, gram)
        for n, kind, grams in kinds
        for gram in grams[:MOST_SHOWN]
    ]
    edges: list[Row] = [
        {**place, "translation": " ".join(words), "weight": probability}
        for place, phrase in _placed(result)
        for words, probability in phrase.edges
    ]
    tables = [
        Table("rows", "Pivot F1", _SCORES, [row._asdict() for row in result.rows]),
        Table("phrases", "Phrases", _PHRASES, list(_phrases(result)), group="heading"),
        Table("shown", "Pivot n-grams", _GRAMS, shown, group="heading", readers="people"),
        Table("ngrams", "Pivot n-grams", _GRAMS, every, group="heading", readers="programs"),
        Table("orders", "By order", _ORDERS, list(_orders(result))),
        Table("edges", "Edges", _EDGES, edges, readers="programs"),
    ]
    if result.pem:
        rows = [{**row._asdict(), "pair": row.segment} for row in result.pem]
        features = [row._asdict() for row in result.features]
        combined = Table("features", "Features that PEM combines", _FEATURES, features)
        tables[:0] = [
            Table("pem", "PEM and its parts", _PEM, rows),
            *([combined] if features else ()),
        ]
    left_out = f"The {MOST_SHOWN} heaviest n-grams of each kind are shown; JSON and TSV have all."
    many = any(len(grams) > MOST_SHOWN for _, _, grams in kinds)
    notes = (*([left_out] if many else ()), *result.notes)
    signatures = result.signatures
    pictures = [
        f for n, one in _pairs(result) for f in (pair_figure(n, one), network_figure(n, one))
    ]
    title, told = f"Pivot n-grams of {result.name}", explanation_answer(result)
    return Document(title, (*pictures, *tables), command, signatures, notes, answer=told)


def _pairs(result: ParaphraseExplanations) -> Iterator[tuple[int, PairExplanation]]:
    return ((row.pair, one) for row, one in zip(result.rows, result.pairs, strict=True))


def _orders(result: ParaphraseExplanations) -> Iterator[Row]:
    weights = ("common", "paraphrase_weight", "original_weight")
    for pair, one in _pairs(result):
        orders = zip(one.by_order, one.pivot.tolist(), strict=True)
        for n, (value, row) in enumerate(orders, 1):
            yield {"pair": pair, "n": n, "pivot_f1": value, **dict(zip(weights, row, strict=True))}


def _placed(result: ParaphraseExplanations) -> Iterator[tuple[dict[str, Cell], Phrase]]:
    """Yield the phrases of both sentences of each pair, and their places."""
    for pair, one in _pairs(result):
        for sentence, phrases in (("original", one.original), ("paraphrase", one.paraphrase)):
            for position, phrase in enumerate(phrases, 1):
                place: dict[str, Cell] = {"pair": pair, "sentence": sentence, "position": position}
                yield place | {"phrase": " ".join(phrase.words)}, phrase


def _phrases(result: ParaphraseExplanations) -> Iterator[Row]:
    for place, phrase in _placed(result):
        yield {
            **place,
            "heading": f"Pair {place['pair']}, {place['sentence']}",
            "count": phrase.times,
            "rounded": f"{phrase.probability:.3g}",
            "probability": phrase.probability,
            "seen": phrase.seen,
            "edges": " / ".join(f"{' '.join(w)} {brief(p)}" for w, p in phrase.edges),
            "left_out": phrase.left_out,
        }


def _kinds(result: ParaphraseExplanations) -> Iterator[tuple[int, str, list[Gram]]]:
    """Yield the n-grams of both sentences of each pair, and of one alone."""
    for pair, one in _pairs(result):
        yield pair, "in both", [g for g in one.grams if g.common > 0]
        yield pair, "only in the original", [g for g in one.grams if g.paraphrase == 0]
        yield pair, "only in the paraphrase", [g for g in one.grams if g.original == 0]


def _gram(heading: str, pair: int, gram: Gram) -> Row:
    return {
        "heading": heading,
        "pair": pair,
        "ngram": " ".join(gram.words),
        "n": len(gram.words),
        "common": gram.common,
        "paraphrase_weight": gram.paraphrase,
        "original_weight": gram.original,
    }
