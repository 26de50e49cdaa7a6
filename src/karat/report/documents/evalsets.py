"""The documents of `karat data`: contents and problems of a set, its judges, the known sets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from karat.evalset.conversion import EvalSetCheck
from karat.evalset.judgements import MODEL, raters_unnamed
from karat.evalset.loading import KnownEvalSets
from karat.meta.judge_agreement import FEWEST_SHARED, DimensionAgreement, JudgeAgreement
from karat.metrics.names import MetricCatalogue
from karat.report.model import Column, Document, Row, Table, columns, listing, several

if TYPE_CHECKING:
    from karat.estimation.planning import DrawnUnits
    from karat.evalset.conversion import EvalSetCheck
    from karat.evalset.flooding import FloodedSet
    from karat.evalset.loading import KnownEvalSets
    from karat.meta.judge_agreement import JudgeAgreement


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
    if raters_unnamed(found.evalset.judgements.without_models().judges):
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


_SET = (
    Column("name", "Set"),
    *columns(align="right", systems="Systems", segments="Segments"),
    Column("groups", "Groups", align="right", help="Documents or questions of the set."),
    Column("references_min", "Min refs", align="right", help="Fewest references of a segment."),
    Column(
        "references_median",
        "Med. refs",
        1,
        align="right",
        help="Median of references.",
        detail=True,
    ),
    Column("references_max", "Max refs", align="right", help="Most references of a segment."),
    *columns(align="right", judgements="Judgements", judges="Judges"),
    Column("missing", "Missing", align="right", help="Missing outputs."),
    Column("empty", "Empty", align="right", help="Empty outputs."),
)
_SYSTEMS = (
    Column("system", "System"),
    *columns(align="right", outputs="Outputs", missing="Missing", empty="Empty"),
    Column("judged", "Judged", align="right", help="Segments with at least one judgement."),
    Column("judgements", "Judgements", align="right"),
)
_DIMENSIONS = (
    *columns(dimension="Dimension", better="Better"),
    Column("scale", "Scale", readers="people"),
    *columns("programs", low="Low", high="High"),
    *columns(align="right", judgements="Judgements", judges="Judges"),
    Column("items", "Outputs", align="right", help="Outputs with at least one judgement."),
    Column("lowest", "Lowest", 2, align="right", help="The lowest value that was given."),
    Column("highest", "Highest", 2, align="right", help="The highest value that was given."),
    Column("off_scale", "Off scale", align="right", help="Values outside the scale."),
)
_PROBLEMS = (Column("problem", "Problem", wrap=True),)
_KNOWN = (
    Column("name", "Set", help="The name that --set and karat data take."),
    Column("here", "Here", help="Whether it can be read here."),
    Column("format", "Format"),
    Column("about", "About", wrap=True),
    Column("place", "Place", readers="programs"),
)
_FORMATS = (
    Column("format", "Format", help="The name that --read-as takes."),
    Column("about", "Files", wrap=True),
)
_FLOODED = columns(system="System", segment="Segment")


_AGREEMENT = (
    Column("dimension", "Dimension"),
    Column("judges", "Judges", align="right"),
    Column("outputs", "Outputs", align="right", help="Outputs with at least one judgement."),
    Column("shared", "Shared", align="right", help="Outputs with at least two judges."),
    Column("r", "r", 3, align="right", help="Mean Pearson's r of pairs of judges."),
    Column(
        "r_systems",
        "r systems",
        3,
        align="right",
        help="Mean r of pairs, over system means.",
    ),
    Column("nominal", "Nominal", 3, align="right", help="Krippendorff's alpha of categories."),
    Column("ordinal", "Ordinal", 3, align="right", help="Krippendorff's alpha of ranks."),
    Column("interval", "Interval", 3, align="right", help="Krippendorff's alpha of distances."),
    Column("icc", "ICC", 3, align="right", help="ICC(2,1), where every judge saw every output."),
)
_KIND = Column("kind", "Kind", help="person or model.")
_ADJUDICATED = (
    Column("adjudicated", "Adjudicated", readers="programs"),
    Column(
        "r_adjudicated", "r adj.", 3, align="right", help="Pearson's r with adjudicated values."
    ),
)
_JUDGES = (
    Column("dimension", "Dimension"),
    Column("judge", "Judge"),
    Column("judgements", "Judgements", align="right"),
    Column("mean", "Mean", 2, align="right"),
    Column("sd", "SD", 2, align="right", help="Standard deviation of the judge's scores."),
    Column("r", "r others", 3, align="right", help="Pearson's r with the mean of the others."),
    *columns("programs", shared="Shared", flagged="Flagged"),
    *columns("programs", comparable="Comparable", identical="Identical to"),
    Column("note", "", wrap=True),
)


def check_document(found: EvalSetCheck, command: str) -> Document:
    """Return what is in a set, if it could be read, and every problem."""
    tables: list[Table] = []
    if found.evalset is not None:
        tables.append(Table("rows", "Contents", _SET, _dicts(found.rows)))
        tables.append(Table("systems", "Systems", _SYSTEMS, _dicts(found.systems)))
        rows: list[Row] = []
        for count in found.dimensions:
            ends = ["?" if end is None else f"{end:g}" for end in (count.low, count.high)]
            scale = None if ends == ["?", "?"] else " to ".join(ends)
            rows.append({**count._asdict(), "scale": scale})
        tables += [Table("dimensions", "Dimensions", _DIMENSIONS, rows)] if rows else []
    else:
        problems: list[Row] = [{"problem": problem} for problem in found.problems]
        tables.append(Table("problems", "Problems", _PROBLEMS, problems))
    title, told = f"Evaluation set {found.name}", check_answer(found)
    tables = [replace(table, open=table.key != "systems") for table in tables]
    return Document(title, tuple(tables), command, {}, notes=found.notes, answer=told)


def known_document(found: KnownEvalSets, command: str) -> Document:
    """Return the sets that have names."""
    table = Table("rows", "Known sets", _KNOWN, _dicts(found.rows))
    formats = Table("formats", "Formats of sets", _FORMATS, _dicts(found.formats))
    told = known_answer(found)
    tables = replace(table, open=True), replace(formats, open=True)
    return Document("Known sets", tables, command, {}, notes=found.notes, answer=told)


def flooded_document(found: FloodedSet, command: str) -> Document:
    """Return the answers that were flooded."""
    table = Table("rows", "Flooded answers", _FLOODED, _dicts(found.rows))
    return Document(found.evalset.name, (table,), command, {}, notes=found.notes)


_DRAWN = (
    Column("unit", "Unit", help="Id of the segment or group to label."),
    Column("of", "Of", help="Kind of the unit: segment or group."),
    Column("probability", "Probability", digits=4, help="Probability with which it was drawn."),
    Column("reason", "Reason"),
    Column("round", "Round"),
)


def drawn_document(found: DrawnUnits, command: str) -> Document:
    """Return the units that were drawn."""
    table = Table("rows", "Units to label", _DRAWN, _dicts(found.rows))
    return Document(f"Draws from {found.name}", (table,), command, {}, notes=found.notes)


def judges_document(found: JudgeAgreement, command: str) -> Document:
    """Return agreement in each dimension, and each judge compared with the others."""
    rows, judges = ([row._asdict() for row in some] for some in (found.rows, found.judges))
    agreement = Table("rows", "Agreement between judges", _AGREEMENT, rows)
    each = Table("judges", "Each judge", _judge_columns(found), judges, group="dimension")
    told = judges_answer(found)
    title, basis = f"The judges of {found.name}", judges_basis() if told else ""
    blocks = (replace(agreement, open=True), each)
    return Document(title, blocks, command, {}, found.notes, answer=told, basis=basis)


def _judge_columns(found: JudgeAgreement) -> tuple[Column, ...]:
    """Return the columns of judges: kinds and adjudicated values where there are any."""
    kinds = [_KIND] if any(row.kind for row in found.judges) else []
    settled = _ADJUDICATED if any(row.adjudicated for row in found.judges) else ()
    *first, note = _JUDGES
    return (*first[:2], *kinds, *first[2:], *settled, note)


def _dicts(rows: Sequence[Any]) -> list[Row]:
    return [row._asdict() for row in rows]


_COLUMNS = (
    Column("heading", "Metric", readers="people"),
    *columns("programs", metric="Metric", summary="Summary", scale="Scale"),
    Column("setting", "Setting", help="Written after the metric's name: bleu:tok=zh,eff=yes."),
    Column("default", "Default"),
    Column("meaning", "Meaning", wrap=True),
    Column("values", "Values", wrap=True),
)


def catalogue_document(catalogue: MetricCatalogue, command: str) -> Document:
    """Return the list of metrics and their settings."""
    rows = tuple(
        {"heading": f"{row.title} ({row.range}): {row.summary}", **row._asdict()}
        for row in catalogue.rows
    )
    table = Table("rows", "Metrics", _COLUMNS, rows, group="heading")
    return Document("Metrics", (table,), command, {}, catalogue.notes)
