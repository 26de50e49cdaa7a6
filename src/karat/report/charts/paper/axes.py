"""Each kind of chart on matplotlib's axes; `plots` makes files of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from karat.report.charts.axis import Axis, LogTicks, Ticks, drawable
from karat.report.charts.models import Chart, Curves, HeatMap, Intervals, Knot, Scatter, bands, runs
from karat.report.charts.paper.letters import printable
from karat.report.charts.svg.colors import HEAT, SERIES, heat_color, ink_on, series_dash
from karat.report.charts.svg.frame import shorten
from karat.report.charts.svg.labels import Box, place_labels, spread
from karat.report.charts.svg.scatter import clipped
from karat.report.render.text_width import wrap

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKERS = ("o", "s", "^", "D", "v", "X", "P", "*")
Look: TypeAlias = dict[str, Any]

INK, MUTED, RULE = "#1c2026", "#4a4f57", "#aab1bd"
SMALL = 8  # points: the letters of labels
LONGEST = 28  # letters of a label
WIDEST = 95  # letters of a line below a heat map
POINT = 1 / 72  # inches
FARTHEST = 24.0  # points that a name may stand from the end of its curve


def draw(chart: Chart, axes: Axes) -> None:
    """The chart on empty axes; "no data" where there is nothing to show."""
    if _empty(chart):
        axes.axis("off")
        axes.text(0.5, 0.5, "no data", ha="center", color=MUTED, transform=axes.transAxes)
    elif isinstance(chart, Scatter):
        _scatter(chart, axes)
    elif isinstance(chart, HeatMap):
        _heat_map(chart, axes)
    elif isinstance(chart, Curves):
        _curves(chart, axes)
    else:
        _intervals(chart, axes)


def _empty(chart: Chart) -> bool:
    return not chart.shown


def _label(text: str) -> str:
    return printable(shorten(text, LONGEST))


def _scale(axis: Any, ticks: Ticks, name: str) -> None:
    """One of the two axes: the same round numbers as in our own drawings."""
    axis.set_ticks(ticks.values, labels=[ticks.label(value) for value in ticks.values])
    axis.set_ticks([], minor=True)
    axis.set_label_text(printable(shorten(name, 70)))


def _frame(axes: Axes, x: Ticks, y: Ticks, x_name: str, y_name: str) -> None:
    if isinstance(x, LogTicks):
        axes.set_xscale("log")
    _scale(axes.xaxis, x, x_name)
    _scale(axes.yaxis, y, y_name)
    axes.set_xlim(x.values[0], x.values[-1])
    axes.set_ylim(y.values[0], y.values[-1])


def _legend(axes: Axes, columns: int) -> None:
    figure: Any = axes.figure
    figure.legend(loc="outside lower left", ncols=columns, fontsize=SMALL)


# ---------------------------------------------------------------------------------------- scatter


def _scatter(chart: Scatter, axes: Axes) -> None:
    x, y = chart.ticks()
    _frame(axes, x, y, chart.x_axis, chart.y_axis)
    for k, group in enumerate(chart.groups):
        points = [point for point in chart.shown if point.group == group]
        look: Look = {
            "marker": MARKERS[k % 8],
            "color": SERIES[k % 8],
            "linewidths": 0,
            "zorder": 3,
        }
        alpha = None if chart.labelled else 0.6
        xs, ys = [point.x for point in points], [point.y for point in points]
        axes.scatter(
            xs, ys, s=22, alpha=alpha, label=_label(group or "other"), clip_on=False, **look
        )
    _bars(chart, axes)
    _fitted(chart, axes, x, y)
    if chart.note:
        axes.set_title(printable(chart.note), loc="right", fontsize=SMALL, fontweight="normal")
    if chart.groups != [""]:
        _legend(axes, 4)
    if chart.labelled:
        _point_labels(chart, axes)


def _bars(chart: Scatter, axes: Axes) -> None:
    """The intervals of y."""
    barred = [(point, point.bar) for point in chart.shown if point.bar]
    if barred:
        xs = [point.x for point, _ in barred]
        lows, highs = zip(*(bar for _, bar in barred), strict=True)
        look: Look = {"colors": MUTED, "linewidth": 0.7, "zorder": 2, "alpha": 0.8}
        axes.vlines(xs, lows, highs, **look)
        for ends in (lows, highs):
            axes.scatter(xs, ends, marker="_", s=14, color=MUTED, linewidths=0.7, zorder=2)


def _fitted(chart: Scatter, axes: Axes, x: Ticks, y: Ticks) -> None:
    reach = clipped(chart.line, Axis(x, 0, 1), Axis(y, 0, 1)) if chart.line else None
    if chart.line and reach and drawable(map(chart.line.at, reach)):
        ys = [chart.line.at(end) for end in reach]
        axes.plot(reach, ys, color=MUTED, linewidth=1, linestyle=(0, (5, 3)))


def _point_labels(chart: Scatter, axes: Axes) -> None:
    """Labels beside their points, placed as in our own drawings."""
    figure: Any = axes.figure
    figure.draw_without_rendering()
    labels = [_label(point.label) for point in chart.shown]
    unit = figure.dpi * POINT
    dots = [(x, -y) for x, y in axes.transData.transform([p[:2] for p in chart.shown]).tolist()]
    frame = axes.get_window_extent()
    within = Box(frame.x0, -frame.y1, frame.x1, -frame.y0)
    places = place_labels(dots, [_size(axes, text) for text in labels], within, 0.75 * unit)
    for point, dot, text, place in zip(chart.shown, dots, labels, places, strict=True):
        if place and text:
            x, y = place.box.middle
            shift = ((x - dot[0]) / unit, (dot[1] - y) / unit)
            line = {"arrowstyle": "-", "color": RULE, "linewidth": 0.6} if place.far else None
            look: Look = {"textcoords": "offset points", "fontsize": SMALL}
            middle: Look = {"ha": "center", "va": "center", "arrowprops": line, "in_layout": False}
            axes.annotate(text, point[:2], shift, **look, **middle)


def _size(axes: Axes, text: str) -> tuple[float, float]:
    """How much room a label takes, in pixels."""
    drawn = axes.text(0, 0, text, fontsize=SMALL)
    box = drawn.get_window_extent()
    drawn.remove()
    return box.width, box.height


# ----------------------------------------------------------------------------------------- curves


def _curves(chart: Curves, axes: Axes) -> None:
    _frame(axes, *chart.ticks(), chart.x_axis, chart.y_axis)
    for k, curve in enumerate(chart.shown):
        color = SERIES[k % 8]
        look: Look = {"color": color, "marker": MARKERS[k % 8], "markersize": 4, "linewidth": 1.4}
        name: str | None = _label(curve.name)
        for run in runs(curve.knots):
            xs, ys = [knot.x for knot in run], [knot.y for knot in run]
            every = max(len(run) // 40, 1)
            axes.plot(xs, ys, label=name, linestyle=_dashes(k), markevery=every, **look)
            name = None  # one entry in the legend
        for run in bands(curve.knots):
            _band(axes, run, color)
    if not _end_names(chart, axes):
        _legend(axes, 4)


def _band(axes: Axes, run: Sequence[Knot], color: str) -> None:
    xs = [knot.x for knot in run]
    lows: list[Any] = [knot.low for knot in run]
    highs: list[Any] = [knot.high for knot in run]
    if len(run) == 1:
        axes.vlines(xs, lows, highs, color=color, linewidth=1)
    else:
        axes.fill_between(xs, lows, highs, color=color, alpha=0.13, linewidth=0)


def _dashes(number: int) -> Any:
    pattern = series_dash(number)
    return (0, [float(part) / 2 for part in pattern.split()]) if pattern else "-"


def _end_names(chart: Curves, axes: Axes) -> bool:
    """Names at the ends of the curves; False where there is no room for them."""
    figure: Any = axes.figure
    figure.draw_without_rendering()
    unit = figure.dpi * POINT
    lasts = [runs(curve.knots)[-1][-1] for curve in chart.shown]
    frame = axes.get_window_extent()
    wanted = [float(y) for _, y in axes.transData.transform([knot[:2] for knot in lasts])]
    places = spread(wanted, 1.3 * SMALL * unit, frame.y0, frame.y1)
    apart = len({knot.x for knot in lasts}) > 1
    moves = [(b - a) / unit for a, b in zip(wanted, places or wanted, strict=True)]
    if apart or places is None or max(map(abs, moves)) > FARTHEST:
        return False
    for curve, knot, move in zip(chart.shown, lasts, moves, strict=True):
        look: Look = {"textcoords": "offset points", "va": "center", "fontsize": SMALL}
        axes.annotate(_label(curve.name), knot[:2], (7, move), annotation_clip=False, **look)
    return True


# --------------------------------------------------------------------------------------- heat map


def _heat_map(chart: HeatMap, axes: Axes) -> None:
    from matplotlib.patches import Rectangle

    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
    axes.set_xlim(0, len(chart.columns))
    axes.set_ylim(len(chart.rows), 0)
    for i, j, value in chart.cells:
        _cell(chart, axes, i, j, value)
    if chart.outline:
        (top, bottom), (left, right), _ = chart.outline
        size = (right - left + 1, bottom - top + 1)
        for color, width, style in (("#ffffff", 3.5, "-"), (INK, 1.8, (0, (3, 1.5)))):
            look: Look = {"fill": False, "edgecolor": color, "linestyle": style}
            axes.add_patch(Rectangle((left, top), *size, linewidth=width, clip_on=False, **look))
    _heat_names(chart, axes)
    _heat_scale(chart, axes)


def _cell(chart: HeatMap, axes: Axes, i: int, j: int, value: float | None) -> None:
    from matplotlib.patches import Rectangle

    look: Look = {"edgecolor": RULE, "linewidth": 0.4}
    if value is None:
        axes.add_patch(Rectangle((j, i), 1, 1, fill=False, hatch="////", **look))
        return
    color = heat_color(chart.share(value))
    axes.add_patch(Rectangle((j, i), 1, 1, facecolor=color, **look))
    middle: Look = {"ha": "center", "va": "center", "color": ink_on(color)}
    size = min(SMALL, 400 / len(chart.columns) / max(len(chart.number(value)), 1))
    signs = printable(chart.signs(i, j))
    if size >= 4:
        down = 0.58 if signs else 0.52
        axes.text(j + 0.5, i + down, chart.number(value), fontsize=size, **middle)
    if signs:
        corner: Look = {"ha": "right", "va": "top", "color": ink_on(color)}
        axes.text(j + 0.93, i + 0.1, signs, fontsize=6, **corner)
        edge = Rectangle((j + 0.05, i + 0.09), 0.9, 0.82, fill=False, edgecolor=ink_on(color))
        axes.add_patch(edge)


def _heat_names(chart: HeatMap, axes: Axes) -> None:
    columns, rows = [_label(name) for name in chart.columns], [_label(name) for name in chart.rows]
    long = max(map(len, columns)) * len(columns) > 80
    turned: Look = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"}
    places = [j + 0.5 for j in range(len(columns))]
    axes.set_xticks(places, labels=columns, **(turned if long else {}))
    axes.set_yticks([i + 0.5 for i in range(len(rows))], labels=rows)
    axes.tick_params(length=0)
    lines = [shorten(chart.column_axis, 70), *wrap("; ".join(_keys(chart)), WIDEST)]
    axes.set_xlabel("\n".join(map(printable, lines)))
    axes.set_ylabel(printable(shorten(chart.row_axis, 45)))


def _keys(chart: HeatMap) -> list[str]:
    """What the signs and lines mean."""
    told = [f"{sign} {name}" for sign, name in chart.keys]
    told += [f"dashed: {chart.outline.name}"] if chart.outline else []
    return told + ["hatched: missing"] * any(value is None for _, _, value in chart.cells)


def _heat_scale(chart: HeatMap, axes: Axes) -> None:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LinearSegmentedColormap, Normalize

    low, high = chart.ends
    if low < high:
        colors = LinearSegmentedColormap.from_list("karat", HEAT)
        figure: Any = axes.figure
        bar = figure.colorbar(ScalarMappable(Normalize(low, high), colors), ax=axes, pad=0.02)
        bar.outline.set_visible(False)
        bar.ax.tick_params(labelsize=SMALL)


# -------------------------------------------------------------------------------------- intervals


def _intervals(chart: Intervals, axes: Axes) -> None:
    ticks = chart.ticks()
    _scale(axes.xaxis, ticks, chart.axis)
    axes.set_xlim(ticks.values[0], ticks.values[-1])
    axes.set_ylim(len(chart.shown) - 0.5, -0.5)
    axes.set_yticks(range(len(chart.shown)), labels=[_label(item.label) for item in chart.shown])
    axes.grid(visible=False, axis="y")
    for i, (_, value, low, high) in enumerate(chart.shown):
        if low is not None and high is not None and drawable([low, high]):
            axes.plot([low, high], [i, i], color=SERIES[0], linewidth=1.2, marker="|")
        axes.plot([value], [i], color=SERIES[0], marker="o", markersize=5, clip_on=False)
    if chart.baseline is not None and drawable([chart.baseline]):
        axes.axvline(chart.baseline, color=MUTED, linewidth=1, linestyle=(0, (4, 3)))
