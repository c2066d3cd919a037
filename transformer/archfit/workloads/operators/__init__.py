"""What one operator alone does: a file for each, which its files of `kinds` name (`module: kserve`).

KINDS of a module has what is done with the pods of each kind, beyond what its rows say; see `operator_hooks`. What
objects around a pod decide is found once the whole stream is read:

    lenders      another object lends images and placement
    outside      callers and controllers of Argo and Tekton give an affinity, Zalando's configuration containers
    openshift    images are replaced
"""
