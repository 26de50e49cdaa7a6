"""Classifiers that predict which responses support which nuggets, and intervals of the scores."""
