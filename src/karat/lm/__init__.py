"""N-gram language models: trained, stored, and asked for the probability of text."""

from karat.exports import lazy

__getattr__, __dir__, __all__ = lazy(__name__)
