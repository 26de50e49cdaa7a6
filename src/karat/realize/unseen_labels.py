"""Labels of an input that a model never saw, such as mistyped ones: relations, tags, features.

They are realised like others; a note tells of them. A model knows the relations of its training
treebank if it has supertags or an ordering model for words alone, UPOS tags also if it inflects,
and XPOS tags and features only then. What it does not know is not checked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from karat.errors import LONGEST_FIELD, visible
from karat.realize.completion.content import CLOSED, MODALITY, MOODS
from karat.realize.input_trees import InputTrees
from karat.realize.model import RealizerModel
from karat.realize.treebank import Treebank
from karat.realize.written_fields import MISSING

NAMED = 5
"""Labels that a note names."""
AUXILIARY = "Tense[aux]="
"""The feature of content words that stands for the tense or mood of an auxiliary."""

Labels = Mapping[str, Iterable[str]]
"""Kind of label -> labels."""


def labels_of_trees(trees: InputTrees) -> Labels:
    """Return the labels that a realiser of such trees sees."""
    if trees.inputs == "words":
        return {}
    found: dict[str, Iterable[str]] = {"relation": trees.relations, "UPOS tag": trees.tags}
    return found | {"XPOS tag": trees.fine, "feature": _features(trees.features)}


def labels_of_content(treebank: Treebank, inputs: str) -> Labels:
    """Return the labels that the completion of such content words sees."""
    found: dict[str, Iterable[str]] = {"relation": treebank.relations}
    if inputs != "relations":
        found |= {"UPOS tag": treebank.upos, "feature": _features(treebank.features)}
    return found | ({"XPOS tag": treebank.xpos} if inputs == "lemmas" else {})


def unseen_labels(model: RealizerModel, labels: Labels) -> tuple[str, ...]:
    """Return a note on the labels that the model never saw; none if it saw all."""
    known, counts, names = _known(model), list[str](), list[str]()
    for kind in (kind for kind in known if kind in labels):
        if new := sorted({*labels[kind]} - known[kind] - {"", MISSING}):
            counts.append(f"{len(new):,} {kind}{'' if len(new) == 1 else 's'}")
            names += new
    if not names:
        return ()
    several = f"{', '.join(counts[:-1])} and {counts[-1]}" if len(counts) > 1 else counts[0]
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    shown = ", ".join(visible(name[:LONGEST_FIELD]) for name in names[:NAMED])
    return (f"The input has {several} that the model never saw: {shown}{more}.",)


def _features(listed: Iterable[str]) -> set[str]:
    return {part for features in {*listed} for part in features.split("|")}


def _known(model: RealizerModel) -> dict[str, frozenset[str]]:
    """Return all labels of each kind that the model was trained on, if it knows them."""
    found: dict[str, frozenset[str]] = {}
    if model.fergus is not None:
        grammar = model.fergus.chooser.grammar
        found = {"relation": frozenset(grammar.relations), "UPOS tag": frozenset(grammar.tags)}
    elif "words" in model.ordering:
        guessed = model.ordering["words"].labeller.classifiers[0].names
        kinds = {"relation": "relations", "UPOS tag": "tags"}
        found = {kind: frozenset(guessed[name]) for kind, name in kinds.items()}
    if model.inflection is not None:
        cells = model.inflection.inflector.table.counts
        features = _features(cell.features for cell in cells)
        values = {part.partition("=")[2] for part in features if part.startswith("Tense=")}
        tenses = {f"{AUXILIARY}{value}" for value in {*values, *MOODS, *MODALITY.values()}}
        found.setdefault("UPOS tag", frozenset(cell.upos for cell in cells))
        found["XPOS tag"] = frozenset(cell.xpos for cell in cells)
        found["feature"] = frozenset(features | tenses | {CLOSED})
    return found
