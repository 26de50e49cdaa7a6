"""Commands about human scores: metrics against them, and estimates of them."""
