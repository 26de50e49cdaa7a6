"""Scores of texts under a language model: perplexity, every sentence, or every word."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from karat.lm.model import LanguageModel
from karat.lm.training import as_sources
from karat.progress import Progress, silent
from karat.results import LazyRows, Result
from karat.text.segments import Segments, Texts
from karat.text.tokens import check_choice


class TextRow(NamedTuple):
    """A text with its perplexity."""

    text: str
    sentences: int
    words: int
    oov: int
    log10_p: float
    perplexity: float
    perplexity_known: float


class SentenceRow(NamedTuple):
    """A sentence with log10 Pr, its end included."""

    text: str
    segment: int
    words: int
    oov: int
    log10_p: float
    per_word: float | None


class WordRow(NamedTuple):
    """A word, or the end of a sentence, with log10 p and the length of the n-gram found for it."""

    text: str
    segment: int
    word: str
    log10_p: float
    length: int
    oov: bool


Row = TextRow | SentenceRow | WordRow
RowPart = tuple[int, Callable[[int], Row]]


@dataclass(frozen=True, eq=False, repr=False)
class LanguageScores(Result):
    """Scores of texts; the rows are `TextRow`, `SentenceRow` or `WordRow`, made when looked at."""

    rows: Sequence[Row]
    settings: Mapping[str, object]
    notes: tuple[str, ...]
    signature: str


def score_texts(
    texts: Texts | Sequence[os.PathLike[str]] | Sequence[Segments],
    model: LanguageModel | str | os.PathLike[str],
    *,
    by: str = "text",
    threads: int | None = None,
    progress: Progress = silent,
) -> LanguageScores:
    """Score texts by a language model.

    Args:
        texts: strings, a file or several files, one sentence per line.
        model: a model or its file.
        by: unit that has a row: `text`, `segment` or `word`.
        threads: number of threads; by default all processors.
        progress: function that is called with the progress.
    """
    check_choice("by", by, _ROWS)
    opened = model if isinstance(model, LanguageModel) else LanguageModel.open(model)
    work = {"threads": threads, "progress": progress}
    parts = [_ROWS[by](opened, text, **work) for text in as_sources(texts)]
    settings = {"model": opened.name, "by": by}
    return LanguageScores(LazyRows(parts), settings, opened.notes, opened.signature)


def _texts(model: LanguageModel, text: Segments, **work: Any) -> RowPart:
    sums = model.perplexity(text, **work)
    row = TextRow(text.name, *sums[:4], sums.perplexity, sums.perplexity_known)
    return 1, lambda i: row


def _sentences(model: LanguageModel, text: Segments, **work: Any) -> RowPart:
    scores = model.sentences(text, **work)

    def row(i: int) -> SentenceRow:
        p, words = float(scores.log10_p[i]), int(scores.words[i])
        per_word = p / words if words else None
        return SentenceRow(text.name, i + 1, words, int(scores.oov[i]), p, per_word)

    return len(scores.words), row


def _words(model: LanguageModel, text: Segments, **work: Any) -> RowPart:
    scores = model.text_words(text, **work)

    def row(i: int) -> WordRow:
        segment, word = (
            int(scores.offsets.searchsorted(i, "right")),
            scores.vocabulary[scores.word[i]],
        )
        p, length = float(scores.log10_p[i]), int(scores.length[i])
        return WordRow(text.name, segment, word, p, length, bool(scores.oov[i]))

    return len(scores.word), row


_ROWS = {"text": _texts, "segment": _sentences, "word": _words}
