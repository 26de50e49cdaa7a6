"""The tables of the PEM paper, made again."""
