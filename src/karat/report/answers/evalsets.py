"""The answers of evaluation sets: whether one can be used, how judges agree, what is there."""

from __future__ import annotations

from collections.abc import Iterator

from karat.evalset.judgements import MODEL, raters_unnamed
from karat.evalset.loading import KnownEvalSets
from karat.evalset.saving import EvalSetCheck
from karat.meta.judge_agreement import FEWEST_SHARED, DimensionAgreement, JudgeAgreement
from karat.report.model.cells import several
from karat.report.model.phrases import listing

MOST_TOLD = 4
"""Dimensions that have a sentence each."""


def check_answer(found: EvalSetCheck) -> tuple[str, ...]:
    """Return whether the set can be used, and its size."""
    if found.evalset is None:
        count = several(found.problem_count or len(found.problems), "problem")
        return (f"{found.name} cannot be used: {count}.",)
    row = found.rows[0]
    size = f"{several(row.systems, 'system')}, {several(row.segments, 'segment')}"
    told = f"{found.name} can be used: {size}"
    if not row.judgements:
        return (f"{told}, no judgements.",)
    judged = several(row.judgements, "judgement")
    if raters_unnamed(found.evalset.judgements.by_people().judges):
        return (f"{told}, {judged}; the raters are not named.", *_gaps(found))
    judged = f"{judged} by {several(row.judges, 'judge')}"
    return (f"{told}, {judged}.", *_gaps(found))


def _gaps(found: EvalSetCheck) -> Iterator[str]:
    """Yield what is missing or outside its scale."""
    row = found.rows[0]
    counts = {"missing output": row.missing, "empty output": row.empty}
    counts["value off its scale"] = sum(one.off_scale for one in found.dimensions)
    told = [several(count, noun) for noun, count in counts.items() if count]
    if told:
        yield f"It has {listing(told).replace('value off its scales', 'values off their scales')}."


def known_answer(found: KnownEvalSets) -> tuple[str, ...]:
    """Return how many sets are available, and how many formats can be read."""
    here = sum(row.here for row in found.rows)
    sets = f"{here} of {len(found.rows)} known sets can be read here"
    return (f"{sets}. Sets of your own can have any of {len(found.formats)} formats.",)


# ------------------------------------------------------------------------------------- judges


def judges_answer(found: JudgeAgreement) -> tuple[str, ...]:
    """Return the agreement in each dimension, identical judges, and who is an outlier."""
    if found.rows and not any(row.shared for row in found.rows):
        return (_unshared(found), *_identical(found), *_models(found))
    few = [row for row in found.rows if 0 < row.shared < FEWEST_SHARED]
    enough = [row for row in found.rows if row.shared >= FEWEST_SHARED]
    rows = [row for row in enough if row.ordinal == row.ordinal]
    constant = [row.dimension for row in enough if row.ordinal != row.ordinal]
    if not rows:
        sentences = []
    elif len(rows) <= MOST_TOLD:
        sentences = [_agreement(row) for row in rows]
    else:
        low, high = (pick(rows, key=lambda row: row.ordinal) for pick in (min, max))
        sentences = [
            f"Krippendorff's ordinal alpha is from {low.ordinal:.3f} ({low.dimension}) to "
            f"{high.ordinal:.3f} ({high.dimension}) in {len(rows)} dimensions."
        ]
    if constant:
        sentences.append(
            f"{listing(constant, MOST_TOLD)}: the judges gave only one value, so their agreement "
            "cannot be measured."
        )
    return (*sentences, *_few_shared(few), *_identical(found), *_outliers(found), *_models(found))


def _unshared(found: JudgeAgreement) -> str:
    """Return why agreement cannot be measured."""
    people = [row.judge for row in found.judges if row.kind != MODEL]
    if raters_unnamed(people):
        return "The raters are not named: their agreement cannot be measured."
    twins = any(row.identical for row in found.judges)
    return f"No output has two {'different ' * twins}judges: their agreement cannot be measured."


def _few_shared(few: list[DimensionAgreement]) -> Iterator[str]:
    """Yield in which dimensions too few outputs are shared to state an agreement."""
    if few:
        names = listing([row.dimension for row in few], MOST_TOLD)
        most = max(row.shared for row in few)
        outputs = several(most, "output")
        has = "has" if most == 1 else "have"
        amount = f"{outputs} {has}" if len(few) == 1 else f"at most {outputs} {has}"
        yield (
            f"{names}: {amount} two judges, too few to state how far they agree "
            f"(at least {FEWEST_SHARED} are needed)."
        )


def _identical(found: JudgeAgreement) -> Iterator[str]:
    """Yield which judges are identical and count as one."""
    groups: dict[frozenset[str], list[str]] = {}
    for row in found.judges:
        if row.identical:
            members = frozenset((row.judge, *row.identical.split(", ")))
            groups.setdefault(members, []).append(row.dimension)
    for members, dimensions in groups.items():
        names = listing(sorted(members))
        several_dimensions = len(found.rows) > 1
        scope = f" ({listing(list(dict.fromkeys(dimensions)))})" if several_dimensions else ""
        yield f"{names} gave identical values{scope}: they count as one judge."


def _agreement(row: DimensionAgreement) -> str:
    shared = several(row.shared, "output")
    r = f", mean r of two judges {row.r:.3f}" if row.r == row.r else ""
    return (
        f"{row.dimension}: Krippendorff's ordinal alpha {row.ordinal:.3f}{r} ({shared} with two "
        "judges or more)."
    )


def _outliers(found: JudgeAgreement) -> Iterator[str]:
    """Yield who is flagged, if there are enough judges in any dimension to flag one."""
    flagged = list(dict.fromkeys(row.judge for row in found.judges if row.flagged))
    if flagged:
        verb = "is flagged as an outlier" if len(flagged) == 1 else "are flagged as outliers"
        yield f"{listing(flagged)} {verb} in at least one dimension."
        return
    if found.flaggable and any(row.r == row.r for row in found.judges):
        yield "No judge is flagged as an outlier."


def _models(found: JudgeAgreement) -> Iterator[str]:
    """Yield how far each model agrees with people, in a few rows."""
    rows = [row for row in found.judges if row.kind == MODEL and row.r == row.r]
    for row in rows[:MOST_TOLD]:
        outputs = several(row.shared, "output")
        yield (
            f"{row.dimension}: model {row.judge} has r {row.r:.3f} with the mean of people "
            f"({outputs})."
        )


def judges_basis() -> str:
    """Return how alpha is to be read."""
    return (
        "Alpha is 1 for perfect agreement and 0 for chance. Krippendorff asks for 0.8, and takes "
        "0.667 as the least for tentative conclusions. An outlier's scores correlate clearly less "
        "with the mean of the other judges than is usual here."
    )
