"""The progress bar of commands."""

from karat.front.bars import Bar

__all__ = ["Bar"]
