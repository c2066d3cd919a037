"""The decision for one pod: pure, no I/O. The modules in the order in which `decide` uses them.

    selection ──────── is the pod left alone? its own options (`annotations`, `filters`); which images are looked up
    evidence ───────── what the answers mean (`uncounted`: entries that do not count)
    reach ──────────── where the pod can go (`affinity`: what it asks of nodes); the required node affinity that it gets
    case ───────────── what is known of the pod so far
    tolerations ────── the tolerations and preferences on top of it
    custom ─────────── which fields a custom resource has for it
    pod_patch ──────── all of it as RFC 6902 operations, and as a reason
    pod_warnings ───── what else there is to say

`fields` reads members of a pod spec. `requirement` answers another question: does every image run on a platform?
"""
