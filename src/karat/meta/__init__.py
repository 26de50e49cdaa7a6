"""Metrics against humans: levels, intervals, which of two metrics is better."""
