"""The front door: `karat.score` and `karat.compare` for any input, `df.karat`, progress bars."""
