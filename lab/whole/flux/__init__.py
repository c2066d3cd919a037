"""The part `flux` of `make whole`: Flux applies what `archfit patch` prints, see `acts`."""
