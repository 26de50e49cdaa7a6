"""Agreement of people with differences: sentences and tables of `compare` and `gate`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from karat.gains import MIN_COLLECTIONS, GainRow
from karat.report.model import (
    MAX_SENTENCES,
    Table,
    format_signed,
    join_names,
    metric_label,
    score_digits,
)
from karat.results import Column, Readers, number
from karat.score_settings import TASK_KINDS
from karat.scoring import METRIC, SYSTEM, row_digits

_AGREEMENT = (
    number("collections", "Collections", help="Judged collections of this kind of task."),
    number("agreement", "Agreement", 2, "Share of pairs of systems in which people agree."),
    number("low", "Low", 2, "Lower end of the 90% band for a new test set."),
    number("high", "High", 2, "Upper end of the band."),
    Column(
        "is_beyond",
        "Beyond",
        help="Larger than all of the collections: counts as the largest of them.",
        readers="programs",
    ),
)
_COLUMNS = (
    METRIC,
    SYSTEM,
    number("delta", "Delta", row_digits, "Score minus the baseline's.", signed=True),
    Column("kind", "Kind", help="The kind of task."),
    *_AGREEMENT,
)


def gain_sentences(rows: Sequence[GainRow]) -> Iterator[str]:
    """Yield a sentence for each percentage, and one for metrics without; none for many systems."""
    percentages = [row for row in rows if row.agreement is not None]
    several = len({row.system for row in rows}) > 1
    for row in percentages if len(percentages) <= MAX_SENTENCES else ():
        yield _percentage_sentence(row, several)
    silent = dict.fromkeys(row.metric for row in rows if row.agreement is None)
    if not silent:
        return
    names, first = join_names([metric_label(m) for m in silent]), rows[0]
    if first.collections < MIN_COLLECTIONS:
        verb = "are" if first.collections != 1 else "is"
        yield (
            f"{_collections(first)} {verb} too few to say how often people agree with a "
            f"difference in {names}."
        )
    else:
        yield (
            f"{names}: in {_collections(first)}, how often people agreed with a difference "
            "varied too much for a percentage."
        )


def _collections(row: GainRow) -> str:
    noun = "collection" if row.collections == 1 else "collections"
    return f"{row.collections or 'No'} judged {noun} of {TASK_KINDS[row.kind]}"


def _percentage_sentence(row: GainRow, several: bool) -> str:
    delta = format_signed(row.delta, score_digits(row.metric))
    system = f"{row.system}, " if several else ""
    subject = f"{system}{metric_label(row.metric)} {delta}"
    share, low, high = map(_percent, (row.agreement, row.low, row.high))
    band = f"of pairs of systems; for a new test set expect {low} to {high}."
    if row.is_beyond:
        return (
            f"{subject}: larger than all differences in {_collections(row)}; people agree with "
            f"the largest of them in {share} {band}"
        )
    if low == high:
        return (
            f"{subject}: by {_collections(row)}, people agree with a difference this small in "
            f"about {share} of pairs of systems."
        )
    size = "gain" if row.delta > 0 else "loss"
    return (
        f"{subject}: by {_collections(row)}, people agree with a {size} of this size in {share} "
        f"{band}"
    )


def _percent(share: float | None) -> str:
    """Return a share below 1 as a whole percentage, which is not 100%."""
    return "over 99%" if share is not None and share >= 0.995 else f"{share:.0%}"


def gain_tables(rows: Sequence[GainRow]) -> list[Table]:
    """Return the table of all differences: for programs, and for people if there are many."""
    if not rows:
        return []
    n_percentages = sum(row.agreement is not None for row in rows)
    readers: Readers = "all" if n_percentages > MAX_SENTENCES else "programs"
    title = "How often people agree with these differences"
    return [Table("gains", title, _COLUMNS, rows, readers=readers)]
