"""The papers behind Karat: their tables and figures made again, beside the published numbers."""
