"""Intervals of nugget scores: how far guesses may move a run's score."""
