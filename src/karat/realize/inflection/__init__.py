"""Inflection: the forms of lemmas, their capitals, and the spaces between them."""
