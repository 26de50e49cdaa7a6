"""The sentences that reports on realisers begin with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from karat.report.model import listing, sentence_case, several
from karat.stats.significance import BETTER

if TYPE_CHECKING:
    from karat.realize.completion.explained import CompletionExplained
    from karat.realize.evaluation import Lead, RealizerEvaluation, RealizerScores, TrainingOverlap
    from karat.realize.explanation import RealizedTree
    from karat.realize.generation import RealizedSentences
    from karat.realize.inflection.explained import WordForm

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
