"""Random pods, decided and edited in process, and judged by the scheduler's own code (the oracle).

drawing     a seed into streams of pods: terms, matchFields, systems, virtual nodes, RuntimeClasses, Jobs, many images
at_creation a seed into v1 Pods that an API server takes, with images in every spelling, and their lock file
any_pods    a seed into v1 Pods and options of every kind, whether an API server takes them or not
judging     one stream under one set of options, to the oracle
__main__    make pods COUNT=100000 SEED=1
"""
