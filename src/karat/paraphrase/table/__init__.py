"""Phrase tables: extracted, stored, read and written."""
