"""Formats of evaluation sets, a file each."""
