"""Language models as judges: ratings, preferences and nuggets, asked over an endpoint."""
