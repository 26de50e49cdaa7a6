"""The answer of a meta-evaluation: which metric agrees best with the human scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isclose

from karat.evalset.judge_kinds import raters_unnamed
from karat.meta.averages import AverageRow, RankAverage
from karat.meta.evaluation import MetaEvaluation, Ranking
from karat.meta.ranking import FEWEST_RANKED, Leader, MetaRow, leaders
from karat.meta.views import OF_SYSTEMS
from karat.report.model.cells import several
from karat.report.model.phrases import clear_labels, listing, metric_label, signed, span

MOST_TOLD = 4
"""Dimensions that have a sentence each; more are counted."""
MOST_TIED = 4
"""Tied metrics that a sentence names; more are counted."""
_FINEST = ("segment", "item", "by-system", "document", "document-joined")
"""Levels that lead the answer, in this order."""
_STATISTICS = {
    "pearson": "Pearson's r",
    "spearman": "Spearman's rho",
    "r2": "R^2",
    "rmse": "RMSE",
    "spa": "SPA",
}


def statistic_label(name: str) -> str:
    """Return the usual name of a statistic."""
    return _STATISTICS.get(name, name)


def row_labels(result: Ranking) -> dict[str, str]:
    """Return the label of each metric by its names in rows: segments may have another name."""
    names = result.metric_names
    labels = clear_labels(names)
    return {name: labels[metric] for metric in names for name in names[metric]}


def meta_answer(result: Ranking) -> tuple[str, ...]:
    """Return which metrics agree best, by the first statistic, and where systems are too few."""
    labels, found = row_labels(result), leaders(result.rows)
    first = [one for one in found if one.statistic == result.experiment.statistics[0]]
    if not first:
        return tuple(_undefined(result.rows))
    enough = [one for one in first if not one.few]
    told = list(_by_level(_fine(enough), found, labels))
    told += _by_level([one for one in enough if one.level in OF_SYSTEMS], found, labels)
    return (*told, *_too_few([one for one in first if one.few]))


def _undefined(rows: Sequence[MetaRow]) -> Iterator[str]:
    """Yield that no agreement is defined, and the reason if it is the same for all metrics."""
    if rows:
        names = dict.fromkeys(row.dimension for row in rows)
        dimensions = listing([_scores(name) for name in names], MOST_TOLD)
        level = [row for row in rows if row.level == rows[0].level]
        reasons = {row.note.removeprefix("undefined: ") for row in level}
        reason = f": {reasons.pop()}" if len(reasons) == 1 and reasons != {""} else ""
        yield f"The agreement of metrics with {dimensions} is undefined{reason}."


def _fine(enough: Sequence[Leader]) -> list[Leader]:
    """Return the leaders of the finest level that was asked for, other than systems."""
    levels = dict.fromkeys(one.level for one in enough if one.level not in OF_SYSTEMS)
    chosen = next((level for level in (*_FINEST, *levels) if level in levels), None)
    return [one for one in enough if one.level == chosen]


def _by_level(
    some: Sequence[Leader], every: Sequence[Leader], labels: Mapping[str, str]
) -> Iterator[str]:
    """Yield a sentence for each dimension, or one that counts them where they are many."""
    of_systems = any(one.level in OF_SYSTEMS for one in some)
    if len(some) > (2 if of_systems else MOST_TOLD) and all(one.tested for one in some):
        yield _counted(some, labels)
        return
    for one in some:
        if len(one.rows) == 1:
            yield _alone(one, labels)
        elif len(some) <= MOST_TOLD:
            yield _best(one, every, labels)


def _alone(one: Leader, labels: Mapping[str, str]) -> str:
    """Return the agreement of the only metric."""
    name = statistic_label(one.statistic)
    what = f"{labels[one.best.metric]} and {_scores(one.dimension)} {_at(one)}"
    return f"{what}: {name} {_value(one)}."


def _best(one: Leader, every: Sequence[Leader], labels: Mapping[str, str]) -> str:
    name, best = statistic_label(one.statistic), labels[one.best.metric]
    value = f"{name} {_value(one)}"
    if not one.tested:
        most = "highest" if one.sign > 0 else "lowest"
        told = (
            f"{best} has the {most} {name} with {_scores(one.dimension)} {_at(one)}, {_value(one)}"
        )
        return f"{told}; differences between metrics were not tested."
    doubt = _elsewhere(one, every, labels)
    if len(one.tied) + 1 == len(one.rows):
        both = "both metrics" if len(one.rows) == 2 else f"all {len(one.rows)} metrics"
        told = f"No metric stands out for {_scores(one.dimension)} {_at(one)}: {both} are tied"
        if all(isclose(row.value, one.best.value, abs_tol=1e-9) for row in one.tied):
            return f"{told}, with the same {name}, {one.best.value:.3f}."
        return f"{told}; the highest is {best}, {value}{doubt}."
    with_whom = listing([labels[row.metric] for row in one.tied], MOST_TIED) if one.tied else ""
    second = one.rows[1]
    how = f"tied with {with_whom}" if with_whom else _lead(second, labels[second.metric])
    return f"{best} agrees best with {_scores(one.dimension)} {_at(one)}: {value}, {how}{doubt}."


def _lead(row: MetaRow | AverageRow, name: str) -> str:
    """Return the lead of the best metric: the next one, the difference and its interval."""
    if row.delta is None or row.delta_low is None or row.delta_high is None:
        return "alone at rank 1"
    by, ends = "", ""
    if row.delta_low == row.delta_low:
        zero = row.delta_low <= 0 <= row.delta_high
        by = " by the permutation test" * zero
        ends = f" {span(row.delta_low, row.delta_high, 3)}{', includes 0' * zero}"
    return f"alone at rank 1{by}; next is {name} (difference {signed(row.delta, 3)}{ends})"


def _elsewhere(one: Leader, every: Sequence[Leader], labels: Mapping[str, str]) -> str:
    """Return the best metric's rank by other statistics, where that is not the first."""
    ranks = []
    for other in every:
        if (other.dimension, other.level) == (one.dimension, one.level):
            own = [row for row in other.rows if labels[row.metric] == labels[one.best.metric]]
            ranks += [(other.statistic, row.rank) for row in own if row.rank and row.rank > 1]
    told = [f"rank {rank} by {statistic_label(name)}" for name, rank in ranks]
    return f"; but {labels[one.best.metric]} has {listing(told)}" if told else ""


def _counted(some: Sequence[Leader], labels: Mapping[str, str]) -> str:
    """Return which metrics have rank 1 in most dimensions."""
    first = [labels[row.metric] for one in some for row in (one.best, *one.tied)]
    most = max(map(first.count, first))
    names = [name for name in dict.fromkeys(first) if first.count(name) == most]
    whole = len(some)
    where = f"all {whole} dimensions" if most == whole else f"{most} of {whole} dimensions"
    verb = "has" if len(names) == 1 else "have"
    by = f"{_at(some[0])} by {statistic_label(some[0].statistic)}"
    unsure = sum(one.uncertain for one in some)
    them = "all of them" if unsure == whole else f"{unsure} of them"
    doubt = f"; in {them} the interval of the highest value includes 0" if unsure else ""
    return f"{listing(names)} {verb} rank 1 in {where} {by}{doubt}."


def _too_few(few: Sequence[Leader]) -> Iterator[str]:
    """Yield a sentence for the first level of systems, and for the first of other points."""
    for one in {one.unit: one for one in reversed(few)}.values():
        verb = "is" if one.best.points == 1 else "are"
        yield f"{several(one.best.points, one.unit)} {verb} too few to rank metrics {_at(one)}."


def _scores(dimension: str) -> str:
    """Return the dimension; matrices have none, but human scores."""
    return "human scores" if dimension == "human" else dimension


def _at(one: Leader) -> str:
    return f"at {one.level} level"


def _value(one: Leader) -> str:
    """Return the best value with its interval, and whether zero is in it."""
    row, zero = one.best, " (includes 0)" * one.uncertain
    ends = f" {span(row.low, row.high, 3)}{zero}" if row.low == row.low else ""
    return f"{row.value:.3f}{ends}"


def meta_basis(result: Ranking) -> str:
    """Return what the answer rests on: the set, its judges, intervals and tests."""
    asked = result.experiment
    parts = [_size(result)] if isinstance(result, MetaEvaluation) else []
    if asked.resamples:
        over = "systems and segments" if asked.over == "both" else asked.over
        parts.append(f"In brackets: 95% bootstrap intervals over {over}.")
    if result.tests:
        corrected = "uncorrected" if asked.correction == "none" else asked.correction
        parts.append(
            "Tied metrics have the same rank: they do not differ significantly (PERM-BOTH, "
            f"{asked.trials:,} trials, p <= {asked.level:g}, {corrected})."
        )
    few = [one for one in leaders(result.rows) if one.few]
    if any(one.unit == "system" for one in few):
        parts.append(f"Ranks at system level need {FEWEST_RANKED} systems or more.")
    if any(one.unit != "system" for one in few):
        parts.append(f"Ranks at other levels need {FEWEST_RANKED} points or more.")
    return " ".join(parts)


def _size(result: MetaEvaluation) -> str:
    systems, segments, outputs, judges = result.size
    counts = several(systems, "system"), several(segments, "segment")
    told = f"{', '.join(counts)}, {several(outputs, 'judged output')}"
    named = [name for name in judges if name]
    if raters_unnamed(named):
        return f"{told}; the raters are not named."
    if not named:
        return f"{told}."
    who = several(len(named), "judge")
    return f"{told} by {who}." if len(named) > 1 else f"{told} by {who} ({named[0]})."


# ----------------------------------------------------------------------------------- averages


def average_answer(result: RankAverage) -> tuple[str, ...]:
    """Return which metric has the highest average over all tasks."""
    rows = [row for row in result.rows if row.value == row.value]
    if not rows:
        return ()
    tasks = several(len({row[:4] for row in result.tasks}), "task")
    best, others = rows[0], rows[1:]
    ends = span(best.low, best.high, 3) if best.low == best.low else ""
    value = f"{best.value:.3f} {ends}".rstrip()
    name = metric_label(best.metric)
    if not others:
        return (f"{name} has the average {value} over {tasks}.",)
    told = f"{name} has the highest average over {tasks}, {value}"
    tied = [metric_label(row.metric) for row in others if row.rank == 1]
    if best.rank is None:
        return (f"{told}; differences between metrics were not tested.",)
    lead = _lead(others[0], metric_label(others[0].metric))
    return (f"{told}, {f'tied with {listing(tied, MOST_TIED)}' if tied else lead}.",)


def average_basis(result: RankAverage) -> str:
    """Return what the averages are over."""
    sets = list(dict.fromkeys(one.name for one in result.results))
    told = f"Sets: {listing(sets)}."
    if result.tests:
        told += " Tied metrics have the same rank: they do not differ significantly."
    return told
