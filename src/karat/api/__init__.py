"""The functions that users call first: `karat.score` and `karat.compare`, `df.karat`, progress bars."""
