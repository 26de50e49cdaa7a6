"""Rescoring: slots that the words around them decide, after ordering.

    best = argmax over fillings of
        log P(filling) + a · log p(sentence) + b · log p(classes) + c · words of the filling

p(sentence) is that of the ordering model's language model, p(classes) of the class model. Every
slot has its own weights a, b and c. All slots are decided with what the others had before; then
once more with what they have now. So `a` becomes `an`, and prepositions follow the noun that stands
beside them. A filling is shown without ordering the sentence again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from karat.arithmetic import log
from karat.arrays import Floats, np
from karat.lm.model import LanguageModel
from karat.realize.completion.candidates import Candidate, Sentence, open_slots, sentences
from karat.realize.completion.class_model import ClassModel
from karat.realize.completion.completer import Choice
from karat.realize.completion.insertion import InsertedTrees, Slot
from karat.realize.completion.slots import Filling
from karat.realize.input_trees import SPACE, SPACES, Orders

LN_10 = 2.302585092994046
ROUNDS = 2


class Weights(NamedTuple):
    """Weights of the two models, and what a word of a filling is worth."""

    words: float
    classes: float
    word: float


WEIGHTS = {
    "all": {
        "aux": Weights(0.0, 0.0, 1.1),
        "mark": Weights(0.0, 0.15, 2.0),
        "case": Weights(0.5, 0.0, 1.5),
        "cc": Weights(0.0, 0.3, 0.7),
        "article": Weights(0.3, 0.0, 1.5),
        "final": Weights(0.15, 0.3, 1.1),
        "comma": Weights(0.15, 0.15, 1.6),
        "other": Weights(0.0, 0.15, 1.1),
    },
    "relations": {
        "aux": Weights(0.0, 0.3, 2.0),
        "mark": Weights(0.3, 0.0, 2.0),
        "case": Weights(0.3, 0.15, 1.5),
        "cc": Weights(0.0, 0.3, 1.1),
        "article": Weights(0.3, 0.15, 2.0),
        "final": Weights(0.3, 0.0, 1.5),
        "comma": Weights(0.15, 0.15, 1.6),
        "other": Weights(0.0, 0.3, 1.5),
    },
}
"""Of every slot, for either input: chosen on documents held out of EWT's training part."""


class FillingScore(NamedTuple):
    """The score of a filling: log P, both models by weight, the bonus of its words, the sum."""

    log_p: float
    language_model: float
    class_model: float
    bonus: float
    total: float

    def minus(self, other: FillingScore) -> FillingScore:
        """Return the differences from another score."""
        return FillingScore(*(a - b for a, b in zip(self, other, strict=True)))


class Rescored(NamedTuple):
    """The best filling of every slot, and the scores of all that were tried there."""

    best: dict[Slot, Filling]
    scores: dict[Slot, dict[Filling, FillingScore]]


class Decision:
    """A sentence with slots to decide: their candidates, and the number of the one that is best.

    `scores` has those of the last time that slots were decided.
    """

    def __init__(
        self,
        sentence: Sentence,
        slots: Mapping[Slot, list[Candidate]],
        choices: Mapping[Slot, Choice],
    ) -> None:
        self.sentence, self.slots = sentence, slots
        self.best = {slot: _first(ways, choices[slot].best) for slot, ways in slots.items()}
        self.scores: dict[Slot, list[FillingScore]] = {}
        self.places: dict[Slot, list[int]] = {slot: [] for slot in slots}
        for at, token in enumerate(sentence):
            if token.slot in self.places:
                self.places[token.slot].append(at)

    def texts(self, classes: ClassModel) -> tuple[list[str], list[str]]:
        """Return the sentence with every candidate of every slot, as words and as classes."""
        words = [token.word for token in self.sentence]
        tokens = [classes.token(token.word, token.tag) for token in self.sentence]
        for slot, ways in self.slots.items():
            self._show(slot, ways[self.best[slot]], words, tokens, classes)
        texts: list[str] = []
        told: list[str] = []
        for slot, ways in self.slots.items():
            mine, theirs = list(words), list(tokens)
            for way in ways:
                self._show(slot, way, mine, theirs, classes)
                texts.append(" ".join(filter(None, mine)))
                told.append(" ".join(filter(None, theirs)))
        return texts, told

    def _show(
        self, slot: Slot, way: Candidate, words: list[str], tokens: list[str], classes: ClassModel
    ) -> None:
        """Put a candidate into its places; empty strings where it has nothing."""
        for at in self.places[slot]:
            token = self.sentence[at]
            item = way.shown[token.item]
            words[at] = tokens[at] = ""
            if item is not None:
                one = item[token.part]
                words[at] = SPACES.sub(SPACE, one.word)
                tokens[at] = classes.token(one.word, one.tag)

    def decide(self, scores: Sequence[FillingScore]) -> None:
        """Take the best candidate of every slot; `scores` has one for each, in their order."""
        at = 0
        for slot, ways in self.slots.items():
            mine = self.scores[slot] = list(scores[at : at + len(ways)])
            self.best[slot] = max(range(len(ways)), key=lambda n: mine[n].total)
            at += len(ways)

    def scored(self, slot: Slot) -> dict[Filling, FillingScore]:
        """Return the score of every filling of a slot where it stands best."""
        found: dict[Filling, FillingScore] = {}
        for way, score in zip(self.slots[slot], self.scores[slot], strict=True):
            if way.filling not in found or score.total > found[way.filling].total:
                found[way.filling] = score
        return found


def _first(ways: list[Candidate], filling: Filling) -> int:
    return next((n for n, way in enumerate(ways) if way.filling == filling), 0)


def rescored(
    inserted: InsertedTrees,
    orders: Orders,
    choices: Sequence[Choice],
    wide: Mapping[str, Sequence[Filling]],
    model: LanguageModel,
    classes: ClassModel,
    weights: Mapping[str, Weights],
) -> Rescored:
    """Return what fits best into the slots of trees that have their widest likely fillings."""
    of = {(choice.slot, choice.node): choice for choice in choices}
    decisions = [
        Decision(sentence, slots, of)
        for sentence in sentences(inserted, orders)
        if (slots := open_slots(sentence, of, wide))
    ]
    for _ in range(ROUNDS):
        _decide(decisions, model, classes, weights)
    best = {
        slot: ways[one.best[slot]].filling for one in decisions for slot, ways in one.slots.items()
    }
    return Rescored(best, {slot: one.scored(slot) for one in decisions for slot in one.slots})


def _decide(
    decisions: Sequence[Decision],
    model: LanguageModel,
    classes: ClassModel,
    weights: Mapping[str, Weights],
) -> None:
    """Decide all slots once, each with what the others have."""
    if not decisions:
        return
    texts = [one.texts(classes) for one in decisions]
    said = _logs(model, [text for mine, _ in texts for text in mine])
    told = _logs(classes.model, [text for _, mine in texts for text in mine])
    tried = [
        (weights[slot[0]], way)
        for one in decisions
        for slot, ways in one.slots.items()
        for way in ways
    ]
    chances = log(np.array([way.chance for _, way in tried]))
    a, b, c = np.array([of_slot for of_slot, _ in tried]).T
    many = np.array([sum(map(len, way.filling)) for _, way in tried])
    parts = chances, a * said, b * told, c * many
    rows = np.stack([*parts, parts[0] + parts[1] + parts[2] + parts[3]], axis=1).tolist()
    scores = [FillingScore(*row) for row in rows]
    at = 0
    for one in decisions:
        n = sum(map(len, one.slots.values()))
        one.decide(scores[at : at + n])
        at += n


def _logs(model: LanguageModel, texts: Sequence[str]) -> Floats:
    """Return the natural logarithms of the probabilities of texts."""
    return LN_10 * model.score(texts, threads=1)
