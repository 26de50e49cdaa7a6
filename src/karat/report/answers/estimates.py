"""The answer of estimates: the best system, how sure that is, and what judges add."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isclose, isnan

from karat.estimation.estimate_results import (
    ESTIMATE,
    NOT_TESTED,
    Estimate,
    EstimateDifference,
    EstimateRow,
)
from karat.report.model.cells import several
from karat.report.model.phrases import listing, metric_label, sentence_case, span
from karat.stats.significance import SIGNIFICANCE_LEVEL

LITTLE = 0.98
"""Width over that by people alone from which on judges add almost nothing."""

MOST_DIGITS = 6
MOST_NAMED = 4
"""Systems or judges that a sentence names before it counts them."""
_CORRECTED = {
    "holm": " with Holm's correction",
    "bh": " with Benjamini and Hochberg's correction",
    "none": "",
}


def estimate_answer(found: Estimate) -> tuple[str, ...]:
    """Return the best system, its rivals, and what the judges add."""
    told = [] if not found.rows else list(_systems(found))
    return (*told, *_judges(found))


def estimate_basis(found: Estimate) -> str:
    """Return how much was labelled, and what the intervals and verdicts are."""
    if not found.rows:
        return ""
    if found.exact:
        return f"{_labelled(found)}."
    whom = f"the {found.unit}s of the set" if found.finite else f"new {found.unit}s like these"
    sentences = [f"{_labelled(found)}. 95% intervals for {whom}."]
    tested = [one for one in found.differences if one.verdict != NOT_TESTED]
    if tested:
        correction = _CORRECTED.get(str(found.settings["correction"]), "")
        level = _percent(tested[0].confidence)
        sentences.append(
            f"A difference is decided if p < {SIGNIFICANCE_LEVEL}{correction}, that is, if its "
            f"{level} interval excludes 0."
        )
    return " ".join(sentences)


def _percent(confidence: float) -> str:
    """Return a confidence level with two digits of what it leaves out: 95%, 99.958%."""
    alpha = 100 * (1 - confidence)
    exponent = int(f"{alpha:.1e}".partition("e")[2])
    text = f"{100 - alpha:.{max(1 - exponent, 0)}f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text}%"


def digits(found: Estimate) -> int:
    """Return the decimals of scores that show two digits of the usual half of an interval."""
    halves = sorted((row.high - row.low) / 2 for row in found.rows if row.high > row.low)
    usual = halves[len(halves) // 2] if halves else 0.1
    power = int(f"{usual:e}".partition("e")[2])
    return min(max(1 - power, 0), MOST_DIGITS)


def ranked_differences(found: Estimate) -> list[EstimateDifference]:
    """Return the differences in the order of the systems, best first."""
    place = {row.system: rank for rank, row in enumerate(found.ranked)}
    return sorted(found.differences, key=lambda one: place[one.system])


def judges(found: Estimate) -> list[str]:
    """Return the names of the judges."""
    return [metric_label(one.judge) for one in found.judges]


def helpers(found: Estimate) -> list[str]:
    """Return what estimates rest on beside labels: judges, and methods of other kinds of sets."""
    methods = sorted({*found.methods.values()} - {ESTIMATE})
    return [*judges(found), *map(sentence_case, methods)]


def named(helpers: Sequence[str]) -> str:
    """Return judges and methods as a sentence names them; many are counted."""
    return listing(helpers) if len(helpers) <= MOST_NAMED else f"{len(helpers)} judges"


# ------------------------------------------------------------------------------------ systems


def _systems(found: Estimate) -> Iterator[str]:
    best, differences = found.ranked[0], ranked_differences(found)
    if found.exact:
        yield _means(found)
        yield f"To ask about new {found.unit}s like these, use --population new."
    elif len(found.rows) == 1:
        yield f"People's score of {best.system} is estimated at {_score(found, best)}."
    elif differences and differences[0].baseline == best.system:
        yield from _leader(found, best)
    else:
        yield f"{_leads(found)}."
        yield from _against(found)


def _means(found: Estimate) -> str:
    """State that nothing was estimated, and the best mean, without a word on significance."""
    score = _score(found, found.ranked[0])
    best = [row.system for row in found.rows if _score(found, row) == score]
    systems = best[0] if len(found.rows) == 1 else "these systems"  # others may have no labels
    labelled = f"Every {found.unit} of {systems} is labelled, so nothing was estimated or tested"
    if len(found.rows) == 1:
        return f"{labelled}: the mean of {best[0]} is {score}."
    verb = "has" if len(best) == 1 else "share"
    return f"{labelled}: {listing(best, MOST_NAMED)} {verb} the best mean, {score}."


def _leader(found: Estimate, best: EstimateRow) -> Iterator[str]:
    """The best system against all others."""
    score, count = _score(found, best), len(found.rows) - 1
    by_verdict, tied = _by_verdict(found), _tied(found)
    beaten, rivals = (by_verdict.get(verdict, []) for verdict in ("worse", "undecided"))
    if len(beaten) == count:
        than = beaten[0] if count == 1 else f"all {count} others"
        yield f"{best.system} is better than {than}: {score}."
    elif len(rivals) == count and len(tied) > 1:
        yield f"{_leads(found)}; no difference is decided."
    elif len(rivals) == count:
        than = rivals[0] if count == 1 else f"any of the {count} others"
        yield (
            f"{best.system} has the best estimate, {score}, but is not shown to be better than "
            f"{than}."
        )
    elif len(beaten) + len(rivals) == count:
        subject = best.system if len(tied) > 1 else "It"
        better = f"{subject} is better than {len(beaten)} of {count} others"
        undecided = f"undecided: {listing(rivals, MOST_NAMED)}"
        yield f"{_leads(found)}. {better}; {undecided}."
    else:
        yield f"{_leads(found)}."
        yield from _against(found)


def _tied(found: Estimate) -> list[str]:
    """Return the systems with the best estimate; differences by rounding alone do not count."""
    best = found.ranked[0].estimate
    return [row.system for row in found.ranked if isclose(row.estimate, best, abs_tol=1e-9)]


def _leads(found: Estimate) -> str:
    """Return which systems have the best estimate, without the full stop."""
    best, tied = found.ranked[0], _tied(found)
    if len(tied) == 1:
        return f"{best.system} has the best estimate: {_score(found, best)}"
    value = f"{best.estimate:,.{digits(found)}f}"
    if len(tied) == len(found.rows):
        everyone = listing(tied) if len(tied) == 2 else f"All {len(tied)} systems"
        return f"{everyone} have the same estimate, {value}"
    return f"{listing(tied, MOST_NAMED)} share the best estimate, {value}"


def _against(found: Estimate) -> Iterator[str]:
    """A sentence that lists the systems by what they are against the baseline."""
    groups = [
        f"{verdict}: {listing(systems, MOST_NAMED)}"
        for verdict, systems in _by_verdict(found).items()
    ]
    if not found.differences:
        yield f"No system was compared: too few {found.unit}s are labelled for two systems."
    else:
        yield f"Against {found.differences[0].baseline}, {'; '.join(groups)}."


def _by_verdict(found: Estimate) -> dict[str, list[str]]:
    """Return the systems of each verdict, best first; some may not have been compared."""
    differences = ranked_differences(found)
    systems = {
        verdict: [one.system for one in differences if one.verdict == verdict]
        for verdict in ("better", "worse", "undecided", NOT_TESTED)
    }
    compared = {name for one in differences for name in (one.system, one.baseline)}
    systems["not compared"] = [row.system for row in found.ranked if row.system not in compared]
    return {verdict: names for verdict, names in systems.items() if names}


def _score(found: Estimate, row: EstimateRow) -> str:
    places = digits(found)
    text = f"{row.estimate:,.{places}f}"
    if isnan(row.low) or isnan(row.high):
        return f"{text} (no interval)"
    return f"{text} {span(row.low, row.high, places)}" if row.high > row.low else text


def _labelled(found: Estimate) -> str:
    """The number of labelled units, over all systems."""
    fewest, most = (pick(row.labels for row in found.rows) for pick in (min, max))
    units = max(row.units for row in found.rows)
    labels = f"{most:,}" if fewest == most else f"{fewest:,} to {most:,}"
    return f"{labels} of {several(units, found.unit)} labelled"


# ------------------------------------------------------------------------------------- judges


def _judges(found: Estimate) -> Iterator[str]:
    if not found.judges or isnan(found.ratio):
        return
    some = len(found.with_judges) < len(found.rows)
    of = f" of {len(found.with_judges)} of {len(found.rows)} systems" if some else ""
    who = named(judges(found))
    told = f"intervals{of} are {found.ratio:.2f} times as wide as by people alone"
    if found.ratio > LITTLE:
        verb = "adds" if len(found.judges) == 1 else "add"
        yield f"{who} {verb} almost nothing: {told}."
        return
    more = 0 if isnan(found.worth) else round(found.worth)
    labels = several(more, f"more labelled {found.unit}")
    yield f"With {who}, {told}" + (f": worth {labels}." if more else ".")
