"""`archfit policy`: admission without a server, as a MutatingAdmissionPolicy made from the lock file."""
