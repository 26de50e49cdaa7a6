"""The core commands, one file each, loaded when called."""
