"""The web application of the studio: server, request checks, routes and pages."""
