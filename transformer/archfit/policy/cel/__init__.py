"""The MutatingAdmissionPolicy: a lock file and the options of placement, written as CEL."""
