"""Which credential belongs to a repository, and the tokens that it is exchanged for."""
