"""FERGUS: a stochastic realiser; an unordered dependency tree in, a sentence out."""
