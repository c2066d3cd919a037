"""Records what real operators make of what archfit writes; `python -m operators`, see __main__."""
