"""What `karat gate` writes for machines that run tests: JUnit files and GitHub annotations."""
