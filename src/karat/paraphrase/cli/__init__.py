"""Commands of `karat paraphrase`."""
