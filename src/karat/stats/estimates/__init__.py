"""Estimates of human scores from few labels and many predictions."""
