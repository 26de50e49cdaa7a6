"""Commands of `karat realize`."""
