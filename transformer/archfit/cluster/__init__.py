"""What a cluster says about itself: its nodes and its custom resource definitions. Pure."""
