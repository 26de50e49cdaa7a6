"""What is judged: readers that validate once and name file and line."""
