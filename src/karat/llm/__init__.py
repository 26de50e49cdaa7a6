"""Language models over any OpenAI-compatible endpoint: requests, a cache, and judging."""
