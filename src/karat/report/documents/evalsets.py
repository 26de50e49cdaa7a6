"""The documents of `karat data`: contents and problems of a set, its judges, the known sets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isnan
from typing import TYPE_CHECKING

from karat.evalset.conversion import DimensionCount, EvalSetCheck
from karat.evalset.inspection import NextCommand
from karat.evalset.judgements import MODEL, raters_unnamed
from karat.evalset.loading import KnownEvalSets
from karat.meta.judge_agreement import MIN_SHARED, JudgeAgreement
from karat.metrics.names import MetricCatalogue
from karat.report.model import MAX_SENTENCES, Document, Table, format_count, join_names
from karat.results import Column, number, people_column, program_columns

if TYPE_CHECKING:
    from karat.estimation.planning import DrawnUnits
    from karat.evalset.flooding import FloodedSet
    from karat.evalset.sets import EvalSet


def check_answer(check: EvalSetCheck) -> tuple[str, ...]:
    """Return whether the set can be used, its size and its gaps."""
    if check.evalset is None:
        count = format_count(check.problem_count or len(check.problems), "problem")
        return (f"{check.name} cannot be used: {count}.",)
    sentences = _content_sentences(check, check.evalset)
    return (*sentences, f"Read as {check.reading}.") if check.reading else sentences


def _command_line(row: NextCommand) -> str:
    return f"{row.command}  # {row.purpose}"


def _content_sentences(check: EvalSetCheck, evalset: EvalSet) -> tuple[str, ...]:
    """Return the size of a usable set and its gaps."""
    row = check.rows[0]
    size = f"{format_count(row.systems, 'system')}, {format_count(row.segments, 'segment')}"
    usable = f"{check.name} can be used: {size}"
    if not row.judgements:
        return (f"{usable}, no judgements.",)
    judged = format_count(row.judgements, "judgement")
    if raters_unnamed(evalset.judgements.without_models().judges):
        judged += "; the raters are not named"
    else:
        judged += f" by {format_count(row.judges, 'judge')}"
    sentences = [f"{usable}, {judged}."]
    counts = {"missing output": row.missing, "empty output": row.empty}
    if not evalset.has_texts:
        counts = {}
        sentences.append("It has no texts.")
    counts["value off its scale"] = sum(dimension.off_scale for dimension in check.dimensions)
    gaps = [format_count(count, noun) for noun, count in counts.items() if count]
    if gaps:
        text = join_names(gaps).replace("value off its scales", "values off their scales")
        sentences.append(f"It has {text}.")
    return tuple(sentences)


# ------------------------------------------------------------------------------------- judges


def judges_answer(agreement: JudgeAgreement) -> tuple[str, ...]:
    """Return the agreement in each dimension, identical judges, and who is an outlier."""
    if agreement.rows and not any(row.shared for row in agreement.rows):
        people = [row.judge for row in agreement.judges if row.kind != MODEL]
        twins = any(row.identical for row in agreement.judges)
        reason = f"No output has two {'different ' * twins}judges"
        if raters_unnamed(people):
            reason = "The raters are not named"
        return (
            f"{reason}: their agreement cannot be measured.",
            *_identical_sentences(agreement),
            *_model_sentences(agreement),
        )
    few_shared = [row for row in agreement.rows if 0 < row.shared < MIN_SHARED]
    enough = [row for row in agreement.rows if row.shared >= MIN_SHARED]
    rows = [row for row in enough if not isnan(row.ordinal)]
    constant = [row.dimension for row in enough if isnan(row.ordinal)]
    sentences = []
    if len(rows) <= MAX_SENTENCES:
        for row in rows:
            r = "" if isnan(row.r) else f", mean r of two judges {row.r:.3f}"
            alpha = f"{row.dimension}: Krippendorff's ordinal alpha {row.ordinal:.3f}{r}"
            shared = format_count(row.shared, "output")
            sentences.append(f"{alpha} ({shared} with two judges or more).")
    else:
        low, high = (pick(rows, key=lambda row: row.ordinal) for pick in (min, max))
        sentences.append(
            f"Krippendorff's ordinal alpha is from {low.ordinal:.3f} ({low.dimension}) to "
            f"{high.ordinal:.3f} ({high.dimension}) in {len(rows)} dimensions."
        )
    if constant:
        sentences.append(
            f"{join_names(constant, MAX_SENTENCES)}: the judges gave only one value, so their "
            "agreement cannot be measured."
        )
    if few_shared:
        names = join_names([row.dimension for row in few_shared], MAX_SENTENCES)
        most = max(row.shared for row in few_shared)
        outputs = f"{format_count(most, 'output')} {'has' if most == 1 else 'have'}"
        amount = outputs if len(few_shared) == 1 else f"at most {outputs}"
        sentences.append(
            f"{names}: {amount} two judges, too few to state how far they agree "
            f"(at least {MIN_SHARED} are needed)."
        )
    sentences += _identical_sentences(agreement)
    flagged = list(dict.fromkeys(row.judge for row in agreement.judges if row.flagged))
    if flagged:
        verb = "is flagged as an outlier" if len(flagged) == 1 else "are flagged as outliers"
        sentences.append(f"{join_names(flagged)} {verb} in at least one dimension.")
    elif agreement.flaggable and not all(isnan(row.r) for row in agreement.judges):
        sentences.append("No judge is flagged as an outlier.")
    return (*sentences, *_model_sentences(agreement))


def _identical_sentences(agreement: JudgeAgreement) -> Iterator[str]:
    """Yield which judges are identical and count as one."""
    groups: dict[frozenset[str], list[str]] = {}
    for row in agreement.judges:
        if row.identical:
            members = frozenset((row.judge, *row.identical.split(", ")))
            groups.setdefault(members, []).append(row.dimension)
    for members, dimensions in groups.items():
        names = join_names(sorted(members))
        several_dimensions = len(agreement.rows) > 1
        scope = f" ({join_names(list(dict.fromkeys(dimensions)))})" if several_dimensions else ""
        yield f"{names} gave identical values{scope}: they count as one judge."


def _model_sentences(agreement: JudgeAgreement) -> Iterator[str]:
    rows = [row for row in agreement.judges if row.kind == MODEL and not isnan(row.r)]
    for row in rows[:MAX_SENTENCES]:
        outputs = format_count(row.shared, "output")
        yield (
            f"{row.dimension}: model {row.judge} has r {row.r:.3f} with the mean of people "
            f"({outputs})."
        )


_JUDGES_BASIS = (
    "Alpha is 1 for perfect agreement and 0 for chance. Krippendorff asks for 0.8, and takes "
    "0.667 as the least for tentative conclusions. An outlier's scores correlate clearly less "
    "with the mean of the other judges than is usual here."
)


_SET = (
    Column("name", "Set"),
    number("systems", "Systems"),
    number("segments", "Segments"),
    number("groups", "Groups", help="Documents or questions of the set."),
    number("references_min", "Min refs", help="Fewest references of a segment."),
    number("references_median", "Med. refs", 1, "Median of references.", detail=True),
    number("references_max", "Max refs", help="Most references of a segment."),
    number("judgements", "Judgements"),
    number("judges", "Judges"),
    number("missing", "Missing", help="Missing outputs."),
    number("empty", "Empty", help="Empty outputs."),
)
_SYSTEMS = (
    Column("system", "System"),
    number("outputs", "Outputs"),
    number("missing", "Missing"),
    number("empty", "Empty"),
    number("judged", "Judged", help="Segments with at least one judgement."),
    number("judgements", "Judgements"),
)


def _scale_text(row: DimensionCount) -> str | None:
    ends = ["?" if end is None else f"{end:g}" for end in (row.low, row.high)]
    return None if ends == ["?", "?"] else " to ".join(ends)


_DIMENSIONS = (
    Column("dimension", "Dimension"),
    Column("better", "Better"),
    people_column("scale", "Scale", _scale_text),
    *program_columns("low", "high"),
    number("judgements", "Judgements"),
    number("judges", "Judges"),
    number("items", "Outputs", help="Outputs with at least one judgement."),
    number("lowest", "Lowest", 2, "The lowest value that was given."),
    number("highest", "Highest", 2, "The highest value that was given."),
    number("off_scale", "Off scale", help="Values outside the scale."),
)
_TEXTS = (
    Column("texts", "Texts"),
    number("number", "Number"),
    number("characters", "Characters", 0, "Median number of characters."),
    number("longest", "Longest", help="Characters of the longest text."),
    Column("scripts", "Scripts", help="Scripts of at least a tenth of the letters."),
)
_ISSUES = (
    Column("problem", "Problem", wrap=True),
    number("number", "Number"),
    Column("first", "First", wrap=True),
)
_COMMANDS = Column("command", "Command"), Column("purpose", "Shows", wrap=True)
_KNOWN = (
    Column("name", "Set", help="The name that --set and karat data take."),
    Column("here", "Here", field="is_available", help="Whether it can be read here."),
    Column("format", "Format"),
    Column("about", "About", wrap=True),
    *program_columns("place"),
)
_FORMATS = (
    Column("format", "Format", help="The name that --read-as takes."),
    Column("about", "Files", wrap=True),
)
_FLOODED = Column("system", "System"), Column("segment", "Segment")


_AGREEMENT = (
    Column("dimension", "Dimension"),
    number("judges", "Judges"),
    number("outputs", "Outputs", help="Outputs with at least one judgement."),
    number("shared", "Shared", help="Outputs with at least two judges."),
    number("r", "r", 3, "Mean Pearson's r of pairs of judges."),
    number("r_systems", "r systems", 3, "Mean r of pairs, over system means."),
    number("nominal", "Nominal", 3, "Krippendorff's alpha of categories."),
    number("ordinal", "Ordinal", 3, "Krippendorff's alpha of ranks."),
    number("interval", "Interval", 3, "Krippendorff's alpha of distances."),
    number("icc", "ICC", 3, "ICC(2,1), where every judge saw every output."),
)
_JUDGES = (
    Column("dimension", "Dimension"),
    Column("judge", "Judge"),
    Column("kind", "Kind", help="person or model."),
    number("judgements", "Judgements"),
    number("mean", "Mean", 2),
    number("sd", "SD", 2, "Standard deviation of the judge's scores."),
    number("r", "r others", 3, "Pearson's r with the mean of the others."),
    *program_columns("shared", "flagged", "comparable", "identical", "adjudicated"),
    number("r_adjudicated", "r adj.", 3, "Pearson's r with adjudicated values."),
    Column("note", "", wrap=True),
)


def check_document(check: EvalSetCheck) -> Document:
    """Return the contents of a set or, if it cannot be read, its problems."""
    tables: list[Table] = []
    if check.evalset is not None:
        tables.append(Table("rows", "Contents", _SET, check.rows, open=True))
        tables.append(Table("systems", "Systems", _SYSTEMS, check.systems, open=False))
        if check.dimensions:
            dimensions = check.dimensions
            tables.append(Table("dimensions", "Dimensions", _DIMENSIONS, dimensions, open=True))
        if check.texts:
            tables.append(Table("texts", "Texts", _TEXTS, check.texts, open=True))
        if check.issues:
            tables.append(Table("issues", "Problems", _ISSUES, check.issues, open=True))
        if check.commands:
            rows = check.commands
            tables.append(
                Table("commands", "Next", _COMMANDS, rows, open=True, lines=_command_line)
            )
    else:
        tables.append(problems_table(check.problems, open=True))
    return Document(f"Evaluation set {check.name}", tables, answer=check_answer(check))


def problems_table(problems: Sequence[str], *, open: bool | None = None) -> Table:
    """Return the problems of a set or store, a row each."""
    problem = Column("problem", "Problem", wrap=True, value=str)
    return Table("problems", "Problems", (problem,), problems, open=open)


def known_document(known_sets: KnownEvalSets) -> Document:
    """Return the sets that have names: how many are available, and how many formats can be read."""
    tables = (
        Table("rows", "Known sets", _KNOWN, known_sets.rows, open=True),
        Table("formats", "Formats of sets", _FORMATS, known_sets.formats, open=True),
    )
    n_readable = sum(row.is_available for row in known_sets.rows)
    sets = f"{n_readable} of {len(known_sets.rows)} known sets can be read here"
    formats = f"Sets of your own can have any of {len(known_sets.formats)} formats"
    return Document("Known sets", tables, answer=(f"{sets}. {formats}.",))


def flooded_document(flooded: FloodedSet) -> Document:
    """Return the answers that were flooded."""
    table = Table("rows", "Flooded answers", _FLOODED, flooded.rows)
    return Document(flooded.evalset.name, (table,))


_DRAWN = (
    Column("unit", "Unit", help="Id of the segment or group to label."),
    Column("of", "Of", help="Kind of the unit: segment or group."),
    Column("probability", "Probability", digits=4, help="Probability with which it was drawn."),
    Column("reason", "Reason"),
    Column("round", "Round"),
)


def drawn_document(drawn_units: DrawnUnits) -> Document:
    """Return the units that were drawn."""
    table = Table("rows", "Units to label", _DRAWN, drawn_units.rows)
    return Document(f"Draws from {drawn_units.name}", (table,))


def judges_document(agreement: JudgeAgreement) -> Document:
    """Return agreement in each dimension, and each judge compared with the others.

    Kinds of judges and adjudicated values have columns where there are any.
    """
    judges = agreement.judges
    unused = set() if any(row.kind for row in judges) else {"kind"}
    if not any(row.adjudicated for row in judges):
        unused |= {"adjudicated", "r_adjudicated"}
    used_columns = [column for column in _JUDGES if column.key not in unused]
    blocks = (
        Table("rows", "Agreement between judges", _AGREEMENT, agreement.rows, open=True),
        Table("judges", "Each judge", used_columns, judges, group="dimension"),
    )
    answer = judges_answer(agreement)
    title, basis = f"The judges of {agreement.name}", _JUDGES_BASIS if answer else ""
    return Document(title, blocks, answer=answer, basis=basis)


_CATALOG = (
    people_column("heading", "Metric", lambda row: f"{row.title} ({row.range}): {row.summary}"),
    *program_columns("metric", "summary", "scale"),
    Column("setting", "Setting", help="Written after the metric's name: bleu:tok=zh,eff=yes."),
    Column("default", "Default"),
    Column("meaning", "Meaning", wrap=True),
    Column("values", "Values", wrap=True),
)


def catalogue_document(catalogue: MetricCatalogue) -> Document:
    """Return the list of metrics and their settings."""
    table = Table("rows", "Metrics", _CATALOG, catalogue.rows, group="heading")
    return Document("Metrics", (table,))
