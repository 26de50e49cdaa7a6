"""Reports of `karat lm`: a trained model, and scores of texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karat.report.model import Column, Document, Table
from karat.results import LazyRows

if TYPE_CHECKING:
    from karat.lm.model import LanguageScores
    from karat.lm.training import TrainedModel

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
_TEXTS = (
    _TEXT,
    Column("sentences", "Sentences", align="right"),
    _WORDS,
    _OOV,
    _LOG,
    Column("perplexity", "Perplexity", 2, align="right", help="Of all words and ends."),
    Column("perplexity_known", "Without OOV", 2, align="right", help="Of the known ones."),
)
_SENTENCES = (
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
_REPORTS = {
    "text": ("Perplexity", _TEXTS),
    "segment": ("Sentences", _SENTENCES),
    "word": ("Words", _EACH_WORD),
}


def trained_document(result: TrainedModel, command: str) -> Document:
    """Return how many n-grams of each length a new model has."""
    title = f"Language model {result.path}"
    table = Table("rows", title, _TRAINED, [row._asdict() for row in result.rows])
    return Document(title, (table,), command, {"lm": result.signature}, result.notes)


def scores_document(result: LanguageScores, command: str) -> Document:
    """Return a row for each text, sentence or word."""
    title, columns = _REPORTS[str(result.settings["by"])]
    rows = LazyRows([(len(result.rows), lambda i: result.rows[i]._asdict())])
    table = Table("rows", title, columns, rows)
    return Document(title, (table,), command, {"lm": result.signature}, result.notes)
