"""`archfit audit`: what runs in a cluster, on which architectures, and what would move."""
