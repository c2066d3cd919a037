"""The decision for one pod: pure, no I/O. The modules in the order in which `decide` uses them.

    selection ──────── is the pod left alone? its own options (`annotations`)
    questions ──────── which images have to be looked up
    evidence ───────── what the answers mean (`architectures`, `uncounted`)
    reach ──────────── where the pod can go (`affinity`: what it asks of nodes)
    required_terms ─── the required node affinity that it gets
    tolerations ────── the tolerations and preferences on top of it
    custom ─────────── which fields a custom resource has for it
    pod_patch ──────── all of it as RFC 6902 operations

`fields` reads members of a pod spec, `reasons` and `messages` have the sentences, `pod_warnings` knows which of them
apply, `immutability` which objects cannot be changed. `requirement` answers another question: does every image run on
a platform?
"""
