"""The report of `paraphrase explain`: why paraphrases have the pivot F1 that they have."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from karat.paraphrase.report.bundled import CAUTION
from karat.report.model.cells import brief, several
from karat.report.model.table import Cell, Column, Document, Readers, Row, Table

if TYPE_CHECKING:
    from karat.paraphrase.pem.explanation import Gram, PairExplanation, Phrase
    from karat.paraphrase.pem.model import PEMScores

MOST_SHOWN = 12
"""How many n-grams of each kind people are shown; programs get them all."""

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


class Shown(NamedTuple):
    """One pair to show, numbered from 1, and what a model gives it."""

    pair: int
    found: PairExplanation
    original: str
    paraphrase: str
    scores: PEMScores | None = None


def pairs_document(
    shown: Sequence[Shown], name: str, command: str, signature: dict[str, str], bundled: bool
) -> Document:
    """The steps from some pairs of sentences to their scores."""
    scored = [_pem(one) for one in shown if one.scores is not None]
    tables = (
        *([Table("pem", "PEM and its parts", _PEM, scored)] if scored else ()),
        Table("rows", "Pivot F1", _SCORES, [_score(one) for one in shown]),
        Table("phrases", "Phrases", _PHRASES, _of(shown, _phrase_rows), group="heading"),
        _grams_table("shown", _of(shown, _shown_grams), "people"),
        _grams_table("ngrams", _of(shown, _gram_rows), "programs"),
        Table("orders", "By order", _ORDERS, _of(shown, _order_rows)),
        Table("edges", "Edges", _EDGES, _of(shown, _edge_rows), readers="programs"),
    )
    return Document(f"Pivot n-grams of {name}", tables, command, signature, _notes(shown, bundled))


def _of(shown: Sequence[Shown], rows: Callable[[Shown], Iterator[Row]]) -> list[Row]:
    return [row for one in shown for row in rows(one)]


def _grams_table(key: str, rows: list[Row], readers: Readers) -> Table:
    return Table(key, "Pivot n-grams", _GRAMS, rows, group="heading", readers=readers)


def _notes(shown: Sequence[Shown], bundled: bool) -> tuple[str, ...]:
    """Say that people are not shown all n-grams, and caution against the bundled model."""
    most = max((len(kind) for one in shown for _, kind in _kinds(one)), default=0)
    left_out = f"The {MOST_SHOWN} heaviest n-grams of each kind are shown; JSON and TSV have all."
    return (*([left_out] if most > MOST_SHOWN else ()), *([CAUTION] if bundled else ()))


def _pem(one: Shown) -> dict[str, Cell]:
    parts = one.scores._asdict() if one.scores else {}
    return {
        "pair": one.pair,
        **{name: float(column[0]) for name, column in parts.items()},
        "original": one.original,
        "paraphrase": one.paraphrase,
    }


def _score(one: Shown) -> dict[str, Cell]:
    found = one.found
    common, paraphrase, original = found.pivot.sum(axis=0).tolist()
    return {
        "pair": one.pair,
        "pivot_f1": found.pivot_f1,
        "precision": found.precision,
        "recall": found.recall,
        "common": common,
        "paraphrase_weight": paraphrase,
        "original_weight": original,
        "target_f1": found.target_f1,
    }


def _order_rows(one: Shown) -> Iterator[Row]:
    for n, (value, row) in enumerate(
        zip(one.found.by_order, one.found.pivot.tolist(), strict=True), start=1
    ):
        yield {
            "pair": one.pair,
            "n": n,
            "pivot_f1": value,
            "common": row[0],
            "paraphrase_weight": row[1],
            "original_weight": row[2],
        }


def _sentences(one: Shown) -> Iterator[tuple[str, tuple[Phrase, ...]]]:
    yield "original", one.found.original
    yield "paraphrase", one.found.paraphrase


def _phrase_rows(one: Shown) -> Iterator[Row]:
    for sentence, phrases in _sentences(one):
        for phrase in phrases:
            yield {
                "heading": f"Pair {one.pair}, {sentence}",
                "pair": one.pair,
                "sentence": sentence,
                "phrase": " ".join(phrase.words),
                "count": phrase.times,
                "rounded": f"{phrase.probability:.3g}",
                "probability": phrase.probability,
                "seen": phrase.seen,
                "edges": " / ".join(f"{' '.join(w)} {brief(p)}" for w, p in phrase.edges),
                "left_out": phrase.left_out,
            }


def _edge_rows(one: Shown) -> Iterator[Row]:
    for sentence, phrases in _sentences(one):
        for position, phrase in enumerate(phrases, start=1):
            for words, probability in phrase.edges:
                yield {
                    "pair": one.pair,
                    "sentence": sentence,
                    "position": position,
                    "phrase": " ".join(phrase.words),
                    "translation": " ".join(words),
                    "weight": probability,
                }


def _kinds(one: Shown) -> Iterator[tuple[str, list[Gram]]]:
    """The n-grams of both sentences, and of one alone."""
    grams = one.found.grams
    yield "in both", [g for g in grams if g.common > 0]
    yield "in the original alone", [g for g in grams if g.paraphrase == 0]
    yield "in the paraphrase alone", [g for g in grams if g.original == 0]


def _shown_grams(one: Shown) -> Iterator[Row]:
    for kind, grams in _kinds(one):
        heading = f"Pair {one.pair}, {kind}: {several(len(grams), 'n-gram')}"
        for gram in grams[:MOST_SHOWN]:
            yield {"heading": heading, **_gram(one.pair, gram)}


def _gram_rows(one: Shown) -> Iterator[Row]:
    for gram in one.found.grams:
        yield {"heading": f"Pair {one.pair}", **_gram(one.pair, gram)}


def _gram(pair: int, gram: Gram) -> dict[str, Cell]:
    return {
        "pair": pair,
        "ngram": " ".join(gram.words),
        "n": len(gram.words),
        "common": gram.common,
        "paraphrase_weight": gram.paraphrase,
        "original_weight": gram.original,
    }
