"""The reports of `plane`: the R^2 table in the paper's layout, what to pick, and what to expect."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

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
    CellChart,
    CellMark,
    Outline,
    Point,
    Stretch,
    StretchAxis,
    XYChart,
)
from karat.report.model import (
    MAX_SENTENCES,
    Block,
    Document,
    Figure,
    Gallery,
    Table,
    data_table,
    format_count,
    format_interval,
    join_names,
)
from karat.results import Column, number
from karat.stats.significance import UNDECIDED

_VERDICT_VERBS = {"holds": "holds", "fails": "fails", UNDECIDED: "is undecided"}


def study_answer(study: PlaneStudy) -> tuple[str, ...]:
    """Return the warning if systems are few, what each dimension shows, and the prediction."""
    fits = [fit for fit in study.fits if not fit.group]
    pairs = zip(study.fits, study.verdicts, strict=False)
    verdicts = [verdict for fit, verdict in pairs if not fit.group]
    by_chance = [fit for fit in fits if _conclusion_kind(fit) == "chance"]
    sentences = list(_too_few_sentence(fits))
    if len(by_chance) > 1:
        names, p = join_names([fit.dimension for fit in by_chance]), min(fit.p for fit in by_chance)
        chance = f"No cell agrees significantly better than chance for {names}"
        sentences.append(f"{chance}: p is {p:.3f} or more.")
    remaining_fits = [fit for fit in fits if len(by_chance) < 2 or fit not in by_chance]
    sentences += map(_cell_sentence, remaining_fits[:MAX_SENTENCES])
    return (*sentences, *_prediction_sentences(fits, verdicts, study))


def plane_answer(fit: PlaneFit) -> tuple[str, ...]:
    """Return the warning if systems are few, and what to use."""
    return (*_too_few_sentence([fit]), _cell_sentence(fit))


def plane_basis(fits: Sequence[PlaneFit]) -> str:
    """Return the data and tests behind the answer."""
    fit = fits[0]
    counts = format_count(len(fit.systems), "system"), format_count(fit.segments, "segment")
    basis = f"{', '.join(counts)}, {format_count(fit.judgements, 'judged output')}."
    basis += " R^2: squared Pearson's r between system scores and mean human scores."
    return f"{basis} p: permutation test of the largest of 44 R^2."


def _too_few_sentence(fits: Sequence[PlaneFit]) -> Iterator[str]:
    fewest = min(len(fit.systems) for fit in fits)
    if fewest < MIN_PLANE_SYSTEMS:
        verb = "is" if fewest == 1 else "are"
        yield f"{format_count(fewest, 'system')} {verb} too few to tell cells of the plane apart."


def _conclusion_kind(fit: PlaneFit) -> str:
    """Return none, few, chance or found: the conclusion about the largest R^2."""
    if fit.maximum is None:
        return "none"
    if len(fit.systems) < MIN_PLANE_SYSTEMS:
        return "few"
    return "found" if fit.significant else "chance"


def _cell_sentence(fit: PlaneFit) -> str:
    """State the largest R^2 or, if it is significant, how the cross-validated pick does."""
    kind = _conclusion_kind(fit)
    if fit.maximum is None:
        return f"No cell has a positive correlation with {fit.dimension}."
    if kind != "found":
        row = fit.row(fit.maximum)
        ends = f" {format_interval(100 * row.low, 100 * row.high, 0)}" if row.low == row.low else ""
        largest = f"the largest R^2 is {100 * row.r2:.0f}%{ends} at {fit.maximum}, p = {fit.p:.3f}"
        chance = "no cell agrees significantly better than chance: " if kind == "chance" else ""
        return f"For {fit.dimension}, {chance}{largest}."
    picking, bleu = (_percent_text(x) for x in (fit.picking, fit.row(BLEU_CELL).q2))
    shares = f"{picking} of the variance of left-out systems, BLEU's point {bleu}"
    conclusion = worth(fit)
    if conclusion == "pick":
        sentence = f"For {fit.dimension}, the cross-validated pick is {fit.pick}"
        return f"{sentence}: picking a cell explains {shares}."
    if conclusion == "neither":
        sentence = f"For {fit.dimension}, neither a picked cell nor BLEU's point predicts left-out"
        return f"{sentence} systems better than the mean of the others does."
    return f"For {fit.dimension}, picking a cell does not pay: it explains {shares}."


def _prediction_sentences(
    fits: Sequence[PlaneFit], verdicts: Sequence[Verdict], study: PlaneStudy
) -> Iterator[str]:
    """Yield whether the paper's prediction holds, if one was requested and can be tested."""
    pairs = zip(fits, verdicts, strict=False)
    tested = [(fit, outcome) for fit, outcome in pairs if not math.isnan(outcome.low)]
    if len(tested) == 1:
        fit, verdict = tested[0]
        inside, outside = _percent_text(verdict.inside), _percent_text(verdict.outside)
        means = f"mean R^2 {inside} there and {outside} elsewhere"
        ends = format_interval(100 * verdict.low, 100 * verdict.high, 1)
        prediction = f"The paper's prediction for {fit.dimension}, {study.region},"
        yield f"{prediction} {_VERDICT_VERBS[verdict.words]}: {means}, difference {ends} points."
        return
    verdict_phrases = []
    for words, verb in _VERDICT_VERBS.items():
        names = [fit.dimension for fit, outcome in tested if outcome.words == words]
        verdict_phrases += [f"{verb} for {join_names(names)}"] if names else []
    if verdict_phrases:
        yield f"The paper's prediction, {study.region}, {join_names(verdict_phrases)}."


def _percent_text(share: float) -> str:
    return "an undefined share" if math.isnan(share) else f"{100 * share:.1f}%"


def recommendation_answer(recommendation: Recommendation) -> tuple[str, ...]:
    """Return the metric that the paper recommends, and a warning."""
    use = f"Use {join_names(list(dict.fromkeys(row.metric for row in recommendation.rows)))}"
    task = TASKS[recommendation.task][2].split(":")[0]
    advice = f"{use} for {task} with the guideline {recommendation.guideline}"
    if not recommendation.tables:
        return (f"{advice}: the paper predicts it, but measured no such task.",)
    best = [
        f"R^2 {table.best[2]}% in the paper's Table {table.number} ({table.description})"
        for table in recommendation.tables
    ]
    return (
        f"{advice}: {join_names(best)}.",
        "The paper has few systems and no intervals: check it on your own data.",
    )


def _percent(key: str, title: str, help: str) -> Column:
    def value(row: Any) -> float:
        share: float = row[key] if isinstance(row, dict) else getattr(row, key)
        return 100 * share

    return number(key, title, 1, help, value=value)


_R2 = (
    _percent("r2", "R^2 %", "Squared Pearson's r with the human scores."),
    _percent("low", "Low", "Lower end of its 95% bootstrap interval."),
    _percent("high", "High", "Upper end of its 95% bootstrap interval."),
)
_PRESS = "Cross-validated R^2 (1 - PRESS/SST): how well it predicts left-out systems."
_LEFT_OUT = _percent("q2", "Left-out R^2 %", _PRESS)
_PICK = "Cross-validated R^2 of picking the best cell of the other systems."
_POINTS = (
    Column("point", "Point"),
    Column("cell", "Cell", help="AEv(alpha, N)."),
    *_R2,
    _percent("wins", "Wins %", "Resamples in which it is the best cell."),
    _LEFT_OUT,
)
_OTHERS = (
    Column("metric", "Metric"),
    Column("references", "References", help="Numbers of those that were used, or all."),
    number("r", "r", 2, "Pearson's r with the human scores."),
    *_R2,
    _LEFT_OUT,
)
_GROUPS = (
    Column("group", "Group", value=lambda row: row.group or "all"),
    number("segments", "Segments"),
    Column("maximum", "Maximum", help="The best cell, AEv(alpha, N)."),
    *_R2,
    number("p", "p", 3, "Permutation test of the largest R^2 of all cells.", positive=True),
    _percent("picking", "Pick: left-out R^2 %", _PICK),
    _percent("bleu", "BLEU's: left-out R^2 %", "Cross-validated R^2 of BLEU's point, AEv(1,4)."),
    Column("prediction", "Prediction"),
)
_RECOMMENDED = (
    Column("metric", "Metric", help="Ready for -m."),
    Column("alpha", "Alpha"),
    Column("n", "N"),
    Column("rests_on", "Rests on", wrap=True),
)


def study_document(study: PlaneStudy) -> Document:
    """Return the planes of some dimensions of one set, and of its groups."""
    blocks: list[Block] = [_plane_gallery(study.fits, study.region)]
    for fit in study.fits:
        blocks += _plane_tables(fit)
        rows = [row for row in study.groups if row.dimension == fit.dimension]
        if rows and not fit.group:
            group_columns = _GROUPS if study.region else _GROUPS[:-1]
            key, title = f"groups-{fit.dimension}", f"Groups of segments, {fit.dimension}"
            blocks.append(Table(key, title, group_columns, rows, readers="people"))
    blocks += _data_tables(study, study.groups)
    title = f"The evaluation plane on {study.evalset.name}"
    return Document(title, blocks, answer=study_answer(study), basis=plane_basis(study.fits))


def plane_fit_document(fit: PlaneFit) -> Document:
    """Return the plane of one dimension."""
    gallery = _plane_gallery([fit], None)
    blocks: tuple[Block, ...] = (gallery, *_plane_tables(fit), *_data_tables(fit))
    title = f"The evaluation plane on {fit.name}"
    return Document(title, blocks, answer=plane_answer(fit), basis=plane_basis([fit]))


def _plane_gallery(fits: Sequence[PlaneFit], region: Region | None) -> Gallery:
    """Return the planes side by side; a terminal has tables instead."""
    charts = [replace(plane_chart(fit, region), narrow=True) for fit in fits]
    figures = tuple(Figure(chart.title, chart) for chart in charts)
    return Gallery("R^2 of AEv(alpha, N) with human scores", figures, charts[0].caption)


def _plane_tables(fit: PlaneFit) -> Iterator[Table]:
    """Yield the plane, its points and other metrics, for people."""
    yield plane_table(fit)
    if not fit.group:
        points = [
            {"point": name, "cell": str(cell), **fit.row(cell)._asdict()}
            for name, cell in fit.points.items()
            if cell is not None
        ]
        key, title = f"points-{fit.dimension}", f"Points of the plane, {fit.dimension}"
        yield Table(key, title, _POINTS, points, readers="people")
    if fit.compared:
        key, title = f"beside-{fit.name}", f"Other metrics, {fit.name}"
        yield Table(key, title, _OTHERS, fit.compared, readers="people")


def _data_tables(planes: PlaneFit | PlaneStudy, groups: Sequence[Any] = ()) -> Iterator[Table]:
    """Yield all fields of the rows, for JSON and TSV."""
    tables = {"rows": planes.rows, "beside": planes.compared, "groups": groups}
    for key, rows in tables.items():
        if rows:
            first, *fields = (field for field in rows[0]._fields if field != "group")
            group = ["group"] if any(row.group for row in rows) else []
            yield data_table(key, [first, *group, *fields], rows)


def paper_table(key: str, title: str, rows: Mapping[int, Sequence[float]]) -> Table:
    """Return numbers as the paper prints them: N from the highest down, alpha to the right."""
    heads = [number(f"alpha{k}", f"{a:g}", 1) for k, a in enumerate(ALPHAS)]
    table_columns = (number("n", "N / alpha"), *heads)
    ordered = sorted(rows, reverse=True)
    cells = [{"n": n, **{f"alpha{k}": x for k, x in enumerate(rows[n])}} for n in ordered]
    positive_values = [x for row in rows.values() for x in row if x > 0]  # a NaN is not
    largest = max(positive_values, default=math.nan)
    places = ((i, k, x) for i, n in enumerate(ordered) for k, x in enumerate(rows[n]))
    top = frozenset((i, f"alpha{k}") for i, k, x in places if x == largest)
    return Table(key, title, table_columns, tuple(cells), emphasis=top, readers="people")


def plane_table(fit: PlaneFit) -> Table:
    """Return R^2 in percent; cells with a negative correlation have a minus sign."""
    rows = dict(zip(reversed(ORDERS), fit.table(fit.signed).tolist(), strict=True))
    return paper_table(f"plane-{fit.name}", f"R^2 in percent, {fit.name}", rows)


def plane_chart(fit: PlaneFit, region: Region | None) -> CellChart:
    """Return the plane as a heat map: its maximum, its pick, BLEU's point, the prediction."""
    orders = list(reversed(ORDERS))
    signs = {"maximum": "★", "cross-validated pick": "✓", "BLEU's point": "B"}
    marked_cells = [(sign, name, fit.points[name]) for name, sign in signs.items()]
    values = fit.table(fit.signed).tolist()
    negative = any(x < 0 for row in values for x in row)
    minus = " A minus sign marks a negative correlation." if negative else ""
    marks = [
        CellMark(orders.index(cell.n), ALPHAS.index(cell.alpha), sign, name)
        for sign, name, cell in marked_cells
        if cell is not None
    ]
    outline = None
    if region is not None:
        within = [k for k, alpha in enumerate(ALPHAS) if region.holds(alpha, region.n_low)]
        rows = orders.index(region.n_high), orders.index(region.n_low)
        outline = Outline(rows, (within[0], within[-1]), "predicted by the paper")
    title, alphas = f"The plane: {fit.name}", [f"{alpha:g}" for alpha in ALPHAS]
    caption = f"R^2 in percent with the human scores of systems.{minus}"
    names = list(map(str, orders))
    chart = CellChart(title, "N", "alpha", names, alphas, values, 1, marks, outline)
    return replace(chart, low=0, high=100, caption=caption)


def recommendation_document(recommendation: Recommendation) -> Document:
    """Return the paper's recommendation for a task and a guideline, and its evidence."""
    task, guideline = TASKS[recommendation.task][2], GUIDELINES[recommendation.guideline][2]
    chart = regions_chart(recommendation)
    blocks: list[Block] = [
        Figure(chart.title, chart, chart.caption),
        Table("rows", "Recommended", _RECOMMENDED, recommendation.rows),
    ]
    for table in recommendation.tables:
        name = f"The paper's Table {table.number}: R^2 in percent"
        name += f" ({table.description}; legible rows)"
        blocks.append(paper_table(f"paper-{table.number}", name, table.rows))
    title = f"{task.capitalize()}; {recommendation.guideline}: {guideline}"
    return Document(title, blocks, answer=recommendation_answer(recommendation))


def regions_chart(recommendation: Recommendation) -> XYChart:
    """Return the paper's Figure 1: tasks and guidelines on the plane, the requested one marked."""
    areas, points = [], []
    for placed in recommendation.placed:
        region, highlighted = placed.region, placed.is_requested
        numbers = ", ".join(map(str, placed.tables))
        table = f": Table{'s' * (len(placed.tables) > 1)} {numbers}" if placed.tables else ""
        across = region.alpha_low, region.alpha_high
        up = region.n_low - 0.5, region.n_high + 0.5
        areas.append(Area(across, up, f"{placed.task}, {placed.guideline}", highlighted))
        for cell in placed.best:
            points.append(Point(*cell, f"{PlaneCell(*cell)}{table}", highlighted=highlighted))
    tasks = {name: (low - 0.5, high + 0.5) for name, (low, high, _) in TASKS.items()}
    guidelines = {name: (low, high) for name, (low, high, _) in GUIDELINES.items()}
    x_axis = StretchAxis(_axis_stretches(guidelines), ALPHAS)
    y_axis = StretchAxis(_axis_stretches(tasks), ORDERS)
    requested = f"{recommendation.task}, {recommendation.guideline}"
    return XYChart(
        "The evaluation plane",
        "alpha: precision/recall ratio of the guideline",
        "N: faithfulness/compactness ratio of the task",
        points,
        kind="regions",
        areas=areas,
        stretch_axes=(x_axis, y_axis),
        keys=("evaluated in the paper", requested, "best cell in the paper"),
        caption="Where a task and a guideline lie, and so which AEv(alpha, N) is predicted to "
        "agree best with such human scores (Soricut and Brill 2004, Figure 1).",
    )


def _axis_stretches(ends_by_name: Mapping[str, tuple[float, float]]) -> list[Stretch]:
    """Return the stretches of an axis; names of the same stretch are joined."""
    together: dict[tuple[float, float], list[str]] = {}
    for name, ends in ends_by_name.items():
        together.setdefault(ends, []).append(name)
    return [Stretch(*ends, ", ".join(names)) for ends, names in together.items()]
