"""What a cluster says about itself: its nodes, its custom resource definitions, which builds run. Pure."""
