"""Melamed, Green and Turian 2003, Figure 3: reliability of F and BLEU by the length of texts.

The paper plots its curves without values, so we compare its two worked examples and the conclusions
of its section 3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from math import comb
from typing import NamedTuple

from karat.arrays import np
from karat.evalset.loading import KNOWN
from karat.meta.reliability import (
    ReliabilityCurves,
    fitting_lengths,
    references_in_words,
    reliability,
)
from karat.metrics.gtm import GTM
from karat.reproduction.papers import ReproductionRequest, describe_set
from karat.reproduction.results import (
    UNDECIDED,
    Conclusion,
    PaperDifference,
    ReproducedNumber,
    Reproduction,
    to_verdict,
)

CITATION = "Melamed, Green and Turian 2003, Precision and Recall of Machine Translation"
FIGURE_1 = "C B A I C D E", "A B C D E F I C A B"  # the maximum match has 7 words
FIGURE_2 = "G H I J L M C D E K", ("A B C D E", "F G H I J", "K L M N P")
"""A candidate and three references, whose mean length of 5 caps the match."""
TWICE = 2.0  # section 3: F "can be more than twice as reliable as BLEU"
SMOOTHED = "smoothed BLEU"  # as used on single segments today; the paper used BLEU of 2002
LENGTHS = (1, 2, 5, 10, 25)
F_MEASURE = "gtm:e=2,cap=whole,tok=13a,case=lower"  # greedy search: docs/lab/reliability.md
METRICS = {
    "F": F_MEASURE,
    "recall": f"{F_MEASURE},alpha=0",
    "precision": f"{F_MEASURE},alpha=1",
    "BLEU": "bleu:smooth=none,case=lower",
    SMOOTHED: "bleu:smooth=exp,eff=yes,case=lower",
}
"""Name in the paper -> metric."""
REPEATS, REPEATS_IN_FULL = 10, 20
COMBINATIONS = 1000  # all combinations of references, as in the paper
COMBINATIONS_PER_SHUFFLE = 11
STATISTICS = ("spearman", "pearson")  # of Figure 3; conclusions use the first


class GtmCounterpart(NamedTuple):
    """A set, and its dimensions that correspond to adequacy and fluency."""

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
    size: str  # kind and size of the set in words
    shuffle: int | None = None  # number of one shuffle of segments; None for the mean over all

    @property
    def data(self) -> str:
        """The name of the set."""
        return self.counterpart.evalset

    @property
    def lengths(self) -> tuple[int, ...]:
        """Numbers of segments in a document."""
        return self.by_references[1].asked_settings.lengths

    def values(self, measure: str, references: int = 1, dimension: str = "") -> list[float]:
        """Return a curve of Spearman's coefficients, as means over combinations of references."""
        dimension = dimension or self.counterpart.adequacy
        curve = dimension, STATISTICS[0], references, self.metric_of_measure[measure]
        result = self.by_references[references]
        curve_values = []
        for row, values in zip(result.rows, result.values, strict=True):
            if row[:4] != curve:
                continue
            value = row.value
            if self.shuffle is not None:
                is_of_shuffle = result.shuffles[references] == self.shuffle
                defined = values[is_of_shuffle & ~np.isnan(values)]
                value = float(defined.mean()) if len(defined) else float("nan")
            curve_values.append(value)
        return curve_values

    @property
    def is_defined(self) -> bool:
        """False if a correlation is undefined, for example if all scores are equal."""
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
    available = request.data.any_of([KNOWN[real.evalset].place for real in REAL])
    counterparts = [real for real in REAL if KNOWN[real.evalset].place in available] or DEMO
    sets = [_reliability_curves(counterpart, request) for counterpart in counterparts]
    signatures = {}
    for set_curves in sets:
        for number, curves in set_curves.by_references.items():
            for name, line in curves.signatures.items():
                metric_name = f"{name}, {references_in_words(number)}"
                signatures[f"set ({set_curves.data})" if name == "set" else metric_name] = line
    return Reproduction(
        name="gtm",
        paper=CITATION,
        data=tuple(set_curves.data for set_curves in sets),
        rows=(
            *_worked_examples(),
            *(row for set_curves in sets for row in _reproduced_numbers(set_curves)),
        ),
        conclusions=tuple(row for set_curves in sets for row in _conclusions(set_curves)),
        differs=tuple(_differences(sets, request)),
        settings={
            **request.settings,
            "repeats": _repeats(request),
            "combinations": COMBINATIONS,
            "metrics": tuple(METRICS.values()),
        },
        signatures=signatures,
        invented="" if available else "The judgements of the bundled set are invented.",
        remarks=_REMARKS,
    )


def _repeats(request: ReproductionRequest) -> int:
    return REPEATS_IN_FULL if request.full else REPEATS


def _reliability_curves(
    counterpart: GtmCounterpart, request: ReproductionRequest
) -> CorrelationCurves:
    evalset, repeats = request.evalset(counterpart.evalset), _repeats(request)
    fitting = fitting_lengths(len(evalset))
    available = min(map(len, evalset.references))
    by_references = {
        number: reliability(
            evalset,
            [counterpart.adequacy, counterpart.fluency],
            metrics=tuple(METRICS.values()),
            lengths=fitting if request.full else [n for n in LENGTHS if n in fitting],
            reference_counts=(number,),
            statistics=STATISTICS,
            documents="joined",
            repeats=repeats,
            # All shuffles of each combination would take minutes: it is scored on some, in turn.
            shuffles_per_combination=min(
                repeats, -(-repeats * COMBINATIONS_PER_SHUFFLE // comb(available, number))
            ),
            combinations=COMBINATIONS,
            seed=request.seed,
            threads=request.threads,
            progress=request.progress,
        )
        for number in counterpart.references
    }
    names = dict(zip(METRICS, by_references[1].asked_settings.metrics, strict=True))
    return CorrelationCurves(counterpart, by_references, names, describe_set(evalset))


def _worked_examples() -> Iterator[ReproducedNumber]:
    """Yield the two figures of the paper that are worked examples."""
    data = "the paper's example"
    plain = GTM(e=1).explain(*FIGURE_1)
    yield ReproducedNumber("Figure 1", "unigrams", "match size", 7.0, plain.size, data)
    capped = GTM(e=2, search="exact", cap="whole").explain(FIGURE_2[0], FIGURE_2[1])
    n_hits = sum(block.counted for block in capped.blocks)
    yield ReproducedNumber("Figure 2", "three references", "hits that count", 5.0, n_hits, data)


def _reproduced_numbers(set_curves: CorrelationCurves) -> Iterator[ReproducedNumber]:
    data = f"{set_curves.data}: {set_curves.counterpart.adequacy}"
    for rival, paper in (("BLEU", TWICE), (SMOOTHED, None)):
        if (best := largest_ratio(set_curves, rival)) is not None:
            item, claim = f"F / {rival}, 1 reference", "more than twice in the paper; "
            detail = f"{claim if paper else ''}largest at length {best[1]}"
            numbers = "ratio", paper, best[0], data
            yield ReproducedNumber("section 3", item, *numbers, detail=detail)
    names = {set_curves.metric_of_measure[name]: name for name in ("F", "BLEU")}  # of Figure 3
    all_curves = set_curves.by_references.values()
    for row in (row for curves in all_curves for row in curves.rows):
        if row.metric in names and row.dimension == set_curves.counterpart.adequacy:
            item = f"{names[row.metric]}, {references_in_words(row.references)}"
            measure = row.statistic.capitalize()
            values = None, row.value, data, row.low, row.high, row.length
            yield ReproducedNumber("Figure 3", item, measure, *values)
    for test in (test for curves in all_curves for test in curves.tests):
        of_adequacy = test.dimension == set_curves.counterpart.adequacy
        if of_adequacy and (test.first, test.second) == tuple(names):
            item = f"F and BLEU, {references_in_words(test.first_references)}"
            measure = f"Wilcoxon p, {test.statistic.capitalize()}"
            detail = f"F is higher at {test.better} of {test.lengths} lengths"
            numbers = measure, None, test.p, data
            yield ReproducedNumber("Figure 3", item, *numbers, detail=detail)


def largest_ratio(curves: CorrelationCurves, rival: str) -> tuple[float, int] | None:
    """Return the largest ratio of F to a metric with positive agreement, and its length."""
    values = zip(curves.values("F"), curves.values(rival), curves.lengths, strict=True)
    return max(((f / other, length) for f, other, length in values if other > 0), default=None)


def _conclusions(set_curves: CorrelationCurves) -> Iterator[Conclusion]:
    counts, fluency = set_curves.counterpart.references, set_curves.counterpart.fluency
    evidence = [
        f"at most {best[0]:.2f} times {name}, at length {best[1]}"
        for name in ("BLEU", SMOOTHED)
        if (best := largest_ratio(set_curves, name)) is not None
    ]
    yield _conclusion(
        set_curves,
        "With one reference, F can be more than twice as reliable as BLEU.",
        lambda curves: (ratio := largest_ratio(curves, "BLEU")) is not None and ratio[0] > TWICE,
        "; ".join(evidence) or "BLEU does not agree at all",
    )
    names = ("F", "recall", "precision", "BLEU")
    means = ", ".join(f"{name} {set_curves.mean(name):.4f}" for name in names)
    yield _conclusion(
        set_curves,
        "F is more reliable than recall, recall than precision, precision than BLEU.",
        lambda curves: all(a > b for a, b in pairwise(map(curves.mean, names))),
        f"means over lengths: {means}",
    )
    yield _conclusion(
        set_curves,
        "Correlations with fluency are lower than with adequacy at every length.",
        lambda curves: all(
            fluent < adequate
            for name in ("F", "BLEU")
            for adequate, fluent in zip(
                curves.values(name), curves.values(name, 1, fluency), strict=True
            )
        ),
        f"means of F: {set_curves.mean('F'):.3f} and {set_curves.mean('F', 1, fluency):.3f}",
    )
    if max(counts) == 1:
        return
    n_few, n_many = min(counts), max(counts)
    both = ("F", "BLEU")
    gains = (
        f"{name} {set_curves.mean(name, n_few):.3f} to {set_curves.mean(name, n_many):.3f}"
        for name in both
    )
    yield _conclusion(
        set_curves,
        "F and BLEU both gain reliability from several references.",
        lambda curves: all(curves.mean(m, n_many) > curves.mean(m, n_few) for m in both),
        f"means: {', '.join(gains)}",
    )
    f, bleu = set_curves.values("F")[0], set_curves.values("BLEU", n_many)[0]
    yield _conclusion(
        set_curves,
        "On very short texts F with one reference is at least as reliable as BLEU with three.",
        lambda curves: curves.values("F")[0] >= curves.values("BLEU", n_many)[0],
        f"single segments: F {f:.3f}, BLEU {bleu:.3f}",
    )


def _conclusion(
    curves: CorrelationCurves, claim: str, holds: Callable[[CorrelationCurves], bool], evidence: str
) -> Conclusion:
    """Return a conclusion that is decided only if every shuffle gives the same answer.

    If a correlation is undefined in any shuffle, it is undecided.
    """
    repeats = curves.by_references[1].asked_settings.repeats
    shuffles = [curves._replace(shuffle=shuffle) for shuffle in range(repeats)]
    undefined = sum(not shuffle.is_defined for shuffle in shuffles)
    holding = sum(shuffle.is_defined and holds(shuffle) for shuffle in shuffles)
    verdict = to_verdict(holding > 0)
    if undefined:
        evidence += f"; correlations are undefined in {undefined} of {repeats} shuffles"
        verdict = UNDECIDED
    elif 0 < holding < repeats:
        evidence += f"; true of {holding} of {repeats} shuffles"
        verdict = UNDECIDED
    return Conclusion("section 3", claim, verdict, evidence, curves.data)


def _differences(
    sets: Sequence[CorrelationCurves], request: ReproductionRequest
) -> Iterator[PaperDifference]:
    paper = "2 systems, 728 Arabic sentences, 4 references, adequacy from 1 to 5"
    for curves in sets:
        our_data = f"{curves.data}: {curves.counterpart.adequacy}; {curves.size}"
        yield PaperDifference("data", paper, our_data)
    lengths = "1 to 25" if request.full else ", ".join(map(str, LENGTHS))
    sample = f"{_repeats(request)} shuffles, all combinations of references"
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
