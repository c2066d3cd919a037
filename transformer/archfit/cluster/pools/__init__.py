"""What makes nodes: Karpenter's NodePools, Cluster API's and OpenShift's machines, GKE's ComputeClasses."""
