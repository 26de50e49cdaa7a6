"""Keys, runs and judgements: the data of nugget-based evaluation."""
