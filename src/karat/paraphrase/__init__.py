"""Paraphrases: scored by PEM (Liu, Dahlmeier and Ng 2010), explained, and generated."""

from karat.exports import lazy

__getattr__, __dir__, __all__ = lazy(__name__)
