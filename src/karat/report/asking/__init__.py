"""Reports on what a language model was asked: usage, missing answers, dry runs."""
