"""Classifiers that guess which response carries which nugget."""
