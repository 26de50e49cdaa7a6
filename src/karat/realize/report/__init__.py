"""Reports of `karat realize`: results become documents."""
