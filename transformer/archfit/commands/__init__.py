"""The subcommands, one lazily imported file each; the only place where parts are wired."""
