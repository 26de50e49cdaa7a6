"""Formats of table files: each splits files into pieces and reads a piece."""
