"""Answers: the sentences that reports begin with, made from results.

A sentence never says more than the numbers do; where they say nothing, there is none.
"""
