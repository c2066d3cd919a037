"""`make audits`: `archfit audit` beside a calculator written from docs/audit-numbers.md alone, on random clusters.

clusters      draws a cluster: nodes, workloads, pods, what they ask for, what their images offer
calculator    calculates a report's numbers from the cluster, by the page; shares no code with archfit
judging       runs both, and says where they differ
"""
