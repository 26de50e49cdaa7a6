"""Formats of nugget sets, a file each."""
