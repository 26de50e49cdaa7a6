"""Gates: compare a run with a committed baseline."""
