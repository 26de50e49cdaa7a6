"""Export: what a store holds as files that Karat and other tools read, and import back."""
