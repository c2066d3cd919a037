"""The registry protocol: OCI distribution-spec, tokens, credentials, mirrors."""
