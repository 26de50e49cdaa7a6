"""Logs of evaluation tools, a file for each tool."""
