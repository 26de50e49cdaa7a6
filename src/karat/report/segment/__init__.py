"""Pictures of one segment: bitext grid and edit alignment."""
