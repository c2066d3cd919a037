"""Text into documents, documents into values and places, and back."""
