"""Melamed, Green and Turian 2003, Figure 3: reliability of F and BLEU by the length of texts.

The paper draws its curves and prints none of their values: what can be set beside ours are its two
worked figures and the conclusions of its section 3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from math import comb
from typing import NamedTuple

from karat.arrays import Floats, np
from karat.evalset.loading import KNOWN
from karat.meta.reliability import (
    ReliabilityCurves,
    fitting_lengths,
    references_in_words,
    reliability,
)
from karat.metrics.gtm import GTM
from karat.reproduction.papers import Request, described, places
from karat.reproduction.results import (
    UNDECIDED,
    Conclusion,
    Difference,
    ReproducedNumber,
    Reproduction,
    judged,
)

CITATION = "Melamed, Green and Turian 2003, Precision and Recall of Machine Translation"
FIGURE_1 = "C B A I C D E", "A B C D E F I C A B"
"""Candidate and reference whose maximum match has 7 words."""
FIGURE_2 = "G H I J L M C D E K", ("A B C D E", "F G H I J", "K L M N P")
"""A candidate and three references, whose mean length of 5 caps the match."""
TWICE = 2.0
"""Section 3: F "can be more than twice as reliable as BLEU in the single-reference setting"."""
SMOOTHED = "smoothed BLEU"
"""BLEU as it is used on single segments today; the paper had the formula of 2002."""
LENGTHS = (1, 2, 5, 10, 25)
WORDS = "tok=13a,case=lower"
GREEDY = "gtm:e=2,cap=whole"
"""The exact search (`gtm:preset=paper`) takes long on joined texts; see docs/lab/reliability.md."""
REPEATS, REPEATS_IN_FULL = 10, 20
COMBINATIONS = 1000
"""Combinations of references: all that our sets have (165 of 3 in 11), as in the paper."""
COMBINATIONS_PER_SHUFFLE = 11
STATISTICS = ("spearman", "pearson")
"""Both of Figure 3; conclusions are about the first, which the paper finds less inappropriate."""


class Counterpart(NamedTuple):
    """A set, and its dimensions that stand for adequacy and fluency."""

    evalset: str
    adequacy: str
    fluency: str
    references: tuple[int, ...] = (1,)


REAL = (
    Counterpart("believability", "adequacy", "fluency"),
    Counterpart("ted-zhen", "accuracy", "fluency"),
    Counterpart("summeval", "relevance", "fluency", (1, 2, 3)),
)
DEMO = (Counterpart("demo", "adequacy", "fluency", (1, 2, 3)),)


class Curves(NamedTuple):
    """The curves of one set: values by measure and number of references, along the lengths."""

    counterpart: Counterpart
    by_references: dict[int, ReliabilityCurves]
    """By the number of references."""
    named: dict[str, str]
    """Name in the paper -> metric."""
    size: str
    """The set in words."""
    shuffle: int | None = None
    """One of the shuffles into pseudo-documents; None for the mean over all."""

    @property
    def data(self) -> str:
        """The name of the set."""
        return self.counterpart.evalset

    @property
    def lengths(self) -> tuple[int, ...]:
        """Segments in a document."""
        return self.by_references[1].asked_settings.lengths

    def values(self, measure: str, references: int = 1, dimension: str = "") -> list[float]:
        """Return a curve of Spearman's coefficients, as means over combinations of references."""
        dimension = dimension or self.counterpart.adequacy
        curve = dimension, STATISTICS[0], references, self.named[measure]
        reliability_curves = self.by_references[references]
        return [
            row.value if self.shuffle is None else self._of_shuffle(values, references)
            for row, values in zip(reliability_curves.rows, reliability_curves.values, strict=True)
            if row[:4] == curve
        ]

    def _of_shuffle(self, values: Floats, references: int) -> float:
        is_of_shuffle = self.by_references[references].shuffles[references] == self.shuffle
        defined = values[is_of_shuffle & ~np.isnan(values)]
        return float(defined.mean()) if len(defined) else float("nan")

    @property
    def is_defined(self) -> bool:
        """False if a correlation is undefined, as where all scores are equal."""
        dimensions = self.counterpart.adequacy, self.counterpart.fluency
        return not any(
            np.isnan(self.values(measure, references, dimension)).any()
            for references in self.by_references
            for measure in self.named
            for dimension in dimensions
        )

    def mean(self, measure: str, references: int = 1, dimension: str = "") -> float:
        """Return the mean of a curve."""
        values = self.values(measure, references, dimension)
        return sum(values) / len(values)


def reproduce_gtm(request: Request) -> Reproduction:
    """Measure F, recall, precision and BLEU on pseudo-documents of each set."""
    here = request.data.any_of(places(*(KNOWN[one.evalset] for one in REAL)))
    wanted = [one for one in REAL if KNOWN[one.evalset].place in here] or DEMO
    sets = [_curves(one, request) for one in wanted]
    metrics = tuple(_named().values())
    return Reproduction(
        name="gtm",
        paper=CITATION,
        data=tuple(one.data for one in sets),
        rows=(*_worked(), *(row for one in sets for row in _numbers(one))),
        conclusions=tuple(found for one in sets for found in _conclusions(one)),
        differs=(*map(_difference, sets), *_differs(request)),
        settings={**request.settings, **_sizes(request), "metrics": metrics},
        signatures={
            _signature_name(one.data, name, number): line
            for one in sets
            for number, curves in one.by_references.items()
            for name, line in curves.signatures.items()
        },
        invented="" if here else "The judgements of the bundled set are invented.",
        remarks=_REMARKS,
    )


def _signature_name(data: str, name: str, references: int) -> str:
    return f"set ({data})" if name == "set" else f"{name}, {references_in_words(references)}"


def _named() -> dict[str, str]:
    f = f"{GREEDY},{WORDS}"
    own = {"F": f, "recall": f"{f},alpha=0", "precision": f"{f},alpha=1"}
    smoothed = {SMOOTHED: "bleu:smooth=exp,eff=yes,case=lower"}
    return {**own, "BLEU": "bleu:smooth=none,case=lower", **smoothed}


def _sizes(request: Request) -> dict[str, int]:
    repeats = REPEATS_IN_FULL if request.full else REPEATS
    return {"repeats": repeats, "combinations": COMBINATIONS}


def _curves(one: Counterpart, request: Request) -> Curves:
    evalset, named = request.evalset(one.evalset), _named()
    fitting, sizes = fitting_lengths(len(evalset)), _sizes(request)
    available = min(map(len, evalset.references))
    by_references = {
        number: reliability(
            evalset,
            [one.adequacy, one.fluency],
            metrics=tuple(named.values()),
            lengths=fitting if request.full else [n for n in LENGTHS if n in fitting],
            reference_counts=(number,),
            statistics=STATISTICS,
            documents="joined",
            repeats=sizes["repeats"],
            shuffles_per_combination=_shuffles(comb(available, number), sizes["repeats"]),
            combinations=sizes["combinations"],
            seed=request.seed,
            threads=request.threads,
            progress=request.progress,
        )
        for number in one.references
    }
    names = dict(zip(named, by_references[1].asked_settings.metrics, strict=True))
    return Curves(one, by_references, names, described(evalset))


def _shuffles(combinations: int, repeats: int) -> int:
    """Return the shuffles that each combination of references is scored on, in turn.

    All of them would take minutes. A shuffle has COMBINATIONS_PER_SHUFFLE combinations at least.
    """
    return min(repeats, -(-repeats * COMBINATIONS_PER_SHUFFLE // combinations))


# ------------------------------------------------------------------------------------ numbers


def _worked() -> Iterator[ReproducedNumber]:
    """Yield the two figures of the paper that are worked examples."""
    own = "the paper's example"
    plain = GTM(e=1).explain(*FIGURE_1)
    yield ReproducedNumber("Figure 1", "unigrams", "match size", 7.0, plain.size, own)
    capped = GTM(e=2, search="exact", cap="whole").explain(FIGURE_2[0], FIGURE_2[1])
    kept = sum(block.counted for block in capped.blocks)
    yield ReproducedNumber("Figure 2", "three references", "hits that count", 5.0, kept, own)


def _numbers(one: Curves) -> Iterator[ReproducedNumber]:
    data = f"{one.data}: {one.counterpart.adequacy}"
    for rival, paper in (("BLEU", TWICE), (SMOOTHED, None)):
        if (best := largest_ratio(one, rival)) is not None:
            item, said = f"F / {rival}, 1 reference", f"largest at length {best.length}"
            found = ReproducedNumber("section 3", item, "ratio", paper, best.ratio, data)
            yield found._replace(detail=f"more than twice in the paper; {said}" if paper else said)
    names = {one.named[name]: name for name in ("F", "BLEU")}  # as in the paper's figure
    every = one.by_references.values()
    for row in (row for curves in every for row in curves.rows):
        if row.metric in names and row.dimension == one.counterpart.adequacy:
            item = f"{names[row.metric]}, {references_in_words(row.references)}"
            measure = row.statistic.capitalize()
            number = ReproducedNumber("Figure 3", item, measure, None, row.value, data)
            yield number._replace(low=row.low, high=row.high, at=row.length)
    for test in (test for curves in every for test in curves.tests):
        of_adequacy = test.dimension == one.counterpart.adequacy
        if of_adequacy and (test.first, test.second) == tuple(names):
            item = f"F and BLEU, {references_in_words(test.first_references)}"
            measure = f"Wilcoxon p, {test.statistic.capitalize()}"
            detail = f"F is higher at {test.better} of {test.lengths} lengths"
            number = ReproducedNumber("Figure 3", item, measure, None, test.p, data)
            yield number._replace(detail=detail)


class Ratio(NamedTuple):
    """F by another metric, at a length."""

    ratio: float
    length: int


def largest_ratio(one: Curves, rival: str) -> Ratio | None:
    """Return the largest ratio of F to another metric, where that agrees at all."""
    curves = zip(one.values("F"), one.values(rival), one.lengths, strict=True)
    return max((Ratio(f / other, length) for f, other, length in curves if other > 0), default=None)


# -------------------------------------------------------------------------------- conclusions


def _conclusions(one: Curves) -> Iterator[Conclusion]:
    yield _twice(one)
    yield _order(one)
    yield _fluency(one)
    if max(one.counterpart.references) > 1:
        yield _more_references(one)
        yield _one_against_three(one)


def _conclusion(
    curves: Curves, claim: str, holds: Callable[[Curves], bool], evidence: str
) -> Conclusion:
    """Return a conclusion that is decided only if every shuffle gives the same answer.

    A shuffle in which a correlation is undefined gives none.
    """
    repeats = curves.by_references[1].asked_settings.repeats
    shuffles = [curves._replace(shuffle=shuffle) for shuffle in range(repeats)]
    undefined = sum(not shuffle.is_defined for shuffle in shuffles)
    holding = sum(shuffle.is_defined and holds(shuffle) for shuffle in shuffles)
    if undefined:
        evidence = f"{evidence}; correlations are undefined in {undefined} of {repeats} shuffles"
        return Conclusion("section 3", claim, UNDECIDED, evidence, curves.data)
    if 0 < holding < repeats:
        evidence = f"{evidence}; true of {holding} of {repeats} shuffles"
        return Conclusion("section 3", claim, UNDECIDED, evidence, curves.data)
    return Conclusion("section 3", claim, judged(holding > 0), evidence, curves.data)


def _twice(one: Curves) -> Conclusion:
    best, smoothed = (largest_ratio(one, rival) for rival in ("BLEU", SMOOTHED))
    claim = "With one reference, F can be more than twice as reliable as BLEU."
    evidence = [
        f"at most {found.ratio:.2f} times {name}, at length {found.length}"
        for name, found in (("BLEU", best), (SMOOTHED, smoothed))
        if found is not None
    ]

    def holds(curves: Curves) -> bool:
        largest = largest_ratio(curves, "BLEU")
        return largest is not None and largest.ratio > TWICE

    return _conclusion(one, claim, holds, "; ".join(evidence) or "BLEU does not agree at all")


def _order(one: Curves) -> Conclusion:
    names = ("F", "recall", "precision", "BLEU")

    def holds(curves: Curves) -> bool:
        return all(a > b for a, b in pairwise(map(curves.mean, names)))

    evidence = ", ".join(f"{name} {one.mean(name):.4f}" for name in names)
    claim = "F is more reliable than recall, recall than precision, precision than BLEU."
    return _conclusion(one, claim, holds, f"means over lengths: {evidence}")


def _fluency(one: Curves) -> Conclusion:
    fluency = one.counterpart.fluency

    def holds(curves: Curves) -> bool:
        return all(
            fluent < adequate
            for name in ("F", "BLEU")
            for adequate, fluent in zip(
                curves.values(name), curves.values(name, 1, fluency), strict=True
            )
        )

    evidence = f"means of F: {one.mean('F'):.3f} and {one.mean('F', 1, fluency):.3f}"
    claim = "Correlations with fluency are lower than with adequacy at every length."
    return _conclusion(one, claim, holds, evidence)


def _more_references(one: Curves) -> Conclusion:
    few, many = min(one.counterpart.references), max(one.counterpart.references)

    def holds(curves: Curves) -> bool:
        return all(curves.mean(name, many) > curves.mean(name, few) for name in ("F", "BLEU"))

    evidence = ", ".join(
        f"{name} {one.mean(name, few):.3f} to {one.mean(name, many):.3f}" for name in ("F", "BLEU")
    )
    claim = "F and BLEU both gain reliability from several references."
    return _conclusion(one, claim, holds, f"means: {evidence}")


def _one_against_three(one: Curves) -> Conclusion:
    many = max(one.counterpart.references)

    def holds(curves: Curves) -> bool:
        return curves.values("F")[0] >= curves.values("BLEU", many)[0]

    claim = "On very short texts F with one reference is at least as reliable as BLEU with three."
    f, bleu = one.values("F")[0], one.values("BLEU", many)[0]
    return _conclusion(one, claim, holds, f"single segments: F {f:.3f}, BLEU {bleu:.3f}")


# -------------------------------------------------------------------------------- differences


def _difference(one: Curves) -> Difference:
    paper = "2 systems, 728 Arabic sentences, 4 references, adequacy from 1 to 5"
    return Difference("data", paper, f"{one.data}: {one.counterpart.adequacy}; {one.size}")


def _differs(request: Request) -> Iterator[Difference]:
    how = _sizes(request)
    lengths = "1 to 25" if request.full else ", ".join(map(str, LENGTHS))
    sample = f"{how['repeats']} shuffles, all combinations of references"
    yield Difference("lengths", "1 to 25 sentences", f"{lengths} segments, as far as they last")
    yield Difference("pseudo-documents", "not said how many", sample)
    yield Difference("matching", "maximum", "greedy, as in GTM 1.4: at most 0.002 in any curve")
    yield Difference("exponent", "not said; its text suggests 2", "2")
    yield Difference("BLEU", "not said", "the formula of 2002; a smoothed form is beside it")
    yield Difference("words", "not said", "13a tokens in lower case, for all metrics")


_REMARKS = (
    "The paper prints no values of its Figure 3: its column is empty there.",
    "A conclusion holds or fails only if it does so in every shuffle of segments into documents. "
    "Intervals contain 95% of the shuffles. Neither says anything about other segments. BLEU "
    "without smoothing is 0 unless some 4-gram matches, which counts against it on short texts.",
    "Wilcoxon's signed ranks compare curves over the lengths, as in the paper. Documents of all "
    "lengths are made of the same segments, so p is too small.",
)
