"""Routes of the studio, one file for each kind of page; each has a list ROUTES."""
