"""Melamed, Green and Turian 2003, Figure 3: reliability of F and BLEU by the length of texts.

The paper draws its curves and prints none of their values: what can be set beside ours are its two
worked figures and the conclusions of its section 3.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from karat.evalset.loading import KNOWN
from karat.meta.documents.reliability import (
    ReliabilityCurves,
    fitting_lengths,
    references_in_words,
    reliability,
)
from karat.metrics.matching import GTM
from karat.reproduction.requests import Request, described, places
from karat.reproduction.results import (
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
REPEATS, REPEATS_IN_FULL = 5, 10
COMBINATIONS, COMBINATIONS_IN_FULL = 6, 20


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
    found: ReliabilityCurves
    named: dict[str, str]
    """Name in the paper -> metric."""
    size: str
    """The set in words."""

    @property
    def data(self) -> str:
        """The name of the set."""
        return self.counterpart.evalset

    @property
    def lengths(self) -> tuple[int, ...]:
        """Segments in a document."""
        return self.found.asked.lengths

    def values(self, measure: str, references: int = 1, dimension: str = "") -> list[float]:
        """Return a curve of Spearman's coefficients."""
        asked = dimension or self.counterpart.adequacy, references, self.named[measure]
        rows = self.found.rows
        return [r.value for r in rows if (r.dimension, r.references, r.metric) == asked]

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
        signatures=dict(pair for one in sets for pair in one.found.signatures.items()),
        invented="" if here else "The judgements of the bundled set are invented.",
        remarks=_REMARKS,
    )


def _named() -> dict[str, str]:
    f = f"{GREEDY},{WORDS}"
    own = {"F": f, "recall": f"{f},alpha=0", "precision": f"{f},alpha=1"}
    smoothed = {SMOOTHED: "bleu:smooth=exp,eff=yes,case=lower"}
    return {**own, "BLEU": "bleu:smooth=none,case=lower", **smoothed}


def _sizes(request: Request) -> dict[str, int]:
    if request.full:
        return {"repeats": REPEATS_IN_FULL, "combinations": COMBINATIONS_IN_FULL}
    return {"repeats": REPEATS, "combinations": COMBINATIONS}


def _curves(one: Counterpart, request: Request) -> Curves:
    evalset, named = request.evalset(one.evalset), _named()
    fitting, sizes = fitting_lengths(len(evalset)), _sizes(request)
    found = reliability(
        evalset,
        [one.adequacy, one.fluency],
        metrics=tuple(named.values()),
        lengths=fitting if request.full else [n for n in LENGTHS if n in fitting],
        reference_counts=one.references,
        statistics=("spearman",),
        documents="joined",
        repeats=sizes["repeats"],
        combinations=sizes["combinations"],
        seed=request.seed,
        threads=request.threads,
        progress=request.progress,
    )
    names = dict(zip(named, found.asked.metrics, strict=True))
    return Curves(one, found, names, described(evalset))


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
    drawn = {one.named[name]: name for name in ("F", "BLEU")}  # as in the paper's figure
    for row in one.found.rows:
        if row.metric in drawn and row.dimension == one.counterpart.adequacy:
            item = f"{drawn[row.metric]}, {references_in_words(row.references)}"
            found = ReproducedNumber("Figure 3", item, "Spearman", None, row.value, data)
            yield found._replace(low=row.low, high=row.high, at=row.length)


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


def _conclusion(one: Curves, claim: str, holds: bool, evidence: str) -> Conclusion:
    return Conclusion("section 3", claim, judged(holds), evidence, one.data)


def _twice(one: Curves) -> Conclusion:
    best, smoothed = (largest_ratio(one, rival) for rival in ("BLEU", SMOOTHED))
    claim = "With one reference, F can be more than twice as reliable as BLEU."
    said = [
        f"at most {found.ratio:.2f} times {name}, at length {found.length}"
        for name, found in (("BLEU", best), (SMOOTHED, smoothed))
        if found is not None
    ]
    holds = best is not None and best.ratio > TWICE
    return _conclusion(one, claim, holds, "; ".join(said) or "BLEU does not agree at all")


def _order(one: Curves) -> Conclusion:
    names = ("F", "recall", "precision", "BLEU")
    means = [one.mean(name) for name in names]
    falling = all(a > b for a, b in pairwise(means))
    said = ", ".join(f"{name} {value:.4f}" for name, value in zip(names, means, strict=True))
    claim = "F is more reliable than recall, recall than precision, precision than BLEU."
    return _conclusion(one, claim, falling, f"means over lengths: {said}")


def _fluency(one: Curves) -> Conclusion:
    of, holds = one.counterpart, True
    for name in ("F", "BLEU"):
        pairs = zip(one.values(name), one.values(name, 1, of.fluency), strict=True)
        holds = holds and all(fluent < adequate for adequate, fluent in pairs)
    said = f"means of F: {one.mean('F'):.3f} and {one.mean('F', 1, of.fluency):.3f}"
    claim = "Correlations with fluency are lower than with adequacy at every length."
    return _conclusion(one, claim, holds, said)


def _more_references(one: Curves) -> Conclusion:
    few, many = min(one.counterpart.references), max(one.counterpart.references)
    means = {name: (one.mean(name, few), one.mean(name, many)) for name in ("F", "BLEU")}
    said = ", ".join(f"{name} {a:.3f} to {b:.3f}" for name, (a, b) in means.items())
    claim = "F and BLEU both gain reliability from several references."
    return _conclusion(one, claim, all(b > a for a, b in means.values()), f"means: {said}")


def _one_against_three(one: Curves) -> Conclusion:
    many = max(one.counterpart.references)
    f, bleu = one.values("F")[0], one.values("BLEU", many)[0]
    claim = "On very short texts F with one reference is at least as reliable as BLEU with three."
    said = f"single segments: F {f:.3f}, BLEU {bleu:.3f}"
    return _conclusion(one, claim, f >= bleu, said)


# -------------------------------------------------------------------------------- differences


def _difference(one: Curves) -> Difference:
    paper = "2 systems, 728 Arabic sentences, 4 references, adequacy from 1 to 5"
    return Difference("data", paper, f"{one.data}: {one.counterpart.adequacy}; {one.size}")


def _differs(request: Request) -> Iterator[Difference]:
    how = _sizes(request)
    lengths = "1 to 25" if request.full else ", ".join(map(str, LENGTHS))
    drawn = f"{how['repeats']} shuffles, at most {how['combinations']} combinations of references"
    yield Difference("lengths", "1 to 25 sentences", f"{lengths} segments, as far as they last")
    yield Difference("pseudo-documents", "not said how many", drawn)
    yield Difference("matching", "maximum", "greedy, as in GTM 1.4: at most 0.002 in any curve")
    yield Difference("exponent", "not said; its text suggests 2", "2")
    yield Difference("BLEU", "not said", "the formula of 2002; a smoothed form is beside it")
    yield Difference("words", "not said", "13a tokens in lower case, for all metrics")


_REMARKS = (
    "The paper prints no values of its Figure 3: its column is empty there.",
    "Conclusions are judged by values alone; intervals hold 95% of the shuffles, and say nothing "
    "about other segments. BLEU without smoothing is 0 unless some 4-gram matches, which counts "
    "against it on short texts.",
)
