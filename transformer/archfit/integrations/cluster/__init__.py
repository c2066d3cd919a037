"""Configuration written from what a cluster says about itself."""
