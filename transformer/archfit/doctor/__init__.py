"""`archfit doctor`: what this machine has for each door. One module looks at one subject and gives findings."""
