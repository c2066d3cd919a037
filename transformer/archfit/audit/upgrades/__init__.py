"""Newer tags of the images of an audit: which are asked for, and what they would free."""
