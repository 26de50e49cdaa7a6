"""Significance tests: systems against a baseline, metrics against metrics."""
