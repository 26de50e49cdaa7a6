"""Charts as files for papers, by matplotlib."""
