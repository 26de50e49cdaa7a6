"""Judging: which pairs an assessor is asked about first, and the log of the answers."""
