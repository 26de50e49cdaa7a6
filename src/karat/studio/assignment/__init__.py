"""Assignment: who judges what next, and with which probability it was drawn."""
