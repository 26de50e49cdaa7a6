"""Formats of table files: each has pieces that can be read apart, and a reader of one piece."""
