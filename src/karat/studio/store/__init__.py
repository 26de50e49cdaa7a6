"""The SQLite file of a project: items, assessors and all judgements."""
