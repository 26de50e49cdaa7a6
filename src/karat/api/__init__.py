"""The calls for users: `karat.score` and `karat.compare`, `df.karat`, progress bars."""
