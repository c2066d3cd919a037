"""Lookups of the webhook: what is known, and who is asked for the rest."""
