"""Scores of runs from decisions: official F, shares of nuggets, Pourpre and ROUGE."""
