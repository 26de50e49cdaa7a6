"""The functions that users call first: `kt.score`, `kt.compare`, `df.karat`; progress bars."""
