"""The paraphraser: rewrites of a sentence that people are likely to accept."""
