"""Realisers: from unordered dependency trees to sentences, after FERGUS and beyond."""

from karat.exports import lazy

__getattr__, __dir__, __all__ = lazy(__name__)
