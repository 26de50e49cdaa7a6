"""Editing of a key: nuggets are added, reworded, dropped and weighed by rows of a log."""
