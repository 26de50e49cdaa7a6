"""What is being judged: readers that validate once and name file and line."""
