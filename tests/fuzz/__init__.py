"""Damaged input for every reader: it is read, or refused in one sentence."""
