"""Pods that state their own lists and that admission changes: applied again, edited, replaced and compared.

own_lists   random pods: Pods' tolerations and terms are atomic lists, so each apply writes them whole
DOORS       archfit's policy, its webhook, or both, in force for one namespace of a real API server
operations  what people and controllers do to such pods with kubectl, Helm and Argo CD, and what became of each
"""
