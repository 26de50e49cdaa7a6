"""Browsing: segments, outputs with their scores, and reports of a project."""
