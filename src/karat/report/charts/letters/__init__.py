"""Charts drawn with letters, for terminals."""
