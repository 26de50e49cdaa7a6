"""Support by contexts in reports: each sentence of an output with its best passage."""

from __future__ import annotations

from collections.abc import Sequence

from karat.metrics.base import Metric
from karat.metrics.entailment import JudgedSentence, SupportExplanation
from karat.report.documents.scores import SEGMENT
from karat.report.model import (
    Document,
    ExampleCase,
    Examples,
    Table,
    TextPassage,
    format_count,
    reference_passages,
    text_column,
)
from karat.results import Cell, Column, number

_SENTENCES = (
    SEGMENT,
    number("score", "Score", 4, "The score of the segment."),
    Column("text", "Text", help="The text that has the sentence: output or reference."),
    Column("sentence", "Sentence", help="The sentence.", wrap=True),
    Column("verdict", "Verdict", help="supported, if P is at least the threshold; unsupported."),
    number("p", "P", 4, "The highest P(entailment) of the sentence given a passage."),
    Column("passage", "Best passage", help="The passage with that P.", wrap=True),
)


def support_document(
    title: str, metric: Metric, explained: Sequence[tuple[int | str, SupportExplanation]]
) -> Document:
    """Return the sentences of some segments of one system, each with its best passage."""
    cases, rows, texts = [], list[dict[str, Cell]](), []
    for segment, explanation in explained:
        passages = (
            *reference_passages(explanation.references),
            TextPassage("output", explanation.candidate, _unsupported_places(explanation)),
            *(TextPassage(*line) for line in explanation.evidence()),
        )
        place: dict[str, Cell] = {"segment": segment, "score": explanation.value}
        sentence_rows = [
            {**place, "text": text, **_cells(explanation, sentence)}
            for text, sentences in explanation.sentences.items()
            for sentence in sentences
        ]
        rows += sentence_rows or [place]
        n_bad = sum(row["verdict"] == "unsupported" for row in sentence_rows)
        summary = f"{n_bad:,} of {format_count(len(sentence_rows), 'sentence')} unsupported"
        cases.append(ExampleCase(f"Segment {segment}", summary, passages, {}))
        texts.append({"segment": segment, "passages": passages})
    column = text_column(lambda row: row["passages"], "References, output, unsupported sentences.")
    table = Table("texts", "Texts", (SEGMENT, column), texts, readers="people")
    blocks = (
        Examples("Texts", tuple(cases), table, marked="Marked: unsupported sentences."),
        Table("rows", "Sentences", _SENTENCES, rows),
    )
    return Document(title, blocks, signatures={str(metric): explained[0][1].signature})


def _verdict(explanation: SupportExplanation, sentence: JudgedSentence) -> str:
    return "supported" if explanation.is_supported(sentence) else "unsupported"


def _cells(explanation: SupportExplanation, sentence: JudgedSentence) -> dict[str, Cell]:
    return {
        "sentence": sentence.sentence,
        "verdict": _verdict(explanation, sentence),
        "p": sentence.entailed.entailment,
        "passage": sentence.premise,
    }


def _unsupported_places(explanation: SupportExplanation) -> tuple[tuple[int, int], ...]:
    """Return where the unsupported sentences are in the output; none where they were joined."""
    places, at = [], 0
    for sentence in explanation.sentences.get("output", ()):
        start = explanation.candidate.find(sentence.sentence, at)
        if start >= 0:
            at = start + len(sentence.sentence)
            if not explanation.is_supported(sentence):
                places.append((start, at))
    return tuple(places)
