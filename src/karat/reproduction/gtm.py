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
from karat.reproduction.papers import ReproductionRequest, describe_set, places
from karat.reproduction.results import (
    UNDECIDED,
    Conclusion,
    PaperDifference,
    ReproducedNumber,
    Reproduction,
    to_verdict,
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


class GtmCounterpart(NamedTuple):
    """A set, and its dimensions that stand for adequacy and fluency."""

    evalset: str
    adequacy: str
    fluency: str
    references: tuple[int, ...] = (1,)


REAL = (
    GtmCounterpart("believability", "adequacy", "fluency"),
    GtmCounterpart("ted-zhen", "accuracy", "fluency"),
    GtmCounterpart("summeval", "relevance", "fluency", (1, 2, 3)),
)
DEMO = (GtmCounterpart("demo", "adequacy", "fluency", (1, 2, 3)),)


class CorrelationCurves(NamedTuple):
    """The curves of one set: values by measure and number of references, along the lengths."""

    counterpart: GtmCounterpart
    by_references: dict[int, ReliabilityCurves]  # by the number of references
    metric_of_measure: dict[str, str]  # name in the paper -> metric
    size: str  # the set in words
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
        curve = dimension, STATISTICS[0], references, self.metric_of_measure[measure]
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
            for measure in self.metric_of_measure
            for dimension in dimensions
        )

    def mean(self, measure: str, references: int = 1, dimension: str = "") -> float:
        """Return the mean of a curve."""
        values = self.values(measure, references, dimension)
        return sum(values) / len(values)


def reproduce_gtm(request: ReproductionRequest) -> Reproduction:
    """Measure F, recall, precision and BLEU on pseudo-documents of each set."""
    available = request.data.any_of(
        places(*(KNOWN[curves_of_set.evalset] for curves_of_set in REAL))
    )
    counterparts = [
        curves_of_set for curves_of_set in REAL if KNOWN[curves_of_set.evalset].place in available
    ] or DEMO
    sets = [_curves(curves_of_set, request) for curves_of_set in counterparts]
    metrics = tuple(_metric_names().values())
    return Reproduction(
        name="gtm",
        paper=CITATION,
        data=tuple(curves_of_set.data for curves_of_set in sets),
        rows=(
            *_worked_examples(),
            *(row for curves_of_set in sets for row in _numbers(curves_of_set)),
        ),
        conclusions=tuple(
            conclusion for curves_of_set in sets for conclusion in _conclusions(curves_of_set)
        ),
        differs=(*map(_difference, sets), *_differences(request)),
        settings={**request.settings, **_sizes(request), "metrics": metrics},
        signatures={
            _signature_name(curves_of_set.data, name, number): line
            for curves_of_set in sets
            for number, curves in curves_of_set.by_references.items()
            for name, line in curves.signatures.items()
        },
        invented="" if available else "The judgements of the bundled set are invented.",
        remarks=_REMARKS,
    )


def _signature_name(data: str, name: str, references: int) -> str:
    return f"set ({data})" if name == "set" else f"{name}, {references_in_words(references)}"


def _metric_names() -> dict[str, str]:
    f = f"{GREEDY},{WORDS}"
    matching = {"F": f, "recall": f"{f},alpha=0", "precision": f"{f},alpha=1"}
    smoothed = {SMOOTHED: "bleu:smooth=exp,eff=yes,case=lower"}
    return {**matching, "BLEU": "bleu:smooth=none,case=lower", **smoothed}


def _sizes(request: ReproductionRequest) -> dict[str, int]:
    repeats = REPEATS_IN_FULL if request.full else REPEATS
    return {"repeats": repeats, "combinations": COMBINATIONS}


def _curves(counterpart: GtmCounterpart, request: ReproductionRequest) -> CorrelationCurves:
    evalset, metric_names = request.evalset(counterpart.evalset), _metric_names()
    fitting, sizes = fitting_lengths(len(evalset)), _sizes(request)
    available = min(map(len, evalset.references))
    by_references = {
        number: reliability(
            evalset,
            [counterpart.adequacy, counterpart.fluency],
            metrics=tuple(metric_names.values()),
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
        for number in counterpart.references
    }
    names = dict(zip(metric_names, by_references[1].asked_settings.metrics, strict=True))
    return CorrelationCurves(counterpart, by_references, names, describe_set(evalset))


def _shuffles(combinations: int, repeats: int) -> int:
    """Return the shuffles that each combination of references is scored on, in turn.

    All of them would take minutes. A shuffle has COMBINATIONS_PER_SHUFFLE combinations at least.
    """
    return min(repeats, -(-repeats * COMBINATIONS_PER_SHUFFLE // combinations))


# ------------------------------------------------------------------------------------ numbers


def _worked_examples() -> Iterator[ReproducedNumber]:
    """Yield the two figures of the paper that are worked examples."""
    data = "the paper's example"
    plain = GTM(e=1).explain(*FIGURE_1)
    yield ReproducedNumber("Figure 1", "unigrams", "match size", 7.0, plain.size, data)
    capped = GTM(e=2, search="exact", cap="whole").explain(FIGURE_2[0], FIGURE_2[1])
    n_hits = sum(block.counted for block in capped.blocks)
    yield ReproducedNumber("Figure 2", "three references", "hits that count", 5.0, n_hits, data)


def _numbers(set_curves: CorrelationCurves) -> Iterator[ReproducedNumber]:
    data = f"{set_curves.data}: {set_curves.counterpart.adequacy}"
    for rival, paper in (("BLEU", TWICE), (SMOOTHED, None)):
        if (best := largest_ratio(set_curves, rival)) is not None:
            item, detail_of_length = f"F / {rival}, 1 reference", f"largest at length {best.length}"
            number_of_ratio = ReproducedNumber("section 3", item, "ratio", paper, best.ratio, data)
            yield number_of_ratio._replace(
                detail=f"more than twice in the paper; {detail_of_length}"
                if paper
                else detail_of_length
            )
    names = {
        set_curves.metric_of_measure[name]: name for name in ("F", "BLEU")
    }  # as in the paper's figure
    all_curves = set_curves.by_references.values()
    for row in (row for curves in all_curves for row in curves.rows):
        if row.metric in names and row.dimension == set_curves.counterpart.adequacy:
            item = f"{names[row.metric]}, {references_in_words(row.references)}"
            measure = row.statistic.capitalize()
            number = ReproducedNumber("Figure 3", item, measure, None, row.value, data)
            yield number._replace(low=row.low, high=row.high, at=row.length)
    for test in (test for curves in all_curves for test in curves.tests):
        of_adequacy = test.dimension == set_curves.counterpart.adequacy
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


def largest_ratio(set_curves: CorrelationCurves, rival: str) -> Ratio | None:
    """Return the largest ratio of F to another metric, where that agrees at all."""
    curves = zip(set_curves.values("F"), set_curves.values(rival), set_curves.lengths, strict=True)
    return max((Ratio(f / other, length) for f, other, length in curves if other > 0), default=None)


# -------------------------------------------------------------------------------- conclusions


def _conclusions(set_curves: CorrelationCurves) -> Iterator[Conclusion]:
    yield _twice(set_curves)
    yield _order(set_curves)
    yield _fluency(set_curves)
    if max(set_curves.counterpart.references) > 1:
        yield _more_references(set_curves)
        yield _one_against_three(set_curves)


def _conclusion(
    curves: CorrelationCurves, claim: str, holds: Callable[[CorrelationCurves], bool], evidence: str
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
    return Conclusion("section 3", claim, to_verdict(holding > 0), evidence, curves.data)


def _twice(set_curves: CorrelationCurves) -> Conclusion:
    best, smoothed = (largest_ratio(set_curves, rival) for rival in ("BLEU", SMOOTHED))
    claim = "With one reference, F can be more than twice as reliable as BLEU."
    evidence = [
        f"at most {ratio.ratio:.2f} times {name}, at length {ratio.length}"
        for name, ratio in (("BLEU", best), (SMOOTHED, smoothed))
        if ratio is not None
    ]

    def holds(curves: CorrelationCurves) -> bool:
        largest = largest_ratio(curves, "BLEU")
        return largest is not None and largest.ratio > TWICE

    return _conclusion(
        set_curves, claim, holds, "; ".join(evidence) or "BLEU does not agree at all"
    )


def _order(set_curves: CorrelationCurves) -> Conclusion:
    names = ("F", "recall", "precision", "BLEU")

    def holds(curves: CorrelationCurves) -> bool:
        return all(a > b for a, b in pairwise(map(curves.mean, names)))

    evidence = ", ".join(f"{name} {set_curves.mean(name):.4f}" for name in names)
    claim = "F is more reliable than recall, recall than precision, precision than BLEU."
    return _conclusion(set_curves, claim, holds, f"means over lengths: {evidence}")


def _fluency(set_curves: CorrelationCurves) -> Conclusion:
    fluency = set_curves.counterpart.fluency

    def holds(curves: CorrelationCurves) -> bool:
        return all(
            fluent < adequate
            for name in ("F", "BLEU")
            for adequate, fluent in zip(
                curves.values(name), curves.values(name, 1, fluency), strict=True
            )
        )

    evidence = f"means of F: {set_curves.mean('F'):.3f} and {set_curves.mean('F', 1, fluency):.3f}"
    claim = "Correlations with fluency are lower than with adequacy at every length."
    return _conclusion(set_curves, claim, holds, evidence)


def _more_references(set_curves: CorrelationCurves) -> Conclusion:
    n_few, n_many = min(set_curves.counterpart.references), max(set_curves.counterpart.references)

    def holds(curves: CorrelationCurves) -> bool:
        return all(curves.mean(name, n_many) > curves.mean(name, n_few) for name in ("F", "BLEU"))

    evidence = ", ".join(
        f"{name} {set_curves.mean(name, n_few):.3f} to {set_curves.mean(name, n_many):.3f}"
        for name in ("F", "BLEU")
    )
    claim = "F and BLEU both gain reliability from several references."
    return _conclusion(set_curves, claim, holds, f"means: {evidence}")


def _one_against_three(set_curves: CorrelationCurves) -> Conclusion:
    n_references = max(set_curves.counterpart.references)

    def holds(curves: CorrelationCurves) -> bool:
        return curves.values("F")[0] >= curves.values("BLEU", n_references)[0]

    claim = "On very short texts F with one reference is at least as reliable as BLEU with three."
    f, bleu = set_curves.values("F")[0], set_curves.values("BLEU", n_references)[0]
    return _conclusion(set_curves, claim, holds, f"single segments: F {f:.3f}, BLEU {bleu:.3f}")


# -------------------------------------------------------------------------------- differences


def _difference(set_curves: CorrelationCurves) -> PaperDifference:
    paper = "2 systems, 728 Arabic sentences, 4 references, adequacy from 1 to 5"
    return PaperDifference(
        "data", paper, f"{set_curves.data}: {set_curves.counterpart.adequacy}; {set_curves.size}"
    )


def _differences(request: ReproductionRequest) -> Iterator[PaperDifference]:
    sizes = _sizes(request)
    lengths = "1 to 25" if request.full else ", ".join(map(str, LENGTHS))
    sample = f"{sizes['repeats']} shuffles, all combinations of references"
    yield PaperDifference(
        "lengths", "1 to 25 sentences", f"{lengths} segments, as far as they last"
    )
    yield PaperDifference("pseudo-documents", "not said how many", sample)
    yield PaperDifference(
        "matching", "maximum", "greedy, as in GTM 1.4: at most 0.002 in any curve"
    )
    yield PaperDifference("exponent", "not said; its text suggests 2", "2")
    yield PaperDifference("BLEU", "not said", "the formula of 2002; a smoothed form is beside it")
    yield PaperDifference("words", "not said", "13a tokens in lower case, for all metrics")


_REMARKS = (
    "The paper prints no values of its Figure 3: its column is empty there.",
    "A conclusion holds or fails only if it does so in every shuffle of segments into documents. "
    "Intervals contain 95% of the shuffles. Neither says anything about other segments. BLEU "
    "without smoothing is 0 unless some 4-gram matches, which counts against it on short texts.",
    "Wilcoxon's signed ranks compare curves over the lengths, as in the paper. Documents of all "
    "lengths are made of the same segments, so p is too small.",
)
