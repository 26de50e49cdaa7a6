"""Reports of `karat lm`: a trained model, and scores of texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karat.report.model import Document, Table
from karat.results import Column, number

if TYPE_CHECKING:
    from karat.lm.model import LanguageScores
    from karat.lm.training import TrainedModel

_TEXT = Column("text", "Text", help="The file.")
_SEGMENT = number("segment", "Segment", help="The number of the sentence, from 1.")
_WORDS = number("words", "Words")
_OOV = number("oov", "OOV", help="Words that the model does not know.")
_LOG = number("log10_p", "log10 Pr", 3, "With the ends of sentences.")
_TRAINED = (
    number("length", "Words", help="The length of the n-grams."),
    number("ngrams", "N-grams", help="How many there are."),
    number("min_count", "Least", help="The smallest count of those kept."),
)
_TEXTS = (
    _TEXT,
    number("sentences", "Sentences"),
    _WORDS,
    _OOV,
    _LOG,
    number("perplexity", "Perplexity", 2, "Of all words and ends."),
    number("perplexity_known", "Without OOV", 2, "Of the known ones."),
)
_SENTENCES = (
    _TEXT,
    _SEGMENT,
    _WORDS,
    _OOV,
    _LOG,
    number("per_word", "Per word", 3, "log10 Pr by the number of words."),
)
_EACH_WORD = (
    _TEXT,
    _SEGMENT,
    Column("word", "Word"),
    number("log10_p", "log10 p", 3),
    number("length", "N-gram", help="The length of the n-gram that was found."),
    Column("oov", "OOV", help="Whether the model does not know the word."),
)
_REPORTS = {
    "text": ("Perplexity", _TEXTS),
    "segment": ("Sentences", _SENTENCES),
    "word": ("Words", _EACH_WORD),
}


def trained_document(result: TrainedModel) -> Document:
    """Return the numbers of n-grams of a trained model."""
    title = f"Language model {result.path}"
    table = Table("rows", title, _TRAINED, result.rows)
    return Document(title, (table,), signatures={"lm": result.signature})


def scores_document(result: LanguageScores) -> Document:
    """Return a row for each text, sentence or word."""
    title, columns = _REPORTS[str(result.settings["by"])]
    table = Table("rows", title, columns, result.rows)
    return Document(title, (table,), signatures={"lm": result.signature})
