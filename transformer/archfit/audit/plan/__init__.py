"""In which order a cluster moves to an architecture: images to change, waves of workloads, rules for one of them."""
