"""Headings under which help shows options; settings and commands share them."""

COMMON, INPUT, MODEL, TABLES, NUGGETS, WORDS, SCORES, TESTS, OUTPUT, ADVANCED = HEADINGS = (
    "Options",
    "Input",
    "Language model",
    "Tables",
    "Nuggets",
    "Words",
    "Scores",
    "Intervals and tests",
    "Output",
    "Advanced",
)
"""In the order of the help; the first is for common options."""
