"""The tables of `karat realize`: models trained, sentences, supertags, realisers side by side."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from karat.realize.report.drawings import tree_figure
from karat.report.charts.models import Interval, intervals_figure
from karat.report.model import Column, Document, Figure, Row, Table, listing, sentence_case, several
from karat.stats.significance import BETTER

if TYPE_CHECKING:
    from karat.realize.choices import CompletionExplained, WordForm
    from karat.realize.evaluation import Lead, RealizerEvaluation, RealizerScores, TrainingOverlap
    from karat.realize.explanation import RealizedTree, SupertagList
    from karat.realize.generation import RealizedSentences
    from karat.realize.model import RealizerTraining


LIKELY = 0.05
"""Probability from which on another form is told."""
INPUTS_NAMED = {
    "all": "words with tags and relations",
    "relations": "words with relations",
    "all, content words": "content words with tags and relations",
    "relations, content words": "content words with relations",
    "lemmas, content words": "lemmas of content words",
}
"""Inputs as people call them, where their names say little."""
REALIZERS_NAMED = {"fergus": "supertags", "ordering": "ordering model"}
"""Realizers as reports call them."""
_FILE = {True: ", as in the file", False: ", not as in the file", None: ""}
"""Comparison of a sentence with that of the file; none if the file has no word order."""


def explanation_answer(found: RealizedTree) -> tuple[str, ...]:
    """Return the sentences of the realisers, and the one of the file where it is another."""
    from karat.realize.explanation import IN_FILE

    if found.completion is not None:
        return _completed(found, found.completion)
    if found.inflection:
        return (f"{_inflected(found.inflection)}: {found.rows[0].sentence}",)
    made: dict[tuple[str, bool | None], list[str]] = {}
    for row in found.rows:
        if row.model != IN_FILE:
            made.setdefault((row.sentence, row.exact), []).append(row.model)
    told = [
        f"{sentence_case(listing(models))}{_FILE[exact]}: {sentence}"
        for (sentence, exact), models in made.items()
    ]
    return (*told, *_in_file(found))


def _inflected(forms: Sequence[WordForm]) -> str:
    """Say how many forms were made, and how many might well be others."""
    made = several(sum(one.chosen for one in forms), "form")
    unsure = len({one.place for one in forms if is_alternative(one)})
    return f"{made} made from lemmas, {unsure} in doubt"


def _completed(found: RealizedTree, completion: CompletionExplained) -> tuple[str, ...]:
    """Return the completed sentence, and how much of it was inserted."""
    slots = [one for one in completion.optional if one.probability is not None]
    unsure = several(sum(bool(one.others) for one in slots), "choice")
    words = sum(len(one.word.split()) for one in slots)
    inserted = several(words, "word") if words else "No words"
    return (f"{inserted} inserted, {unsure} in doubt: {found.rows[0].sentence}",)


def is_alternative(form: WordForm) -> bool:
    """Return whether a form that was not chosen is probable enough to be told."""
    return not form.chosen and form.probability >= LIKELY


def _in_file(found: RealizedTree) -> tuple[str, ...]:
    """Return the sentence of the file, if some realiser made another one."""
    from karat.realize.explanation import IN_FILE

    if all(row.exact is not False for row in found.rows):
        return ()
    return tuple(f"In the file: {row.sentence}" for row in found.rows if row.model == IN_FILE)


def evaluation_answer(found: RealizerEvaluation) -> tuple[str, ...]:
    """Return a sentence for each input: its best realizer, if a test tells it from the second.

    Of completions the first counts, which inserts most.
    """
    first: dict[str, RealizerScores] = {}
    for row in found.rows:
        first.setdefault(row.inputs, row)
    leads = {lead.inputs: lead for lead in found.leads}
    sentences = [_scored(leads.get(inputs), row) for inputs, row in first.items()]
    trees = f"On {several(found.training.sentences, 'tree')}{_in_training(found.training)}"
    return (f"{trees}, {sentences[0]}", *map(sentence_case, sentences[1:]))


def _in_training(training: TrainingOverlap) -> str:
    from karat.realize.evaluation import MOSTLY

    if training.share < MOSTLY:
        return ""
    part = "" if training.share == 1 else "mostly "
    return f" that the model was {part}trained on"


def _scored(lead: Lead | None, row: RealizerScores) -> str:
    """Return the scores from one kind of input, and how sure the lead of the first is."""
    if lead is None:
        return _figures(row)
    better = lead.verdict == BETTER
    finding = "significantly better than" if better else "not significantly different from"
    second = f"{lead.second.bleu:.1f} with {_named(lead.second.model)}"
    return _figures(lead.first, f" ({finding} {second})")


def _figures(row: RealizerScores, lead: str = "") -> str:
    return (
        f"BLEU from {named_inputs(row.inputs)} is {row.bleu:.1f} with {_named(row.model)}{lead}, "
        f"and {row.exact:.0%} of sentences are exactly as in the file."
    )


def _named(model: str) -> str:
    """Return the name of a realizer within a sentence."""
    if model == "ordering model":
        return f"the {model}"
    return model.replace("completion: ", "completion of ")


def named_inputs(inputs: str) -> str:
    """Return an input as people call it."""
    return INPUTS_NAMED.get(inputs, inputs)


def sentences_answer(found: RealizedSentences) -> tuple[str, ...]:
    """Say how many sentences were made, and what from."""
    inputs = named_inputs(str(found.settings["inputs"]))
    realizer = REALIZERS_NAMED[str(found.settings["realizer"])]
    trees = several(len({row.tree for row in found.rows}), "tree")
    sentences = several(len(found.rows), "sentence")
    return (f"{sentences} for {trees}, from {inputs}, by the {realizer}{_inserted(found)}.",)


def _inserted(found: RealizedSentences) -> str:
    """Say how many tokens of which classes were inserted; nothing without `complete`."""
    classes = str(found.settings.get("complete", "")).replace("-", " ").split(",")
    if classes == [""]:
        return ""
    if not found.inserted:
        return f"; no {' or '.join(classes)} inserted"
    return f"; {' and '.join(classes)} inserted ({several(found.inserted, 'token')})"


number = partial(Column, align="right")
"""A column of numbers."""

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
    Column("heading", "Input", readers="people"),
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
    Column("heading", "Taken out", readers="people"),
    Column("inputs", "Input", readers="programs"),
    Column("complete", "Taken out", readers="programs"),
    Column("slot", "Slot", readers="programs"),
    Column("class", "Words", readers="people"),
    number("precision", "Precision", 3, help="Share of inserted words that are right."),
    number("recall", "Recall", 3, help="Share of the file's words that were inserted."),
    number("f", "F", 3, help="Harmonic mean of precision and recall."),
    number("words", "In the file", help="Words of this kind that were taken out."),
)
_FORMS = number("forms", "Forms", 3, help="Share of lemmas whose form is right.")
_PAPER = _EVALUATED[:1] + _EVALUATED[3:7]
_SEEN = (_COUNT, number("seen", "Seen in training"), number("share", "Share", 3))
_LEADS = (
    Column("inputs", "Input"),
    Column("first", "Highest BLEU"),
    Column("second", "Second"),
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


def as_rows(found: Iterable[Any]) -> list[Row]:
    """Return NamedTuples as rows of a table."""
    return [one._asdict() for one in found]


def training_document(found: RealizerTraining, command: str) -> Document:
    """Return the model that was trained, in a row."""
    title = f"Trained on {found.name}"
    return Document(title, (Table("rows", title, _TRAINED, as_rows(found.rows)),), command, {})


def sentences_document(found: RealizedSentences, command: str) -> Document:
    """Return all sentences of all trees."""
    title = f"Sentences for {found.name}"
    table = Table("rows", title, _SENTENCES, as_rows(found.rows), notes=found.notes, open=True)
    return Document(title, (table,), command, {}, answer=sentences_answer(found))


def evaluation_document(found: RealizerEvaluation, command: str) -> Document:
    """Return realisers side by side, and the paper's table beside them."""
    from karat.realize.evaluation import MOSTLY, PAPER

    names = [column.key for column in _PAPER]
    paper: list[Row] = [dict(zip(names, (name, *values), strict=True)) for name, values in PAPER]
    title = f"{found.name}: {several(found.training.sentences, 'tree')}"
    title += ", training data" if found.training.share >= MOSTLY else ""
    rows: list[Row] = [
        {**row._asdict(), "heading": f"from {named_inputs(row.inputs)}"} for row in found.rows
    ]
    columns: tuple[Column, ...] = _EVALUATED
    if any(row["forms"] is not None for row in rows):
        columns = (*_EVALUATED[:3], _FORMS, *_EVALUATED[3:])
    blocks: tuple[Table, ...] = (
        Table("rows", title, columns, rows, group="heading", notes=found.notes, open=True),
        Table("paper", "The paper's Table 1: 100 sentences of newspaper text", _PAPER, paper),
        Table("leads", "The first two by BLEU", _LEADS, _leads(found), readers="programs"),
        Table("training", "Seen in training", _SEEN, as_rows([found.training]), readers="programs"),
    )
    if found.slots:
        blocks = (*blocks[:1], _slots_table(found), *blocks[1:])
    told, chart = evaluation_answer(found), _bleu_figure(found)
    return Document("Realisers", (chart, *blocks), command, found.signatures, answer=told)


def _leads(found: RealizerEvaluation) -> list[Row]:
    """Return the first two realizers of each kind of input, by name."""
    return [
        {**lead._asdict(), "first": lead.first.model, "second": lead.second.model}
        for lead in found.leads
    ]


def _bleu_figure(found: RealizerEvaluation) -> Figure:
    """Return a dot for the BLEU of each realiser."""
    dots = (Interval(_label(row), round(row.bleu, 1)) for row in found.rows)
    figure = intervals_figure("BLEU by realiser", "BLEU", dots)
    inserts = "Names with add: these words were taken out of the trees and inserted again. "
    caption = f"{inserts if found.slots else ''}In brackets: the input."
    return replace(figure, caption=caption)


def _label(row: RealizerScores) -> str:
    """Return the name of a realiser with its input, short enough for a chart."""
    name = row.model.replace("function words and punctuation", "both")
    inputs = row.inputs.removesuffix(", content words")
    return f"{name.replace('completion: ', 'add ')} ({inputs})"


def _slots_table(found: RealizerEvaluation) -> Table:
    """Return precision, recall and F of every class of words that were inserted."""
    from karat.realize.evaluation import CLASS_NAMES

    rows: list[Row] = [
        {
            **one._asdict(),
            "class": CLASS_NAMES[one.slot],
            "heading": f"{one.complete} ({one.inputs})",
        }
        for one in found.slots
    ]
    notes = (
        "A word is right if the file has it in the same slot of the same content word.",
        "Input `all` is words, tags, relations and FEATS; heads keep Definite of their articles "
        "and the tense or mood of their auxiliaries. Input `relations` is words and relations. "
        "Input `lemmas` is as `all`, but for lemmas instead of words.",
        "The paper's system also inserts function words and punctuation, but has no figures.",
    )
    return Table("slots", "Words inserted", _SLOTS, rows, group="heading", notes=notes)


def supertags_document(found: SupertagList, command: str) -> Document:
    """Return supertags by frequency, some of them drawn."""
    table = Table("rows", "Supertags", _SUPERTAGS, as_rows(found.rows), notes=found.notes)
    return Document(f"Grammar of {found.name}", (table, tree_figure(found.drawn)), command, {})
