"""The policy in a cluster: the images that run there, the pods that test it."""
