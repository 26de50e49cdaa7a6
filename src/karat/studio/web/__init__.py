"""The studio in the browser: a server, what guards it, its routes and pages."""
