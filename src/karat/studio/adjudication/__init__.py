"""Adjudication: what a dispute shows an adjudicator, and how a decision is checked."""
