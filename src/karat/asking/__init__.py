"""Asking a language model over any OpenAI-compatible endpoint, with a cache that survives kills."""
