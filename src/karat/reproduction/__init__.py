"""The papers behind Karat: their tables and figures reproduced, with the published numbers."""
