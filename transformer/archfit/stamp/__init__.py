"""What in-place runs record in an annotation, and how a later run takes exactly that back."""
