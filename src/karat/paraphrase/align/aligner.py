"""Settings of word alignment, and the two models that learn it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

from karat import _kernel
from karat.arrays import Ints, NDArray, np
from karat.errors import InputError
from karat.paraphrase.align.parallel_text import RULES, Words, word_count
from karat.text.tokens import check_choice

MODELS = {
    "fertility": "an HMM with jumps by word, fertilities, a null word and leave-one-out counts",
    "hmm": "the HMM of Liang, Taskar and Klein (2006)",
}
AGREEMENTS = {
    "min": "the smaller of the two directions' expectations",
    "root": "the square root of the product of both directions' expectations",
    "product": "the product, as in the paper",
}
DECODINGS = {
    "posterior": "links whose mean posterior probability is at least `threshold`",
    **{rule: f"best links of both directions, combined: {text}" for rule, text in RULES.items()},
}
_DEFAULTS: dict[str, dict[str, Any]] = {
    "fertility": {"model1": 4, "hmm": 4, "agreement": "min", "threshold": 0.4, "prefix": 4},
    "hmm": {"model1": 5, "hmm": 5, "agreement": "root", "threshold": 0.5, "prefix": 0},
}
MAX_ITERATIONS = 1000  # of model 1, and of the HMM
_FERTILITY_ITERATIONS = 2  # last iterations of the HMM, with fertilities
_DEFAULT_OF_MODEL: Any = None  # use the default of the model


class Iteration(NamedTuple):
    """One step of training: model 1 or the HMM, with or without fertilities."""

    name: str
    hmm: bool
    fertility: bool = False
    counts_fertility: bool = False  # True if the next step uses fertilities


@dataclass(frozen=True)
class Aligner:
    """Settings of word alignment.

    `longest` is the maximal sentence length; `prefix` is the number of characters of a word that
    are used (0: all). Settings that are None have the default of the model, which `resolved` fills
    in.
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
        if self.threshold is not None and not 0 < self.threshold <= 1:
            raise InputError(f"threshold={self.threshold}: expected more than 0 and at most 1")
        if self.threshold is not None and self.decoding != "posterior":
            reason = f"decoding={self.decoding} has no threshold"
            raise InputError(
                f"threshold={self.threshold}: {reason}; leave it out, or use decoding=posterior"
            )
        if self.longest < 1:
            raise InputError(f"longest={self.longest}: expected at least one word")
        if self.prefix is not None and self.prefix < 0:
            raise InputError(f"prefix={self.prefix}: expected 0 (whole words) or more characters")

    def resolved(self) -> Aligner:
        """Return the settings with the model's defaults filled in."""
        defaults = dict(_DEFAULTS[self.model])
        if self.decoding != "posterior":
            del defaults["threshold"]
        return replace(self, **{k: v for k, v in defaults.items() if getattr(self, k) is None})

    def iterations(self) -> Iterator[Iteration]:
        """Yield the iterations of training."""
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
        """Number of iterations with fertilities, which an earlier iteration must count."""
        if self.model != "fertility":
            return 0
        settings = self.resolved()
        max_iterations = settings.hmm if settings.model1 else settings.hmm - 1
        return max(min(_FERTILITY_ITERATIONS, max_iterations), 0)

    def __str__(self) -> str:
        settings = self.resolved()
        links = f">={settings.threshold:g}" if settings.decoding == "posterior" else ""
        links = f"{settings.agreement},{settings.decoding}{links},longest={settings.longest}"
        prefix = f",prefix={settings.prefix}" if settings.prefix else ""
        return f"{settings.model}-joint:model1={settings.model1},hmm={settings.hmm},{links}{prefix}"


Texts = tuple[Any, Any, Any, Any]
"""Ids and offsets of the source text, then of the pivot text."""

PartAligner: TypeAlias = "_kernel.JointAligner | _kernel.FertilityAligner"
"""The kernel's aligner of a part of the text."""


class HmmLearner:
    """The HMM: jumps, and t(pivot | source) and t(source | pivot) as entries of word pairs."""

    keeps_posteriors = False

    def __init__(self, source: Words, pivot: Words, aligner: Aligner) -> None:
        self.aligner = aligner
        self.jumps = _kernel.first_jumps()
        self.vocab_sizes = len(source.vocab), len(pivot.vocab)
        self.n_words = max(map(word_count, (source, pivot)))
        self._clear()

    def _clear(self) -> None:
        self.totals = tuple(np.zeros(size, np.int64) for size in self.vocab_sizes)
        self.jump_counts = np.zeros((2, 2, self.jumps.shape[1]), np.int64)

    def first_entries(self, size: int) -> NDArray[Any]:
        """Return the initial entries of word pairs."""
        return np.ones((size, 2), np.float32)

    def part(self, texts: Texts, cells: Any, entries: Any, posteriors: Any) -> PartAligner:
        """Return the kernel's aligner for a part of the text, with the current estimates."""
        tables = {"cells": cells, "entries": entries, "jumps": self.jumps, "words": self.n_words}
        settings = self.aligner.longest, self.aligner.agreement
        return _kernel.JointAligner(*texts, *settings, **tables)

    def e_step_options(self, step: Iteration) -> dict[str, bool]:
        """Return the options of the kernel's E-step."""
        return {"hmm": step.hmm}

    def decode_options(self) -> dict[str, bool]:
        """Return the options of the kernel's decoding."""
        return {"hmm": self.aligner.hmm > 0}

    def add_pairs(self, sources: Any, pivots: Any, counts: Ints) -> None:
        """Add the counts of some word pairs to the totals of their words."""
        _kernel.add_at(self.totals[0], sources, counts)
        _kernel.add_at(self.totals[1], pivots, counts)

    def add_part(self, part_aligner: Any) -> None:
        """Add the jumps counted in a part of the text."""
        self.jump_counts += part_aligner.jump_counts()

    def entries(
        self, keys: NDArray[np.int32], sums: Ints, read_last: Callable[[], Any]
    ) -> NDArray[Any]:
        """Return the entries of word pairs from their counts; words without counts keep theirs."""
        counted = self.totals[0][keys[:, 0]].all() and self.totals[1][keys[:, 1]].all()
        last = np.zeros((len(keys), 2), np.float32) if counted else read_last()
        return _kernel.estimate_pairs(keys, sums, self.totals[0], self.totals[1], last)

    def update(self, step: Iteration) -> None:
        """Finish the M-step, after the entries were computed."""
        if step.hmm:
            self.jumps = _kernel.update_jumps(self.jumps, self.jump_counts)
        self._clear()


NULL = 0.2  # probability that the null word generates a word
SPREAD = 0.2  # share of the unigram distribution in that of the null word
ALPHA = 0.003  # added to the count of every word pair
IDENTICAL = 1.0  # added to the count of a pair of equal words
JUMPS = 20.0  # average jumps added to the jumps of each word (smoothing)
FERTILITY = 0.5  # exponent of fertilities

_SENTENCES = 1 << 16  # sentences whose words are counted together


class FertilityLearner:
    """The HMM with fertilities: a model of words, and integer counts of word pairs.

    Leave-one-out: the last counts C_s of a sentence are subtracted from the counts C for it,

        t(f|e) = (C(e,f) - C_s(e,f) + alpha + k [e = f]) / (C(e) - C_s(e) + alpha V + k_e).

    The null word emits f with n(f) = (N(f) + .2 N u(f)) / (1.2 N), u the unigram distribution.
    Jumps depend on the word they start from. Entries are counts in units of 2^-15: sums are exact.
    """

    keeps_posteriors = True

    def __init__(self, source: Words, pivot: Words, aligner: Aligner) -> None:
        self.aligner = aligner
        twins = pivot.vocab.find(source.vocab.words(0, len(source.vocab)))
        settings = (NULL, SPREAD, ALPHA, IDENTICAL, JUMPS, FERTILITY)
        self.model = _kernel.WordModel(count_words(source), count_words(pivot), twins, *settings)

    def first_entries(self, size: int) -> NDArray[Any]:
        """Return the initial entries of word pairs."""
        return np.zeros(size, np.int64)

    def part(self, texts: Texts, cells: Any, entries: Any, posteriors: Any) -> PartAligner:
        """Return the kernel's aligner for a part of the text; it overwrites `posteriors`."""
        settings = self.aligner.longest, self.aligner.agreement
        return _kernel.FertilityAligner(self.model, *texts, *settings, cells, entries, posteriors)

    def e_step_options(self, step: Iteration) -> dict[str, bool]:
        """Return the options of the kernel's E-step."""
        _, hmm, fertility, counts = step
        return {"hmm": hmm, "fertility": fertility, "count_fertilities": counts}

    def decode_options(self) -> dict[str, bool]:
        """Return the options of the kernel's decoding."""
        return {"hmm": self.aligner.hmm > 0, "fertility": self.aligner.fertilities > 0}

    def add_pairs(self, *_: Any) -> None:
        """Do nothing: the model counts its words."""

    def add_part(self, _: Any) -> None:
        """Do nothing: all parts share one model."""

    def entries(self, keys: Any, sums: Ints, read_last: Any) -> NDArray[Any]:
        """Return the counts, which are the entries of word pairs."""
        return sums

    def update(self, step: Iteration) -> None:
        """Finish the M-step, after the entries were computed."""
        self.model.update(step.hmm, step.counts_fertility)


def count_words(words: Words) -> Ints:
    """Return the number of occurrences of each word of a text."""
    counts = np.zeros(len(words.vocab), np.int64)
    for start in range(0, len(words), _SENTENCES):
        part = words.part(start, min(start + _SENTENCES, len(words)))
        counts += np.bincount(part.ids, minlength=len(counts))
    return counts


LEARNERS: dict[str, type[FertilityLearner] | type[HmmLearner]] = {
    "fertility": FertilityLearner,
    "hmm": HmmLearner,
}
"""Model of `Aligner` -> its learner."""
