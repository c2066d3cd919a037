"""HTTP to registries: connections, addresses, trust, proxies, retries."""
