"""Drafts of answer keys by a language model."""
