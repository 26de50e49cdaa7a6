"""Commands of `karat nuggets`."""
