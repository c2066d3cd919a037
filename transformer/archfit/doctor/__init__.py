"""`archfit doctor`: what this machine has for each entry point. One module looks at one subject and gives findings."""
