"""Files that are added to a set: further judgements, and how segments were drawn for judging."""
