"""Settings of word alignment."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from karat import _kernel
from karat.arrays import Ints, NDArray, np
from karat.errors import InputError
from karat.paraphrase.align.links import RULES
from karat.paraphrase.align.parallel_text import Words, word_count
from karat.text.tokens import check_choice

MODELS = {
    "fertility": "an HMM with jumps by word, fertilities, a null word and leave-one-out counts",
    "hmm": "the HMM of Liang, Taskar and Klein (2006)",
}
AGREEMENTS = {
    "min": "the smaller of what the two directions expect",
    "root": "the square root of the product of what both directions expect",
    "product": "the product, as in the paper",
}
DECODINGS = {
    "posterior": "links in which both directions believe with at least `threshold` on average",
    **{rule: f"each direction's best links, joined: {text}" for rule, text in RULES.items()},
}
_DEFAULTS: dict[str, dict[str, Any]] = {
    "fertility": {"model1": 4, "hmm": 4, "agreement": "min", "threshold": 0.4, "prefix": 4},
    "hmm": {"model1": 5, "hmm": 5, "agreement": "root", "threshold": 0.5, "prefix": 0},
}
MAX_ITERATIONS = 1000
"""Iterations of model 1, and of the HMM."""
_FERTILITY_ITERATIONS = 2  # of the last iterations of the HMM
_DEFAULT_OF_MODEL: Any = None  # the default is the model's


class Iteration(NamedTuple):
    """One step of training: model 1 or the HMM, with fertilities or without."""

    what: str
    hmm: bool
    fertility: bool = False
    counts_fertility: bool = False
    """True if the next step takes fertilities."""


@dataclass(frozen=True)
class Aligner:
    """Settings of word alignment.

    Iterations of model 1 and of the HMM, agreement, decoding, the longest sentences, the model, and
    how many characters of a word are looked at (0: all). What is None is the model's default, also
    after `dataclasses.replace` has given another model; `resolved` fills it in.
    """

    model1: int = _DEFAULT_OF_MODEL
    hmm: int = _DEFAULT_OF_MODEL
    agreement: str = _DEFAULT_OF_MODEL
    decoding: str = "posterior"
    threshold: float = _DEFAULT_OF_MODEL
    longest: int = 200
    model: str = "fertility"
    prefix: int = _DEFAULT_OF_MODEL

    def __post_init__(self) -> None:
        check_choice("model", self.model, MODELS)
        check_choice("decoding", self.decoding, DECODINGS)
        if self.agreement is not None:
            check_choice("agreement", self.agreement, AGREEMENTS)
        for name, value in (("model1", self.model1), ("hmm", self.hmm)):
            if value is not None and not 0 <= value <= MAX_ITERATIONS:
                raise InputError(f"{name}={value}: expected 0 to {MAX_ITERATIONS:,} iterations")
        if self.model1 == 0 and self.hmm == 0:
            raise InputError("model1=0 and hmm=0: expected at least one iteration of either")
        self._check_threshold()
        if self.longest < 1:
            raise InputError(f"longest={self.longest}: expected at least one word")
        if self.prefix is not None and self.prefix < 0:
            raise InputError(f"prefix={self.prefix}: expected 0 (whole words) or more characters")

    def _check_threshold(self) -> None:
        if self.threshold is None:
            return
        if not 0 < self.threshold <= 1:
            raise InputError(f"threshold={self.threshold}: expected more than 0 and at most 1")
        if self.decoding != "posterior":
            reason = f"decoding={self.decoding} has no threshold"
            raise InputError(
                f"threshold={self.threshold}: {reason}; leave it out, or use decoding=posterior"
            )

    def resolved(self) -> Aligner:
        """Return the settings with the model's defaults for what is not given and has a use."""
        defaults = dict(_DEFAULTS[self.model])
        if self.decoding != "posterior":
            del defaults["threshold"]
        return replace(self, **{k: v for k, v in defaults.items() if getattr(self, k) is None})

    @property
    def least(self) -> float:
        """The threshold that the kernel is given, whether its rule looks at it or not."""
        default: float = _DEFAULTS[self.model]["threshold"]
        return default if self.threshold is None else self.threshold

    def iterations(self) -> Iterator[Iteration]:
        """Yield what each iteration does."""
        settings, fertilities = self.resolved(), self.fertilities
        for k in range(1, settings.model1 + 1):
            counts = fertilities >= settings.hmm > 0 and k == settings.model1
            yield Iteration(f"model 1, iteration {k} of {settings.model1}", False, False, counts)
        for k in range(1, settings.hmm + 1):
            n_remaining = settings.hmm - k
            fertility, counts = n_remaining < fertilities, n_remaining <= fertilities > 0
            yield Iteration(f"HMM, iteration {k} of {settings.hmm}", True, fertility, counts)

    @property
    def fertilities(self) -> int:
        """The number of iterations with fertilities; they need one before that counts them."""
        settings = self.resolved()
        max_iterations = settings.hmm if settings.model1 else settings.hmm - 1
        return (
            max(min(_FERTILITY_ITERATIONS, max_iterations), 0) if self.model == "fertility" else 0
        )

    def __str__(self) -> str:
        settings = self.resolved()
        links = f">={settings.threshold:g}" if settings.decoding == "posterior" else ""
        links = f"{settings.agreement},{settings.decoding}{links},longest={settings.longest}"
        prefix = f",prefix={settings.prefix}" if settings.prefix else ""
        return f"{settings.model}-joint:model1={settings.model1},hmm={settings.hmm},{links}{prefix}"


Texts = tuple[Any, Any, Any, Any]
"""Ids and offsets of the source text, then those of the pivot text."""


class HmmLearner:
    """Jumps, and steps of training; the entries of word pairs are the kernel's or in files."""

    dtype, width, first = "float32", 2, 1.0
    """Entries are t(pivot | source) and t(source | pivot)."""
    keeps_posteriors = False

    def __init__(self, source: Words, pivot: Words, aligner: Aligner) -> None:
        self.how = aligner
        self.jumps = _kernel.first_jumps()
        self.words = len(source.vocab), len(pivot.vocab)
        self.longer = max(map(word_count, (source, pivot)))
        self._clear()

    def _clear(self) -> None:
        self.totals = np.zeros(self.words[0], np.int64), np.zeros(self.words[1], np.int64)
        self.jump_counts = np.zeros((2, 2, self.jumps.shape[1]), np.int64)

    def whole(self, texts: Texts, most_cells: int) -> _kernel.JointAligner:
        """Return the aligner of a text, with its table in memory."""
        aligner = self.how
        return _kernel.JointAligner(*texts, aligner.longest, most_cells, aligner.agreement)

    def expect(self, kernel: _kernel.JointAligner, step: Iteration) -> Callable[[int, int], None]:
        """Return the E-step of some sentences."""
        return partial(kernel.expect, hmm=step.hmm)

    def update(self, kernel: _kernel.JointAligner, step: Iteration) -> None:
        """Do the M-step of an aligner of a whole text."""
        kernel.update(step.hmm)

    def decode(self, kernel: _kernel.JointAligner, rule: str) -> Callable[[int, int], Any]:
        """Return the decoding of some sentences."""
        aligner = self.how
        return partial(kernel.decode, hmm=aligner.hmm > 0, rule=rule, threshold=aligner.least)

    # ---------------------------------------------------------------------------------- parts

    def part(self, texts: Texts, cells: Any, entries: Any, posteriors: Any) -> _kernel.JointAligner:
        """Return the aligner of a part of a text, with what is known so far."""
        aligner = self.how
        tables = {"cells": cells, "entries": entries, "jumps": self.jumps}
        return _kernel.JointAligner(
            *texts, aligner.longest, aligner.agreement, **tables, words=self.longer
        )

    def add_pairs(self, sources: Any, pivots: Any, counts: Ints) -> None:
        """Add the counts of some word pairs to those of their words."""
        _kernel.add_at(self.totals[0], sources, counts)
        _kernel.add_at(self.totals[1], pivots, counts)

    def add_part(self, kernel: _kernel.JointAligner) -> None:
        """Add what a part counted beside its word pairs."""
        self.jump_counts += kernel.jump_counts()

    def entries(
        self, keys: NDArray[np.int32], sums: Ints, held: Callable[[], Any]
    ) -> NDArray[np.float32]:
        """Return the entries of some word pairs from their counts in the whole text."""
        counted = self.totals[0][keys[:, 0]].all() and self.totals[1][keys[:, 1]].all()
        last = np.zeros((len(keys), 2), np.float32) if counted else held()
        return _kernel.estimate_pairs(keys, sums, *self.totals, last)

    def update_parts(self, step: Iteration) -> None:
        """Finish the M-step of all parts, after the entries."""
        if step.hmm:
            self.jumps = _kernel.update_jumps(self.jumps, self.jump_counts)
        self._clear()


NULL = 0.2  # probability that the null word generates a word
SPREAD = 0.2  # share of the unigram distribution in that of the null word
ALPHA = 0.003  # added to the count of every word pair
IDENTICAL = 1.0  # added to the count of a pair of equal words
JUMPS = 20.0  # jumps of an average word, added to those of a word
FERTILITY = 0.5  # exponent of fertilities

_SENTENCES = 1 << 16  # whose words are counted together


class FertilityLearner:
    """A model of words, and steps of training; counts of pairs are the kernel's or in files."""

    dtype, width, first = "int64", None, 0
    """Entries are counts, as whole numbers of 2^-15."""
    keeps_posteriors = True

    def __init__(self, source: Words, pivot: Words, aligner: Aligner) -> None:
        self.how = aligner
        twins = pivot.vocab.find(source.vocab.words(0, len(source.vocab)))
        settings = (NULL, SPREAD, ALPHA, IDENTICAL, JUMPS, FERTILITY)
        self.model = _kernel.WordModel(count_words(source), count_words(pivot), twins, *settings)

    def whole(self, texts: Texts, most_cells: int) -> _kernel.FertilityAligner:
        """Return the aligner of a text, with its table in memory."""
        aligner = self.how
        return _kernel.FertilityAligner(
            self.model, *texts, aligner.longest, most_cells, aligner.agreement
        )

    def expect(
        self, kernel: _kernel.FertilityAligner, step: Iteration
    ) -> Callable[[int, int], None]:
        """Return the E-step of some sentences."""
        _, hmm, fertility, counts = step
        return partial(kernel.expect, hmm=hmm, fertility=fertility, count_fertilities=counts)

    def update(self, kernel: _kernel.FertilityAligner, step: Iteration) -> None:
        """Do the M-step of an aligner of a whole text."""
        kernel.update()
        self.update_parts(step)

    def decode(self, kernel: _kernel.FertilityAligner, rule: str) -> Callable[[int, int], Any]:
        """Return the decoding of some sentences."""
        aligner = self.how
        stage = {"hmm": aligner.hmm > 0, "fertility": aligner.fertilities > 0}
        return partial(kernel.decode, **stage, rule=rule, threshold=aligner.least)

    # ---------------------------------------------------------------------------------- parts

    def part(
        self, texts: Texts, cells: Any, entries: Any, posteriors: Any
    ) -> _kernel.FertilityAligner:
        """Return the aligner of a part of a text; it replaces the posteriors."""
        aligner = self.how
        tables = {"cells": cells, "counts": entries, "posteriors": posteriors}
        return _kernel.FertilityAligner(
            self.model, *texts, aligner.longest, aligner.agreement, **tables
        )

    def add_pairs(self, sources: Any, pivots: Any, counts: Ints) -> None:
        """Do nothing: the model has counted its words."""

    def add_part(self, kernel: _kernel.FertilityAligner) -> None:
        """Do nothing: all parts count into one model."""

    def entries(self, keys: NDArray[np.int32], sums: Ints, held: Callable[[], Any]) -> Ints:
        """Return the entries of some word pairs from their counts in the whole text."""
        return sums

    def update_parts(self, step: Iteration) -> None:
        """Finish the M-step of all parts, after the entries."""
        self.model.update(step.hmm, step.counts_fertility)


def count_words(words: Words) -> Ints:
    """Return how often each word of a text occurs."""
    counts = np.zeros(len(words.vocab), np.int64)
    for start in range(0, len(words), _SENTENCES):
        part = words.part(start, min(start + _SENTENCES, len(words)))
        counts += np.bincount(part.ids, minlength=len(counts))
    return counts


Learner = FertilityLearner | HmmLearner

_LEARNERS: dict[str, type[FertilityLearner] | type[HmmLearner]] = {
    "fertility": FertilityLearner,
    "hmm": HmmLearner,
}


def make_learner(source: Words, pivot: Words, aligner: Aligner) -> Learner:
    """Return the learner of the model that the settings name."""
    return _LEARNERS[aligner.model](source, pivot, aligner)


def shorten_words(words: Words, prefix: int) -> Words:
    """Return a text with the first characters of its words alone (0: with whole words)."""
    return words.map(lambda word: word[:prefix]) if prefix else words
