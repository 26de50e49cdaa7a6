"""Evaluation sets: readers that validate once and name file and line."""
