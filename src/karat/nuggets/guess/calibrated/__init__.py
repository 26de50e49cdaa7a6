"""The calibrated classifier: evidence in, probabilities out."""
