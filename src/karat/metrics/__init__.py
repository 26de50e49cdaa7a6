"""The metrics: `base` has what they share, `names` turns strings into them."""
