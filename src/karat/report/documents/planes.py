"""The reports of `plane`: the R^2 table in the paper's layout, what to pick, and what to expect."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from karat.meta.plane import ALPHAS, BLEU_CELL, ORDERS, PlaneCell, PlaneFit, worth
from karat.meta.plane_study import (
    GUIDELINES,
    MIN_PLANE_SYSTEMS,
    TASKS,
    PlaneStudy,
    Recommendation,
    Region,
    Verdict,
)
from karat.report.charts.models import (
    Area,
    CellMark,
    HeatMap,
    Outline,
    Regions,
    Spot,
    Stretch,
    chart_figure,
)
from karat.report.model import (
    Block,
    Cell,
    Column,
    Document,
    Figure,
    Gallery,
    Table,
    columns,
    listing,
    several,
    span,
)
from karat.stats.significance import UNDECIDED

if TYPE_CHECKING:
    from karat.meta.plane import PlaneFit
    from karat.meta.plane_study import PlaneStudy


MOST_TOLD = 4
"""Dimensions that have sentences of their own."""
_WORDS = {"holds": "holds", "fails": "fails", UNDECIDED: "is undecided"}


def study_answer(study: PlaneStudy) -> tuple[str, ...]:
    """Return the warning if systems are few, what each dimension shows, and the prediction."""
    fits = [fit for fit in study.fits if not fit.group]
    held = [one for fit, one in zip(study.fits, study.verdicts, strict=False) if not fit.group]
    by_chance = [fit for fit in fits if _kind(fit) == "chance"]
    told = list(_few(fits))
    if len(by_chance) > 1:
        told.append(_chance(by_chance))
    left = [fit for fit in fits if len(by_chance) < 2 or fit not in by_chance]
    told += [sentence for fit in left[:MOST_TOLD] for sentence in _cell(fit)]
    return (*told, *_predictions(fits, held, study))


def _chance(fits: Sequence[PlaneFit]) -> str:
    names, p = listing([fit.dimension for fit in fits]), min(fit.p for fit in fits)
    return f"No cell agrees significantly better than chance for {names}: p is {p:.3f} or more."


def plane_answer(fit: PlaneFit) -> tuple[str, ...]:
    """Return the warning if systems are few, and what to use."""
    return (*_few([fit]), *_cell(fit))


def plane_basis(fits: Sequence[PlaneFit]) -> str:
    """Return what the answer rests on."""
    fit = fits[0]
    counts = several(len(fit.systems), "system"), several(fit.segments, "segment")
    told = f"{', '.join(counts)}, {several(fit.judgements, 'judged output')}."
    told += " R^2: squared Pearson's r between system scores and mean human scores."
    return f"{told} p: permutation test of the largest of 44 R^2."


def _few(fits: Sequence[PlaneFit]) -> Iterator[str]:
    fewest = min(len(fit.systems) for fit in fits)
    if fewest < MIN_PLANE_SYSTEMS:
        verb = "is" if fewest == 1 else "are"
        yield f"{several(fewest, 'system')} {verb} too few to tell cells of the plane apart."


def _kind(fit: PlaneFit) -> str:
    """Return one of none, few, chance, found: what can be said of the largest R^2."""
    if fit.maximum is None:
        return "none"
    if len(fit.systems) < MIN_PLANE_SYSTEMS:
        return "few"
    return "found" if fit.significant else "chance"


def _cell(fit: PlaneFit) -> Iterator[str]:
    """Yield the cell to use, or why none can be chosen."""
    kind = _kind(fit)
    if fit.maximum is None:
        yield f"No cell has a positive correlation with {fit.dimension}."
    elif kind == "found":
        yield _advice(fit)
    else:
        row = fit.row(fit.maximum)
        ends = f" {span(100 * row.low, 100 * row.high, 0)}" if row.low == row.low else ""
        largest = f"the largest R^2 is {100 * row.r2:.0f}%{ends} at {fit.maximum}, p = {fit.p:.3f}"
        chance = "no cell agrees significantly better than chance: " if kind == "chance" else ""
        yield f"For {fit.dimension}, {chance}{largest}."


def _advice(fit: PlaneFit) -> str:
    """Return how the cross-validated pick does, where the maximum is significant."""
    picking, bleu = (_share(x) for x in (fit.picking, fit.row(BLEU_CELL).q2))
    shares = f"{picking} of the variance of left-out systems, BLEU's point {bleu}"
    found = worth(fit)
    if found == "pick":
        told = f"For {fit.dimension}, the cross-validated pick is {fit.pick}"
        return f"{told}: picking a cell explains {shares}."
    if found == "neither":
        told = f"For {fit.dimension}, neither a picked cell nor BLEU's point predicts left-out"
        return f"{told} systems better than the mean of the others does."
    return f"For {fit.dimension}, picking a cell does not pay: it explains {shares}."


def _predictions(
    fits: Sequence[PlaneFit], held: Sequence[Verdict], study: PlaneStudy
) -> Iterator[str]:
    """Yield what became of the paper's prediction, if one was asked for and can be tested."""
    known = [(fit, one) for fit, one in zip(fits, held, strict=False) if one.low == one.low]
    if len(known) == 1:
        fit, found = known[0]
        means = f"mean R^2 {_share(found.inside)} there and {_share(found.outside)} elsewhere"
        ends = span(100 * found.low, 100 * found.high, 1)
        told = f"The paper's prediction for {fit.dimension}, {study.region},"
        yield f"{told} {_WORDS[found.words]}: {means}, difference {ends} points."
        return
    said = []
    for words, verb in _WORDS.items():
        names = [fit.dimension for fit, one in known if one.words == words]
        said += [f"{verb} for {listing(names)}"] if names else []
    if said:
        yield f"The paper's prediction, {study.region}, {listing(said)}."


def _share(share: float) -> str:
    return "an undefined share" if math.isnan(share) else f"{100 * share:.1f}%"


def recommendation_answer(found: Recommendation) -> tuple[str, ...]:
    """Return the metric that the paper recommends, and a warning."""
    use = f"Use {listing(list(dict.fromkeys(row.metric for row in found.rows)))}"
    task = TASKS[found.task][2].split(":")[0]
    if not found.tables:
        told = f"{use} for {task} with the guideline {found.guideline}: the paper predicts it"
        return (f"{told}, but measured no such task.",)
    best = [
        f"R^2 {table.best[2]}% in the paper's Table {table.number} ({table.description})"
        for table in found.tables
    ]
    told = f"{use} for {task} with the guideline {found.guideline}: {listing(best)}"
    return (f"{told}.", "The paper has few systems and no intervals: check it on your own data.")


_CELLS = (
    *columns(dimension="Dimension", alpha="Alpha", n="N", r="r", r2="R^2", low="Low", high="High"),
    *columns(wins="Wins", q2="Left out", predicted="Predicted"),
)
_LEFT_OUT = "Cross-validated R^2 (1 - PRESS/SST): how well it predicts left-out systems."
_PICKING = "Cross-validated R^2 of picking the best cell of the other systems."
_BLEU = "Cross-validated R^2 of BLEU's point, AEv(1,4)."
_POINTS = (
    Column("what", "Point"),
    Column("cell", "Cell", help="AEv(alpha, N)."),
    Column("r2", "R^2 %", 1, align="right", help="Squared Pearson's r with the human scores."),
    Column("low", "Low", 1, align="right", help="Lower end of its 95% bootstrap interval."),
    Column("high", "High", 1, align="right", help="Upper end of its 95% bootstrap interval."),
    Column("wins", "Wins %", 1, align="right", help="Resamples in which it is the best cell."),
    Column("q2", "Left-out R^2 %", 1, align="right", help=_LEFT_OUT),
)
_PERCENT = ("r2", "low", "high", "q2")
_OTHERS = (
    Column("metric", "Metric"),
    Column("references", "References", help="Numbers of those that were used, or all."),
    Column("r", "r", 2, align="right", help="Pearson's r with the human scores."),
    *(_POINTS[k] for k in (2, 3, 4, 6)),
)
_GROUPS = (
    Column("group", "Group"),
    Column("segments", "Segments", align="right"),
    Column("maximum", "Maximum", help="The best cell, AEv(alpha, N)."),
    *_POINTS[2:5],
    Column("p", "p", 3, align="right", help="Permutation test of the largest R^2 of all cells."),
    Column("picking", "Pick: left-out R^2 %", 1, align="right", help=_PICKING),
    Column("bleu", "BLEU's: left-out R^2 %", 1, align="right", help=_BLEU),
    Column("prediction", "Prediction"),
)
_GROUP_PERCENT = ("r2", "low", "high", "picking", "bleu")
_RECOMMENDED = (
    Column("metric", "Metric", help="Ready for -m."),
    *columns(alpha="Alpha", n="N"),
    Column("rests_on", "Rests on", wrap=True),
)


def study_document(study: PlaneStudy, command: str) -> Document:
    """Return the planes of some dimensions of one set, and of its groups."""
    blocks: list[Block] = [_planes(study.fits, study.region)]
    for fit in study.fits:
        blocks += _plane_tables(fit)
        if not fit.group:
            blocks += _group_tables(study, fit.dimension)
    plain = _document(study, study.evalset.name, blocks, command, study.groups)
    return replace(plain, answer=study_answer(study), basis=plane_basis(study.fits))


def plane_fit_document(fit: PlaneFit, command: str) -> Document:
    """Return the plane of one dimension."""
    plain = _document(fit, fit.name, [_planes([fit], None), *_plane_tables(fit)], command)
    return replace(plain, answer=plane_answer(fit), basis=plane_basis([fit]))


def _planes(fits: Sequence[PlaneFit], region: Region | None) -> Gallery:
    """Return the planes side by side; the tables say the same in a terminal."""
    charts = [replace(plane_chart(fit, region), narrow=True) for fit in fits]
    figures = (replace(chart_figure(chart), caption="", sketch=None) for chart in charts)
    return Gallery("R^2 of AEv(alpha, N) with human scores", tuple(figures), charts[0].caption)


def _plane_tables(fit: PlaneFit) -> list[Table]:
    points = [] if fit.group else [_points(fit)]
    return [plane_table(fit), *points, *_other_metrics(fit)]


def _document(
    found: PlaneFit | PlaneStudy,
    name: str,
    blocks: list[Block],
    command: str,
    groups: Sequence[Any] = (),
) -> Document:
    blocks.append(_programs("rows", "Cells", found.rows, _CELLS))
    if found.compared:
        blocks.append(_programs("beside", "Other metrics", found.compared))
    if groups:
        blocks.append(_programs("groups", "Groups of segments", groups))
    title = f"The evaluation plane on {name}"
    return Document(title, tuple(blocks), command, found.signatures, found.notes)


def _programs(
    key: str, title: str, rows: Sequence[Any], named: tuple[Column, ...] | None = None
) -> Table:
    """Return rows as they are, for JSON and TSV; groups only where there are any."""
    fields = rows[0]._fields
    shown = named or columns(**{f: f.replace("_", " ").capitalize() for f in fields})
    if any(row.group for row in rows):
        first, *rest = (column for column in shown if column.key != "group")
        shown = (first, *columns(group="Group"), *rest)
    else:
        shown = tuple(column for column in shown if column.key != "group")
    return Table(key, title, shown, tuple(row._asdict() for row in rows), readers="programs")


def _in_percent(row: Any, keys: Sequence[str]) -> dict[str, Cell]:
    found: dict[str, Cell] = row._asdict()
    return found | {key: 100 * getattr(row, key) for key in keys}


def _other_metrics(fit: PlaneFit) -> list[Table]:
    """Return the agreement of other metrics, for people, if any were asked for."""
    if not fit.compared:
        return []
    rows = tuple(_in_percent(row, _PERCENT) for row in fit.compared)
    title = f"Other metrics, {fit.name}"
    return [Table(f"beside-{fit.name}", title, _OTHERS, rows, readers="people")]


def _group_tables(study: PlaneStudy, dimension: str) -> list[Table]:
    """Return a dimension's groups, a line each, for people, if there are any."""
    mine = [row for row in study.groups if row.dimension == dimension]
    if not mine:
        return []
    rows = tuple(_in_percent(r, _GROUP_PERCENT) | {"group": r.group or "all"} for r in mine)
    shown = _GROUPS if study.region else _GROUPS[:-1]
    title = f"Groups of segments, {dimension}"
    return [Table(f"groups-{dimension}", title, shown, rows, readers="people")]


def layout(key: str, title: str, rows: Mapping[int, Sequence[float]]) -> Table:
    """Return numbers as the paper prints them: N from the highest down, alpha to the right."""
    heads = [Column(f"alpha{k}", f"{a:g}", 1, align="right") for k, a in enumerate(ALPHAS)]
    shown = (Column("n", "N / alpha", align="right"), *heads)
    ordered = sorted(rows, reverse=True)
    cells = [{"n": n, **{f"alpha{k}": x for k, x in enumerate(rows[n])}} for n in ordered]
    known = [x for row in rows.values() for x in row if x > 0]  # a NaN is not
    largest = max(known, default=math.nan)
    places = ((i, k, x) for i, n in enumerate(ordered) for k, x in enumerate(rows[n]))
    top = frozenset((i, f"alpha{k}") for i, k, x in places if x == largest)
    return Table(key, title, shown, tuple(cells), emphasis=top, readers="people")


def plane_table(fit: PlaneFit) -> Table:
    """Return R^2 in percent; cells with a negative correlation have a minus sign."""
    rows = dict(zip(reversed(ORDERS), fit.table(fit.signed).tolist(), strict=True))
    return layout(f"plane-{fit.name}", f"R^2 in percent, {fit.name}", rows)


def plane_chart(fit: PlaneFit, region: Region | None) -> HeatMap:
    """Return the plane as a heat map: its maximum, its pick, BLEU's point, the prediction."""
    high = list(reversed(ORDERS))
    signs = {"maximum": "★", "cross-validated pick": "✓", "BLEU's point": "B"}
    named = [(sign, name, fit.points[name]) for name, sign in signs.items()]
    values = fit.table(fit.signed).tolist()
    negative = any(x < 0 for row in values for x in row)
    minus = " A minus sign marks a negative correlation." if negative else ""
    marks = [
        CellMark(high.index(cell.n), ALPHAS.index(cell.alpha), sign, name)
        for sign, name, cell in named
        if cell is not None
    ]
    outline = None
    if region is not None:
        within = [k for k, alpha in enumerate(ALPHAS) if region.holds(alpha, region.n_low)]
        rows = high.index(region.n_high), high.index(region.n_low)
        outline = Outline(rows, (within[0], within[-1]), "predicted by the paper")
    title, alphas = f"The plane: {fit.name}", [f"{alpha:g}" for alpha in ALPHAS]
    caption = f"R^2 in percent with the human scores of systems.{minus}"
    chart = HeatMap(title, "N", "alpha", list(map(str, high)), alphas, values, 1, marks, outline)
    return replace(chart, low=0, high=100, caption=caption)


def _points(fit: PlaneFit) -> Table:
    rows: list[dict[str, Cell]] = []
    for what, cell in fit.points.items():
        if cell is not None:
            shares = fit.row(cell)._asdict()
            percent = {key: 100 * shares[key] for key in ("r2", "low", "high", "wins", "q2")}
            rows.append({"what": what, "cell": str(cell), **percent})
    title = f"Points of the plane, {fit.dimension}"
    return Table(f"points-{fit.dimension}", title, _POINTS, tuple(rows), readers="people")


def recommendation_document(found: Recommendation, command: str) -> Document:
    """Return what the paper says of a task and a guideline, and on what that rests."""
    task, guideline = TASKS[found.task][2], GUIDELINES[found.guideline][2]
    rows = tuple(row._asdict() for row in found.rows)
    chart = regions_chart(found)
    figure = Figure(chart.title, chart, chart.caption)
    tables: list[Block] = [figure, Table("rows", "Recommended", _RECOMMENDED, rows)]
    for table in found.tables:
        name = (
            f"The paper's Table {table.number}: R^2 in percent ({table.description}; legible rows)"
        )
        tables.append(layout(f"paper-{table.number}", name, table.rows))
    title = f"{task.capitalize()}; {found.guideline}: {guideline}"
    told = recommendation_answer(found)
    return Document(title, tuple(tables), command, {}, found.notes, answer=told)


def regions_chart(found: Recommendation) -> Regions:
    """Return the paper's Figure 1: tasks and guidelines on the plane, what was asked marked."""
    areas, spots = [], []
    for one in found.placed:
        region = one.region
        numbers = ", ".join(map(str, one.tables))
        table = f": Table{'s' * (len(one.tables) > 1)} {numbers}" if one.tables else ""
        across = region.alpha_low, region.alpha_high
        up = region.n_low - 0.5, region.n_high + 0.5
        areas.append(Area(across, up, f"{one.task}, {one.guideline}", one.asked))
        spots += [Spot(*cell, f"{PlaneCell(*cell)}{table}", one.asked) for cell in one.best]
    tasks = {name: (low - 0.5, high + 0.5) for name, (low, high, _) in TASKS.items()}
    guidelines = {name: (low, high) for name, (low, high, _) in GUIDELINES.items()}
    return Regions(
        "The evaluation plane",
        "alpha: precision/recall ratio of the guideline",
        "N: faithfulness/compactness ratio of the task",
        _spans(guidelines),
        _spans(tasks),
        ALPHAS,
        ORDERS,
        areas,
        spots,
        ("evaluated in the paper", f"{found.task}, {found.guideline}", "best cell in the paper"),
        "Where a task and a guideline lie, and so which AEv(alpha, N) is predicted to agree best "
        "with such human scores (Soricut and Brill 2004, Figure 1).",
    )


def _spans(named: Mapping[str, tuple[float, float]]) -> list[Stretch]:
    """Return the stretches of an axis; names that share one stand together."""
    together: dict[tuple[float, float], list[str]] = {}
    for name, ends in named.items():
        together.setdefault(ends, []).append(name)
    return [Stretch(*ends, ", ".join(names)) for ends, names in together.items()]
