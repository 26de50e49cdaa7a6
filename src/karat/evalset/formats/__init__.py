"""Formats of evaluation sets, a module for each group of formats."""
