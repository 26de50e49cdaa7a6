"""Tables in memory: one file for each library, and lists of dictionaries."""
