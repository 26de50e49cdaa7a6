"""Documents of the core commands: results in, tables and figures out."""
