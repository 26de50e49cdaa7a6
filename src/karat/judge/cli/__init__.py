"""Commands of `karat judge`."""
