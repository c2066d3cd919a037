"""One table of options, read from flags, environment and the configuration file."""
