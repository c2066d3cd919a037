"""The webhook: an AdmissionReview in, its response out."""
