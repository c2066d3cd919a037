"""What the rows do not cover, and what is said about it."""
