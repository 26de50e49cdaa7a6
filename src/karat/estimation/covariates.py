"""Covariates: what texts show at no cost, such as their length, for estimates of human scores.

Every covariate has a value for every output. A segment without the texts that a covariate needs has
the mean of the others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from karat.arithmetic import exact_sum, grouped_sums, log1p, rounded
from karat.arrays import Flags, Floats, Ints, np
from karat.errors import InputError, quoted
from karat.estimation.samples import JudgeValues
from karat.estimation.settings import CONSENSUS, COVARIATES, RATIO, SOURCE_LENGTH
from karat.evalset.sets import EvalSet
from karat.metrics.chrf import ChrF
from karat.metrics.pairs import Pairs
from karat.text.tokens import Lexicon, Recipe

AUTO, NO_COVARIATES = "auto", "none"
NEEDS_SOURCES = (SOURCE_LENGTH, RATIO)
CONSTANT = 1e-9  # relative spread up to which a covariate is constant
MAX_PAIR_CHARACTERS = 200_000_000
"""Characters of all pairs of outputs above which `auto` leaves the consensus out."""
BATCH_CHARACTERS = 4_000_000  # characters of references that are compared at once


class CovariateTexts(NamedTuple):
    """The texts of a set that covariates are computed from."""

    name: str  # the set
    outputs: Sequence[Sequence[str | None]]  # systems x segments; None if missing
    sources: Sequence[str] | None

    @property
    def present(self) -> Flags:
        """Systems x segments: True where there is an output."""
        return np.array([[text is not None for text in texts] for texts in self.outputs])


class Covariates(NamedTuple):
    """The covariates of a set, and notes on those that are left out."""

    values: tuple[JudgeValues, ...] = ()
    notes: tuple[str, ...] = ()


NO_VALUES = Covariates()


def covariate_names(covariates: str | Sequence[str]) -> tuple[str, ...]:
    """Return the names of covariates, or `auto` or `none` alone; raise if one is unknown."""
    if isinstance(covariates, str):
        names = [name.strip() for name in covariates.split(",")]
    elif isinstance(covariates, list | tuple):
        names = list(covariates)
    else:
        raise InputError(f"covariates={quoted(covariates)}: expected names of covariates")
    if names in ([AUTO], [NO_COVARIATES]):
        return tuple(names)
    for name in names:
        if name in (AUTO, NO_COVARIATES):
            raise InputError(f"covariates {', '.join(names)}: {name} must be the only one")
        if name not in COVARIATES:
            expected = ", ".join((AUTO, NO_COVARIATES, *COVARIATES))
            raise InputError(f"covariate {quoted(name)}: expected one of {expected}")
        if names.count(name) > 1:
            raise InputError(f"covariate {quoted(name)} is named twice: name it once")
    if not names:
        raise InputError("no covariate is named: use covariates='none' to use none")
    return tuple(names)


def texts_of(evalset: EvalSet) -> CovariateTexts:
    """Return the texts of an evaluation set."""
    sources = evalset.sources
    has_sources = sources is not None and any(sources)
    outputs = [*evalset.systems.values()] if evalset.has_texts else []
    return CovariateTexts(evalset.name, outputs, sources if has_sources else None)


def make_covariates(texts: CovariateTexts, covariates: str | Sequence[str]) -> Covariates:
    """Return the covariates that are named; with `auto`, all that the set allows.

    Raise if a covariate that is named has no values, or the same value everywhere.
    """
    requested = covariate_names(covariates)
    if requested == (NO_COVARIATES,):
        return NO_VALUES
    automatic = requested == (AUTO,)
    names = tuple(COVARIATES) if automatic else requested
    missing = {name: _missing_texts(texts, name, automatic) for name in names}
    if not automatic:
        for name, problem in missing.items():
            if problem:
                raise InputError(f"covariate {quoted(name)}: {texts.name} {problem}: leave it out")
    usable = [name for name in names if not missing[name]]
    values = _covariate_values(texts, usable) if usable else {}
    present = texts.present
    varying = []
    for name in usable:
        column = values[name][present]
        if np.ptp(column) > CONSTANT * max(1.0, float(np.abs(column).max())):
            varying.append(JudgeValues(name, np.where(present, values[name], 0.0), 0, ""))
        elif not automatic:
            raise InputError(
                f"covariate {quoted(name)} has the same value for every output of {texts.name}: "
                "it cannot help; leave it out"
            )
        else:
            missing[name] = "has the same value for every output"
    notes = _notes_on_missing(missing) if automatic else ()
    return Covariates(tuple(varying), notes)


def _missing_texts(texts: CovariateTexts, name: str, automatic: bool) -> str:
    """Return what a covariate needs and the set lacks; empty if it lacks nothing."""
    if not texts.outputs:
        return "has no texts"
    if name in NEEDS_SOURCES and texts.sources is None:
        return "has no sources"
    if name != CONSENSUS:
        return ""
    if not (texts.present.sum(axis=0) > 1).any():
        return "has no segment with outputs of two systems"
    lengths = sum(len(text or "") for outputs in texts.outputs for text in outputs)
    if automatic and lengths * (len(texts.outputs) - 1) / 2 > MAX_PAIR_CHARACTERS:
        return "has too many outputs to compare each with all others"
    return ""


def _notes_on_missing(missing: Mapping[str, str]) -> tuple[str, ...]:
    """Return a note for each reason why covariates are left out."""
    by_reason: dict[str, list[str]] = {}
    for name, reason in missing.items():
        if reason:
            by_reason.setdefault(reason, []).append(name)
    return tuple(
        f"Covariates left out, since the set {reason}: {', '.join(names)}."
        for reason, names in by_reason.items()
    )


_DIGIT = re.compile(r"\d")


def _covariate_values(texts: CovariateTexts, names: Sequence[str]) -> dict[str, Floats]:
    """Return systems x segments: the values of covariates."""
    strings = [[text or "" for text in outputs] for outputs in texts.outputs]
    lengths = _numbers([map(len, outputs) for outputs in strings])
    values: dict[str, Floats] = {"length": lengths}
    if texts.sources is not None:
        source = _numbers([map(len, texts.sources)])
        values[SOURCE_LENGTH] = np.repeat(source, len(strings), axis=0)
        values[RATIO] = log1p(lengths) - log1p(source)
    if not {"digits", "capitals", "rare"}.isdisjoint(names):
        values |= _word_shares(strings, lengths)
    if CONSENSUS in names:
        values[CONSENSUS] = consensus(texts.outputs)
    return {name: values[name] for name in names}


def _word_shares(strings: Sequence[Sequence[str]], lengths: Floats) -> dict[str, Floats]:
    """Return the shares of digits among characters, and of capitals and rare words among words."""
    shape, recipe = lengths.shape, Recipe("none")
    passage = Lexicon().passage([*chain.from_iterable(strings)], "outputs")
    tokens = passage.tokens(recipe)
    words = passage.vocab(recipe).words(0, len(passage.vocab(recipe)))
    output_of = np.repeat(np.arange(lengths.size), tokens.lengths)
    first, last = np.full(len(words), shape[1]), np.zeros(len(words), np.int64)
    np.minimum.at(first, tokens.ids, output_of % shape[1])
    np.maximum.at(last, tokens.ids, output_of % shape[1])
    values = (
        np.array([len(_DIGIT.findall(word)) for word in words], np.float64),
        np.array([word[:1].isupper() for word in words], np.float64),
        np.where(first == last, 1.0, 0.0),
    )
    digits, capitals, rare = (
        np.bincount(output_of, value[tokens.ids], lengths.size).reshape(shape) for value in values
    )
    n_words = np.maximum(tokens.lengths.reshape(shape), 1)
    return {
        "digits": digits / np.maximum(lengths, 1),
        "capitals": capitals / n_words,
        "rare": rare / n_words,
    }


def _numbers(rows: Iterable[Iterable[int]]) -> Floats:
    return np.array([[*row] for row in rows], np.float64)


def consensus(outputs: Sequence[Sequence[str | None]]) -> Floats:
    """Return systems x segments: the mean chrF of an output to those of the other systems.

    Outputs without any other of their segment have the mean of all that have one.
    """
    shape = len(outputs), len(outputs[0])
    totals, counts = np.zeros((shape[0] * shape[1], 3, 1), np.int64), np.zeros(shape[0] * shape[1])
    lexicon, batch, size = Lexicon(), _PairBatch(), 0
    for segment, texts in enumerate(zip(*outputs, strict=True)):
        size += batch.add(segment, texts)
        if size > BATCH_CHARACTERS or segment == shape[1] - 1:
            for places, scores in batch.scores(lexicon):
                cells = places[:, 0] * shape[1] + places[:, 1]
                totals += grouped_sums(scores[:, None], cells.astype(np.int32), len(counts))
                counts += np.bincount(cells, minlength=len(counts))
            batch, size = _PairBatch(), 0
    sums = rounded(np.moveaxis(totals, 1, 0))[:, 0]  # exact: the order of systems does not matter
    means = sums / np.maximum(counts, 1)
    average = float(exact_sum(means[counts > 0])) / int((counts > 0).sum())
    return np.where(counts > 0, means, average).reshape(shape)


class _PairBatch:
    """Pairs of outputs of some segments; each output is compared with those of later systems."""

    def __init__(self) -> None:
        self._candidates: list[str] = []
        self._references: list[str] = []
        self._starts = [0]
        self._places: list[tuple[int, int, int]] = []  # system, other system, segment

    def add(self, segment: int, texts: Sequence[str | None]) -> int:
        """Add the pairs of a segment; return the number of characters of their references."""
        available = [(system, text) for system, text in enumerate(texts) if text is not None]
        first = len(self._references)
        for i, (system, text) in enumerate(available[:-1]):
            self._candidates.append(text)
            for other, reference in available[i + 1 :]:
                self._references.append(reference)
                self._places.append((system, other, segment))
            self._starts.append(len(self._references))
        return sum(map(len, self._references[first:]))

    def scores(self, lexicon: Lexicon) -> Iterator[tuple[Ints, Floats]]:
        """Yield system and segment of outputs, and their chrF, in both directions."""
        if not self._places:
            return
        metric = ChrF()
        candidates = lexicon.passage(self._candidates, "outputs")
        references = lexicon.passage(self._references, "outputs")
        starts, places = np.array(self._starts), np.array(self._places)
        rows = metric.pair_rows(Pairs(candidates, references, starts, dict(metric.overlaps())))
        yield places[:, [0, 2]], metric.measure(rows)["value"]
        yield places[:, [1, 2]], metric.measure(metric.reversed_rows(rows))["value"]
