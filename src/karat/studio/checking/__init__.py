"""The check of a store: the kinds of all its values, and the rules between its rows."""
