"""Text into documents, and documents into values and places."""
