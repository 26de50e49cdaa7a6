"""Reports of `karat paraphrase`: results become documents."""
