"""The paraphraser: rewrites of a sentence that people are likely to accept."""

CONFIDENCE = 0.6
"""Default lowest confidence of a paraphrase.

At least three in four judged proposals that reach it were accepted in the cross-validation of
`experiments/paraphrase_confidence.py`.
"""
