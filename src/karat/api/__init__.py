"""The functions that users call first: `karat.score`, `karat.compare`, `df.karat`; progress bars."""
