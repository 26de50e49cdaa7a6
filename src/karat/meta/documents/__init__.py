"""Documents made of segments: joined into one text, or drawn at random (pseudo-documents)."""
