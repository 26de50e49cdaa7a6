"""Charts as SVG: pure functions from numbers to a drawing that fits any page."""

from karat.report.charts.svg.plane import histogram, scatter
from karat.report.charts.svg.rows import bar_chart, interval_chart

__all__ = ["bar_chart", "histogram", "interval_chart", "scatter"]
