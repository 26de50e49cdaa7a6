"""The answer of estimates: the best system, how sure that is, and what judges add."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isnan

from karat.estimation.estimate_results import ESTIMATE, Estimate, EstimateDifference, EstimateRow
from karat.report.model.cells import several
from karat.report.model.phrases import listing, metric_label, sentence_case, span
from karat.stats.significance.verdicts import SIGNIFICANCE_LEVEL

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
    whom = f"the {found.unit}s of the set" if found.finite else f"new {found.unit}s like these"
    told = [f"{_labelled(found)}. 95% intervals for {whom}."]
    if found.differences:
        how = _CORRECTED.get(str(found.settings["correction"]), "")
        rule = "Decided where the interval of the difference excludes 0 and"
        told.append(f"{rule} p < {SIGNIFICANCE_LEVEL}{how}.")
    return " ".join(told)


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
    best, others = found.ranked[0], ranked_differences(found)
    if not others:
        yield f"People's score of {best.system} is estimated at {_score(found, best)}."
    elif others[0].baseline == best.system:
        yield from _leader(found, best)
    else:
        yield f"{best.system} has the best estimate: {_score(found, best)}."
        yield _against(found)


def _leader(found: Estimate, best: EstimateRow) -> Iterator[str]:
    """The best system against all others."""
    others, score = ranked_differences(found), _score(found, best)
    rivals = [one.system for one in others if one.verdict == "undecided"]
    if not rivals:
        whole = others[0].system if len(others) == 1 else f"all {len(others)} others"
        yield f"{best.system} is better than {whole}: {score}."
    elif len(rivals) == len(others):
        than = rivals[0] if len(rivals) == 1 else f"any of the {len(rivals)} others"
        yield (
            f"{best.system} has the best estimate, {score}, but is not shown to be better than "
            f"{than}."
        )
    else:
        sure = f"It is better than {len(others) - len(rivals)} of {len(others)} others"
        open_ = f"undecided: {listing(rivals, MOST_NAMED)}"
        yield f"{best.system} has the best estimate: {score}. {sure}; {open_}."


def _against(found: Estimate) -> str:
    """A sentence that counts the systems by what they are against the baseline."""
    others, told = ranked_differences(found), []
    for kind in ("better", "worse", "undecided"):
        names = [one.system for one in others if one.verdict == kind]
        told += [f"{kind}: {listing(names, MOST_NAMED)}"] if names else []
    return f"Against {others[0].baseline}, {'; '.join(told)}."


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
    more = round(found.worth)
    labels = several(more, f"more labelled {found.unit}")
    yield f"With {who}, {told}" + (f": worth {labels}." if more else ".")
