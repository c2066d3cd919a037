"""What knows one caller: how it starts archfit, what it sends and expects back, and the files that it needs."""
