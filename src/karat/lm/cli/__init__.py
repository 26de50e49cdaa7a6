"""Commands of `karat lm`."""
