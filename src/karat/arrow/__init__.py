"""Tables in Arrow's form: the pure functions that engines run on batches, and their sums."""

from karat.exports import lazy

__getattr__, __dir__, __all__ = lazy(__name__)
