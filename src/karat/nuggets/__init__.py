"""Nugget-based evaluation of answers: keys, runs, judgements, scores and classifiers."""
