"""Judges: agreement between them, and judges that stand apart."""
