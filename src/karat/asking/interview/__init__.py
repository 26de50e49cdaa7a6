"""Interviews: prompts, forms of answers, and cases that a model is asked about."""
