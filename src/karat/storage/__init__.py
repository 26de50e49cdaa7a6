"""Files: mapped, unpacked, written whole or not at all, and models as arrays in one file."""
