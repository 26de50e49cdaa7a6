"""The document of a reproduction."""
