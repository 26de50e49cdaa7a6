"""The documentation: pages generated from the code, the folder the site is built from, checks."""
