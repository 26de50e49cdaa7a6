"""N-gram language models: train, ARPA, score."""
