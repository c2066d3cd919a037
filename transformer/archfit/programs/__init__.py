"""Which program an image starts, and for which machine it is built: from its config, its layers and a file's head."""
