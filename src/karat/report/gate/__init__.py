"""Output of `karat gate` for continuous integration: JUnit files and GitHub annotations."""
