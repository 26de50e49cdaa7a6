"""Reports of `karat nuggets`: results become documents."""
