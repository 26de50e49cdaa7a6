"""The SQLite file of a project: what is judged, by whom, and all that they said."""
