"""The sentences that reports on realisers begin with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from karat.report.model.cells import several
from karat.report.model.phrases import listing, sentence_case

if TYPE_CHECKING:
    from karat.realize.completion.explained import CompletionExplained
    from karat.realize.evaluation import RealizerEvaluation, RealizerScores
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
_FILE = {True: ", as in the file", False: ", not as in the file"}


def explanation_answer(found: RealizedTree) -> tuple[str, ...]:
    """Return the sentences of the realisers, and the one of the file where it is another."""
    if found.completion is not None:
        return _completed(found, found.completion)
    if found.inflection:
        return (f"{_inflected(found.inflection)}: {found.rows[0].sentence}",)
    made: dict[tuple[str, bool], list[str]] = {}
    for row in found.rows:
        if row.exact is not None:
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
    if all(row.exact is not False for row in found.rows):
        return ()
    return tuple(f"In the file: {row.sentence}" for row in found.rows if row.exact is None)


def evaluation_answer(found: RealizerEvaluation) -> tuple[str, ...]:
    """Name the best realiser for each input, and the hardest completion.

    The best has the highest BLEU. BLEU is 0 for sentences below four words; then exact sentences
    and generation accuracy decide, and then the place in the table, which has the best last.
    """
    best: dict[str, RealizerScores] = {}
    for row in found.rows:
        is_completion = row.model.startswith("completion")  # the first inserts most
        known = best.get(row.inputs)
        if known is None or (_rank(row) >= _rank(known) and not is_completion):
            best[row.inputs] = row
    trees, exact = several(found.training.sentences, "tree"), "of sentences exactly as in the file"
    (inputs, first), *others = best.items()
    name = first.model if len(found.rows) == 1 else "the best realiser"
    told = [f"{first.exact:.0%} {exact} from {named_inputs(inputs)} (BLEU {first.bleu:.1f})"]
    told += [f"{row.exact:.0%} from {named_inputs(key)} ({row.bleu:.1f})" for key, row in others]
    return (f"On {trees}, {name} makes {listing(told)}.",)


def _rank(row: RealizerScores) -> tuple[float, float, float]:
    return row.bleu, row.exact, row.generation


def named_inputs(inputs: str) -> str:
    """Return an input as people call it."""
    return INPUTS_NAMED.get(inputs, inputs)


def sentences_answer(found: RealizedSentences) -> tuple[str, ...]:
    """Say how many sentences were made, and what from."""
    inputs, complete = (str(found.settings.get(key, "")) for key in ("inputs", "complete"))
    trees = several(len({row.tree for row in found.rows}), "tree")
    inserted = f"; {complete.replace(',', ' and ').replace('-', ' ')} inserted" if complete else ""
    sentences = several(len(found.rows), "sentence")
    return (f"{sentences} for {trees}, from {named_inputs(inputs)}{inserted}.",)
