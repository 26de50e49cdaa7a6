"""Cosine of sentence embeddings, by models that the user has; nothing is downloaded."""
