"""An audit as one HTML file."""
