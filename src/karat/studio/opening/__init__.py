"""From a set and what a user asks for to an open store and a running studio."""
