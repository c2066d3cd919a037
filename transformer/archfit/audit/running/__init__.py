"""What runs in a cluster: its lists, item by item, folded into facts. Pure."""
