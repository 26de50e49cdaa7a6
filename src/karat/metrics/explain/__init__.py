"""Explanations of a segment score as data: grids, edits, shifts, treelets."""
