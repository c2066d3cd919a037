"""The part `flux`: Flux applies what `archfit patch` prints, see `acts`."""
