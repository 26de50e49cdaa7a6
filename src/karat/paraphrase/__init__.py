"""Paraphrases: word alignment, phrases, pivot n-grams, PEM, and a paraphraser."""
