"""The part `argocd`: Argo CD syncs applications through the plugin, see `acts`."""
