"""Reports of `karat judge`."""
