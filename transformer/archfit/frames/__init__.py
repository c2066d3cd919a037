"""What each caller sends and expects back."""
