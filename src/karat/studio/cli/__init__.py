"""The command `karat studio`."""
