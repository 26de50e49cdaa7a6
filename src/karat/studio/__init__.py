"""The studio: people judge outputs in the browser, and everything is kept in one SQLite file."""
