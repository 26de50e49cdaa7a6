"""Nuggets: answers scored by the pieces of information they carry, judged by people or guessed."""

from karat.exports import lazy

__getattr__, __dir__, __all__ = lazy(__name__)
