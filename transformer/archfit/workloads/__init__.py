"""Which objects hold pods, where, and where an edit may go."""
