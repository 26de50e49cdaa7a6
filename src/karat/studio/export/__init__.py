"""Export of a store to files for Karat and other tools, and import of judgements."""
