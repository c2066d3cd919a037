"""An audit as text, Markdown, CSV, JSON and one HTML page."""
