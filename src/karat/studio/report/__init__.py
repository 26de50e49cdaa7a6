"""Reports of the studio: results become documents."""
