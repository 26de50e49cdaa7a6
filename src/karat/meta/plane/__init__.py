"""The evaluation plane of Soricut and Brill (2004)."""
