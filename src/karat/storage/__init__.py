"""Files: mapped, unpacked, written atomically, and models as arrays in one file."""
