"""Which servers are asked for an image: its own registry, mirrors, hosts.toml, registries.conf."""
