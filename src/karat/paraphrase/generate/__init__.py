"""The paraphraser: rewrites of a sentence, ranked by PEM."""
