"""From features to the score of PEM: a regression of judgements, or a mean."""
