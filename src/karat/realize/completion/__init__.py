"""Completion: function words and punctuation that a tree of content words leaves out."""
