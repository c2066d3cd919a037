"""The part `argocd` of `make whole`: Argo CD syncs applications through the plugin, see `acts`."""
