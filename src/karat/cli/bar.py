"""The progress bar of commands."""

from karat.api.bars import Bar

__all__ = ["Bar"]
