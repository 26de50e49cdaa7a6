"""Estimates of runs' scores from few judged questions: samples, judges, and Nuggeteer beside."""
