"""What the rows do not cover, and the messages about it."""
