"""What every `archfit setup TOOL` needs: files that archfit owns, checks, manifests of its own pods."""
