"""Resampling and significance: arrays in, numbers out."""
