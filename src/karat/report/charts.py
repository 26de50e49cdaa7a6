"""Charts as SVG: pure functions from numbers to a drawing that fits any page."""

from karat.report.chart_plane import histogram, scatter
from karat.report.chart_rows import bar_chart, interval_chart

__all__ = ["bar_chart", "histogram", "interval_chart", "scatter"]
