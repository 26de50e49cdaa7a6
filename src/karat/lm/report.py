"""The reports of `karat lm`: what was trained, and what a model makes of text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from karat.report.model.lazy_rows import MadeRows
from karat.report.model.table import Cell, Column, Document, Row, Table

if TYPE_CHECKING:
    from karat.lm.model import LanguageModel, Perplexity, SentenceScores, TextWords

_TEXT = Column("text", "Text", help="The file.")
_SEGMENT = Column("segment", "Segment", align="right", help="The number of the sentence, from 1.")
_WORDS = Column("words", "Words", align="right")
_OOV = Column("oov", "OOV", align="right", help="Words that the model does not know.")
_LOG = Column("log10_p", "log10 Pr", 3, align="right", help="With the ends of sentences.")
_TRAINED = (
    Column("length", "Words", align="right", help="The length of the n-grams."),
    Column("ngrams", "N-grams", align="right", help="How many there are."),
    Column("min_count", "Least", align="right", help="The smallest count of those kept."),
)
_SCORES = (
    _TEXT,
    Column("sentences", "Sentences", align="right"),
    _WORDS,
    _OOV,
    _LOG,
    Column("perplexity", "Perplexity", 2, align="right", help="Of all words and ends."),
    Column("perplexity_known", "Without OOV", 2, align="right", help="Of the known ones."),
)
_SEGMENTS = (
    _TEXT,
    _SEGMENT,
    _WORDS,
    _OOV,
    _LOG,
    Column("per_word", "Per word", 3, align="right", help="log10 Pr by the number of words."),
)
_EACH_WORD = (
    _TEXT,
    _SEGMENT,
    Column("word", "Word"),
    Column("log10_p", "log10 p", 3, align="right"),
    Column("length", "N-gram", align="right", help="The length of the n-gram that was found."),
    Column("oov", "OOV", help="Whether the model does not know the word."),
)


def _document(model: LanguageModel, title: str, table: Table, command: str) -> Document:
    return Document(title, (table,), command, {"lm": model.signature}, model.notes)


def train_document(model: LanguageModel, place: str, command: str) -> Document:
    """How many n-grams of each length a new model has."""
    least = model.about["min_counts"]
    rows = tuple(
        {"length": n, "ngrams": count, "min_count": least[n - 1]}
        for n, count in enumerate(model.counts, 1)
    )
    title = f"Language model {place}"
    return _document(model, title, Table("rows", title, _TRAINED, rows), command)


def score_document(
    model: LanguageModel, found: Sequence[tuple[str, Perplexity]], command: str
) -> Document:
    """Perplexity, a row per text."""
    rows: tuple[dict[str, Cell], ...] = tuple(
        {
            "text": name,
            "sentences": of.sentences,
            "words": of.words,
            "oov": of.oov,
            "log10_p": of.log10_p,
            "perplexity": of.perplexity,
            "perplexity_known": of.perplexity_known,
        }
        for name, of in found
    )
    return _document(model, "Perplexity", Table("rows", "Perplexity", _SCORES, rows), command)


def segment_document(
    model: LanguageModel, found: Sequence[tuple[str, SentenceScores]], command: str
) -> Document:
    """log10 Pr, a row per sentence."""

    def maker(name: str, of: SentenceScores) -> Callable[[int], Row]:
        def make(i: int) -> dict[str, Cell]:
            p, words = float(of.log10_p[i]), int(of.words[i])
            per_word = p / words if words else None
            return {
                "text": name,
                "segment": i + 1,
                "words": words,
                "oov": int(of.oov[i]),
                "log10_p": p,
                "per_word": per_word,
            }

        return make

    rows = MadeRows([(len(of.words), maker(name, of)) for name, of in found])
    return _document(model, "Sentences", Table("rows", "Sentences", _SEGMENTS, rows), command)


def word_document(
    model: LanguageModel, found: Sequence[tuple[str, TextWords]], command: str
) -> Document:
    """log10 p, a row per word and end of sentence."""

    def maker(name: str, of: TextWords) -> Callable[[int], Row]:
        def make(i: int) -> dict[str, Cell]:
            return {
                "text": name,
                "segment": int(of.offsets.searchsorted(i, "right")),
                "word": of.vocabulary[of.word[i]],
                "log10_p": float(of.log10_p[i]),
                "length": int(of.length[i]),
                "oov": bool(of.oov[i]),
            }

        return make

    rows = MadeRows([(len(of.word), maker(name, of)) for name, of in found])
    return _document(model, "Words", Table("rows", "Words", _EACH_WORD, rows), command)
