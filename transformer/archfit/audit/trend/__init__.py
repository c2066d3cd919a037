"""How far a cluster was, audit by audit: the history of --history, and what it says now."""
