"""The tables of `karat realize`: trained models, sentences, supertags, evaluations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from karat.realize.report.drawings import tree_figure
from karat.report.charts.models import ChartRow, intervals_figure
from karat.report.model import Document, Table, format_count, join_names, sentence_case
from karat.results import Column, number, people_column
from karat.stats.significance import BETTER

if TYPE_CHECKING:
    from karat.realize.evaluation import RealizerEvaluation, RealizerScores
    from karat.realize.explanation import RealizedTree, SupertagList
    from karat.realize.generation import RealizedSentences
    from karat.realize.model import RealizerTraining


INPUT_PHRASES = {
    "all": "words with tags and relations",
    "relations": "words with relations",
    "all, content words": "content words with tags and relations",
    "relations, content words": "content words with relations",
    "lemmas, content words": "lemmas of content words",
}
"""Kind of input -> its name for people, if its own name is unclear."""
REALIZER_NAMES = {"fergus": "supertags", "ordering": "ordering model"}
"""Realizer -> its name in reports."""
_FILE = {True: ", as in the file", False: ", not as in the file", None: ""}
"""Whether a sentence equals that of the file, which may have none -> text."""


def explanation_answer(explained: RealizedTree) -> tuple[str, ...]:
    """Return the sentences of the realisers, and that of the file if it differs."""
    from karat.realize.explanation import IN_FILE

    rows, completion = explained.rows, explained.completion
    if completion is not None:
        slots = [word for word in completion.optional if word.probability is not None]
        unsure = format_count(sum(bool(word.alternatives) for word in slots), "choice")
        words = sum(len(word.word.split()) for word in slots)
        inserted = format_count(words, "word") if words else "No words"
        return (f"{inserted} inserted, {unsure} in doubt: {rows[0].sentence}",)
    if forms := explained.inflection:
        n_forms = format_count(sum(form.chosen for form in forms), "form")
        n_unsure = len({form.place for form in forms if form.is_alternative})
        return (f"{n_forms} made from lemmas, {n_unsure} in doubt: {rows[0].sentence}",)
    models_of_sentence: dict[tuple[str, bool | None], list[str]] = {}
    for row in rows:
        if row.model != IN_FILE:
            models_of_sentence.setdefault((row.sentence, row.exact), []).append(row.model)
    sentences = [
        f"{sentence_case(join_names(models))}{_FILE[exact]}: {sentence}"
        for (sentence, exact), models in models_of_sentence.items()
    ]
    if any(row.exact is False for row in rows):
        sentences += [f"In the file: {row.sentence}" for row in rows if row.model == IN_FILE]
    return tuple(sentences)


def evaluation_answer(evaluation: RealizerEvaluation) -> tuple[str, ...]:
    """Return a sentence for each input: its best realizer, and whether it leads significantly.

    For completion, this is the first row, which inserts most words.
    """
    from karat.realize.evaluation import MAX_TRAINING_SHARE

    first: dict[str, RealizerScores] = {}
    for row in evaluation.rows:
        first.setdefault(row.inputs, row)
    leads = {lead.inputs: lead for lead in evaluation.leads}
    sentences = []
    for inputs, row in first.items():
        if (lead := leads.get(inputs)) is None:
            sentences.append(_score_sentence(row))
            continue
        better = lead.verdict == BETTER
        finding = "significantly better than" if better else "not significantly different from"
        second = f"{lead.second.bleu:.1f} with {_name_realizer(lead.second.model)}"
        sentences.append(_score_sentence(lead.first, f" ({finding} {second})"))
    training = evaluation.training
    trees = f"On {format_count(training.sentences, 'tree')}"
    if training.share >= MAX_TRAINING_SHARE:
        trees += f" that the model was {'' if training.share == 1 else 'mostly '}trained on"
    return (f"{trees}, {sentences[0]}", *map(sentence_case, sentences[1:]))


def _score_sentence(row: RealizerScores, lead: str = "") -> str:
    realizer = _name_realizer(row.model)
    return (
        f"BLEU from {name_inputs(row.inputs)} is {row.bleu:.1f} with {realizer}{lead}, "
        f"and {row.exact:.0%} of sentences are exactly as in the file."
    )


def _name_realizer(model: str) -> str:
    """Return the name of a realizer within a sentence."""
    if model == "ordering model":
        return f"the {model}"
    return model.replace("completion: ", "completion of ")


def name_inputs(inputs: str) -> str:
    """Return the name of an input for people."""
    return INPUT_PHRASES.get(inputs, inputs)


def sentences_answer(generated: RealizedSentences) -> tuple[str, ...]:
    """Return the numbers of sentences and inserted tokens, the input and the realizer."""
    settings = generated.settings
    trees = format_count(len({row.tree for row in generated.rows}), "tree")
    sentences = format_count(len(generated.rows), "sentence")
    source = f"from {name_inputs(str(settings['inputs']))}"
    realizer = REALIZER_NAMES[str(settings["realizer"])]
    inserted = ""
    classes = str(settings.get("complete", "")).replace("-", " ").split(",")
    if classes != [""]:
        inserted = f"; no {' or '.join(classes)} inserted"
        if generated.inserted:
            tokens = format_count(generated.inserted, "token")
            inserted = f"; {' and '.join(classes)} inserted ({tokens})"
    return (f"{sentences} for {trees}, {source}, by the {realizer}{inserted}.",)


_COUNT = number("sentences", "Sentences")
_TRAINED = (
    Column("output", "File"),
    Column("models", "Models", wrap=True),
    _COUNT,
    number("seconds", "Seconds", 0, help="Of processor time."),
    number("megabytes", "MB", 1),
)
_SENTENCES = (
    number("tree", "Tree"),
    number("rank", "Rank"),
    number("score", "Score", 2, help="Higher is better, among the sentences of one tree."),
    Column("sentence", "Sentence", wrap=True),
)
_EVALUATED = (
    Column("model", "Model"),
    people_column("heading", "Input", lambda row: f"from {name_inputs(row.inputs)}"),
    Column("inputs", "Input", readers="programs"),
    number("simple", "Simple", 3, detail=True, help="1 - insertions, deletions and others / words"),
    number("generation", "Gen.", 3, help="Generation accuracy."),
    number("simple_tree", "Simple tree", 3, detail=True, help="Simple accuracy by treelet."),
    number("generation_tree", "Gen. tree", 3, detail=True, help="Gen. accuracy by treelet."),
    number("bleu", "BLEU", 1),
    number("gtm", "GTM F", 3, detail=True, help="e = 2"),
    number("exact", "Exact", 3, help="Share of sentences exactly as in the file."),
    number("speed", "Sent./s", 0, detail=True, help="Sentences a second of processor time."),
)
_SLOTS = (
    people_column("heading", "Taken out", lambda row: f"{row['complete']} ({row['inputs']})"),
    Column("inputs", "Input", readers="programs"),
    Column("complete", "Taken out", readers="programs"),
    Column("slot", "Slot", readers="programs"),
    Column("class", "Words", readers="people"),
    number("precision", "Precision", 3, help="Share of inserted words that are right."),
    number("recall", "Recall", 3, help="Share of the file's words that were inserted."),
    number("f", "F", 3, help="Harmonic mean of precision and recall."),
    number("words", "In the file", help="Words of this kind that were taken out."),
)
_SLOT_NOTES = (
    "A word is right if the file has it in the same slot of the same content word.",
    "Input `all` is words, tags, relations and FEATS; heads keep Definite of their articles "
    "and the tense or mood of their auxiliaries. Input `relations` is words and relations. "
    "Input `lemmas` is as `all`, but for lemmas instead of words.",
    "The paper's system also inserts function words and punctuation, but has no figures.",
)
_FORMS = number("forms", "Forms", 3, help="Share of lemmas whose form is right.")
_PAPER = _EVALUATED[:1] + _EVALUATED[3:7]
_SEEN = (_COUNT, number("seen", "Seen in training", field="n_seen"), number("share", "Share", 3))
_LEADS = (
    Column("inputs", "Input"),
    Column("first", "Highest BLEU", value=lambda lead: lead.first.model),
    Column("second", "Second", value=lambda lead: lead.second.model),
    Column("verdict", "Verdict"),
)
_SUPERTAGS = (
    Column("tag", "Category"),
    Column("relation", "Relation"),
    Column("kind", "Kind"),
    Column("frame", "Frame", help="* is the head, the rest are the slots of arguments."),
    number("times", "Times"),
    number("left", "Left", 2, help="Share that stood left of the mother's head."),
)


def training_document(training: RealizerTraining) -> Document:
    """Return the row of a trained model."""
    title = f"Trained on {training.name}"
    return Document(title, (Table("rows", title, _TRAINED, training.rows),), notes=())


def sentences_document(generated: RealizedSentences) -> Document:
    """Return all sentences of all trees."""
    title, rows = f"Sentences for {generated.name}", generated.rows
    table = Table("rows", title, _SENTENCES, rows, notes=generated.notes, open=True)
    return Document(title, (table,), notes=(), answer=sentences_answer(generated))


def evaluation_document(evaluation: RealizerEvaluation) -> Document:
    """Return the scores of all realisers, and the paper's table."""
    from karat.realize.evaluation import CLASS_NAMES, MAX_TRAINING_SHARE, PAPER

    names = [column.key for column in _PAPER]
    paper = [dict(zip(names, (name, *values), strict=True)) for name, values in PAPER]
    title = f"{evaluation.name}: {format_count(evaluation.training.sentences, 'tree')}"
    title += ", training data" if evaluation.training.share >= MAX_TRAINING_SHARE else ""
    rows: Sequence[RealizerScores] = evaluation.rows
    columns: Sequence[Column] = _EVALUATED
    if any(row.forms is not None for row in rows):
        columns = (*_EVALUATED[:3], _FORMS, *_EVALUATED[3:])
    blocks: tuple[Table, ...] = (
        Table("rows", title, columns, rows, group="heading", notes=evaluation.notes, open=True),
        Table("paper", "The paper's Table 1: 100 sentences of newspaper text", _PAPER, paper),
        Table("leads", "The first two by BLEU", _LEADS, evaluation.leads, readers="programs"),
        Table("training", "Seen in training", _SEEN, [evaluation.training], readers="programs"),
    )
    if evaluation.slots:
        slots = [{**row._asdict(), "class": CLASS_NAMES[row.slot]} for row in evaluation.slots]
        title = "Words inserted"
        table = Table("slots", title, _SLOTS, slots, group="heading", notes=_SLOT_NOTES)
        blocks = (*blocks[:1], table, *blocks[1:])
    dots = []
    for row in rows:
        name = row.model.replace("function words and punctuation", "both")
        inputs = row.inputs.removesuffix(", content words")
        label = f"{name.replace('completion: ', 'add ')} ({inputs})"
        dots.append(ChartRow(label, round(row.bleu, 1)))
    inserts = "Names with add: these words were taken out of the trees and inserted again. "
    caption = f"{inserts if evaluation.slots else ''}In brackets: the input."
    chart = replace(intervals_figure("BLEU by realiser", "BLEU", dots), caption=caption)
    answer = evaluation_answer(evaluation)
    return Document("Realisers", (chart, *blocks), notes=(), answer=answer)


def supertags_document(supertags: SupertagList) -> Document:
    """Return the table of supertags, and drawings of some."""
    table = Table("rows", "Supertags", _SUPERTAGS, supertags.rows, notes=supertags.notes)
    blocks = (table, tree_figure(supertags.pictured))
    return Document(f"Grammar of {supertags.name}", blocks, notes=())
