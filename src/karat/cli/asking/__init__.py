"""Commands that ask a language model: their options, and the way they go."""
